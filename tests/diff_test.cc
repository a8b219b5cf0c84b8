// `./lockstep diff`: differences reported as worse or as other, and comparisons that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

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
  return diff_runs({passport(before)}, {passport(after)});
}

TEST(Diff, OfARunWithItselfIsNothing) {
  const PassportDiff d = diff({}, {});
  EXPECT_FALSE(d.worse()) << diff_text(passport({}), passport({}), d);
  EXPECT_EQ(d.compared, 3u);
  EXPECT_EQ(d.digests_compared, 1u);
  EXPECT_THAT(d.not_compared, IsEmpty());
}

// The first line is the verdict with its reason.
TEST(Diff, BeginsWithItsVerdictAndWhy) {
  const auto first_line = [](const MadeRun& before, const MadeRun& after) {
    const std::string text = diff_text(passport(before), passport(after), diff(before, after));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line({}, {}),
            "not worse: no verdict, output, use of an error bound or measurement is a step back. "
            "Compared: 3 properties of made, the outputs of 1 bit for bit. Not compared: nothing. "
            "Timing: the durations are information: one run on each side.");
  MadeRun worse;
  worse.fail(0, "y[32] is 1.5, not 1.25");
  worse.records[1].budget = 0.9;
  worse.records[1].notes["digest"] = "fedcba9876543210";
  worse.options["pattern"] = "made";
  EXPECT_THAT(
      first_line({}, worse),
      ::testing::StartsWith(
          "WORSE, for 3 reasons: Made.Holds: pass -> fail: mismatch; Made.Rounds: the outputs "
          "of 200 cases are not the same"));
  MadeRun part;
  part.options["pattern"] = "holds";
  part.records.resize(1);
  EXPECT_THAT(first_line({}, part),
              HasSubstr("Compared: 1 properties of made, the outputs of 0 bit for bit. Not "
                        "compared: 2 properties: the second run was of properties with holds"));
  part.options = {{"case", "Made.Holds: n=33"}};
  EXPECT_EQ(first_line({}, part), "not comparable: the second is of a single case (--case)");
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

// A waiver excuses a failure; it does not turn it into a pass.
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
  gpu.suites.push_back({.family = "made_timing",
                        .order = {"MadeTiming.Holds"},
                        .properties = {{"MadeTiming.Holds", {}}}});
  EXPECT_THAT(diff_passports(gpu, simulated).verdicts_worse,
              ElementsAre("suite made_timing is gone"));
  simulated.device["simulated"] = "true";
  const PassportDiff d = diff_passports(gpu, simulated);
  EXPECT_FALSE(d.worse());
  EXPECT_THAT(d.not_compared, ElementsAre(HasSubstr("made_timing: it measures a GPU")));
  EXPECT_EQ(d.digests_compared, 1u)
      << "outputs of silicon and of the simulated GPU are held against each other";
}

