// A suite is green only if its program reports so, its exit status is 0, and its ledger, closed a
// second time, agrees.
#include "harness/conform/suite_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace lockstep {
namespace suite_result_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Suite kSuite{"stencil", "tests/stencil_test", "//tests:stencil_test"};

ProcessEnd exited(int status) {
  ProcessEnd end;
  end.how = ProcessEnd::How::kExited;
  end.status = status;
  return end;
}

Record record(std::string property, Verdict verdict, std::string reason = "") {
  Record r;
  r.property = std::move(property);
  r.verdict = verdict;
  r.reason = std::move(reason);
  return r;
}

LedgerFile two_passes() {
  LedgerFile f;
  f.planned = {"S.a", "S.b"};
  f.records = {record("S.a", Verdict::kPass), record("S.b", Verdict::kPass)};
  f.complete = true;
  return f;
}

TEST(SuiteResult, IsGreenWhenAllAgree) {
  const SuiteResult r = assess(kSuite, exited(0), two_passes(), "");
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_EQ(r.ledger.tally().passed, 2u);
}

TEST(SuiteResult, WithoutALedgerIsRedWhateverTheExitStatus) {
  for (int status : {0, 1, 70}) {
    EXPECT_THAT(assess(kSuite, exited(status), {}, "no such file").problems,
                Contains(HasSubstr("left no ledger")))
        << status;
  }
}

TEST(SuiteResult, OpenPropertiesOfAProcessThatDiedAreNotRun) {
  LedgerFile f = two_passes();
  f.complete = false;
  f.planned.push_back("S.c");
  f.records.pop_back();
  f.running = "S.b";
  ProcessEnd died;
  died.how = ProcessEnd::How::kSignalled;
  died.status = SIGSEGV;
  const SuiteResult r = assess(kSuite, died, f, "");
  EXPECT_EQ(r.ledger.tally().not_run, 2u);
  EXPECT_EQ(r.ledger.tally().passed, 1u);
  EXPECT_THAT(
      r.problems,
      Contains("S.b did not run to its end: the process ended while it ran: signal SIGSEGV"));
  EXPECT_THAT(
      r.problems,
      Contains(
          "S.c did not run to its end: never reached; the process ended before: signal SIGSEGV"));
}

TEST(SuiteResult, AProcessThatLeavesWithStatusZeroBeforeItsEndIsRed) {
  LedgerFile f = two_passes();
  f.complete = false;
  EXPECT_THAT(assess(kSuite, exited(0), f, "").problems,
              Contains("stencil ended before its end: exit status 0"));
}

TEST(SuiteResult, AnExitStatusThatContradictsTheLedgerIsRed) {
  EXPECT_THAT(assess(kSuite, exited(86), two_passes(), "").problems,
              ElementsAre("stencil ended with exit status 86 although its ledger closes"));
  LedgerFile f = two_passes();
  f.records[0] = record("S.a", Verdict::kFail, "mismatch");
  EXPECT_THAT(assess(kSuite, exited(0), f, "").problems,
              Contains(HasSubstr("exit status 0 although its ledger does not close")));
}

TEST(SuiteResult, ClosesTheLedgerAgain) {
  LedgerFile f = two_passes();
  f.records.pop_back();  // complete, exit status 0, no problems; but S.b has no verdict
  EXPECT_THAT(assess(kSuite, exited(0), f, "").problems,
              Contains("S.b was planned but has no verdict"));
  f = LedgerFile{};
  f.complete = true;
  EXPECT_THAT(assess(kSuite, exited(0), f, "").problems, Contains("no property was planned"));
}

TEST(SuiteResult, KeepsTheProgramsOwnProblems) {
  LedgerFile f = two_passes();
  f.problems = {"not one kernel was launched"};
  EXPECT_THAT(assess(kSuite, exited(1), f, "").problems,
              ElementsAre("not one kernel was launched"));
}

}  // namespace suite_result_test
}  // namespace lockstep
