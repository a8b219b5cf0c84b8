// Runs conform on suites that pass, fail, crash and hang; checks exit status, table, passport and
// JUnit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/ledger/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace conform_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct Conformed {
  int status = -1;
  std::string output, junit, out;
  nlohmann::json passport;  // null if there is none
};

// Runs conform with `programs` of this folder as suites, under their own names.
Conformed conform(const std::vector<std::string>& programs, std::vector<std::string> arguments = {},
                  Environment environment = {}) {
  Conformed c;
  c.out = fresh_file("out");
  const std::string manifest = fresh_file("suites.tsv");
  std::ofstream list(manifest);
  for (const std::string& p : programs)
    list << p << '\t' << "tests/end_to_end/" << p << "\t//tests/end_to_end:" << p << '\n';
  list.close();
  arguments.push_back("--manifest=" + manifest);
  arguments.push_back("--out=" + c.out);
  const Ended ended = run("harness/conform/conform", arguments, environment, 120);
  c.status = ended.status;
  c.output = ended.output;
  c.passport = nlohmann::json::parse(text_of(c.out + "/passport.json"), nullptr, false);
  c.junit = text_of(c.out + "/junit.xml");
  return c;
}

TEST(Conform, RightSuitesAreGreen) {
  const Conformed c = conform({"right"}, {"--cases=20", "--seed=7"});
  EXPECT_EQ(c.status, 0) << c.output;
  EXPECT_THAT(c.output, ContainsRegex("right +2 +2 +0 +0 +0 +0 +40 "));
  EXPECT_THAT(c.output, HasSubstr("Every ledger closes and all is green."));
  ASSERT_TRUE(c.passport.is_object()) << c.output;
  EXPECT_EQ(c.passport["green"], true);
  EXPECT_EQ(c.passport["counts"]["pass"], 2);
  EXPECT_EQ(c.passport["counts"]["cases"], 40);
  EXPECT_EQ(c.passport["options"]["cases"], "20");
  EXPECT_EQ(c.passport["device"]["simulated"], "true");
  EXPECT_EQ(c.passport["suites"][0]["properties"][0]["seed"], "7");
  EXPECT_THAT(c.junit, HasSubstr("tests=\"2\" failures=\"0\" errors=\"0\""));
}

TEST(Conform, OneFailingSuiteTurnsTheRunRedAndTheOthersStillRun) {
  const Conformed c =
      conform({"properties", "right"}, {"--cases=60"}, {{"LOCKSTEP_COMMAND", "./lockstep run"}});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_THAT(c.output, HasSubstr("[1/2] properties: RED"));
  EXPECT_THAT(c.output, HasSubstr("[2/2] right: green"));
  EXPECT_THAT(c.output, ContainsRegex("Wrong\\.UnwrittenBeyondAWarp failed: unwritten"));
  EXPECT_THAT(c.output, ContainsRegex("minimal case: n=33 "));
  EXPECT_THAT(
      c.output,
      ContainsRegex("replay: \\./lockstep run --manifest=[^ ]*suites.tsv --suite=properties "
                    "'--case=Wrong\\.UnwrittenBeyondAWarp: n=33 [^\n]*'"));
  EXPECT_THAT(c.output, HasSubstr("NOT GREEN"));
  ASSERT_TRUE(c.passport.is_object());
  EXPECT_EQ(c.passport["green"], false);
  EXPECT_THAT(c.passport["suites"], SizeIs(2));
  EXPECT_THAT(c.junit, HasSubstr("<failure message=\"unwritten\">"));
}

TEST(Conform, RunsOneCaseOfOneSuite) {
  const std::string replay =
      "--case=Wrong.Expectation: n=50 threads=1024 misalignment=0 poison=nan values=integers:0";
  const Conformed several = conform({"properties", "right"}, {replay});
  EXPECT_EQ(several.status, 2) << several.output;
  const Conformed unknown = conform({"properties"}, {"--case=Wrong.Expectatoin: n=50"});
  EXPECT_EQ(unknown.status, 2) << unknown.output;
  EXPECT_THAT(
      unknown.output,
      HasSubstr(
          "--case: properties has no property Wrong.Expectatoin; did you mean Wrong.Expectation?"));
  const Conformed first = conform({"properties"}, {"--cases=60"});
  std::string text;
  for (const auto& p : first.passport["suites"][0]["properties"]) {
    if (p["property"] == "Wrong.Expectation") text = p["minimal_case"];
  }
  ASSERT_THAT(text, HasSubstr("n=50 "));
  const Conformed again =
      conform({"properties", "right"}, {"--suite=properties", "--case=Wrong.Expectation: " + text});
  EXPECT_EQ(again.passport["device"]["simulated"], "true");
  EXPECT_EQ(again.status, 1) << again.output;
  EXPECT_EQ(again.passport["counts"]["planned"], 1);
  EXPECT_EQ(again.passport["suites"][0]["properties"][0]["minimal_case"], text);
}