TEST(Diff, SaysWhichKernelsChangedBits) {
  MadeRun after;
  after.records[1].notes["digest"] = "fedcba9876543210";
  const PassportDiff d = diff({}, after);
  EXPECT_TRUE(d.worse());
  EXPECT_THAT(d.bits,
              ElementsAre(HasSubstr("Made.Rounds: the outputs of 200 cases are not the same")));
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

TEST(Diff, DurationsOfOneRunEachAreInformation) {
  MadeRun after;
  after.time(104);
  EXPECT_THAT(diff({}, after).timing_other, IsEmpty()) << "below a twentieth";
  after.time(110);
  EXPECT_THAT(diff({}, after).timing_other, ElementsAre(HasSubstr("slower  copy: 100.00 us")));
  EXPECT_THAT(diff(after, {}).timing_other, ElementsAre(HasSubstr("faster  copy")));
  // Overlapping intervals show no difference.
  MadeRun wide, wide_after;
  wide.time(100, 0.2);
  wide_after.time(110, 0.2);
  EXPECT_THAT(diff(wide, wide_after).timing_other, IsEmpty());
  EXPECT_THAT(diff(wide_after, wide).timing_other, IsEmpty());
  // Durations of single runs are information, whatever the difference, on one GPU and on two.
  after.time(1000);
  EXPECT_FALSE(diff({}, after).worse());
  EXPECT_THAT(verdict_line(diff({}, after)),
              HasSubstr("the durations are information: one run on each side"));
  after.device["uuid"] = "GPU-2";
  EXPECT_FALSE(diff({}, after).worse()) << "of the same name";
  EXPECT_THAT(verdict_line(diff({}, after)),
              HasSubstr("the durations are information: the runs are not of one GPU"));
}

TEST(Diff, OtherVerdictsOfComparisonsAreInformation) {
  const auto compared = [](const char* verdict, double ratio) {
    MadeRun run;
    run.records[2].notes["timing_verdict.copy"] = fmt::format(
        R"({{"name": "copy: b against a", "verdict": "{}", "ratio": {}, "low": 1, "high": 1, )"
        R"("minimum_effect": 0.02}})",
        verdict, ratio);
    return run;
  };
  const PassportDiff d = diff(compared("SAME", 1.01), compared("SLOWER", 1.1));
  EXPECT_FALSE(d.worse()) << "the first of the two may have become faster";
  EXPECT_THAT(d.timing_other, ElementsAre("copy: b against a: SAME (x1.010) -> SLOWER (x1.100)"));
}

// ---- runs in turn -------------------------------------------------------------------------------

// Medians of one unchanged program, each from its own process, in 24 consecutive runs on an H100:
// the ray tracer with 20 spheres in constant memory, in microseconds.
constexpr double kOneProgram[] = {20.02, 21.57, 21.10, 20.80, 16.96, 21.64, 20.39, 19.43,
                                  20.97, 20.78, 20.63, 17.06, 16.91, 17.29, 21.11, 17.84,
                                  20.48, 22.16, 17.30, 21.63, 20.98, 20.26, 17.27, 21.58};

// Runs with these medians, one per minute, that alternate between the two sides. `order`: "ba" or
// "baab".
std::pair<std::vector<Passport>, std::vector<Passport>> in_turn(const std::vector<double>& medians,
                                                                const std::string& order = "ba") {
  std::pair<std::vector<Passport>, std::vector<Passport>> sides;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    MadeRun run;
    run.created = fmt::format("2026-11-21T{:02}:{:02}:00Z", 11 + i / 60, i % 60);
    run.time(medians[i], 0.001);
    (order[i % order.size()] == 'b' ? sides.first : sides.second).push_back(passport(run));
  }
  return sides;
}

PassportDiff diff_in_turn(const std::vector<double>& medians, const std::string& order = "ba") {
  const auto [before, after] = in_turn(medians, order);
  return diff_runs(before, after);
}

TEST(RunsInTurn, OfOneProgramAreNotSlower) {
  const std::vector<double> medians(std::begin(kOneProgram), std::end(kOneProgram));
  for (const char* order : {"ba", "ab", "baab", "abba"}) {
    const PassportDiff d = diff_in_turn(medians, order);
    EXPECT_FALSE(d.worse()) << order << " " << verdict_line(d);
    EXPECT_THAT(verdict_line(d), HasSubstr("the durations of 12 pairs of runs in turn: 0 slower"))
        << order;
  }
  // No single run may be judged worse than any other.
  for (const double a : medians) {
    for (const double b : medians) {
      MadeRun before, after;
      before.time(a, 0.001);
      after.time(b, 0.001);
      ASSERT_FALSE(diff(before, after).worse()) << a << " against " << b;
    }
  }
}

TEST(RunsInTurn, OfASlowerProgramAreWorse) {
  std::vector<double> medians;
  for (int i = 0; i < 24; ++i) medians.push_back(kOneProgram[i] * (i % 2 == 1 ? 1.5 : 1));
  const PassportDiff slower = diff_in_turn(medians);
  EXPECT_TRUE(slower.worse());
  EXPECT_THAT(
      slower.timing_worse,
      ElementsAre(HasSubstr("copy: 20.44 us -> 31.19 us, x1.510 [1.240, 1.914] by 12 pairs")));
  EXPECT_THAT(verdict_line(slower), ::testing::StartsWith("WORSE, for 1 reason: copy: "));
  const PassportDiff faster = diff_in_turn(medians, "ab");
  EXPECT_FALSE(faster.worse());
  EXPECT_THAT(faster.timing_other, SizeIs(1));
  // Less than a twentieth counts as equal.
  std::vector<double> hardly;
  for (int i = 0; i < 24; ++i) hardly.push_back(i % 2 == 1 ? 104 : 100);
  EXPECT_FALSE(diff_in_turn(hardly).worse());
  EXPECT_THAT(verdict_line(diff_in_turn(hardly)), HasSubstr("1 the same"));
}

