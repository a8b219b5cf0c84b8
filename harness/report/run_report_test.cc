// The table, the passport and the XML agree with the ledgers, above all if a run is not green.
#include "harness/report/run_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lockstep_version.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Record record(std::string property, Verdict verdict, std::string reason = "") {
  Record r;
  r.property = std::move(property);
  r.verdict = verdict;
  r.reason = std::move(reason);
  r.cases = 100;
  r.budget = 0.25;
  r.seed = 18446744073709551615u;
  r.seconds = 0.5;
  return r;
}

SuiteResult suite(const std::string& family, std::vector<Record> records, int status = 0) {
  LedgerFile file;
  file.device = {{"name", "Simulated sm_90"}};
  for (const Record& r : records) file.planned.push_back(r.property);
  file.records = std::move(records);
  file.complete = true;
  ProcessEnd end;
  end.how = ProcessEnd::How::kExited;
  end.status = status;
  end.seconds = 1.5;
  SuiteResult s =
      assess({family, "tests/" + family + "_test", "//tests:" + family + "_test"}, end, file, "");
  s.log = "logs/" + family + ".log";
  return s;
}

RunReport green() {
  RunReport r;
  r.created = "2026-11-21T11:30:00Z";
  r.commit = "0123abcd";
  r.suites = {suite("stencil",
                    {record("Stencil.A", Verdict::kPass),
                     record("Stencil.B", Verdict::kNotApplicable, "clusters: 1 needed, 0 there")}),
              suite("scan", {record("Scan.A", Verdict::kPass)})};
  return r;
}

RunReport red() {
  RunReport r = green();
  Record failed = record("Scan.B", Verdict::kFail, "mismatch");
  failed.message = "y[3] is 1 < 2 & \"bad\"\nsecond line\x01";
  failed.minimal_case = "n=33 block=32";
  failed.replay = "bazel test //tests:scan_test '--test_arg=--case=Scan.B: n=33 block=32'";
  r.suites[1] = suite("scan", {record("Scan.A", Verdict::kPass), failed}, 1);
  return r;
}

TEST(RunReport, IsGreenOnlyIfSomethingRanAndAllOfItIsGreen) {
  EXPECT_THAT(green().problems(), IsEmpty());
  EXPECT_THAT(red().problems(), ElementsAre("scan: Scan.B failed: mismatch"));
  EXPECT_THAT(RunReport{}.problems(), ElementsAre("no suite was run"));
}

TEST(RunReport, OfTwoDevicesIsRed) {
  RunReport r = green();
  r.suites[1].file.device["name"] = "Simulated sm_80";
  EXPECT_THAT(r.problems(), ElementsAre("stencil and scan ran on different devices"));
}

TEST(RunReport, TableHasARowASuiteAndTheirSum) {
  EXPECT_EQ(
      table(green().suites),
      "family   planned  pass  fail  waived  not applicable  not run  cases  budget  seconds\n"
      "-------------------------------------------------------------------------------------\n"
      "stencil        2     1     0       0               1        0    200   0.250      1.5\n"
      "scan           1     1     0       0               0        0    100   0.250      1.5\n"
      "-------------------------------------------------------------------------------------\n"
      "all            3     2     0       0               1        0    300   0.250      3.0\n");
  EXPECT_THAT(table({green().suites[0]}), Not(HasSubstr("all")));
}

TEST(RunReport, FailuresCarryTheirCaseAndReplayLine) {
  EXPECT_EQ(failures(green().suites), "");
  EXPECT_THAT(
      failures(red().suites),
      AllOf(HasSubstr("scan: not green; its log is logs/scan.log"),
            HasSubstr("  Scan.B failed: mismatch\n      y[3] is 1 < 2"),
            HasSubstr("    minimal case: n=33 block=32\n"),
            HasSubstr("    replay: bazel test //tests:scan_test"), Not(HasSubstr("stencil"))));
}