TEST(Conform, ASuiteThatDiesLosesOnePropertyAndTheOthersRunInANewProcess) {
  for (const auto& [how, end] : {std::pair<const char*, const char*>{"killed", "signal SIGKILL"},
                                 {"exit", "exit status 70"}}) {
    const Conformed c = conform({"leaves"}, {"--cases=5"}, {{"LEAVES", how}});
    EXPECT_EQ(c.status, 1) << c.output;
    EXPECT_EQ(c.passport["counts"]["pass"], 4) << c.output;
    EXPECT_EQ(c.passport["counts"]["not_run"], 1);
    EXPECT_EQ(c.passport["suites"][0]["end"], end);
    EXPECT_THAT(
        c.output,
        HasSubstr(
            std::string("Leaves.Ends did not run to its end: the process ended while it ran: ") +
            end));
    EXPECT_THAT(c.junit, HasSubstr("errors=\"2\"")) << "the property, and the process itself";
    EXPECT_TRUE(fs::exists(c.out + "/ledgers/leaves.2.json"));
  }
}

TEST(Conform, AnErrorThatSticksToTheDeviceCostsOneProperty) {
  const Conformed c = conform({"leaves", "right"}, {"--cases=5"}, {{"LEAVES", "sticky"}});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_EQ(c.passport["suites"][0]["counts"]["fail"], 1);
  EXPECT_EQ(c.passport["suites"][0]["counts"]["pass"], 4);
  EXPECT_THAT(c.output, ContainsRegex("Leaves\\.Computes failed"));
  EXPECT_THAT(c.output, HasSubstr("[2/2] right: green"));
}

TEST(Conform, APropertyThatHangsIsEndedAtItsLimitAndTheOthersRun) {
  const Conformed c =
      conform({"leaves", "right"}, {"--cases=5", "--property-limit=2"}, {{"LEAVES", "hangs"}});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_THAT(
      c.output,
      HasSubstr(
          "Leaves.Ends did not run to its end: the process ended while it ran: the limit of 2 s "
          "for one property"));
  EXPECT_EQ(c.passport["suites"][0]["counts"]["pass"], 4);
  EXPECT_THAT(c.output, HasSubstr("[2/2] right: green"));
}

TEST(Conform, ASuiteThatHangsIsEndedAtItsTimeLimit) {
  const Conformed c =
      conform({"leaves", "right"}, {"--cases=5", "--time-limit=3"}, {{"LEAVES", "hangs"}});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_THAT(
      c.output,
      ContainsRegex(
          "Leaves\\.Ends did not run to its end: the process ended while it ran: its time limit"));
  EXPECT_THAT(c.output, HasSubstr("[2/2] right: green"));
}

TEST(Conform, WithoutTheGpuThatWasAskedForNothingRuns) {
  for (const char* device : {"--device=gpu", "--device=all", "--device=0,1"}) {
    const Conformed c = conform({"right"}, {device}, {{"CUDA_VISIBLE_DEVICES", "-1"}});
    EXPECT_EQ(c.status, 5) << c.output;
    EXPECT_THAT(c.output, AllOf(HasSubstr("no GPU can be used"),
                                HasSubstr("--device=simulator runs the same programs")));
    EXPECT_FALSE(fs::exists(c.out + "/passport.json"));
  }
  EXPECT_EQ(conform({"right"}, {"--cases=2", "--device=simulator"}).status, 0);
}

TEST(Conform, AProgramWithoutALedgerIsRedThoughItPasses) {
  const Conformed c = conform({"ignores_shards"});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_THAT(c.output, HasSubstr("ignores_shards left no ledger (exit status 0)"));
}

TEST(Conform, AProgramThatIsNotThereIsRed) {
  const Conformed c = conform({"absent"});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_THAT(c.output, HasSubstr("is not among the runfiles"));
}

TEST(Conform, SuitesThatRunAtTheSameTimeAreReportedInTheirOrder) {
  const Conformed c = conform({"leaves", "properties", "right"}, {"--cases=20", "--jobs=3"},
                              {{"LEAVES", "killed"}});
  EXPECT_EQ(c.status, 1) << c.output;
  ASSERT_TRUE(c.passport.is_object()) << c.output;
  ASSERT_THAT(c.passport["suites"], SizeIs(3));
  EXPECT_EQ(c.passport["suites"][0]["end"], "signal SIGKILL");
  EXPECT_EQ(c.passport["suites"][1]["family"], "properties");
  EXPECT_THAT(c.output, HasSubstr("[3/3] right: green"));
}

