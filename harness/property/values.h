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
  // Uniform in [-1, 1] on a grid of 2^-23 (2^-10 for Half). Integers: [-1000, 1000], cut to the
  // range of the type.
  kUniform,
  // Each of the 254 normal exponents (double: 2046, Half: 30) is equally likely. Integers: each bit
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

// Texts: "uniform:17"; "zero", "one" and "index" have no seed. Shrinks the kind, within `kinds`,
// toward zero, one, index, integers, uniform in that order, and the seed toward 0. Throws
// std::invalid_argument if `kinds` is empty.
Domain<Values> values_of(std::vector<ValueKind> kinds);

// For float, double and Half, at least 98 bit patterns, each with both signs:
// - quiet and signalling NaN with several payloads, infinities, both zeros;
// - subnormals (least, middle, greatest), the least and greatest normals;
// - powers of two with both neighbours, limits of the integer types, and some constants.
//
// For integers: both ends, zero, one, and powers of two with their neighbours. The pattern of
// Poison::kNaN is never included.
template <class T>
std::span<const T> special_values();

// Returns n elements of the distribution. `stream` distinguishes several arrays of one case.
template <class T>
std::vector<T> make_values(const Values& v, std::size_t n, std::uint64_t stream = 0);

}  // namespace lockstep
