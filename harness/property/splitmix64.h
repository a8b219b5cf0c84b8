// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). The simulated GPU has its own
// (simulator/splitmix64.h): neither knows the other.
#pragma once

#include <cstdint>

namespace lockstep {

// What the sequence adds to its state for every next number.
inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;

// A bijection of 64-bit words in which every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace lockstep
