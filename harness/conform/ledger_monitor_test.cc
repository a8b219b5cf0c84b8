// A bad property must cost only itself: the remaining properties are found, run again, and added.
#include "harness/conform/ledger_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/ledger/session.h"

namespace lockstep {
namespace ledger_monitor_test {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Record record(const std::string& property, Verdict verdict, const std::string& reason = "") {
  Record r;
  r.property = property;
  r.verdict = verdict;
  r.reason = reason;
  return r;
}

LedgerFile planned(std::vector<std::string> properties) {
  LedgerFile file;
  file.planned = std::move(properties);
  file.complete = true;
  return file;
}

const std::string kLost = std::string(kDeviceLostAfter) + "A.B with n=1";

TEST(LeftOver, IsNothingOfAProcessThatRanThemAll) {
  LedgerFile file = planned({"A.B", "A.C"});
  file.records = {record("A.B", Verdict::kPass), record("A.C", Verdict::kFail, "mismatch")};
  EXPECT_THAT(left_over(file, false), IsEmpty());
}

TEST(LeftOver, IsWhatAProcessThatDiedNeverReached) {
  LedgerFile file = planned({"A.B", "A.C", "A.D", "A.E"});
  file.complete = false;
  file.records = {record("A.B", Verdict::kPass)};
  file.running = "A.C";
  EXPECT_THAT(left_over(file, true), ElementsAre("A.D", "A.E"));
}

TEST(LeftOver, IsWhatALostDeviceKeptFromRunning) {
  LedgerFile file = planned({"A.B", "A.C", "A.D"});
  file.records = {record("A.B", Verdict::kFail, "cuda-error"),
                  record("A.C", Verdict::kNotRun, kLost),
                  record("A.D", Verdict::kNotRun, "out of memory")};
  EXPECT_THAT(left_over(file, false), ElementsAre("A.C"));
}

TEST(LeftOver, IsNothingWhereTheNextProcessWouldFareTheSame) {
  LedgerFile file = planned({"A.B", "A.C"});
  file.complete = false;
  EXPECT_THAT(left_over(file, true), IsEmpty()) << "it died before its first property";
  file.complete = true;
  file.records = {record("A.B", Verdict::kPass)};
  EXPECT_THAT(left_over(file, false), IsEmpty())
      << "a property that vanished is a fault of the program";
}

TEST(AddLater, ReplacesWhatWasNotRunAndTheSentencesAboutIt) {
  LedgerFile whole = planned({"A.B", "A.C"});
  whole.records = {record("A.B", Verdict::kFail, "cuda-error"),
                   record("A.C", Verdict::kNotRun, kLost)};
  whole.problems = {"A.B failed: cuda-error", problem_of(whole.records[1])};
  LedgerFile later = planned({"A.C"});
  later.records = {record("A.C", Verdict::kPass)};
  later.problems = {"A.B failed: cuda-error", "something else"};
  add_later(whole, later);
  ASSERT_EQ(whole.records.size(), 2u);
  EXPECT_EQ(whole.records[1].verdict, Verdict::kPass);
  EXPECT_THAT(whole.problems, ElementsAre("A.B failed: cuda-error", "something else"));
}

// Suites that consist of a shell script, which writes ledgers like a program whose GPU fails.
class RunInProcesses : public ::testing::Test {
 protected:
  RunInProcesses()
      : folder_(fs::path(::testing::TempDir()) / ("relay." + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    processes_.ledgers = processes_.logs = folder_;
  }

  // Runs `steps` with $ledger set, and with $only set to the selected properties.
  SuiteResult run(const std::string& steps) {
    const std::string program = (folder_ / "program").string();
    std::ofstream script(program);
    script << "#!/bin/sh\nfor a; do case $a in --ledger=*) ledger=${a#*=};; --gtest_filter=*) "
              "only=${a#*=};; esac; done\n"
           << steps;
    script.close();
    fs::permissions(program, fs::perms::owner_all);
    processes_.command.argv = {program};
    return run_in_processes({"made", program, ""}, processes_);
  }

  void ledger(const std::string& name, LedgerFile file) {
    ASSERT_EQ(write_ledger((folder_ / name).string(), to_json(file)), "");
  }

  fs::path folder_;
  SuiteProcesses processes_;
};

TEST_F(RunInProcesses, GoesOnInANewProcessAfterOneThatDied) {
  LedgerFile first = planned({"A.B", "A.C", "A.D"});
  first.complete = false;
  first.records = {record("A.B", Verdict::kPass)};
  first.running = "A.C";
  LedgerFile second = planned({"A.D"});
  second.records = {record("A.D", Verdict::kPass)};
  ledger("first", first);
  ledger("second", second);
  const SuiteResult r =
      run("dir=${0%/*}\necho \"only=$only\"\n"
          "if [ -z \"$only\" ]; then cp $dir/first $ledger; kill -SEGV $$; fi\n"
          "[ \"$only\" = A.D ] && cp $dir/second $ledger\n");
  const Tally t = r.ledger.tally();
  EXPECT_EQ(t.planned, 3u);
  EXPECT_EQ(t.passed, 2u);
  EXPECT_EQ(t.not_run, 1u);
  EXPECT_EQ(r.end.describe(), "signal SIGSEGV");
  EXPECT_THAT(r.problems,
              ElementsAre(HasSubstr("A.C did not run to its end: the process ended while it ran"),
                          HasSubstr("ended before its end: signal SIGSEGV")));
  EXPECT_TRUE(fs::exists(folder_ / "made.2.json"));
}

TEST_F(RunInProcesses, NamesTheCaseOfAProcessThatDied) {
  LedgerFile first = planned({"A.B", "A.C"});
  first.complete = false;
  first.running = "A.B";
  LedgerFile second = planned({"A.C"});
  second.records = {record("A.C", Verdict::kPass)};
  ledger("first", first);
  ledger("second", second);
  const SuiteResult r = run(
      "dir=${0%/*}\n[ -n \"$only\" ] && { cp $dir/second $ledger; exit; }\ncp $dir/first $ledger\n"
      "printf '\\n  case:   n=1\\n\\n[ LEDGER ] The process was hit\\n  case:   n=7 block=32\\n"
      "  replay: t --case=x\\n' >&2\nkill -ABRT $$\n");
  EXPECT_THAT(r.problems, Contains(HasSubstr("signal SIGABRT; its case: n=7 block=32")));
  const auto& records = r.ledger.records();
  const auto it = std::find_if(records.begin(), records.end(),
                               [](const Record& one) { return one.property == "A.B"; });
  ASSERT_NE(it, records.end());
  EXPECT_EQ(it->replay, "t --case=x");
}

TEST_F(RunInProcesses, EndsAPropertyThatHangsAndRunsTheOthers) {
  processes_.property_limit = 0.5;
  LedgerFile first = planned({"A.B", "A.C"});
  first.complete = false;
  first.running = "A.B";
  LedgerFile second = planned({"A.C"});
  second.records = {record("A.C", Verdict::kPass)};
  ledger("first", first);
  ledger("second", second);
  const SuiteResult r =
      run("dir=${0%/*}\nif [ -z \"$only\" ]; then cp $dir/first $ledger; sleep 60; fi\ncp "
          "$dir/second $ledger\n");
  EXPECT_EQ(r.ledger.tally().passed, 1u);
  EXPECT_EQ(r.ledger.tally().not_run, 1u);
  EXPECT_THAT(r.problems, ::testing::Contains(HasSubstr("the limit of 0.5 s for one property")));
  EXPECT_LT(r.end.seconds, 30);
}

TEST_F(RunInProcesses, StopsWhereANewProcessSettlesNothing) {
  LedgerFile file = planned({"A.B", "A.C"});
  file.complete = false;
  ledger("always", file);
  const SuiteResult r = run("cp ${0%/*}/always $ledger\nexit 3\n");
  EXPECT_EQ(r.ledger.tally().not_run, 2u);
  EXPECT_FALSE(r.green());
}

}  // namespace ledger_monitor_test
}  // namespace lockstep
