// The differences between two passports: of one machine before and after a change, or of two
// machines.
#pragma once

#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

struct PassportDiff {
  // Sentences that say why the two cannot be compared. If there are any, all else is empty.
  std::vector<std::string> not_comparable;

  // One sentence each. `worse` are regressions; `other` are changes that are not.
  std::vector<std::string> verdicts_worse, verdicts_other;
  std::vector<std::string> bits;  // outputs that differ in some bit
  std::vector<std::string> budget_worse,
      // `budget_worse`: properties that use more of their error bound on the same cases.
      // `budget_other`: properties that use less, or more on other cases.
      budget_other;
  std::vector<std::string>
      timing_worse;  // from several alternating runs on one GPU (timing_diff.h)
  std::vector<std::string> timing_other;  // for information
  // Measurements of the device that differ. `measured_worse`: same compute capability;
  // `measured_other`: different ones.
  std::vector<std::string> measured_worse, measured_other;
  std::vector<std::string> not_compared;  // items that cannot be compared, and why

  std::size_t compared = 0;          // properties in both
  std::size_t digests_compared = 0;  // outputs in both
  std::size_t timings = 0;           // durations of the first passport that can be compared
  std::vector<std::string> suites;   // suites whose properties are compared
  std::string
      timings_are;  // how durations were judged, or why they were not; empty: there are none

  std::vector<std::string> reasons() const;  // the regressions
  bool worse() const { return !reasons().empty(); }
};

// Compares `before` with `after`. Compares outputs of properties that passed in both with the same
// cases (seed and number). Durations of single runs are for information and count as no regression.
PassportDiff diff_passports(const Passport& before, const Passport& after);
// The same for several runs of each side, at least one each: all differences between any two of
// them, in order, and judged durations.
PassportDiff diff_runs(const std::vector<Passport>& before, const std::vector<Passport>& after);

// One line: whether there is a regression and why, what was compared, and what was not.
std::string verdict_line(const PassportDiff& diff);
// The verdict line and all details, for display.
std::string diff_text(const Passport& before, const Passport& after, const PassportDiff& diff);

}  // namespace lockstep