TEST(Conform, RepeatedRunsHaveRandomSeedsOfTheirOwnAndAddUp) {
  const Conformed c =
      conform({"right"}, {"--cases=20", "--repeat=5", "--jobs=2", "--random-seed=900"});
  EXPECT_EQ(c.status, 0) << c.output;
  EXPECT_THAT(c.output, HasSubstr("5 runs, random seeds from 900"));
  EXPECT_THAT(c.output, ContainsRegex("right +10 +10 +0 +0 +0 +0 +200 "));
  EXPECT_THAT(c.output, ContainsRegex("5 of 5 runs green, 200 cases, [0-9]+ s"));
  std::set<std::string> seeds;
  for (int run = 1; run <= 5; ++run) {
    const auto ledger =
        nlohmann::json::parse(text_of(fmt::format("{}/runs/{}/ledgers/right.json", c.out, run)));
    for (const auto& record : ledger["records"]) seeds.insert(record["seed"]);
  }
  EXPECT_THAT(seeds, SizeIs(10)) << "two properties, five runs";
  const Conformed third = conform({"right"}, {"--cases=20", "--random-seed=902"});
  EXPECT_EQ(third.status, 0) << third.output;
  for (const auto& property : third.passport["suites"][0]["properties"])
    EXPECT_TRUE(seeds.contains(property["seed"]))
        << "a run by itself has the seeds that it had among the others";
}

TEST(Conform, TheSuitesOfARepeatedRunLeaveEachOthersOutputsAlone) {
  const Conformed c = conform({"right", "leaves"}, {"--cases=5", "--repeat=2", "--jobs=1"},
                              {{"LEAVES", "properly"}});
  EXPECT_EQ(c.status, 0) << c.output;
  for (const char* suite : {"right", "leaves"})
    EXPECT_TRUE(fs::exists(c.out + "/runs/2/outputs/" + suite)) << suite;
}

TEST(Conform, RepeatedRunsStopAtTheFirstFailureAndShowIt) {
  const Conformed c = conform({"right", "properties"}, {"--cases=60", "--repeat=50", "--jobs=1"});
  EXPECT_EQ(c.status, 1) << c.output;
  EXPECT_THAT(c.output, ContainsRegex("Wrong\\.UnwrittenBeyondAWarp failed: unwritten"));
  EXPECT_THAT(c.output, HasSubstr("0 of 50 runs green"));
  EXPECT_FALSE(fs::exists(c.out + "/runs/2"));
}

TEST(Conform, RefusesWhatItDoesNotUnderstandAndLeavesNoPassport) {
  for (const char* argument :
       {"--suite=rihgt",      "--cases=0",  "--seed=x",        "--device=H100",
        "--time-limit=0",     "--bogus",    "bogus",           "--case=nonsense",
        "--jobs=0",           "--repeat=0", "--repeat=-1",     "--random-seed=1",
        "--cases=1000000001", "--seed=0",   "--jobs=1025",     "--repeat=1000001",
        "--property-limit=0", "--scale=0",  "--scale=1000001", "--random-seed=1000000000000000001",
        "-k=Right:x"}) {
    const Conformed c = conform({"right"}, {argument});
    EXPECT_EQ(c.status, 2) << argument << "\n" << c.output;
    EXPECT_FALSE(fs::exists(c.out + "/passport.json")) << argument;
  }
  // Options that exclude each other.
  for (const std::vector<std::string>& two : {std::vector<std::string>{"--seed=7", "--repeat=2"},
                                              {"--seed=7", "--random-seed=3"},
                                              {"--cases=7", "--quick"},
                                              {"--cases=7", "--scale=2"},
                                              {"--quick", "--scale=2"},
                                              {"--case=Right.Any: n=1", "--repeat=2"},
                                              {"--case=Right.Any: n=1", "-k=Right"},
                                              {"--case=Right.Any: n=1", "--lf"},
                                              {"--repeat=2", "-x"},
                                              {"--repeat=2", "--lf"}}) {
    const Conformed c = conform({"right"}, two);
    EXPECT_EQ(c.status, 2) << two[0] << " " << two[1] << "\n" << c.output;
    EXPECT_THAT(c.output, HasSubstr(two[0].substr(0, two[0].find('=')))) << two[1];
  }
  EXPECT_THAT(conform({"right"}, {"--suite=rihgt"}).output,
              HasSubstr("there is no suite 'rihgt'; the suites are: right"));
}

TEST(Conform, ListsTheSuites) {
  const Ended built_in = run("harness/conform/conform", {"list", "--names"});
  EXPECT_EQ(built_in.status, 0) << built_in.output;
  EXPECT_THAT(built_in.output, ContainsRegex("stencil +//tests:stencil_test"));
}

TEST(Conform, GivesTheSuitesTheDeviceThatWasAskedFor) {
  const Conformed c = conform({"right"}, {"--cases=2", "--device=sm_80"});
  EXPECT_EQ(c.status, 0) << c.output;
  EXPECT_EQ(c.passport["device"]["compute_capability"], "8.0");
}

}  // namespace conform_test
}  // namespace lockstep::end_to_end
