#include "harness/timing/timing_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {
namespace {

// If a larger share of a run was throttled, the GPU had no steady clock.
constexpr double kMaxThrottled = 1.0 / 3;

// How many values can be cut off at each end so that the rest still encloses the median. The
// largest k with P(Binomial(n, 1/2) < k) <= alpha / 2; 0 if even the extremes do not suffice.
std::size_t cut(std::size_t n, double alpha) {
  // In logarithms: 2^-n underflows double for n above a thousand.
  const double log_half_n = -static_cast<double>(n) * std::log(2.0);
  double log_choose = 0, below = 0;
  std::size_t k = 0;
  while (k < n / 2) {
    below += std::exp(log_choose + log_half_n);
    if (below > alpha / 2) break;
    ++k;
    log_choose += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
  }
  return k;
}

double middle(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// The pairs that were not throttled; all if no clock is known.
std::vector<Pair> unthrottled(const std::vector<Pair>& pairs, double share) {
  std::vector<double> clocks;
  for (const Pair& p : pairs) {
    if (p.mhz > 0) clocks.push_back(p.mhz);
  }
  if (clocks.empty()) return pairs;
  std::sort(clocks.begin(), clocks.end());
  const double least = share * middle(clocks);
  std::vector<Pair> kept;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(kept),
               [&](const Pair& p) { return p.mhz >= least; });
  return kept;
}

Estimate of(const std::vector<Pair>& pairs, double alpha, double (*value)(const Pair&)) {
  std::vector<double> values;
  for (const Pair& p : pairs) values.push_back(value(p));
  return median_of(std::move(values), alpha);
}

}  // namespace

const char* name(Speed s) {
  switch (s) {
    case Speed::kFaster: return "FASTER";
    case Speed::kSame: return "SAME";
    case Speed::kSlower: return "SLOWER";
    case Speed::kInconclusive: return "INCONCLUSIVE";
  }
  return "";
}

std::size_t fewest_values(double alpha) {
  std::size_t n = 1;
  while (cut(n, alpha) == 0) ++n;
  return n;
}

Estimate median_of(std::vector<double> values, double alpha) {
  std::sort(values.begin(), values.end());
  const std::size_t k = cut(values.size(), alpha);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (k == 0) return {middle(values), -kInfinity, kInfinity};
  return {middle(values), values[k - 1], values[values.size() - k]};
}

SpeedComparison compare_speed(const std::vector<Pair>& pairs, const TimingRules& rules) {
  SpeedComparison c;
  const std::vector<Pair> kept = unthrottled(pairs, rules.clock_share);
  c.pairs = kept.size();
  c.throttled = pairs.size() - kept.size();
  if (kept.empty()) {
    c.why = "no pair was measured";
    return c;
  }
  c.a_us = of(kept, rules.alpha, [](const Pair& p) { return p.a_us; });
  c.b_us = of(kept, rules.alpha, [](const Pair& p) { return p.b_us; });
  const Estimate log =
      of(kept, rules.alpha, [](const Pair& p) { return std::log(p.b_us / p.a_us); });
  c.ratio = {std::exp(log.median), std::exp(log.low), std::exp(log.high)};
  // The band is symmetric in the logarithm: b may be slower by the same factor as faster.
  const double band = std::log1p(rules.minimum_effect);
  if (kept.size() < fewest_values(rules.alpha)) {
    c.why = fmt::format("{} pairs are left, and {} are the fewest that can decide", kept.size(),
                        fewest_values(rules.alpha));
  } else if (c.throttled > kMaxThrottled * static_cast<double>(pairs.size())) {
    c.why = fmt::format("{} of {} pairs were throttled", c.throttled, pairs.size());
  } else if (log.high < -band) {
    c.speed = Speed::kFaster;
  } else if (log.low > band) {
    c.speed = Speed::kSlower;
  } else if (log.low > -band && log.high < band) {
    c.speed = Speed::kSame;
  } else {
    c.why = fmt::format("the interval spans an edge of the {:g} % that count as the same",
                        100 * rules.minimum_effect);
  }
  return c;
}

SpeedComparison confirmed(SpeedComparison c, const SpeedComparison& exchanged) {
  if ((c.speed == Speed::kFaster && exchanged.speed == Speed::kSlower) ||
      (c.speed == Speed::kSlower && exchanged.speed == Speed::kFaster))
    return c;
  c.why = fmt::format(
      "it was {}, and measured again with the two exchanged {} x{:.3f} [{:.3f}, {:.3f}]",
      name(c.speed), name(exchanged.speed), exchanged.ratio.median, exchanged.ratio.low,
      exchanged.ratio.high);
  c.speed = Speed::kInconclusive;
  return c;
}

std::string to_text(const SpeedComparison& c) {
  return fmt::format(
      "{} x{:.3f} [{:.3f}, {:.3f}]: {:.2f} us, {:.2f} us; {} pairs, {} throttled{}{}",
      name(c.speed), c.ratio.median, c.ratio.low, c.ratio.high, c.a_us.median, c.b_us.median,
      c.pairs, c.throttled, c.why.empty() ? "" : "; ", c.why);
}

}  // namespace lockstep
