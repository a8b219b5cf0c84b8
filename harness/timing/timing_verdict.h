// Decides which of two pieces of work is faster, from durations measured in pairs: FASTER, SAME,
// SLOWER or INCONCLUSIVE. docs/reference/timing.md derives the statistics;
// harness/timing/stopwatch.h measures.
//
// A pair is one duration of each, measured next to each other on one GPU, so that clocks,
// temperature and other work affect both. Each pair gives the logarithm of the ratio b / a. Order
// statistics of all pairs give an exact confidence interval of the median. It assumes that pairs
// are independent, and nothing about the distribution of durations, which is neither normal nor
// unimodal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

enum class Speed {
  kFaster,        // b takes less time than a, by more than the minimum effect
  kSame,          // any difference is below the minimum effect
  kSlower,        // b takes more time, by more than the minimum effect
  kInconclusive,  // the interval includes an edge of that band, or too few pairs remain
};
const char* name(Speed s);  // "FASTER", "SAME", "SLOWER", "INCONCLUSIVE"

struct Pair {
  double a_us = 0, b_us = 0;  // microseconds, above 0
  double mhz = 0;             // the lower of the two clocks; 0: unknown
};

struct TimingRules {
  double minimum_effect = 0.02;  // a smaller relative difference counts as none; above 0
  double alpha = 0.001;          // probability that the two-sided interval misses the median
  double clock_share =
      0.97;  // a pair with a clock below this share of the median clock was throttled
};

// A median, and an interval that contains the true median with probability 1 - alpha or more.
struct Estimate {
  double median = 0, low = 0, high = 0;
};

struct SpeedComparison {
  Speed speed = Speed::kInconclusive;
  Estimate ratio;       // of b to a
  Estimate a_us, b_us;  // of the pairs that remain
  std::size_t pairs = 0, throttled = 0;
  std::string why;  // if inconclusive: a sentence
};

// The fewest values whose extremes enclose the median with probability 1 - alpha.
std::size_t fewest_values(double alpha);

// The median of at least one value. With fewer than fewest_values(alpha) values the interval is
// unbounded: low is -inf and high is inf.
Estimate median_of(std::vector<double> values, double alpha);

SpeedComparison compare_speed(const std::vector<Pair>& pairs, const TimingRules& rules = {});

// The verdict after a second comparison of a against b, exchanged: `c` if the second finds the same
// difference, otherwise inconclusive.
SpeedComparison confirmed(SpeedComparison c, const SpeedComparison& exchanged);

// "SLOWER x1.312 [1.309, 1.315]: 50.1 us, 65.7 us; 60 pairs, 2 throttled"
std::string to_text(const SpeedComparison& c);

}  // namespace lockstep