TEST(RunReport, FiveFailuresOfOneCauseAreOneWithFourOthers) {
  const auto race = [](const std::string& property, int thread, int line) {
    Record r = record(property, Verdict::kFail, "finding:race");
    r.message = fmt::format(
        "race: st.shared.f32 of 4 bytes\n  by block (0,0,0) thread ({},0,0)\n  at "
        "kernels/scan.cu:{} (st.shared.f32)",
        thread, line);
    r.minimal_case = fmt::format("n={}", thread);
    r.replay = "lockstep run --case=" + property;
    return r;
  };
  std::vector<Record> records;
  for (int i = 0; i < 5; ++i) records.push_back(race(fmt::format("Scan.Law{}", i), 32 * i, 36));
  records.push_back(race("Scan.Elsewhere", 0, 40));
  Record wrong = record("Scan.Wrong", Verdict::kFail, "mismatch"),
         other = record("Scan.WrongToo", Verdict::kFail, "mismatch");
  wrong.message = "properties/scan.cc:9: y: 3 of 64 elements wrong";
  other.message = "properties/scan.cc:9: y: 4 of 64 elements wrong";
  records.push_back(wrong);
  records.push_back(other);
  const std::string text = failures({suite("scan", records, 1)});
  EXPECT_THAT(text, HasSubstr("  Scan.Law0 failed: finding:race\n"));
  for (int i = 1; i < 5; ++i) {
    EXPECT_THAT(text, HasSubstr(fmt::format(
                          "    also: Scan.Law{0}\n      lockstep run --case=Scan.Law{0}\n", i)));
    EXPECT_THAT(text, Not(HasSubstr(fmt::format("Scan.Law{} failed", i))));
  }
  for (const char* alone : {"Scan.Elsewhere failed", "Scan.Wrong failed", "Scan.WrongToo failed"})
    EXPECT_THAT(text, HasSubstr(alone)) << "causes of their own";
}

TEST(RunReport, ThatWasCutShortSaysSoAndIsNotGreen) {
  RunReport r = green();
  r.partial = "interrupted by SIGINT";
  r.not_begun = {"sort"};
  EXPECT_THAT(r.problems(), ElementsAre("the run was interrupted by SIGINT: sort did not begin"));
  RunReport last = green();
  last.partial = "interrupted by SIGINT";
  EXPECT_THAT(last.problems(), ElementsAre("the run was interrupted by SIGINT"))
      << "though every suite had begun";
  const auto passport = nlohmann::json::parse(passport_json(r));
  EXPECT_EQ(passport["green"], false);
  EXPECT_EQ(passport["partial"]["why"], "interrupted by SIGINT");
  EXPECT_EQ(passport["partial"]["not_begun"][0], "sort");
  EXPECT_FALSE(nlohmann::json::parse(passport_json(green())).contains("partial"));
}

TEST(RunReport, OneReasonForAllIsPrintedOnceWithTheExplanationInTheLog) {
  RunReport r = red();
  const std::string log = ::testing::TempDir() + "/explained.log";
  std::ofstream(log) << "lockstep: LOCKSTEP_DEVICE='sm_50' is not a device that can be simulated: "
                        "sm_75\n[ LEDGER ]\n";
  for (const char* family : {"scan", "sort"}) {
    Record a = record("X.A", Verdict::kNotRun), b = record("X.B", Verdict::kNotRun);
    a.reason = b.reason = "The simulated GPU does not answer";
    r.suites.push_back(suite(family, {a, b}, 1));
    r.suites.back().log = log;
  }
  r.suites.erase(r.suites.begin(), r.suites.end() - 2);
  const std::string text = failures(r.suites);
  EXPECT_THAT(text, HasSubstr("none of its 2 properties ran: The simulated GPU does not answer\n   "
                              " LOCKSTEP_DEVICE='sm_50' is not"));
  EXPECT_THAT(text, HasSubstr("none of its 2 properties ran: the same reason"));
  EXPECT_THAT(text, Not(HasSubstr("X.A")));
}

TEST(RunReport, LongMessagesAreCutWithAWordAboutIt) {
  RunReport r = red();
  Record failed = record("Scan.B", Verdict::kFail, "mismatch");
  for (int i = 0; i < 1000; ++i) failed.message += "line " + std::to_string(i) + "\n";
  r.suites[1] = suite("scan", {failed}, 1);
  EXPECT_THAT(failures(r.suites), AllOf(HasSubstr("line 23\n"), Not(HasSubstr("line 24\n")),
                                        HasSubstr("all of it is in the log")));
}

TEST(Passport, HoldsCountsVerdictsAndDevice) {
  const auto j = nlohmann::json::parse(passport_json(red()));
  EXPECT_EQ(j["schema"], 2);
  EXPECT_EQ(j["version"], LOCKSTEP_VERSION);
  EXPECT_EQ(j["commit"], "0123abcd");
  EXPECT_EQ(j["green"], false);
  EXPECT_EQ(j["device"]["name"], "Simulated sm_90");
  EXPECT_EQ(j["counts"]["planned"], 4);
  EXPECT_EQ(j["counts"]["fail"], 1);
  EXPECT_EQ(j["counts"]["not_applicable"], 1);
  EXPECT_EQ(j["suites"][1]["family"], "scan");
  EXPECT_EQ(j["suites"][1]["end"], "exit status 1");
  const auto& failed = j["suites"][1]["properties"][1];
  EXPECT_EQ(failed["verdict"], "fail");
  EXPECT_EQ(failed["minimal_case"], "n=33 block=32");
  EXPECT_EQ(failed["seed"], "18446744073709551615") << "text, as no reader may round it";
  EXPECT_EQ(nlohmann::json::parse(passport_json(green()))["green"], true);
}

