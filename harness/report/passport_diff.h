// What changed between two passports: of one machine before and after a change, or of two machines.
#pragma once

#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

struct PassportDiff {
  // Why the two say nothing about each other, sentences; then nothing else is filled in.
  std::vector<std::string> not_comparable;

  // A sentence each. `worse` are reasons to look before going on; `other` are changes that are no step back.
  std::vector<std::string> verdicts_worse, verdicts_other;
  std::vector<std::string> bits;                        // outputs that are not the same, bit for bit
  std::vector<std::string> budget_worse, budget_other;  // properties that use more of their error bound on the same
                                                        // cases; less, or more on other cases
  std::vector<std::string> timing_worse, timing_other;
  // What was measured of the device and is not the same: of one compute capability, or of two.
  std::vector<std::string> measured_worse, measured_other;
  std::vector<std::string> not_compared;  // what could not be held against each other, and why

  std::size_t compared = 0;          // properties in both
  std::size_t digests_compared = 0;  // and outputs of theirs
  bool worse() const;
};

// `before` against `after`. Outputs are compared where both ran the same cases (seed and number) and passed; durations
// where both ran on GPUs of one name.
PassportDiff diff_passports(const Passport& before, const Passport& after);

// For people.
std::string diff_text(const Passport& before, const Passport& after, const PassportDiff& diff);

}  // namespace lockstep
