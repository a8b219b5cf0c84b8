// Timing verdicts on generated durations, for which the truth is known: what they detect, and how
// often they are wrong.
#include "harness/timing/timing_verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace lockstep {
namespace {

using Random = std::mt19937_64;

// Durations of one kernel of 100 us, as on a real GPU.
using Noise = std::function<double(Random&, int pair)>;

double lognormal(Random& r, double sigma) {
  return std::exp(std::normal_distribution<double>(0, sigma)(r));
}

// Narrow, as for a large kernel on a quiet GPU.
double quiet(Random& r, int) { return 100 * lognormal(r, 0.002); }
// Wide, and sometimes much longer, because of other work on the GPU.
double spiky(Random& r, int) {
  const double d = 100 * lognormal(r, 0.03);
  return std::uniform_real_distribution<double>(0, 1)(r) < 0.05
             ? d * (1 + std::exponential_distribution<double>(1)(r))
             : d;
}
// The GPU alternates between two clocks, 12 % apart.
double bimodal(Random& r, int) {
  return (std::uniform_real_distribution<double>(0, 1)(r) < 0.5 ? 100 : 112) * lognormal(r, 0.002);
}
// The GPU warms up and slows down by a fifth during the run.
double drifting(Random& r, int pair) { return (100 + pair / 3.0) * lognormal(r, 0.005); }
// Whole microseconds, as from a coarse clock: many ties.
double coarse(Random& r, int) { return std::round(100 * lognormal(r, 0.01)); }

std::vector<Pair> pairs_of(Random& r, const Noise& noise, double effect, int count) {
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) pairs.push_back({noise(r, i), effect * noise(r, i), 1500});
  return pairs;
}

TEST(TimingVerdict, TheIntervalIsTheOneOfTheSignTest) {
  // P(Binomial(10, 1/2) = 0) = 1/1024: ten values hold the median with probability 1 - 2/1024,
  // eleven 1 - 1/1024.
  EXPECT_EQ(fewest_values(2.0 / 1024), 10u);
  EXPECT_EQ(fewest_values(0.001), 11u);
  EXPECT_EQ(fewest_values(0.05), 6u);
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  // Tables of the sign test: the 40th and the 61st of 100 values bound the median with 95 %.
  const Estimate e = median_of(values, 0.05);
  EXPECT_EQ(e.median, 50.5);
  EXPECT_EQ(e.low, 40);
  EXPECT_EQ(e.high, 61);
  EXPECT_TRUE(std::isinf(median_of({1, 2, 3}, 0.001).high));
  std::vector<double> many(5001, 1.0);
  for (int i = 0; i < 2500; ++i) many[i] = 0;
  EXPECT_LE(median_of(many, 0.001).low, 1.0) << "2^-5001 is no double";
}

TEST(TimingVerdict, TheIntervalHoldsTheMedianAsOftenAsItSays) {
  Random r(1);
  constexpr int kRuns = 20000;
  int missed = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(std::exponential_distribution<double>(1)(r));
    const Estimate e = median_of(values, 0.05);
    missed += e.low > std::log(2.0) || e.high < std::log(2.0);
  }
  EXPECT_LE(missed, kRuns * 0.05);
  EXPECT_GE(missed, kRuns * 0.01) << "an interval that never misses is too wide";
}

TEST(TimingVerdict, OfAKernelAgainstItselfIsAFalseAlarmAtMostOnceInAThousand) {
  for (const auto& [what, noise] : {std::pair<const char*, Noise>{"quiet", quiet},
                                    {"spiky", spiky},
                                    {"bimodal", bimodal},
                                    {"drifting", drifting},
                                    {"coarse", coarse}}) {
    Random r(7);
    constexpr int kRuns = 10000;
    int alarms = 0, same = 0;
    // With a tiny minimum effect only the statistics prevent false alarms.
    const TimingRules strict = {.minimum_effect = 1e-9};
    for (int run = 0; run < kRuns; ++run) {
      const std::vector<Pair> pairs = pairs_of(r, noise, 1, 60);
      const Speed s = compare_speed(pairs, strict).speed;
      alarms += s == Speed::kFaster || s == Speed::kSlower;
      same += compare_speed(pairs).speed == Speed::kSame;
    }
    fmt::print("{}: {} false alarms in {} without a band; {:.1f} % SAME with 2 %\n", what, alarms,
               kRuns, 100.0 * same / kRuns);
    // At most 10 are expected; 24 has a probability below 1e-4.
    EXPECT_LE(alarms, 24) << what;
    if (std::string(what) == "quiet") {
      EXPECT_EQ(same, kRuns);
    }
  }
}

TEST(TimingVerdict, FindsADifferenceAboveTheBandAndCallsOneBelowItTheSame) {
  Random r(3);
  for (int run = 0; run < 200; ++run) {
    EXPECT_EQ(compare_speed(pairs_of(r, quiet, 1.05, 60)).speed, Speed::kSlower);
    EXPECT_EQ(compare_speed(pairs_of(r, quiet, 1 / 1.05, 60)).speed, Speed::kFaster);
    EXPECT_EQ(compare_speed(pairs_of(r, quiet, 1.01, 60)).speed, Speed::kSame);
    EXPECT_EQ(compare_speed(pairs_of(r, drifting, 1.05, 60)).speed, Speed::kSlower)
        << "drift is in both of a pair";
  }
}

