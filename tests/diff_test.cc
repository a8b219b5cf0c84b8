// `./lockstep diff`: what it calls worse, what only other, and what it refuses to compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/passport_diff.h"
#include "tests/end_to_end/run.h"
#include "tests/made_passport.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Passport passport(const MadeRun& run) {
  Passport p;
  std::string error;
  EXPECT_TRUE(parse_passport(run.json(), p, error)) << error;
  return p;
}

PassportDiff diff(const MadeRun& before, const MadeRun& after) {
  return diff_passports(passport(before), passport(after));
}

TEST(Diff, OfARunWithItselfIsNothing) {
  const PassportDiff d = diff({}, {});
  EXPECT_FALSE(d.worse()) << diff_text(passport({}), passport({}), d);
  EXPECT_EQ(d.compared, 3u);
  EXPECT_EQ(d.digests_compared, 1u);
  EXPECT_THAT(d.not_compared, IsEmpty());
}

TEST(Diff, SaysWhichVerdictsChanged) {
  MadeRun after;
  after.fail(0, "y[32] is 1.5, not 1.25");
  const PassportDiff d = diff({}, after);
  EXPECT_TRUE(d.worse());
  EXPECT_THAT(d.verdicts_worse, ElementsAre("Made.Holds: pass -> fail: mismatch"));
  const PassportDiff back = diff(after, {});
  EXPECT_FALSE(back.worse());
  EXPECT_THAT(back.verdicts_other, ElementsAre("Made.Holds: fail -> pass"));
}

// A waiver excuses a failure; it makes no pass of it.
TEST(Diff, APassThatBecomesAWaivedFailureIsWorse) {
  MadeRun waived;
  waived.records[0].verdict = Verdict::kWaived;
  waived.records[0].reason = "https://example.org/7 until 2030-01-01: known [mismatch]";
  const PassportDiff d = diff({}, waived);
  EXPECT_TRUE(d.worse());
  EXPECT_THAT(d.verdicts_worse, ElementsAre(HasSubstr("Made.Holds: pass -> waived")));
  MadeRun failed;
  failed.fail(0, "y[32] is 1.5, not 1.25");
  EXPECT_FALSE(diff(failed, waived).worse());
  EXPECT_TRUE(diff(waived, failed).worse());
  EXPECT_FALSE(diff(waived, {}).worse());
}

TEST(Diff, ADeviceThatLacksACapabilityIsAnotherOneAndNotWorse) {
  MadeRun after;
  after.records[0].verdict = Verdict::kNotApplicable;
  after.records[0].reason = "needs clusters; the device has none";
  const PassportDiff d = diff({}, after);
  EXPECT_FALSE(d.worse());
  EXPECT_THAT(d.verdicts_other, SizeIs(1));
}

TEST(Diff, APropertyThatIsGoneIsWorseAndANewOneIsNot) {
  MadeRun fewer;
  fewer.records.erase(fewer.records.begin());
  EXPECT_THAT(diff({}, fewer).verdicts_worse, ElementsAre("Made.Holds: pass -> gone"));
  const PassportDiff more = diff(fewer, {});
  EXPECT_FALSE(more.worse());
  EXPECT_THAT(more.verdicts_other, ElementsAre("Made.Holds: new, pass"));
}

TEST(Diff, WhatMeasuresAGpuIsNotMissedOnTheSimulatedOne) {
  Passport gpu = passport({}), simulated = passport({});
  gpu.suites.push_back(
      {.family = "made_timing", .order = {"MadeTiming.Holds"}, .properties = {{"MadeTiming.Holds", {}}}});
  EXPECT_THAT(diff_passports(gpu, simulated).verdicts_worse, ElementsAre("suite made_timing is gone"));
  simulated.device["simulated"] = "true";
  const PassportDiff d = diff_passports(gpu, simulated);
  EXPECT_FALSE(d.worse());
  EXPECT_THAT(d.not_compared, ElementsAre(HasSubstr("made_timing: it measures a GPU")));
  EXPECT_EQ(d.digests_compared, 1u) << "outputs of silicon and of the simulated GPU are held against each other";
}

