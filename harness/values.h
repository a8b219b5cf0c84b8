// Data described compactly: a distribution and a seed, never element by element. Element i depends on (kind, seed, i) alone, so a
// case keeps its data while its size shrinks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/field.h"

namespace lockstep {

enum class ValueKind : std::uint8_t {
  kZero,           // all +0
  kOne,            // all 1
  kIndex,          // element i is i mod 2^k small enough to be exact
  kSmallIntegers,  // integers in [-4, 4]: every partial sum of moderate length is exact
  kUniform,        // [-1, 1]
  kWide,           // every one of the 254 normal exponents equally likely, both signs (float types); full range (integer types)
  kSpecial,        // NaN, infinities, signed zeros, subnormals, extremes, powers of two +-1 ulp: the list in special_values()
  kMixed,          // mostly kUniform, some kSpecial
};

struct Values {
  ValueKind kind = ValueKind::kSmallIntegers;
  std::uint64_t seed = 0;
  bool operator==(const Values&) const = default;
};

// Fields: "uniform:17". Shrinks toward small integers, then index, one and zero, and the seed toward 0.
Domain<Values> values_of(std::vector<ValueKind> kinds);

// At least 98 values for float: every special class and its neighbours. Likewise double, __half bits, and the integer types.
template <class T> std::span<const T> special_values();

// n elements of the distribution; `stream` separates several arrays of one case.
template <class T> std::vector<T> make_values(const Values& v, std::size_t n, std::uint64_t stream = 0);

}  // namespace lockstep
