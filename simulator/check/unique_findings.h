// A list of findings, each mistake once. Repetitions are recognised and counted here only, both
// within a launch and within a process.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/check/finding.h"

namespace lockstep::check {

class UniqueFindings {
 public:
  struct Kept {
    std::uint64_t number = 0;    // in the order of reporting, from 1
    std::uint64_t position = 0;  // in the schedule, of the block that met it
    Finding finding;
  };
  struct Added {
    std::uint64_t number = 0;
    bool fresh = true;
  };

  // Adds the finding, or counts it as a repetition of one at the same place (same_place). Of two
  // positions, the finding at the earlier one is kept.
  Added add(Finding finding, std::uint64_t position = 0);
  // Adds the finding without comparison. Returns its number.
  std::uint64_t add_apart(Finding finding, std::uint64_t position = 0);
  // Counts `times` repetitions of the finding of this kind at a site. The site is compared with the
  // finding's access or, `by_origin`, its origin; if none fits, with the other side of a race. Does
  // nothing if there is no such finding.
  void count_at(Kind kind, Severity severity, const Site& site, bool by_origin,
                std::uint64_t times);
  // Keeps the findings at positions up to `last`, sorted by position, and drops the others.
  void keep_until(std::uint64_t last);

  std::vector<Kept>& all() { return kept_; }
  const std::vector<Kept>& all() const { return kept_; }
  Kept* find(std::uint64_t number);
  // Removes and returns all findings. Numbering continues.
  std::vector<Finding> take();

 private:
  std::vector<Kept> kept_;
  std::uint64_t last_number_ = 0;
};

}  // namespace lockstep::check