TEST(Diff, SaysWhichKernelsChangedBits) {
  MadeRun after;
  after.records[1].notes["digest"] = "fedcba9876543210";
  const PassportDiff d = diff({}, after);
  EXPECT_TRUE(d.worse());
  EXPECT_THAT(d.bits, ElementsAre(HasSubstr("Made.Rounds: the outputs of 200 cases are not the same")));
  after.records[1].seed = 8;
  const PassportDiff other = diff({}, after);
  EXPECT_FALSE(other.worse()) << "outputs of other cases are other outputs";
  EXPECT_THAT(other.not_compared, ElementsAre(HasSubstr("outputs of 1 properties")));
}

TEST(Diff, SaysWhichUseMoreOfTheirBudget) {
  MadeRun after;
  after.records[1].budget = 0.54;
  EXPECT_FALSE(diff({}, after).worse()) << "within a tenth";
  after.records[1].budget = 0.56;
  EXPECT_THAT(diff({}, after).budget_worse, ElementsAre("Made.Rounds: 0.500 -> 0.560"));
  EXPECT_TRUE(diff({}, after).worse());
  const PassportDiff less = diff(after, {});
  EXPECT_FALSE(less.worse());
  EXPECT_THAT(less.budget_other, SizeIs(1));
  after.records[1].cases = 6000;
  const PassportDiff other = diff({}, after);
  EXPECT_FALSE(other.worse()) << "more cases meet worse ones";
  EXPECT_THAT(other.budget_other, ElementsAre("Made.Rounds: 0.500 -> 0.560 (of other cases)"));
}

TEST(Diff, SaysWhatBecameSlowerOnGpusOfOneName) {
  MadeRun after;
  after.time(104);
  EXPECT_FALSE(diff({}, after).worse()) << "below a twentieth";
  after.time(110);
  EXPECT_THAT(diff({}, after).timing_worse, ElementsAre(HasSubstr("slower  copy: 100.00 us")));
  EXPECT_TRUE(diff({}, after).worse());
  EXPECT_THAT(diff(after, {}).timing_other, ElementsAre(HasSubstr("faster  copy")));
  // Intervals that meet tell nothing.
  MadeRun wide, wide_after;
  wide.time(100, 0.2);
  wide_after.time(110, 0.2);
  EXPECT_THAT(diff(wide, wide_after).timing_worse, IsEmpty());
  EXPECT_THAT(diff(wide_after, wide).timing_other, IsEmpty());
  after.device["name"] = "NVIDIA L4";
  const PassportDiff other = diff({}, after);
  EXPECT_FALSE(other.worse()) << "another GPU is not slower, it is another GPU";
  EXPECT_THAT(other.timing_other, SizeIs(1));
}

TEST(Diff, ComparesGoldens) {
  MadeRun before, after;
  before.records[0].notes["golden.field"] = "same";
  after.records[0].notes["golden.field"] = "another picture";
  EXPECT_THAT(diff(before, after).verdicts_worse,
              ElementsAre(HasSubstr("the golden 'field': same -> another picture")));
  EXPECT_THAT(diff(before, {}).verdicts_worse, ElementsAre(HasSubstr("was not drawn")));
}

// How one instruction form computes, as the suite matrix_unit notes it.
std::string unit(const std::string& at_once, const std::string& bits, const std::string& zero) {
  return R"({"kind": "matrix_unit", "name": "mma m16n8k16 f16 x f16 to f32", "terms": 17, "values": [)"
         R"(["products at once", ")" +
         at_once + R"("], ["bits below the largest", ")" + bits +
         R"("], ["terms are cut", "toward zero"], ["exponent of zero", ")" + zero +
         R"("], ["bits of a sum", "23"], ["sums are rounded", "toward zero"]]})";
}
constexpr char kUnit[] = "measurement.mma m16n8k16 f16 x f16 to f32";

TEST(Diff, SaysInWordsHowAnotherGenerationComputes) {
  MadeRun ampere, hopper;
  ampere.device["compute_capability"] = "8.0";
  ampere.records[1].notes[kUnit] = unit("8, in order of k", "24", "-132");
  hopper.records[1].notes[kUnit] = unit("16", "25", "-133");
  hopper.records[1].notes["digest"] = "fedcba9876543210";
  const PassportDiff d = diff(ampere, hopper);
  EXPECT_FALSE(d.worse()) << "another generation is another one";
  // Two steps of 9 terms cut at 2^-24 and one of 17 at 2^-25, and three sums rounded at 2^-23.
  EXPECT_THAT(
      d.measured_other,
      ElementsAre("mma m16n8k16 f16 x f16 to f32: products at once: 16 where it was 8, in order of k; 25 bits are "
                  "kept below the largest term where there were 24; exponent of zero: -133 where it was -132; "
                  "results may differ by up to 1.9e-06 of the largest term or sum"));
  EXPECT_THAT(d.bits, IsEmpty()) << "its outputs are its own";
  EXPECT_THAT(d.not_compared, ElementsAre(HasSubstr("outputs of 1 properties: each generation has its own")));
  EXPECT_THAT(diff_text(passport(ampere), passport(hopper), d),
              HasSubstr("Another generation computes otherwise (1):\n  mma m16n8k16"));
}

