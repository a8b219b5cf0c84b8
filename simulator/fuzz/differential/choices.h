// The random choices from which a program is generated: the same on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "simulator/splitmix64.h"

namespace lockstep::fuzz::differential {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return next_mixed(state_); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }
  bool percent(unsigned n) { return bits() % 100 < n; }
  template <class Range>
  const auto& of(const Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace lockstep::fuzz::differential