TEST(RunsInTurn, MustBeOfOneGpuEnoughAndInTurn) {
  const std::vector<double> twice_as_slow = {100, 200, 100, 200, 100, 200, 100, 200, 100, 200, 100,
                                             200, 100, 200, 100, 200, 100, 200, 100, 200, 100, 200};
  ASSERT_TRUE(diff_in_turn(twice_as_slow).worse()) << "eleven pairs are enough";
  const auto why = [](const PassportDiff& d) {
    EXPECT_FALSE(d.worse()) << verdict_line(d);
    return d.timings_are;
  };
  const std::vector<double> ten(twice_as_slow.begin(), twice_as_slow.end() - 2);
  EXPECT_THAT(why(diff_in_turn(ten)),
              HasSubstr("10 pairs of runs, and 11 are the fewest that can decide"));
  // All runs of one side, then all of the other: a drift over time would look like a change of the
  // program.
  EXPECT_THAT(why(diff_in_turn(twice_as_slow, "bbbbbbbbbbbaaaaaaaaaaa")),
              HasSubstr("were not made in turn"));
  auto [before, after] = in_turn(twice_as_slow);
  std::vector<Passport> fewer(after.begin() + 1, after.end());
  const PassportDiff uneven = diff_runs(before, fewer);
  EXPECT_THAT(why(uneven), HasSubstr("11 and 10, were not made in turn"));
  EXPECT_THAT(uneven.not_compared, ElementsAre(HasSubstr("1 run of the first has no counterpart")));
  after.back().device["uuid"] = "GPU-2";
  EXPECT_THAT(why(diff_runs(before, after)), HasSubstr("not of one GPU"));
}

// Every second pair shows no difference, as on a machine with periodic other work.
TEST(RunsInTurn, AreLookedAtTwice) {
  const auto with = [](double in_odd_places) {
    std::vector<double> medians;
    for (int pair = 0; pair < 64; ++pair) {
      medians.push_back(100);
      // The smaller value is in a little more than half of the pairs at odd positions: in a quarter
      // of all pairs, which the interval tolerates.
      medians.push_back(pair % 2 == 1 && pair < 34 ? in_odd_places : 120);
    }
    return diff_in_turn(medians);
  };
  EXPECT_FALSE(with(104.9).worse()) << verdict_line(with(104.9));
  EXPECT_TRUE(with(105.1).worse()) << verdict_line(with(105.1));
}

TEST(RunsInTurn, AreComparedInEveryOtherWayToo) {
  auto [before, after] = in_turn({100, 100, 100, 100});
  after.back().suites[0].properties.at("Made.Holds").verdict = Verdict::kFail;
  after.back().suites[0].properties.at("Made.Holds").reason = "mismatch";
  const PassportDiff d = diff_runs(before, after);
  EXPECT_THAT(d.verdicts_worse, ElementsAre("Made.Holds: pass -> fail: mismatch"));
}

TEST(Diff, ComparesGoldens) {
  MadeRun before, after;
  before.records[0].notes["golden.field"] = "same";
  after.records[0].notes["golden.field"] = "another picture";
  EXPECT_THAT(diff(before, after).verdicts_worse,
              ElementsAre(HasSubstr("the golden 'field': same -> another picture")));
  EXPECT_THAT(diff(before, {}).verdicts_worse, ElementsAre(HasSubstr("was not drawn")));
}

