// Data described compactly: a distribution and a seed, never element by element. Element i depends
// on (kind, seed, stream, i) alone, so a case keeps its data while its size shrinks.
//
// Element types: float, double, Half, and the signed and unsigned integers of 8, 16, 32 and 64
// bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/property/field.h"
#include "harness/property/half.h"

namespace lockstep {

enum class ValueKind : std::uint8_t {
  kZero,  // all +0
  kOne,   // all 1
  // Element i is i mod 1024 (i mod 64 for types of 8 and 16 bits): small enough that sums stay
  // exact.
  kIndex,
  // Integers in [-4, 4] ([0, 8] for unsigned types): every partial sum of moderate length is exact.
  kSmallIntegers,
  // [-1, 1] on a grid of 2^-23 (2^-10 for Half); integer types: [-1000, 1000], cut to what the type
  // holds.
  kUniform,
  // Each of the 254 normal exponents (double: 2046, Half: 30) equally likely; integers: each bit
  // width.
  kWide,
  // NaN, infinities, signed zeros, subnormals, extremes, powers of two +-1 ulp: the list in
  // special_values()
  kSpecial,
  kMixed,  // three in four kUniform, the rest kSpecial
};

struct Values {
  ValueKind kind = ValueKind::kSmallIntegers;
  std::uint64_t seed = 0;
  bool operator==(const Values&) const = default;
};

// Fields: "uniform:17", and "zero", "one", "index" without a seed. Shrinks, within `kinds`, toward
// zero, one, index, integers, uniform in that order, and the seed toward 0. Throws
// std::invalid_argument when `kinds` is empty.
Domain<Values> values_of(std::vector<ValueKind> kinds);

// For float, double and Half, at least 98 bit patterns, each with both signs:
// - quiet and signalling NaN with several payloads, infinities, both zeros;
// - subnormals (least, middle, greatest), the least and greatest normals;
// - powers of two with both neighbours, limits of the integer types, and some constants.
//
// For integers: the ends, zero, one, powers of two and their neighbours. The pattern of
// Poison::kNaN is never among them.
template <class T>
std::span<const T> special_values();

// n elements of the distribution; `stream` separates several arrays of one case.
template <class T>
std::vector<T> make_values(const Values& v, std::size_t n, std::uint64_t stream = 0);

}  // namespace lockstep
