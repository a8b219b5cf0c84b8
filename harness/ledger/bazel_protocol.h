// The conventions between Bazel's test runner and a test binary (Bazel's "Test encyclopedia").
//
// GoogleTest 1.12 implements part of them under its own names. This adds what a suite needs so that
// it cannot pass by accident: the shard status file, and the GTEST_* names of the shard.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

struct BazelProtocol {
  std::string target;    // TEST_TARGET, "//tests:stencil_test"
  int total_shards = 1;  // TEST_TOTAL_SHARDS (or GTEST_TOTAL_SHARDS); 1: sharding is off
  int shard_index = 0;   // TEST_SHARD_INDEX
  std::string
      shard_status_file;  // TEST_SHARD_STATUS_FILE: touched by a program that supports shards
  // TEST_UNDECLARED_OUTPUTS_DIR: Bazel keeps its files with the test's log.
  std::string undeclared_outputs;
  std::string warnings_file;  // TEST_WARNINGS_OUTPUT_FILE
  std::string
      infrastructure_file;  // TEST_INFRASTRUCTURE_FAILURE_FILE: line 1 the component, then text
  // TEST_PREMATURE_EXIT_FILE: exists while the test runs (GoogleTest writes it)
  std::string premature_exit_file;
  std::string tmpdir;    // TEST_TMPDIR
  bool is_test = false;  // started by a test runner, not by `bazel run` or directly
  std::string error;     // a sentence if the variables contradict each other

  bool sharded() const { return total_shards > 1; }

  static BazelProtocol from_environment();
};

// Prepares the process before anything else in main(), so that it holds even if the program fails
// later. Touches the status file, sets GoogleTest's variables for the shard, and moves the driver's
// compilation cache to TEST_TMPDIR (tests have no HOME). Returns an empty text, or a sentence with
// the error.
std::string announce(const BazelProtocol& bazel);

// Both append to the file; without a file they do nothing. Print the text on stdout as well.
void warn_runner(const BazelProtocol& bazel, std::string_view text);
void blame_infrastructure(const BazelProtocol& bazel, std::string_view component,
                          std::string_view text);

}  // namespace lockstep
