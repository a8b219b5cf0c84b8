// Each rule that makes a verdict from the end of a test. //tests:end_to_end_test shows the effect
// in whole programs.
#include "harness/ledger/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace recorder_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A record as begin_property() opens it.
Record opened() {
  Record r;
  r.property = "Stencil.Matches";
  return r;
}

Record ended(Verdict v, std::uint64_t cases, std::string reason = "") {
  Record r = opened();
  r.verdict = v;
  r.cases = cases;
  r.reason = std::move(reason);
  return r;
}

TestOutcome failing(std::string text) {
  TestOutcome o;
  o.failed = true;
  o.failure_text = std::move(text);
  return o;
}

TestOutcome skipping(std::string text) {
  TestOutcome o;
  o.skipped = true;
  o.skip_text = std::move(text);
  return o;
}

TestOutcome with_finding(std::string kind) {
  TestOutcome o;
  o.finding = kind;
  o.finding_text = "a " + kind + " somewhere";
  return o;
}

TEST(Judge, APlainTestFollowsGoogleTest) {
  EXPECT_EQ(judge(opened(), {}, false).verdict, Verdict::kPass);
  const Record failed = judge(opened(), failing("1 is not 2"), false);
  EXPECT_EQ(failed.verdict, Verdict::kFail);
  EXPECT_EQ(failed.reason, "expectation");
  EXPECT_EQ(failed.message, "1 is not 2");
}

TEST(Judge, APlainSkipIsNotRun) {
  const Record r = judge(opened(), skipping("no time"), false);
  EXPECT_EQ(r.verdict, Verdict::kNotRun);
  EXPECT_THAT(r.reason, AllOf(HasSubstr("no time"), HasSubstr("require_capability")));
}

TEST(Judge, APropertyKeepsItsVerdict) {
  EXPECT_EQ(judge(ended(Verdict::kPass, 200), {}, false).verdict, Verdict::kPass);
  EXPECT_EQ(judge(ended(Verdict::kNotApplicable, 0, "needs clusters"), skipping(""), false).verdict,
            Verdict::kNotApplicable);
  EXPECT_EQ(judge(ended(Verdict::kNotRun, 3, "out of memory"), failing("x"), false).reason,
            "out of memory");
  EXPECT_EQ(judge(ended(Verdict::kFail, 3, "mismatch"), failing("x"), false).reason, "mismatch");
}

TEST(Judge, APassThatGoogleTestContradictsFails) {
  EXPECT_EQ(judge(ended(Verdict::kPass, 200), failing("from a thread"), false).verdict,
            Verdict::kFail);
  EXPECT_EQ(judge(ended(Verdict::kNotApplicable, 0, "needs clusters"), failing("x"), false).verdict,
            Verdict::kFail);
  EXPECT_EQ(judge(ended(Verdict::kPass, 200), skipping("lazy"), false).verdict, Verdict::kNotRun);
}

TEST(Judge, APassWithoutCasesIsNotRun) {
  EXPECT_THAT(judge(ended(Verdict::kPass, 0), {}, false).reason,
              HasSubstr("not one generated case"));
}

TEST(Judge, AFindingThatNobodyTookFailsTheTestThatLeftIt) {
  for (const Record& r : {opened(), ended(Verdict::kPass, 200), ended(Verdict::kNotRun, 1, "why"),
                          ended(Verdict::kNotApplicable, 0, "needs clusters")}) {
    const Record judged = judge(r, with_finding("race"), false);
    EXPECT_EQ(judged.verdict, Verdict::kFail);
    EXPECT_EQ(judged.reason, "finding:race");
    EXPECT_EQ(judged.message, "a race somewhere");
  }
  EXPECT_EQ(judge(ended(Verdict::kFail, 3, "mismatch"), with_finding("race"), false).reason,
            "mismatch");
}

TEST(Judge, AReplayRunsExactlyItsCase) {
  EXPECT_EQ(judge(ended(Verdict::kPass, 1), {}, true).verdict, Verdict::kPass);
  EXPECT_THAT(judge(ended(Verdict::kPass, 200), {}, true).reason,
              HasSubstr("200 cases in place of the one"));
  EXPECT_THAT(judge(opened(), {}, true).reason, HasSubstr("takes no --case"));
}

TEST(Judge, AFailureWithACaseHasAReplayLine) {
  Record r = ended(Verdict::kFail, 3, "mismatch");
  r.minimal_case = "n=33";
  EXPECT_THAT(judge(r, failing("x"), false).replay, HasSubstr("--case=Stencil.Matches: n=33"));
  r.replay = "as the property says";
  EXPECT_EQ(judge(r, failing("x"), false).replay, "as the property says");
}

TEST(Summary, PrintsAllFiveCountsEvenWhenZero) {
  Tally t;
  t.planned = t.passed = 12;
  t.cases = 2400;
  t.budget = 0.8125;
  t.seconds = 3.25;
  EXPECT_EQ(summary_line(t),
            "[ LEDGER ] 12 planned: 12 pass, 0 fail, 0 waived, 0 not applicable, 0 not run; 2400 "
            "cases, largest budget 0.812, 3.2 s");
}

TEST(Summary, DetailsLeaveOutPassesAlone) {
  Record failed = ended(Verdict::kFail, 3, "mismatch");
  failed.minimal_case = "n=33";
  failed.replay = "run --case";
  const std::string text =
      details({ended(Verdict::kPass, 200), failed,
               ended(Verdict::kWaived, 200, "https://e.org/1 until 2030-01-01")});
  EXPECT_EQ(
      text,
      "[ LEDGER ] Stencil.Matches: fail: mismatch\n    minimal case: n=33\n    replay: run --case\n"
      "[ LEDGER ] Stencil.Matches: waived: https://e.org/1 until 2030-01-01\n");
}

}  // namespace recorder_test
}  // namespace lockstep