// Every verdict has a different count, over two suites.
TEST(Passport, CountsEveryVerdict) {
  const std::vector<std::pair<Verdict, int>> wanted = {{Verdict::kFail, 1},
                                                       {Verdict::kWaived, 2},
                                                       {Verdict::kNotApplicable, 3},
                                                       {Verdict::kNotRun, 4},
                                                       {Verdict::kPass, 5}};
  std::vector<Record> first, second;
  int number = 0;
  for (const auto& [verdict, count] : wanted) {
    for (int i = 0; i < count; ++i) {
      const std::string property = "Scan.A" + std::to_string(number++);
      (i % 2 == 0 ? first : second)
          .push_back(record(property, verdict, verdict == Verdict::kPass ? "" : "why"));
    }
  }
  RunReport r;
  r.suites = {suite("one", first, 1), suite("two", second, 1)};
  const auto j = nlohmann::json::parse(passport_json(r));
  const std::vector<std::pair<const char*, int>> counts = {{"planned", 15}, {"fail", 1},
                                                           {"waived", 2},   {"not_applicable", 3},
                                                           {"not_run", 4},  {"pass", 5}};
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(j["counts"][name], count) << name;
    EXPECT_EQ(j["suites"][0]["counts"][name].get<int>() + j["suites"][1]["counts"][name].get<int>(),
              count)
        << name;
  }
  EXPECT_THAT(table(r.suites), ContainsRegex("all +15 +5 +1 +2 +3 +4 "));
}

TEST(Passport, WhatATestMeasuredAreFields) {
  Record r = record("Scan.A", Verdict::kPass);
  r.notes = {{"digest", "0123456789abcdef"},
             {"golden.field", "same"},
             {"kernel_launches", "3"},
             {"table.Transactions", "lines\n2"},
             {"timing.copy", R"({"name": "copy", "median_us": 1.5})"},
             {"timing_verdict.b against a", R"({"name": "b against a", "verdict": "SAME"})"}};
  RunReport report;
  report.suites = {suite("scan", {r})};
  report.driver_version = 13000;
  const auto j = nlohmann::json::parse(passport_json(report));
  EXPECT_EQ(j["driver"]["version"], 13000);
  const auto& property = j["suites"][0]["properties"][0];
  EXPECT_EQ(property["digest"], "0123456789abcdef");
  EXPECT_EQ(property["golden"]["field"], "same");
  EXPECT_EQ(property["tables"]["Transactions"], "lines\n2");
  EXPECT_EQ(property["timings"][0]["median_us"], 1.5);
  EXPECT_EQ(property["timing_verdicts"][0]["verdict"], "SAME");
  EXPECT_EQ(property["notes"].size(), 1u) << "the rest stays";
  EXPECT_EQ(property["notes"]["kernel_launches"], "3");
}

TEST(Passport, OfNothingIsNotGreen) {
  const auto j = nlohmann::json::parse(passport_json(RunReport{}));
  EXPECT_EQ(j["green"], false);
  EXPECT_THAT(j["problems"], Contains("no suite was run"));
}

TEST(Junit, CountsAndEscapes) {
  const std::string xml = junit_xml(red());
  EXPECT_THAT(
      xml,
      HasSubstr(
          "<testsuites name=\"lockstep\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(
      xml,
      HasSubstr("<testsuite name=\"scan\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"scan.Scan\" name=\"B\""));
  EXPECT_THAT(
      xml,
      HasSubstr("<failure message=\"mismatch\">y[3] is 1 &lt; 2 &amp; &quot;bad&quot;&#10;second "
                "line?&#10;minimal case: n=33"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"not applicable: clusters: 1 needed, 0 there\"/>"));
}

TEST(Junit, WhatDidNotRunIsAnErrorAndSoIsALedgerThatDoesNotClose) {
  RunReport r;
  r.suites = {suite("scan", {record("Scan.A", Verdict::kNotRun, "out of memory")}, 1)};
  EXPECT_THAT(junit_xml(r), HasSubstr("<error message=\"not run: out of memory\">"));
  r.suites = {suite("scan", {record("Scan.A", Verdict::kPass)}, 86)};
  EXPECT_THAT(
      junit_xml(r),
      AllOf(HasSubstr("<testsuites name=\"lockstep\" tests=\"2\" failures=\"0\" errors=\"1\""),
            HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\""),
            HasSubstr(
                "<error message=\"scan ended with exit status 86 although its ledger closes\"/>")));
}

}  // namespace
}  // namespace lockstep
