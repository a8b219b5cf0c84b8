// Exit status and output of a test program in every case in which a run proves less than it seems
// to. No test needs a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace protocol_test {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string only(const std::string& test) { return "--gtest_filter=" + test; }

TEST(Protocol, APassIsGreenAndPrintsAllFiveCounts) {
  const Ended r = run("lifecycle", {only("Lifecycle.Passes*")});
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_THAT(
      r.output,
      HasSubstr(
          "[ LEDGER ] 2 planned: 2 pass, 0 fail, 0 waived, 0 not applicable, 0 not run; 0 cases"));
  EXPECT_THAT(r.output, HasSubstr("[ LEDGER ] green"));
  EXPECT_TRUE(r.ledger.complete) << r.no_ledger;
  EXPECT_EQ(r.ledger.planned.size(), 2u);
}

TEST(Protocol, AFailureIsRed) {
  const Ended r = run("lifecycle", {only("Lifecycle.Fails:Lifecycle.Passes")});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, HasSubstr("[ LEDGER ] 2 planned: 1 pass, 1 fail,"));
  EXPECT_THAT(r.output, HasSubstr("[ LEDGER ] RED"));
  EXPECT_EQ(run("lifecycle", {only("Lifecycle.Throws")}).status, 1);
}

TEST(Protocol, ASkipWithoutACapabilityIsRed) {
  const Ended r = run("lifecycle", {only("Lifecycle.Skips")});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, ContainsRegex("Lifecycle.Skips: not run: GTEST_SKIP: no time today"));
}

TEST(Protocol, ADisabledTestIsRed) {
  const Ended r = run("lifecycle", {only("Disabled.*")});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, ContainsRegex("DISABLED_NeverRuns: not run: DISABLED_ in the source"));
}

TEST(Protocol, NotApplicableIsGreenAndSaid) {
  const std::string warnings = fresh_file("warnings");
  const Ended r = run("lifecycle", {only("Recorded.IsNotApplicable")},
                      {{"TEST_WARNINGS_OUTPUT_FILE", warnings}});
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_THAT(r.output, HasSubstr("0 waived, 1 not applicable, 0 not run"));
  EXPECT_THAT(r.output, HasSubstr("not applicable: needs thread-block clusters"));
  EXPECT_TRUE(std::filesystem::exists(warnings));
}

TEST(Protocol, OutOfMemoryAndRunningNoCaseAreRed) {
  EXPECT_THAT(run("lifecycle", {only("Recorded.RanOutOfMemory")}).output,
              HasSubstr("not run: out of memory"));
  EXPECT_EQ(run("lifecycle", {only("Recorded.RanOutOfMemory")}).status, 1);
  const Ended r = run("lifecycle", {only("Recorded.RanNoCase")});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, HasSubstr("not one generated case ran"));
}

TEST(Protocol, AFailureOutsideOfEveryTestIsRed) {
  const Ended r = run("lifecycle", {only("BadSetUp.*")});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output,
              HasSubstr("[ LEDGER ] problem: GoogleTest failed outside of every property"));
}

TEST(Protocol, EveryEarlyExitIsRedAndNamesTheTest) {
  const struct {
    const char *test, *call;
  } exits[] = {
      {"CallsExit", "exit"}, {"CallsQuickExit", "quick_exit"}, {"CallsUnderscoreExit", "_exit"}};
  for (const auto& e : exits) {
    const Ended r = run("lifecycle", {only(std::string("Lifecycle.Passes:Lifecycle.") + e.test)});
    EXPECT_EQ(r.status, 70) << r.output;
    EXPECT_THAT(r.output, HasSubstr(std::string("The process called ") + e.call +
                                    " while Lifecycle." + e.test + " was running"));
    EXPECT_FALSE(r.ledger.complete) << r.no_ledger;
    EXPECT_EQ(r.ledger.running, std::string("Lifecycle.") + e.test);
    EXPECT_EQ(r.ledger.records.size(), 1u) << "what ended before keeps its verdict";
  }
}

TEST(Protocol, ACrashKeepsItsSignalAndNamesTheTest) {
  const Ended r = run("lifecycle", {only("Lifecycle.Crashes")});
  EXPECT_EQ(r.status, 128 + SIGSEGV) << r.output;
  EXPECT_THAT(r.output, HasSubstr("signal SIGSEGV while Lifecycle.Crashes was running"));
}

