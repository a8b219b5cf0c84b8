// The pages of cells that a host thread has written to lately.
//
// A page of the race shadow is empty until it is written. If it is read first, as the search for
// races does, the system maps a page of zeros and replaces it at the first write: two page faults
// in place of one.
#pragma once

#include <atomic>
#include <cstdint>

#include "simulator/check/global_cell.h"

namespace lockstep::check {

class TouchedPages {
 public:
  // Writes to the page of the cell, and changes nothing. Call under the lock of the cell's region.
  void touch(GlobalCell* cell) {
    const auto page = reinterpret_cast<std::uintptr_t>(cell) >> kPageShift;
    std::uintptr_t& latest = latest_[page % kPages];
    if (latest == page) return;
    latest = page;
    using Word [[gnu::may_alias]] = std::uint64_t;
    __atomic_fetch_or(reinterpret_cast<Word*>(cell), 0, __ATOMIC_RELAXED);
  }

 private:
  static constexpr int kPageShift = 12;
  static constexpr std::size_t kPages = 16;
  std::uintptr_t latest_[kPages] = {};
};

}  // namespace lockstep::check
