// Deterministic random integers for tests, from a seed.
#pragma once

#include <cstdint>

#include "simulator/splitmix64.h"

namespace lockstep::engine::testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // A number from `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next_mixed(state_) %
                                           static_cast<std::uint64_t>(high - low + 1));
  }
  // True once in `n` times.
  bool one_in(std::int64_t n) { return between(1, n) == 1; }

 private:
  std::uint64_t state_;
};

}  // namespace lockstep::engine::testing
