#include "harness/report/timing_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/timing/timing_verdict.h"

namespace lockstep {
namespace {

// A smaller relative difference is none: clocks and addresses differ between processes.
constexpr double kEffect = 0.05;

// Key: the property, and the rest of the duration's name.
using Durations = std::map<std::pair<std::string, std::string>, double>;

Durations durations_of(const Passport& p) {
  Durations all;
  for (const PassportSuite& s : p.suites) {
    for (const auto& [name, property] : s.properties) {
      for (const Timing& t : property.timings) {
        if (t.median > 0) all[{name, t.name}] = t.median;
      }
    }
  }
  return all;
}

struct Run {
  const Passport* passport;
  bool after;
};

// The runs in pairs, in the order of time; empty unless they alternate.
std::vector<std::pair<const Passport*, const Passport*>> pairs_of(
    const std::vector<Passport>& before, const std::vector<Passport>& after) {
  std::vector<Run> runs;
  for (const Passport& p : before) runs.push_back({&p, false});
  for (const Passport& p : after) runs.push_back({&p, true});
  // Seconds since the epoch as text, which sorts by time.
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.passport->created < b.passport->created;
  });
  std::vector<std::pair<const Passport*, const Passport*>> pairs;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
    const Run &a = runs[i], &b = runs[i + 1];
    if (a.after == b.after || a.passport->created == b.passport->created) return {};
    pairs.emplace_back(a.after ? b.passport : a.passport, a.after ? a.passport : b.passport);
  }
  return pairs;
}

// Whether the pairs at even indices and those at odd indices both show the difference.
bool twice(const std::vector<Pair>& pairs, Speed speed) {
  for (const std::size_t first : {0, 1}) {
    std::vector<double> logs;
    for (std::size_t i = first; i < pairs.size(); i += 2)
      logs.push_back(std::log(pairs[i].b_us / pairs[i].a_us));
    const double middle = median_of(std::move(logs), 0.5).median;
    if (speed == Speed::kSlower ? middle <= std::log1p(kEffect) : middle >= -std::log1p(kEffect))
      return false;
  }
  return true;
}

}  // namespace

bool on_one_gpu(const Passport& a, const Passport& b) {
  const auto entry = [](const Passport& p, const char* key) {
    return p.device.contains(key) ? p.device.at(key) : std::string();
  };
  const auto same = [&](const char* key) {
    return !entry(a, key).empty() && entry(a, key) == entry(b, key);
  };
  return same("name") && same("uuid") && entry(a, "simulated") == "false" &&
         entry(b, "simulated") == "false";
}

std::vector<std::string> timing_changes(const PassportProperty& a, const PassportProperty& b) {
  std::vector<std::string> changes;
  for (const Timing& before : a.timings) {
    const auto after = std::find_if(b.timings.begin(), b.timings.end(),
                                    [&](const Timing& t) { return t.name == before.name; });
    if (after == b.timings.end() || !(before.median > 0) || !(after->median > 0)) continue;
    const double ratio = after->median / before.median;
    const bool slower = ratio > 1 + kEffect && after->low > before.high,
               faster = ratio < 1 / (1 + kEffect) && after->high < before.low;
    if (slower || faster) {
      changes.push_back(
          fmt::format("{}  {}: {:.2f} us [{:.2f}, {:.2f}] -> {:.2f} us [{:.2f}, {:.2f}], x{:.3f}",
                      slower ? "slower" : "faster", before.name, before.median, before.low,
                      before.high, after->median, after->low, after->high, ratio));
    }
  }
  for (const TimingVerdict& before : a.timing_verdicts) {
    const auto after = std::find_if(b.timing_verdicts.begin(), b.timing_verdicts.end(),
                                    [&](const TimingVerdict& t) { return t.name == before.name; });
    if (after == b.timing_verdicts.end() || after->verdict == before.verdict) continue;
    changes.push_back(fmt::format("{}: {} (x{:.3f}) -> {} (x{:.3f})", before.name, before.verdict,
                                  before.ratio, after->verdict, after->ratio));
  }
  return changes;
}

TimingJudgement judge_timings(const std::vector<Passport>& before,
                              const std::vector<Passport>& after) {
  TimingJudgement j;
  const TimingRules rules = {.minimum_effect = kEffect};
  const std::size_t fewest = fewest_values(rules.alpha);
  for (const std::vector<Passport>* side : {&before, &after}) {
    for (const Passport& p : *side) {
      if (!on_one_gpu(before.front(), p)) {
        j.why_not = "the runs are not of one GPU";
        return j;
      }
    }
  }
  const auto pairs = pairs_of(before, after);
  if (before.size() == 1 && after.size() == 1) {
    j.why_not = "one run on each side";
  } else if (before.size() != after.size() || pairs.empty()) {
    j.why_not =
        fmt::format("the runs, {} and {}, were not made in turn", before.size(), after.size());
  } else if (pairs.size() < fewest) {
    j.why_not = fmt::format("{} pairs of runs, and {} are the fewest that can decide", pairs.size(),
                            fewest);
  }
  if (!j.why_not.empty()) return j;
  j.pairs = pairs.size();
  std::map<std::pair<std::string, std::string>, std::vector<Pair>> measured;
  for (const auto& [one, other] : pairs) {
    const Durations a = durations_of(*one), b = durations_of(*other);
    for (const auto& [key, us] : a) {
      if (const auto it = b.find(key); it != b.end()) measured[key].push_back({us, it->second});
    }
  }
  for (const auto& [key, durations] : measured) {
    const SpeedComparison c = compare_speed(durations, rules);
    const bool differs =
        (c.speed == Speed::kSlower || c.speed == Speed::kFaster) && twice(durations, c.speed);
    if (differs) {
      (c.speed == Speed::kSlower ? j.slower : j.faster)
          .push_back(fmt::format(
              "{}: {:.2f} us -> {:.2f} us, x{:.3f} [{:.3f}, {:.3f}] by {} pairs of runs",
              key.second, c.a_us.median, c.b_us.median, c.ratio.median, c.ratio.low, c.ratio.high,
              c.pairs));
    } else {
      ++(c.speed == Speed::kSame ? j.same : j.inconclusive);
    }
  }
  return j;
}

}  // namespace lockstep
