// The ledger closes for exactly the planned properties, and is red in every other case.
#include "harness/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace lockstep {
namespace ledger_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Record record(std::string property, Verdict verdict, std::string reason = "") {
  Record r;
  r.property = std::move(property);
  r.verdict = verdict;
  r.reason = std::move(reason);
  return r;
}

TEST(Ledger, ClosesWhenEveryPlannedPropertyPassesOrIsExcused) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.plan("A.two");
  ledger.plan("A.three");
  ledger.record(record("A.one", Verdict::kPass));
  ledger.record(record("A.two", Verdict::kWaived, "https://example.org/1 until 2030-01-01"));
  ledger.record(record("A.three", Verdict::kNotApplicable, "clusters: 1 needed, 0 there"));
  EXPECT_TRUE(ledger.green());
  EXPECT_THAT(ledger.problems(), ElementsAre());
  EXPECT_THAT(ledger.open(), ElementsAre());
}

TEST(Ledger, WithNothingPlannedIsRed) {
  EXPECT_THAT(Ledger().problems(), ElementsAre("no property was planned"));
}

TEST(Ledger, WithAnOpenPropertyIsRedAndCountsItAsNotRun) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.plan("A.two");
  ledger.record(record("A.two", Verdict::kPass));
  EXPECT_THAT(ledger.open(), ElementsAre("A.one"));
  EXPECT_THAT(ledger.problems(), ElementsAre("A.one was planned but has no verdict"));
  EXPECT_EQ(ledger.tally().not_run, 1u);
}

TEST(Ledger, WithAFailureIsRed) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.record(record("A.one", Verdict::kFail, "finding:race"));
  EXPECT_THAT(ledger.problems(), ElementsAre("A.one failed: finding:race"));
}

TEST(Ledger, WithANotRunIsRed) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.record(record("A.one", Verdict::kNotRun, "out of memory"));
  EXPECT_THAT(ledger.problems(), ElementsAre("A.one did not run to its end: out of memory"));
}

TEST(Ledger, RejectsAPropertyPlannedTwice) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.plan("A.one");
  ledger.record(record("A.one", Verdict::kPass));
  EXPECT_THAT(ledger.problems(), ElementsAre("A.one was planned more than once"));
  EXPECT_EQ(ledger.tally().planned, 1u);
}

TEST(Ledger, RejectsASecondVerdictAndKeepsTheFirst) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.record(record("A.one", Verdict::kPass));
  ledger.record(record("A.one", Verdict::kPass));
  EXPECT_THAT(ledger.problems(), ElementsAre("A.one was recorded twice: 'pass', then 'pass'"));
  EXPECT_EQ(ledger.tally().passed, 1u);
}

TEST(Ledger, RejectsAVerdictThatNobodyPlanned) {
  Ledger ledger;
  ledger.plan("A.one");
  ledger.record(record("A.one", Verdict::kPass));
  ledger.record(record("A.stray", Verdict::kPass));
  EXPECT_THAT(ledger.problems(),
              ElementsAre("A.stray has the verdict 'pass' but was never planned"));
  EXPECT_EQ(ledger.tally().passed, 1u) << "a stray verdict must not stand in for a planned one";
}

TEST(Ledger, RejectsAVerdictWithoutAReasonUnlessItIsAPass) {
  for (Verdict v : {Verdict::kFail, Verdict::kWaived, Verdict::kNotApplicable, Verdict::kNotRun}) {
    Ledger ledger;
    ledger.plan("A.one");
    ledger.record(record("A.one", v));
    ASSERT_FALSE(ledger.green()) << name(v);
    EXPECT_THAT(ledger.problems().front(), HasSubstr("without a reason")) << name(v);
  }
}

TEST(Ledger, RejectsAPassThatUsedMoreThanItsBound) {
  for (double budget : {1.0000001, -0.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Ledger ledger;
    ledger.plan("A.one");
    Record r = record("A.one", Verdict::kPass);
    r.budget = budget;
    ledger.record(r);
    EXPECT_FALSE(ledger.green()) << budget;
  }
  Ledger ledger;
  ledger.plan("A.one");
  Record r = record("A.one", Verdict::kPass);
  r.budget = 1;
  ledger.record(r);
  EXPECT_TRUE(ledger.green());
}

TEST(Ledger, TalliesEveryVerdictOnceAndAddsUp) {
  Ledger ledger;
  const Verdict verdicts[] = {Verdict::kPass,   Verdict::kPass,          Verdict::kFail,
                              Verdict::kWaived, Verdict::kNotApplicable, Verdict::kNotRun};
  int i = 0;
  for (Verdict v : verdicts) {
    Record r = record("A." + std::to_string(i++), v, "why");
    r.cases = 10;
    r.seconds = 0.5;
    r.budget = 0.125 * i;
    ledger.plan(r.property);
    ledger.record(r);
  }
  ledger.plan("A.open");
  const Tally t = ledger.tally();
  EXPECT_EQ(t.planned, 7u);
  EXPECT_EQ(t.passed, 2u);
  EXPECT_EQ(t.failed, 1u);
  EXPECT_EQ(t.waived, 1u);
  EXPECT_EQ(t.not_applicable, 1u);
  EXPECT_EQ(t.not_run, 2u);
  EXPECT_EQ(t.passed + t.failed + t.waived + t.not_applicable + t.not_run, t.planned);
  EXPECT_EQ(t.cases, 60u);
  EXPECT_DOUBLE_EQ(t.seconds, 3.0);
  EXPECT_DOUBLE_EQ(t.budget, 0.75);
}

TEST(Verdict, NamesAreDistinctAndParseBack) {
  for (int i = 0; i <= static_cast<int>(Verdict::kNotRun); ++i) {
    Verdict back = Verdict::kFail;
    ASSERT_TRUE(parse_verdict(name(static_cast<Verdict>(i)), back));
    EXPECT_EQ(static_cast<int>(back), i);
  }
  Verdict untouched = Verdict::kWaived;
  EXPECT_FALSE(parse_verdict("passed", untouched));
  EXPECT_FALSE(parse_verdict("", untouched));
  EXPECT_EQ(untouched, Verdict::kWaived);
}

TEST(Verdict, AFindingIsLabelledWithItsKind) {
  EXPECT_EQ((Failure{Reason::kFinding, "race", ""}.label()), "finding:race");
  EXPECT_EQ((Failure{Reason::kFinding, "", ""}.label()), "finding");
  EXPECT_EQ((Failure{Reason::kUnwritten, "ignored", ""}.label()), "unwritten");
  EXPECT_STREQ(name(Reason::kExpectation), "expectation");
}

}  // namespace ledger_test
}  // namespace lockstep
