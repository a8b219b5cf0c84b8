// main() of every test binary: //harness/ledger:main. docs/reference/test_protocol.md documents its
// behaviour for users and for Bazel.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/gpu_policy.h"
#include "harness/ledger/bazel_protocol.h"
#include "harness/ledger/exit_guard.h"
#include "harness/ledger/options.h"
#include "harness/ledger/recorder.h"
#include "harness/ledger/runfiles.h"
#include "harness/ledger/session.h"
#include "harness/ledger/waivers.h"

namespace lockstep {
namespace {

constexpr int kGreen = 0, kRed = 1, kUsage = 2;

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

int refuse(const std::vector<std::string>& sentences) {
  for (const std::string& s : sentences) fmt::print(stderr, "[ LEDGER ] {}\n", s);
  fmt::print(stderr, "[ LEDGER ] Nothing was run.\n");
  return kUsage;
}

// Errors for arguments that remain after InitGoogleTest, and for settings under which a run would
// prove less than it reports.
std::vector<std::string> gtest_errors(int argc, char** argv) {
  std::vector<std::string> errors;
  for (int i = 1; i < argc; ++i)
    errors.push_back(fmt::format("'{}' is not a flag of GoogleTest", argv[i]));
  if (GTEST_FLAG_GET(repeat) != 1)
    errors.push_back(
        "GTEST_REPEAT would record each property more than once; use bazel test --runs_per_test");
  return errors;
}

// Prints full names, one a line. If GoogleTest's list was requested, prints that; CMake's
// gtest_discover_tests reads it.
int list_properties(const BazelProtocol& bazel, bool full_names) {
  // As a test, a list would pass without running anything.
  if (bazel.is_test) return refuse({"--list is not a test; use bazel run"});
  // A list that was cut off would look like a shorter list.
  const auto end = [](int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    return refuse({fmt::format("the list cannot be written: {}", std::strerror(errno))});
  };
  if (!full_names) return end(RUN_ALL_TESTS());
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t)
      std::printf("%s.%s\n", suite.name(), suite.GetTestInfo(t)->name());
  }
  return end(kGreen);
}

bool knows_property(const std::string& name) {
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      if (fmt::format("{}.{}", suite.name(), suite.GetTestInfo(t)->name()) == name) return true;
    }
  }
  return false;
}

// Selects the one property of --case, whatever --test_filter and the shard select.
void select_replay(const CaseName& replay) {
  GTEST_FLAG_SET(filter, replay.property);
  GTEST_FLAG_SET(also_run_disabled_tests, true);
  unsetenv("GTEST_TOTAL_SHARDS");
  unsetenv("GTEST_SHARD_INDEX");
}

std::vector<std::string> ledger_paths(const Options& options, const BazelProtocol& bazel,
                                      std::vector<std::string>& errors) {
  std::vector<std::string> paths;
  if (!options.ledger.empty()) paths.push_back(options.ledger);
  for (const std::string& folder : {options.out, bazel.undeclared_outputs}) {
    if (folder.empty()) continue;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) errors.push_back(fmt::format("{} cannot be made: {}", folder, error.message()));
    paths.push_back(folder + "/ledger.json");
  }
  return paths;
}

void print_end(const Recorder& recorder, const std::vector<std::string>& problems) {
  std::fflush(stdout);
  const std::vector<Record>& records = recorder.ledger().records();
  fmt::print("\n{}{}\n", details(records), summary_line(recorder.ledger().tally()));
  for (const std::string& p : problems) {
    // The details already include the problem of a record.
    const auto already_reported = [&](const Record& r) { return problem_of(r) == p; };
    if (std::none_of(records.begin(), records.end(), already_reported))
      fmt::print("[ LEDGER ] problem: {}\n", p);
  }
  fmt::print("[ LEDGER ] {}\n", problems.empty() ? "green" : "RED");
  std::fflush(stdout);
}

// Keeps freed pages. Each case allocates and frees the same large vectors; without this, the kernel
// maps and clears their pages again, up to a tenth of a suite's time.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
}