TEST(TimingVerdict, IsInconclusiveRatherThanGuessing) {
  Random r(5);
  EXPECT_EQ(compare_speed({}).speed, Speed::kInconclusive);
  const SpeedComparison few = compare_speed(pairs_of(r, quiet, 2, 10));
  EXPECT_EQ(few.speed, Speed::kInconclusive)
      << "ten pairs cannot decide at 1 in 1,000, however large the effect";
  EXPECT_NE(few.why.find("11 are the fewest"), std::string::npos) << few.why;
  // At the edge of the band.
  EXPECT_EQ(compare_speed(pairs_of(r, spiky, 1.02, 60)).speed, Speed::kInconclusive);
  // An interval from one side of the band to its middle, on both sides.
  for (const double other : {0.9, 1 / 0.9}) {
    std::vector<Pair> pairs;
    for (int i = 0; i < 60; ++i) pairs.push_back({100, i % 2 ? 100 : 100 * other, 1500});
    const SpeedComparison c = compare_speed(pairs);
    EXPECT_EQ(c.speed, Speed::kInconclusive) << to_text(c);
    EXPECT_NE(c.why.find("spans an edge"), std::string::npos) << c.why;
  }
}

TEST(TimingVerdict, LeavesThrottledPairsOut) {
  Random r(9);
  std::vector<Pair> pairs = pairs_of(r, quiet, 1, 60);
  for (int i = 0; i < 20; ++i) pairs[3 * i] = {100, 250, 900};  // the clock fell while B ran
  const SpeedComparison c = compare_speed(pairs);
  EXPECT_EQ(c.speed, Speed::kSame) << to_text(c);
  EXPECT_EQ(c.throttled, 20u);
  EXPECT_EQ(c.pairs, 40u);
  EXPECT_LT(c.ratio.high, 1.01);
  // If hardly more than half of the time has one clock, no clock was steady.
  for (int i = 0; i < 60; ++i) pairs[i] = {100, 100, i < 25 ? 900.0 : 1500.0};
  EXPECT_EQ(compare_speed(pairs).speed, Speed::kInconclusive) << to_text(compare_speed(pairs));
}

TEST(TimingVerdict, ADifferenceIsReportedWhenItIsFoundAgainTheOtherWayRound) {
  SpeedComparison slower, faster, same;
  slower.speed = Speed::kSlower, faster.speed = Speed::kFaster, same.speed = Speed::kSame;
  EXPECT_EQ(confirmed(slower, faster).speed, Speed::kSlower);
  EXPECT_EQ(confirmed(faster, slower).speed, Speed::kFaster);
  // Here the second work is slower, whichever it is; or the difference disappears.
  for (const SpeedComparison& first : {slower, faster}) {
    for (const SpeedComparison& second : {first, same}) {
      const SpeedComparison c = confirmed(first, second);
      EXPECT_EQ(c.speed, Speed::kInconclusive);
      EXPECT_NE(c.why.find(std::string("it was ") + name(first.speed)), std::string::npos) << c.why;
    }
  }
}

TEST(TimingVerdict, BIsAsMuchSlowerThanAAsAIsFasterThanB) {
  Random r(11);
  for (int run = 0; run < 50; ++run) {
    std::vector<Pair> pairs = pairs_of(r, spiky, 1.2, 60), turned = pairs;
    for (Pair& p : turned) std::swap(p.a_us, p.b_us);
    const SpeedComparison c = compare_speed(pairs), t = compare_speed(turned);
    EXPECT_NEAR(c.ratio.median * t.ratio.median, 1, 1e-9);
    EXPECT_EQ(c.speed == Speed::kSlower, t.speed == Speed::kFaster);
  }
}

// With constant durations the verdict changes at the edge of the band. Both edges are equally far
// from 1.
TEST(TimingVerdict, TheBandIsAsWideOnEitherSide) {
  for (const double effect : {0.002, 0.02, 0.2}) {
    const TimingRules rules = {.minimum_effect = effect};
    for (const double share : {0.5, 0.9, 0.999, 1.001, 1.1, 2.0}) {
      const double ratio = 1 + share * effect;
      const std::vector<Pair> slower(60, {100, 100 * ratio, 1500}),
          faster(60, {100 * ratio, 100, 1500});
      EXPECT_EQ(compare_speed(slower, rules).speed, share > 1 ? Speed::kSlower : Speed::kSame)
          << effect << ", " << share << " of it";
      EXPECT_EQ(compare_speed(faster, rules).speed, share > 1 ? Speed::kFaster : Speed::kSame)
          << effect << ", " << share << " of it";
    }
  }
}

}  // namespace
}  // namespace lockstep
