// The conventions that Bazel's test runner and a test binary keep (Bazel's "Test encyclopedia").
//
// GoogleTest 1.12 keeps part of them under names of its own; this fills the gaps that matter to a
// suite which must not go green by accident: the shard status file, and GTEST_* names for the
// shard.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

struct BazelProtocol {
  std::string target;    // TEST_TARGET, "//tests:stencil_test"
  int total_shards = 1;  // TEST_TOTAL_SHARDS (or GTEST_TOTAL_SHARDS); 1: sharding is off
  int shard_index = 0;   // TEST_SHARD_INDEX
  std::string
      shard_status_file;  // TEST_SHARD_STATUS_FILE: proves that the program knows about shards
  // TEST_UNDECLARED_OUTPUTS_DIR: what lies there is kept with the test's log.
  std::string undeclared_outputs;
  std::string warnings_file;  // TEST_WARNINGS_OUTPUT_FILE
  std::string
      infrastructure_file;  // TEST_INFRASTRUCTURE_FAILURE_FILE: line 1 the component, then text
  // TEST_PREMATURE_EXIT_FILE: there while the test runs (written by GoogleTest)
  std::string premature_exit_file;
  std::string tmpdir;    // TEST_TMPDIR
  bool is_test = false;  // run by a test runner, not by `bazel run` or by hand
  std::string error;     // a sentence when the variables contradict each other

  bool sharded() const { return total_shards > 1; }

  static BazelProtocol from_environment();
};

// Does, before anything else in main(), what must hold even if the program fails later: touches the
// status file, gives GoogleTest the shard under its own names, and points the driver's compilation
// cache into TEST_TMPDIR (HOME is not there). Empty, or a sentence.
std::string announce(const BazelProtocol& bazel);

// Both append; without such a file they do nothing, and what they say must be on stdout as well.
void warn_runner(const BazelProtocol& bazel, std::string_view text);
void blame_infrastructure(const BazelProtocol& bazel, std::string_view component,
                          std::string_view text);

}  // namespace lockstep