TEST(Diff, AUnitOfTheSameGenerationThatComputesOtherwiseIsWorse) {
  MadeRun before, after;
  before.records[1].notes[kUnit] = after.records[1].notes[kUnit] = unit("16", "25", "-133");
  EXPECT_FALSE(diff(before, after).worse());
  after.records[1].notes[kUnit] = unit("16", "24", "-133");
  const PassportDiff d = diff(before, after);
  EXPECT_TRUE(d.worse());
  EXPECT_THAT(d.measured_worse, ElementsAre(HasSubstr("24 bits are kept below the largest term where there were 25; "
                                                      "results may differ by up to 1.8e-06")));
  after.records[1].notes.erase(kUnit);
  EXPECT_THAT(diff(before, after).measured_worse, ElementsAre(HasSubstr("not measured any more")));
}

TEST(Diff, WhatNoInputTellsIsNoDifference) {
  MadeRun before, after;
  before.records[1].notes[kUnit] = unit("16", "25", "at most -124");
  after.records[1].notes[kUnit] = unit("16", "25", "at most -125");
  EXPECT_FALSE(diff(before, after).worse());
  after.records[1].notes[kUnit] = unit("16", "25", "no effect: nothing is cut");
  EXPECT_FALSE(diff(before, after).worse());
  after.records[1].notes[kUnit] = unit("16", "25", "-20");
  EXPECT_THAT(diff(before, after).measured_worse,
              ElementsAre("mma m16n8k16 f16 x f16 to f32: exponent of zero: -20 where it was at most -124"));
}

TEST(Diff, RefusesWhatSaysNothing) {
  MadeRun replay;
  replay.options["case"] = "Made.Holds: n=33";
  EXPECT_THAT(diff({}, replay).not_comparable, ElementsAre(HasSubstr("the second is of a single case")));
  MadeRun other;
  for (Record& r : other.records) r.property = "Other." + r.property.substr(5);
  EXPECT_THAT(diff({}, other).not_comparable, ElementsAre(HasSubstr("no property in common")));
}

TEST(Passport, OfAnotherSchemaIsRefused) {
  Passport p;
  std::string error, text = MadeRun().json();
  text.replace(text.find("\"schema\": 2"), 11, "\"schema\": 3");
  EXPECT_FALSE(parse_passport(text, p, error));
  EXPECT_THAT(error, HasSubstr("schema is 3"));
  EXPECT_FALSE(parse_passport("{}", p, error));
  EXPECT_FALSE(parse_passport("", p, error));
}

// As a user runs it.
TEST(DiffProgram, ExitStatusIs0TheSame1Worse2NotComparable) {
  const std::string same = end_to_end::fresh_file("same.json"), worse = end_to_end::fresh_file("worse.json"),
                    other = end_to_end::fresh_file("other.json");
  MadeRun().write(same);
  MadeRun failing, single;
  failing.fail(0, "y[32] is 1.5, not 1.25");
  failing.write(worse);
  single.options["case"] = "Made.Holds: n=33";
  single.write(other);
  const auto diffed = [](const std::string& a, const std::string& b) {
    return end_to_end::run("harness/report/passport_tool", {"diff", a, b});
  };
  EXPECT_EQ(diffed(same, same).status, 0) << diffed(same, same).output;
  const end_to_end::Ended red = diffed(same, worse);
  EXPECT_EQ(red.status, 1) << red.output;
  EXPECT_THAT(red.output, HasSubstr("Worse verdicts (1):\n  Made.Holds: pass -> fail: mismatch"));
  EXPECT_EQ(diffed(worse, same).status, 0);
  EXPECT_EQ(diffed(same, other).status, 2);
  EXPECT_EQ(diffed(same, "/nonexistent").status, 2);
  EXPECT_EQ(end_to_end::run("harness/report/passport_tool", {"diff", same}).status, 2);
}

}  // namespace
}  // namespace lockstep
