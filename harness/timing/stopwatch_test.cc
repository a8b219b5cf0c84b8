// The order of measurements and the treatment of clocks, with a fake stopwatch of given durations
// and clocks.
#include "harness/timing/stopwatch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep {
namespace stopwatch_test {

// A work that returns its name, by which the fake stopwatch identifies it.
Work work(const std::string& name) {
  return [name](cudaStream_t) { return name; };
}

// A stopwatch whose sample k has the duration and clock durations(name, runs, k). k counts all
// samples from 0.
struct Fake {
  std::function<Sampled(const std::string&, int runs, std::size_t k)> durations;
  std::vector<std::string> order;  // "a4" for four runs of a
  Sample sample() {
    return [this](const Work& work, int runs) {
      const std::string name = work(nullptr);
      order.push_back(name + std::to_string(runs));
      return durations(name, runs, order.size() - 1);
    };
  }
};

constexpr StopwatchRules kRules = {.pairs = 4, .warm_up = 2, .sample_us = 100};
// The samples before the first pair: two per work to warm up, and three to calibrate.
constexpr std::size_t kBefore = 10;

TEST(Stopwatch, MeasuresInTurnEachSecondEquallyOften) {
  Fake fake = {[](const std::string& name, int, std::size_t) {
                 return Sampled{name == "a" ? 10.0 : 20.0, 1000};
               },
               {}};
  const Measured m = measure_pairs_by(fake.sample(), work("a"), work("b"), kRules);
  EXPECT_EQ(m.error, "");
  EXPECT_EQ(m.a_runs, 10);
  EXPECT_EQ(m.b_runs, 5);
  EXPECT_EQ(fake.order,
            (std::vector<std::string>{"a1", "a1", "a4", "a4", "a4", "b1", "b1", "b4", "b4", "b4",
                                      "a10", "b5", "b5", "a10", "a10", "b5", "b5", "a10"}));
  ASSERT_EQ(m.pairs.size(), 4u);
  for (const Pair& pair : m.pairs) {
    EXPECT_EQ(pair.a_us, 10);
    EXPECT_EQ(pair.b_us, 20);
  }
}

// Whichever work it was measured with, and whichever came first.
TEST(Stopwatch, OfTheTwoClocksOfAPairTheLowerCounts) {
  const double clocks[] = {1000, 1900, 1900, 1000, 1900, 1900, 1001, 1002};
  Fake fake = {[&](const std::string&, int, std::size_t k) {
                 return Sampled{10, k < kBefore ? 5 : clocks[k - kBefore]};
               },
               {}};
  const Measured m = measure_pairs_by(fake.sample(), work("a"), work("b"), kRules);
  ASSERT_EQ(m.pairs.size(), 4u);
  EXPECT_EQ(m.pairs[0].mhz, 1000);
  EXPECT_EQ(m.pairs[1].mhz, 1000);
  EXPECT_EQ(m.pairs[2].mhz, 1900);
  EXPECT_EQ(m.pairs[3].mhz, 1001);
}

TEST(Stopwatch, ASampleHasAsManyRunsAsTheLeastDurationAsksFor) {
  // Calibration is disturbed twice.
  const double us[] = {900, 900, 50, 25, 75};
  Fake fake = {[&](const std::string&, int, std::size_t k) {
                 return Sampled{k < 5 ? us[k] : 25, 1000};
               },
               {}};
  const MeasuredAlone alone = measure_by(fake.sample(), work("a"), kRules);
  EXPECT_EQ(alone.error, "");
  ASSERT_EQ(fake.order.size(), 9u);
  EXPECT_EQ(fake.order.back(), "a4");
  fake = {[](const std::string&, int, std::size_t) { return Sampled{5000, 1000}; }, {}};
  measure_by(fake.sample(), work("a"), kRules);
  EXPECT_EQ(fake.order.back(), "a1") << "at least one";
  fake = {[](const std::string&, int, std::size_t) { return Sampled{0, 1000}; }, {}};
  measure_by(fake.sample(), work("a"), kRules);
  EXPECT_EQ(fake.order.back(), "a10000") << "and not for ever";
}

TEST(Stopwatch, SamplesAtALowerClockDoNotCount) {
  constexpr StopwatchRules kFive = {.pairs = 5, .warm_up = 2, .sample_us = 100};
  const double clocks[] = {1000, 969, 971, 1000, 1000};  // 97 % of the median is 970
  Fake fake = {[&](const std::string&, int, std::size_t k) {
                 return k < 5 ? Sampled{10, 1} : Sampled{static_cast<double>(k), clocks[k - 5]};
               },
               {}};
  const MeasuredAlone alone = measure_by(fake.sample(), work("a"), kFive);
  EXPECT_EQ(alone.throttled, 1u);
  EXPECT_EQ(alone.us, (std::vector<double>{5, 7, 8, 9}));
}

TEST(Stopwatch, ADifferenceIsMeasuredOnceMoreExchanged) {
  constexpr StopwatchRules kMany = {.pairs = 30, .warm_up = 1, .sample_us = 10};
  constexpr std::size_t kOnce = 2 * 4 + 2 * 30;
  const auto speed = [&](bool confirmed) {
    Fake fake = {[&](const std::string& name, int, std::size_t k) {
                   const bool second = k >= kOnce;
                   return Sampled{name == "b" && (confirmed || !second) ? 20.0 : 10.0, 1000};
                 },
                 {}};
    const MeasuredSpeed s = measure_speed_by(fake.sample(), work("a"), work("b"), {}, kMany);
    EXPECT_EQ(s.error, "");
    EXPECT_EQ(fake.order.size(), 2 * kOnce);
    EXPECT_EQ(fake.order[kOnce], "b1") << "b goes first then";
    return s.comparison.speed;
  };
  EXPECT_EQ(speed(true), Speed::kSlower);
  EXPECT_EQ(speed(false), Speed::kInconclusive);
  Fake same = {[](const std::string&, int, std::size_t) { return Sampled{10, 1000}; }, {}};
  EXPECT_EQ(measure_speed_by(same.sample(), work("a"), work("b"), {}, kMany).comparison.speed,
            Speed::kSame);
  EXPECT_EQ(same.order.size(), kOnce) << "no difference, no second look";
}

TEST(Stopwatch, AnErrorEndsTheMeasurement) {
  Fake fake = {[](const std::string&, int, std::size_t k) -> Sampled {
                 if (k == kBefore + 3) throw std::runtime_error("the work failed");
                 return {10, 1000};
               },
               {}};
  EXPECT_EQ(measure_pairs_by(fake.sample(), work("a"), work("b"), kRules).error, "the work failed");
  fake.order.clear();
  EXPECT_EQ(measure_speed_by(fake.sample(), work("a"), work("b"), {}, kRules).error,
            "the work failed");
}

// Also on the simulated GPU: durations mean nothing there, but all must be present.
TEST(Stopwatch, MeasuresOnAGpu) {
  int runs = 0;
  const Work counts = [&runs](cudaStream_t) { return ++runs, std::string(); };
  const StopwatchRules few = {.pairs = 2, .warm_up = 1, .sample_us = 0.01};
  const Measured m = measure_pairs(counts, counts, few);
  EXPECT_EQ(m.error, "");
  ASSERT_EQ(m.pairs.size(), 2u);
  EXPECT_EQ(runs, 2 * (1 + 3 * 4) + 2 * (m.a_runs + m.b_runs));
  for (const Pair& pair : m.pairs) EXPECT_GT(pair.mhz, 0);
  EXPECT_EQ(measure([](cudaStream_t) { return std::string("it fails"); }, few).error, "it fails");
}

}  // namespace stopwatch_test
}  // namespace lockstep
