// Findings, each mistake once: the one place where a repetition is recognised and counted, within a
// launch as within a process.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/check/finding.h"

namespace lockstep::check {

class UniqueFindings {
 public:
  struct Kept {
    std::uint64_t number = 0;    // in the order of reporting, from 1
    std::uint64_t position = 0;  // of the block that met it, in the schedule
    Finding finding;
  };
  struct Added {
    std::uint64_t number = 0;
    bool fresh = true;
  };

  // Keeps the finding, or counts it with one at the same place (same_place). Of two positions the
  // finding at the earlier one is kept.
  Added add(Finding finding, std::uint64_t position = 0);
  // Keeps it without comparison.
  std::uint64_t add_apart(Finding finding, std::uint64_t position = 0);
  // Counts `times` more of the finding of this kind at a site: at its access or, `by_origin`, at
  // its origin; or else at the other side of a race. Nothing happens if there is none.
  void count_at(Kind kind, Severity severity, const Site& site, bool by_origin,
                std::uint64_t times);
  // Those at the positions up to `last`, by position. The others are dropped.
  void keep_until(std::uint64_t last);

  std::vector<Kept>& all() { return kept_; }
  const std::vector<Kept>& all() const { return kept_; }
  Kept* find(std::uint64_t number);
  // Removes all. Numbers run on.
  std::vector<Finding> take();

 private:
  std::vector<Kept> kept_;
  std::uint64_t last_number_ = 0;
};

}  // namespace lockstep::check
