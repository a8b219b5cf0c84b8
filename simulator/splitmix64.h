// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers on every platform. The harness has
// a copy of its own (harness/property/splitmix64.h), because neither may include the other.
#pragma once

#include <cstdint>

namespace lockstep {

constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Returns the next number of the sequence and advances its state.
constexpr std::uint64_t next_mixed(std::uint64_t& state) {
  return mixed(state += 0x9e3779b97f4a7c15);
}

}  // namespace lockstep