int run(int argc, char** argv) {
  keep_freed_memory();
  const BazelProtocol bazel = BazelProtocol::from_environment();
  if (const std::string error = announce(bazel); !error.empty()) return refuse({error});

  ParsedOptions parsed = parse_options(std::vector<std::string>(argv + 1, argv + argc));
  if (!parsed.errors.empty()) return refuse(parsed.errors);
  const Options& options = parsed.options;
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  if (options.help) {
    fmt::print("{}", help_text(program));
    return bazel.is_test ? refuse({"--help is not a test"}) : kGreen;
  }

  // Shard 0 runs a given case; the other shards have nothing to do.
  if (options.replay && bazel.shard_index > 0) {
    fmt::print("[ LEDGER ] --case runs in shard 0; this is shard {}.\n", bazel.shard_index);
    return kGreen;
  }

  std::vector<char*> gtest_argv = {argv[0]};
  for (std::string& flag : parsed.rest) gtest_argv.push_back(flag.data());
  int gtest_argc = static_cast<int>(gtest_argv.size());
  gtest_argv.push_back(nullptr);
  ::testing::InitGoogleTest(&gtest_argc, gtest_argv.data());
  std::vector<std::string> errors = gtest_errors(gtest_argc, gtest_argv.data());
  if (errors.empty() && (options.list || GTEST_FLAG_GET(list_tests)))
    return list_properties(bazel, options.list);

  const std::string waivers_path =
      options.waivers.empty() ? runfile("harness/ledger/waivers.json") : options.waivers;
  const Waivers waivers = waivers_path.empty() ? Waivers{} : read_waivers(waivers_path);
  errors.insert(errors.end(), waivers.errors.begin(), waivers.errors.end());

  const auto policy = parse_gpu_policy(environment("LOCKSTEP_GPU"));
  if (!policy)
    errors.push_back(fmt::format("LOCKSTEP_GPU='{}' is none of auto, required, simulated, off",
                                 environment("LOCKSTEP_GPU")));

  RecorderOptions recorder_options;
  recorder_options.ledger_paths = ledger_paths(options, bazel, errors);
  recorder_options.waivers = waivers.waivers;
  recorder_options.sharded = bazel.sharded();
  const std::string kernels = environment("LOCKSTEP_EXPECT_KERNELS");
  if (!kernels.empty() && kernels != "0" && kernels != "1" && kernels != "some")
    errors.push_back(fmt::format("LOCKSTEP_EXPECT_KERNELS='{}' is none of 0, 1, some", kernels));
  recorder_options.expects_kernels = kernels == "1";
  // The selected properties may launch no kernel, but a suite about kernels needs a device all the
  // same.
  const bool needs_device = kernels == "1" || kernels == "some";
  if (options.replay) {
    if (!knows_property(options.replay->property))
      errors.push_back(
          fmt::format("there is no property {}; --list names them", options.replay->property));
    select_replay(*options.replay);
    recorder_options.replaying = true;
    session_options().replay_property = options.replay->property;
    session_options().replay_case = options.replay->text;
  }
  session_options().seed = options.seed;
  session_options().cases = options.cases;
  session_options().fail_fast = options.fail_fast;
  if (options.fail_fast) GTEST_FLAG_SET(fail_fast, true);
  if (const std::string scale = environment("LOCKSTEP_SCALE"); !scale.empty()) {
    const auto times = parse_scale(scale);
    if (!times)
      errors.push_back(
          fmt::format("LOCKSTEP_SCALE='{}' is not a number from 0.000001 to 1000000", scale));
    session_options().scale = times.value_or(1);
  }
  if (const std::string work = environment("LOCKSTEP_WORK"); !work.empty()) {
    const auto most = parse_number(work, 0, kMostWork);
    if (!most)
      errors.push_back(
          fmt::format("LOCKSTEP_WORK='{}' is not an integer from 0 to {}", work, kMostWork));
    // A number of cases that the user gives is run in full.
    if (options.cases == 0) session_options().work = static_cast<std::int64_t>(most.value_or(0));
  }
  if (!errors.empty()) return refuse(errors);

  exit_guard::arm();
  const GpuFacts facts = gpu_facts(*policy, needs_device);
  recorder_options.blocked = gpu_problem(*policy, facts);
  LedgerFile header;
  header.program = program;
  header.target = bazel.target;
  header.shard_index = bazel.shard_index;
  header.total_shards = bazel.total_shards;
  header.seed = options.seed;
  if (!recorder_options.blocked.empty()) {
    fmt::print("[ LEDGER ] {}\n", recorder_options.blocked);
    blame_infrastructure(bazel, "GPU", recorder_options.blocked);
  } else if (needs_device) {
    header.device = device_properties().entries();
    recorder_options.device = device_properties().name;
    fmt::print("[ LEDGER ] device: {}\n", recorder_options.device);
  }
  std::fflush(stdout);

  // GoogleTest owns the listener and keeps it until the process ends.
  Recorder* const recorder = new Recorder(std::move(header), std::move(recorder_options));
  ::testing::UnitTest::GetInstance()->listeners().Append(recorder);
  const int gtest_result = RUN_ALL_TESTS();
  std::vector<std::string> problems =
      recorder->close(*::testing::UnitTest::GetInstance(), gtest_result);
  print_end(*recorder, problems);
  const Tally tally = recorder->ledger().tally();
  if (tally.waived + tally.not_applicable > 0) {
    warn_runner(bazel,
                fmt::format("{} waived, {} not applicable", tally.waived, tally.not_applicable));
  }
  exit_guard::disarm();
  return problems.empty() ? kGreen : kRed;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  // For a death test of the "threadsafe" style, GoogleTest runs this program again for one
  // statement.
  const bool death_test = std::any_of(argv, argv + argc, [](const char* a) {
    return std::string_view(a).starts_with("--gtest_internal_run_death_test");
  });
  if (death_test) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  }
  return lockstep::run(argc, argv);
}