TEST(Protocol, TheTimeLimitNamesTheTestThatHung) {
  const Ended r = run("lifecycle", {only("Lifecycle.Hangs")}, {}, 1.0);
  EXPECT_EQ(r.status, 128 + SIGTERM) << r.output;
  EXPECT_THAT(r.output, HasSubstr("time limit?) while Lifecycle.Hangs was running"));
}

TEST(Protocol, AFilterThatMatchesNothingIsRed) {
  for (const Environment& environment : {Environment{{"TESTBRIDGE_TEST_ONLY", "Lifecycel.*"}},
                                         Environment{{"TESTBRIDGE_TEST_ONLY", "Lifecycel.*"},
                                                     {"TEST_TOTAL_SHARDS", "2"},
                                                     {"TEST_SHARD_INDEX", "1"}}}) {
    const Ended r = run("lifecycle", {}, environment);
    EXPECT_EQ(r.status, 1) << r.output;
    EXPECT_THAT(r.output,
                ContainsRegex("filter 'Lifecycel.\\*' matches none of [0-9]+ properties"));
  }
}

TEST(Protocol, AShardBeyondTheLastTestIsGreen) {
  const Environment shard = {{"TEST_TOTAL_SHARDS", "50"}, {"TEST_SHARD_INDEX", "49"}};
  const Ended r = run("lifecycle", {only("Lifecycle.Passes")}, shard);
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_THAT(r.output, HasSubstr("[ LEDGER ] 0 planned"));
}

TEST(Protocol, ShardsDivideTheTestsAmongThem) {
  std::size_t planned = 0;
  for (const char* index : {"0", "1"}) {
    const Ended r = run("lifecycle", {only("Lifecycle.Passes*")},
                        {{"TEST_TOTAL_SHARDS", "2"}, {"TEST_SHARD_INDEX", index}});
    EXPECT_EQ(r.status, 0) << r.output;
    planned += r.ledger.planned.size();
  }
  EXPECT_EQ(planned, 2u);
}

// Bazel takes the file as the proof that a program supports sharding.
bool touches_status_file(const std::string& program) {
  const std::string status = fresh_file("shard_status");
  run(program, {},
      {{"TEST_TOTAL_SHARDS", "20"},
       {"TEST_SHARD_INDEX", "19"},
       {"TEST_SHARD_STATUS_FILE", status}});
  return std::filesystem::exists(status);
}

TEST(Protocol, TouchesTheShardStatusFile) {
  EXPECT_TRUE(touches_status_file("lifecycle"));
  EXPECT_FALSE(touches_status_file("ignores_shards")) << "the check must be able to fail";
}

TEST(Protocol, AStatusFileThatCannotBeTouchedIsRed) {
  const Ended r = run("lifecycle", {only("Lifecycle.Passes")},
                      {{"TEST_TOTAL_SHARDS", "2"},
                       {"TEST_SHARD_INDEX", "0"},
                       {"TEST_SHARD_STATUS_FILE", "/nonexistent/folder/status"}});
  EXPECT_EQ(r.status, 2) << r.output;
}

TEST(Protocol, MisspeltFlagsRunNothing) {
  for (const char* flag : {"--csaes=10", "--gtest_flter=*", "--case=Lifecycle.Passes",
                           "--case=Lifecycle.Absent: n=1", "--gtest_repeat=2"}) {
    const Ended r = run("lifecycle", {flag});
    EXPECT_EQ(r.status, 2) << flag << "\n" << r.output;
    EXPECT_THAT(r.output, AllOf(HasSubstr("Nothing was run"), Not(HasSubstr("[ RUN ")))) << flag;
  }
  EXPECT_EQ(run("lifecycle", {}, {{"LOCKSTEP_GPU", "yes"}}).status, 2);
}

TEST(Protocol, ListingIsNotATest) {
  EXPECT_EQ(run("lifecycle", {"--list"}).status, 0);
  const Ended gtest = run("lifecycle", {"--gtest_list_tests"});
  EXPECT_EQ(gtest.status, 0);
  EXPECT_THAT(gtest.output, HasSubstr("Lifecycle.\n  Passes\n"));
  for (const char* flag : {"--list", "--gtest_list_tests", "--help"}) {
    EXPECT_EQ(run("lifecycle", {flag}, {{"TEST_TARGET", "//tests:lifecycle"}}).status, 2) << flag;
  }
}

