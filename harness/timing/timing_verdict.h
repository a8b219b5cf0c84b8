// Which of two things is faster: FASTER, SAME, SLOWER or INCONCLUSIVE, from durations that were
// measured in pairs. docs/reference/timing.md derives the statistics. Nothing here measures;
// harness/timing/stopwatch.h does.
//
// A pair is one duration of each, measured next to each other on one GPU, so that clocks,
// temperature and neighbours affect both. Each pair gives the logarithm of the ratio b / a. All
// pairs give an exact confidence interval of the median, from order statistics. It assumes that
// pairs are independent, and nothing about the distribution of durations, which is neither normal
// nor unimodal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

enum class Speed {
  kFaster,        // b takes less time than a, by more than the minimum effect
  kSame,          // whatever difference there is, is below the minimum effect
  kSlower,        // b takes more time, by more than the minimum effect
  kInconclusive,  // the interval spans an edge of that band, or too few pairs are left
};
const char* name(Speed s);  // "FASTER", "SAME", "SLOWER", "INCONCLUSIVE"

struct Pair {
  double a_us = 0, b_us = 0;  // microseconds, above 0
  double mhz = 0;             // the lower of the clocks seen beside them; 0: not known
};

struct TimingRules {
  double minimum_effect = 0.02;  // below this share a difference is none; above 0
  double alpha = 0.001;          // two-sided: chance that the interval misses the median
  double clock_share =
      0.97;  // a pair whose clock is below this share of the median clock was throttled
};

// A median and an interval that holds the true one with probability 1 - alpha or more.
struct Estimate {
  double median = 0, low = 0, high = 0;
};

struct SpeedComparison {
  Speed speed = Speed::kInconclusive;
  Estimate ratio;       // of b to a
  Estimate a_us, b_us;  // of the pairs that were kept
  std::size_t pairs = 0, throttled = 0;
  std::string why;  // of an inconclusive one: a sentence
};

// The fewest values whose extremes hold the median with probability 1 - alpha.
std::size_t fewest_values(double alpha);

// Of at least one value. Where there are fewer than fewest_values(alpha) the interval is all of the
// line: low is -inf and high inf.
Estimate median_of(std::vector<double> values, double alpha);

SpeedComparison compare_speed(const std::vector<Pair>& pairs, const TimingRules& rules = {});

// What a comparison comes to when another, of a against b instead, followed it: `c`, unless that
// does not find the same difference; then it is inconclusive.
SpeedComparison confirmed(SpeedComparison c, const SpeedComparison& exchanged);

// "SLOWER x1.312 [1.309, 1.315]: 50.1 us, 65.7 us; 60 pairs, 2 throttled"
std::string to_text(const SpeedComparison& c);

}  // namespace lockstep
