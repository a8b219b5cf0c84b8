// Properties that must fail, each for its planted reason and shrunk to the smallest case. Their
// replay line, run by a shell, must fail on that same case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "harness/conform/subprocess.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace properties_test {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// The environment in which kernel_test starts a program.
const Environment kSimulated = {{"LOCKSTEP_GPU", "simulated"}, {"LOCKSTEP_EXPECT_KERNELS", "1"}};

Ended run_property(const std::string& property, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"--gtest_filter=" + property};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run("properties", arguments, kSimulated);
}

// The value of a field in a case's text: "33" for n in "n=33 threads=1024".
std::string field(const std::string& text, const std::string& name) {
  const auto at = (" " + text).find(" " + name + "=");
  if (at == std::string::npos) return "";
  const auto begin = at + name.size() + 1;
  return text.substr(begin, text.find(' ', begin) - begin);
}

TEST(Properties, RightKernelsHold) {
  const Ended r = run_property("Right.*");
  EXPECT_EQ(r.status, 0) << r.output;
  ASSERT_THAT(r.ledger.records, SizeIs(2)) << r.no_ledger;
  for (const Record& record : r.ledger.records) {
    EXPECT_EQ(record.verdict, Verdict::kPass);
    EXPECT_EQ(record.cases, 200u);
    EXPECT_NE(record.seed, 0u);
    EXPECT_EQ(record.notes.at("kernel_launches"), "200");
  }
  EXPECT_EQ(r.ledger.device.at("simulated"), "true");
}

TEST(Properties, EachFaultFailsForItsReasonAndShrinks) {
  const struct {
    const char *property, *reason, *n;  // n of the smallest failing case
  } faults[] = {
      {"Mismatch", "mismatch", "101"},
      {"Unwritten", "unwritten", "1"},
      {"UnwrittenBeyondAWarp", "unwritten", "33"},
      {"InputChanged", "input-changed", "1"},
      {"OutOfBounds", "finding:out-of-bounds", "0"},
      {"Misaligned", "finding:misaligned", "1"},
      {"Uninitialised", "finding:uninitialised", "1"},
      {"AddsToItsOutput", "finding:uninitialised", "1"},
      {"Race", "finding:race", "0"},
      {"GuardOverwritten", "guard", "0"},
      {"Expectation", "expectation", "50"},
      {"Exception", "exception", "70"},
      {"CudaError", "cuda-error", "65"},
      {"Law", "law", "41"},
  };
  const Ended r = run_property("Wrong.*");
  EXPECT_EQ(r.status, 1) << r.output;
  ASSERT_THAT(r.ledger.records, SizeIs(std::size(faults))) << r.no_ledger << r.output;
  for (const auto& fault : faults) {
    const std::string name = std::string("Wrong.") + fault.property;
    bool found = false;
    for (const Record& record : r.ledger.records) {
      if (record.property != name) continue;
      found = true;
      EXPECT_EQ(record.verdict, Verdict::kFail) << name;
      EXPECT_EQ(record.reason, fault.reason) << name << ": " << record.message;
      EXPECT_EQ(field(record.minimal_case, "n"), fault.n) << name << ": " << record.minimal_case;
      EXPECT_EQ(field(record.minimal_case, "misalignment"), "0")
          << name << ": " << record.minimal_case;
      EXPECT_THAT(record.replay, HasSubstr("--case=" + name + ": " + record.minimal_case));
    }
    EXPECT_TRUE(found) << name;
  }
}

TEST(Properties, AFindingInsideAPropertyNamesBufferAndLine) {
  const Ended r = run_property("Wrong.OutOfBounds");
  EXPECT_THAT(r.output, ContainsRegex("faults\\.cu:[0-9]+"));
  EXPECT_THAT(r.output, HasSubstr("'y'")) << "buffers go by the names that the property gave them";
}

// The line after "replay:" of the output, which a user would copy.
std::string printed_replay_line(const std::string& output) {
  const std::string mark = "    replay: ";
  const auto at = output.rfind(mark);
  if (at == std::string::npos) return "";
  return output.substr(at + mark.size(), output.find('\n', at) - at - mark.size());
}

TEST(Properties, ThePrintedReplayLineFailsAgainOnTheSameCase) {
  const Ended first = run_property("Wrong.UnwrittenBeyondAWarp");
  ASSERT_THAT(first.ledger.records, SizeIs(1)) << first.output;
  const std::string line = printed_replay_line(first.output);
  ASSERT_THAT(line, HasSubstr("--case=Wrong.UnwrittenBeyondAWarp: n=33 ")) << first.output;

  // Runs the line in a shell unchanged, within a shard and a filter that would not select the test.
  Command c;
  c.argv = {"/bin/sh", "-c", line};
  c.unset = {"TEST_*", "TESTBRIDGE_*", "GTEST_*", "LOCKSTEP_*", "XML_OUTPUT_FILE"};
  const std::string outputs = fresh_file("replayed");
  c.set = kSimulated;
  c.set["TEST_UNDECLARED_OUTPUTS_DIR"] = outputs;
  c.set["TESTBRIDGE_TEST_ONLY"] = "Right.*";
  c.set["TEST_TOTAL_SHARDS"] = "3";
  c.set["TEST_SHARD_INDEX"] = "0";
  c.output = fresh_file("log");
  const ProcessEnd end = run_process(c);
  EXPECT_EQ(end.status, 1) << line;
  LedgerFile again;
  std::string error;
  ASSERT_TRUE(read_ledger(outputs + "/ledger.json", again, error)) << error;
  ASSERT_THAT(again.records, SizeIs(1));
  EXPECT_EQ(again.records[0].property, "Wrong.UnwrittenBeyondAWarp");
  EXPECT_EQ(again.records[0].minimal_case, first.ledger.records[0].minimal_case);
  EXPECT_EQ(again.records[0].reason, first.ledger.records[0].reason);
  EXPECT_EQ(again.records[0].cases, 1u);
}