TEST(Protocol, AGpuThatIsRequiredAndAbsentIsRedBeforeTheFirstTest) {
  const std::string infrastructure = fresh_file("infrastructure");
  const Ended r = run("lifecycle", {only("Lifecycle.Passes*")},
                      {{"LOCKSTEP_GPU", "required"},
                       {"CUDA_VISIBLE_DEVICES", "-1"},
                       {"TEST_INFRASTRUCTURE_FAILURE_FILE", infrastructure}});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(
      r.output,
      ContainsRegex("^\\[ LEDGER \\] No GPU was found: cudaError[A-Za-z]+: [^\n]*nvidia-smi"));
  EXPECT_THAT(r.output,
              HasSubstr("2 planned: 0 pass, 0 fail, 0 waived, 0 not applicable, 2 not run"));
  EXPECT_THAT(r.output, Not(HasSubstr("       OK ")));
  EXPECT_TRUE(std::filesystem::exists(infrastructure));
}

TEST(Protocol, ASimulatedGpuThatIsAskedForAndAbsentIsRed) {
  const Ended r = run("lifecycle", {only("Lifecycle.Passes")}, {{"LOCKSTEP_GPU", "simulated"}});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, HasSubstr("The simulated GPU was not found"));
}

TEST(Protocol, AProgramWithItsRuntimeLinkedInGetsAMessageWithTheChange) {
  const Ended r =
      run("static_runtime", {}, {{"LOCKSTEP_GPU", "simulated"}, {"LOCKSTEP_EXPECT_KERNELS", "1"}});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, AllOf(HasSubstr("The program's CUDA runtime is linked into it"),
                              HasSubstr("--cudart=shared")));
  EXPECT_THAT(r.output,
              HasSubstr("2 planned: 0 pass, 0 fail, 0 waived, 0 not applicable, 2 not run"));
}

TEST(Protocol, WaiversExcuseAFailureUntilTheyExpireOrItPasses) {
  const auto waive = [](const std::string& property, const std::string& expires) {
    const std::string path = fresh_file("waivers.json");
    std::ofstream(path) << R"([{"property": ")" << property
                        << R"(", "url": "https://example.org/7", "expires": ")" << expires
                        << R"(", "reason": "Known."}])";
    return "--waivers=" + path;
  };
  const Ended waived =
      run("lifecycle", {only("Lifecycle.Fails"), waive("Lifecycle.Fails", "2999-12-31")});
  EXPECT_EQ(waived.status, 0) << waived.output;
  EXPECT_THAT(waived.output, HasSubstr("1 planned: 0 pass, 0 fail, 1 waived"));
  const Ended expired =
      run("lifecycle", {only("Lifecycle.Fails"), waive("Lifecycle.Fails", "2020-12-31")});
  EXPECT_EQ(expired.status, 1) << expired.output;
  EXPECT_THAT(expired.output, HasSubstr("expired on 2020-12-31"));
  const Ended fixed =
      run("lifecycle", {only("Lifecycle.Passes"), waive("Lifecycle.Passes", "2999-12-31")});
  EXPECT_EQ(fixed.status, 1) << fixed.output;
  EXPECT_THAT(fixed.output, HasSubstr("unexpected pass: remove the waiver for Lifecycle.Passes"));
  EXPECT_EQ(run("lifecycle", {only("Lifecycle.Passes"), waive("Lifecycle", "2999-12-31")}).status,
            2)
      << "a file with errors runs nothing";
}

TEST(Protocol, TheXmlIsNoGreenerThanTheLedger) {
  const std::string xml = fresh_file("test.xml");
  run("lifecycle", {only("Lifecycle.Skips")}, {{"XML_OUTPUT_FILE", xml}});
  std::ifstream in(xml);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(text, ContainsRegex("failures=\"1\""));
  EXPECT_THAT(text, HasSubstr("<property name=\"verdict\" value=\"not run\"/>"));
}

}  // namespace protocol_test
}  // namespace lockstep::end_to_end
