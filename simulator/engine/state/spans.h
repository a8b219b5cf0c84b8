// A set of ranges in an address space. Adjacent ranges that are added one after another are merged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep::engine {

class Spans {
 public:
  // A range that starts at the end of the last one extends it.
  void add(std::uint64_t begin, std::uint64_t size) {
    if (!spans_.empty() && spans_.back().end == begin) {
      spans_.back().end += size;
    } else {
      spans_.push_back({begin, begin + size});
    }
  }

  // Call before meets(). The ranges must not overlap.
  void sort() {
    std::sort(spans_.begin(), spans_.end(),
              [](const Span& a, const Span& b) { return a.begin < b.begin; });
  }

  // Whether any range overlaps [at, at + size).
  bool meets(std::uint64_t at, std::uint64_t size) const {
    const auto ends_behind = [](const Span& s, std::uint64_t x) { return s.end <= x; };
    const auto s = std::lower_bound(spans_.begin(), spans_.end(), at, ends_behind);
    return s != spans_.end() && s->begin < at + size;
  }

 private:
  struct Span {
    std::uint64_t begin, end;
  };
  std::vector<Span> spans_;
};

}  // namespace lockstep::engine