TEST(Properties, UnderBazelTheReplayLineIsABazelCommandWithTheSameCase) {
  Environment environment = kSimulated;
  environment["TEST_TARGET"] = "//tests:properties_test";
  const Ended r = run("properties", {"--gtest_filter=Wrong.UnwrittenBeyondAWarp"}, environment);
  EXPECT_THAT(printed_replay_line(r.output),
              StartsWith("bazel test //tests:properties_test "
                         "'--test_arg=--case=Wrong.UnwrittenBeyondAWarp: n=33 "));
}

TEST(Properties, ACaseMayBeEditedByHand) {
  const std::string known = "n=33 threads=1024 misalignment=0 poison=nan values=";
  const Ended first = run_property("Wrong.UnwrittenBeyondAWarp");
  ASSERT_THAT(first.ledger.records, SizeIs(1));
  std::string text = first.ledger.records[0].minimal_case;
  ASSERT_THAT(text, StartsWith(known));
  text.replace(0, 4, "n=32");
  const Ended held = run("properties", {"--case=Wrong.UnwrittenBeyondAWarp: " + text}, kSimulated);
  EXPECT_EQ(held.status, 0) << "32 elements are all written\n" << held.output;
  EXPECT_THAT(held.output, HasSubstr("1 planned: 1 pass"));
}

TEST(Properties, ACaseThatCannotBeReadIsRed) {
  for (const char* text : {"n=33", "n=2000 threads=1024 misalignment=0 poison=nan values=uniform:0",
                           "m=33", "n=33 n=34"}) {
    const Ended r =
        run("properties", {std::string("--case=Right.DoublesItsInput: ") + text}, kSimulated);
    EXPECT_NE(r.status, 0) << text << "\n" << r.output;
    EXPECT_THAT(r.output, HasSubstr("0 pass")) << text;
  }
}

TEST(Properties, SeedsAndNumbersOfCasesAreObeyed) {
  const Ended a = run_property("Right.DoublesItsInput", {"--cases=7", "--seed=12345"});
  ASSERT_THAT(a.ledger.records, SizeIs(1)) << a.output;
  EXPECT_EQ(a.ledger.records[0].cases, 7u);
  EXPECT_EQ(a.ledger.records[0].seed, 12345u);
  const Ended b = run("properties", {"--gtest_filter=Right.DoublesItsInput"},
                      {{"LOCKSTEP_GPU", "simulated"}, {"LOCKSTEP_SCALE", "2"}});
  ASSERT_THAT(b.ledger.records, SizeIs(1)) << b.output;
  EXPECT_EQ(b.ledger.records[0].cases, 400u);
}

TEST(Properties, WorkIsLimitedOnRequest) {
  const auto with = [](const std::string& work) {
    return run("properties", {"--gtest_filter=Right.DoublesItsInput"},
               {{"LOCKSTEP_GPU", "simulated"}, {"LOCKSTEP_WORK", work}});
  };
  const Ended limited = with("400000"), whole = with("0");
  ASSERT_THAT(limited.ledger.records, SizeIs(1)) << limited.output;
  ASSERT_THAT(whole.ledger.records, SizeIs(1)) << whole.output;
  EXPECT_EQ(limited.ledger.records[0].cases, 20u) << "each has a launch of 20,000 steps";
  EXPECT_EQ(whole.ledger.records[0].cases, 200u);
  EXPECT_EQ(limited.ledger.records[0].notes.count("reduced"), 1u);
  EXPECT_EQ(limited.ledger.records[0].notes.count("digest"), 0u);
  EXPECT_EQ(whole.ledger.records[0].notes.count("reduced"), 0u);
  EXPECT_EQ(whole.ledger.records[0].notes.count("digest"), 1u);
  const Ended given = run("properties", {"--gtest_filter=Right.DoublesItsInput", "--cases=30"},
                          {{"LOCKSTEP_GPU", "simulated"}, {"LOCKSTEP_WORK", "400000"}});
  ASSERT_THAT(given.ledger.records, SizeIs(1)) << given.output;
  EXPECT_EQ(given.ledger.records[0].cases, 30u);
  for (const char* wrong : {"-1", "1e6", "much", "1000000000001"}) {
    const Ended refused = with(wrong);
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr(std::string("LOCKSTEP_WORK='") + wrong +
                                          "' is not an integer from 0 to 1000000000000"));
  }
}

TEST(Properties, AProgramOfKernelTestsThatLaunchesNoneIsRed) {
  const Ended r = run_property("Host.*");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output, HasSubstr("1 planned: 1 pass"));
  EXPECT_THAT(r.output, HasSubstr("problem: not one kernel was launched"));
  EXPECT_EQ(run("properties", {"--gtest_filter=Host.*"}, {{"LOCKSTEP_GPU", "simulated"}}).status,
            0);
}

TEST(Properties, TheSimulatedGpuDoesNotPassForSilicon) {
  const Ended r = run("properties", {"--gtest_filter=Right.*"}, {{"LOCKSTEP_GPU", "required"}});
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_THAT(r.output,
              HasSubstr("No GPU was found: the CUDA runtime of this process is the simulated GPU"));
  EXPECT_THAT(r.output, HasSubstr("0 pass, 0 fail, 0 waived, 0 not applicable, 2 not run"));
}

}  // namespace properties_test
}  // namespace lockstep::end_to_end