// The behaviour of one instruction form, as the suite matrix_unit records it.
std::string unit(const std::string& at_once, const std::string& bits, const std::string& zero) {
  return R"({"kind": "matrix_unit", "name": "mma m16n8k16 f16 x f16 to f32", )"
         R"("terms": 17, "values": [)"
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
  // Two steps of 9 terms truncated at 2^-24, one step of 17 terms at 2^-25, and three sums rounded
  // at 2^-23.
  EXPECT_THAT(d.measured_other,
              ElementsAre("mma m16n8k16 f16 x f16 to f32: products at once: 16 where it was 8, in "
                          "order of k; 25 bits are kept below the largest term where there were "
                          "24; exponent of zero: -133 where it was -132; results may differ by up "
                          "to 1.9e-06 of the largest term or sum"));
  EXPECT_THAT(d.bits, IsEmpty()) << "its outputs are its own";
  hopper.records[1].budget = 0.9;
  EXPECT_FALSE(diff(ampere, hopper).worse()) << "and so is what it uses of a bound";
  EXPECT_THAT(diff(ampere, hopper).budget_other, SizeIs(1));
  EXPECT_THAT(d.not_compared,
              ElementsAre(HasSubstr("outputs of 1 properties: each generation has its own")));
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
  EXPECT_THAT(d.measured_worse,
              ElementsAre(HasSubstr("24 bits are kept below the largest term where there were 25; "
                                    "results may differ by up to 1.8e-06")));
  after.records[1].notes.erase(kUnit);
  EXPECT_THAT(diff(before, after).measured_worse, ElementsAre(HasSubstr("not measured any more")));
}

TEST(Diff, WhatNoInputDecidesIsNoDifference) {
  MadeRun before, after;
  before.records[1].notes[kUnit] = unit("16", "25", "at most -124");
  after.records[1].notes[kUnit] = unit("16", "25", "at most -125");
  EXPECT_FALSE(diff(before, after).worse());
  after.records[1].notes[kUnit] = unit("16", "25", "no effect: nothing is cut");
  EXPECT_FALSE(diff(before, after).worse());
  after.records[1].notes[kUnit] = unit("16", "25", "-20");
  EXPECT_THAT(
      diff(before, after).measured_worse,
      ElementsAre(
          "mma m16n8k16 f16 x f16 to f32: exponent of zero: -20 where it was at most -124"));
}

TEST(Diff, RefusesWhatSaysNothing) {
  MadeRun replay;
  replay.options["case"] = "Made.Holds: n=33";
  EXPECT_THAT(diff({}, replay).not_comparable,
              ElementsAre(HasSubstr("the second is of a single case")));
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
  EXPECT_FALSE(parse_passport("{no", p, error));
  EXPECT_EQ(error, "not a passport: it is not JSON, from byte 3 on");
}

// Runs the program as a user does.
TEST(DiffProgram, ExitStatusIs0TheSame1Worse2NotComparable) {
  const std::string same = end_to_end::fresh_file("same.json"),
                    worse = end_to_end::fresh_file("worse.json"),
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
  EXPECT_EQ(diffed(same, "").status, 2);
  // Arguments that are folders of runs.
  const std::string runs = end_to_end::fresh_file("runs");
  for (int i = 1; i <= 22; ++i) {
    MadeRun run;
    run.created = fmt::format("2026-11-21T11:{:02}:00Z", i);
    run.time(i % 2 == 1 ? 100 : 120);
    const std::string folder =
        fmt::format("{}/{}/{}", runs, i % 2 == 1 ? "before" : "after", (i + 1) / 2);
    std::filesystem::create_directories(folder);
    run.write(folder + "/passport.json");
  }
  const end_to_end::Ended slower = diffed(runs + "/before", runs + "/after");
  EXPECT_EQ(slower.status, 1) << slower.output;
  EXPECT_THAT(
      slower.output,
      HasSubstr("WORSE, for 1 reason: copy: 100.00 us -> 120.00 us, x1.200 [1.200, 1.200]"));
  EXPECT_EQ(diffed(runs + "/after", runs + "/before").status, 0);
  EXPECT_EQ(end_to_end::run("harness/report/passport_tool", {"diff", same}).status, 2);
}

}  // namespace
}  // namespace lockstep
