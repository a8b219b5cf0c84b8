// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). The simulated GPU has its own copy
// (simulator/splitmix64.h), because neither may depend on the other.
#pragma once

#include <cstdint>

namespace lockstep {

// The increment of the sequence's state for each number.
inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;

// A bijection of 64-bit words in which every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace lockstep
