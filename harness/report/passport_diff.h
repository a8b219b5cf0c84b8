// What changed between two passports: of one machine before and after a change, or of two machines.
#pragma once

#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

struct PassportDiff {
  // Why the two say nothing about each other, sentences; then nothing else is filled in.
  std::vector<std::string> not_comparable;

  // A sentence each. `worse` are reasons to look before going on; `other` are changes that are no
  // step back.
  std::vector<std::string> verdicts_worse, verdicts_other;
  std::vector<std::string> bits;  // outputs that are not the same, bit for bit
  std::vector<std::string> budget_worse,
      // Properties that use more of their error bound on the same cases; less, or more on other
      // cases.
      budget_other;
  std::vector<std::string> timing_worse;  // of several runs in turn on one GPU (timing_diff.h)
  std::vector<std::string> timing_other;  // information
  // What was measured of the device and is not the same: of one compute capability, or of two.
  std::vector<std::string> measured_worse, measured_other;
  std::vector<std::string> not_compared;  // what could not be held against each other, and why

  std::size_t compared = 0;          // properties in both
  std::size_t digests_compared = 0;  // and outputs of theirs
  std::size_t timings = 0;           // durations of the first that might be compared
  std::vector<std::string> suites;   // whose properties are compared
  std::string timings_are;           // how durations were judged, or why not; empty: there are none

  std::vector<std::string> reasons() const;  // for which it is worse
  bool worse() const { return !reasons().empty(); }
};

// `before` against `after`. Outputs are compared where both ran the same cases (seed and number)
// and passed. Durations of one run each are information, and make nothing worse.
PassportDiff diff_passports(const Passport& before, const Passport& after);
// The same of several runs of each side, at least one: what any two of them show, in their order;
// and durations, judged.
PassportDiff diff_runs(const std::vector<Passport>& before, const std::vector<Passport>& after);

// One line: whether it is worse and why, what was compared and what was not.
std::string verdict_line(const PassportDiff& diff);
// For people: that line, and everything.
std::string diff_text(const Passport& before, const Passport& after, const PassportDiff& diff);

}  // namespace lockstep
