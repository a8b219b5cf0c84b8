// The memory ranges that operations access while a launch may run. Used as a quick test before each
// operation is compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "simulator/engine/launch/history.h"

namespace lockstep::engine {

class ConcurrentMemory {
 public:
  void set(std::span<const ConcurrentAccess> accesses) {
    ranges_.clear();
    for (const ConcurrentAccess& a : accesses)
      if (!a.box.empty()) ranges_.push_back({a.box.begin, a.box.end()});
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].begin <= ranges_[last].end) {
        ranges_[last].end = std::max(ranges_[last].end, ranges_[i].end);
      } else {
        ranges_[++last] = ranges_[i];
      }
    }
    if (!ranges_.empty()) ranges_.resize(last + 1);
  }
  // Whether one of the operations may access some of `size` bytes at `at`.
  bool holds_any(memory::Address at, std::uint64_t size) const {
    const auto behind = std::upper_bound(
        ranges_.begin(), ranges_.end(), at + size - 1,
        [](memory::Address last, const Range& range) { return last < range.begin; });
    return behind != ranges_.begin() && std::prev(behind)->end > at;
  }

 private:
  struct Range {
    memory::Address begin, end;
  };
  std::vector<Range> ranges_;  // by address, disjoint and not adjacent
};

}  // namespace lockstep::engine
