// IEEE 754 binary16 as bits: the elements of a __half buffer, for host code without CUDA's headers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lockstep {

// Layout-compatible with __half. Equality is of bits; convert to compare as numbers.
struct Half {
  std::uint16_t bits = 0;
  bool operator==(const Half&) const = default;
};

// Exact: every binary16 value is a double.
inline double to_double(Half h) {
  const int exponent = (h.bits >> 10) & 0x1f;
  const int mantissa = h.bits & 0x3ff;
  double magnitude;
  if (exponent == 0x1f) {
    magnitude = mantissa ? std::bit_cast<double>(0x7ff8000000000000u) : HUGE_VAL;
  } else {
    magnitude = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  }
  return h.bits & 0x8000 ? -magnitude : magnitude;
}

// Rounds to nearest, ties to even. Rounds once, from the double; a detour over float would round
// twice.
inline Half to_half(double x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return {static_cast<std::uint16_t>(sign | 0x7e00)};
  const double magnitude = std::fabs(x);
  if (magnitude >= 65520)
    return {static_cast<std::uint16_t>(
        sign | 0x7c00)};  // 65504 plus half its ulp: this tie rounds to infinity
  int exponent = 0;
  std::frexp(magnitude, &exponent);                  // magnitude in [2^(exponent-1), 2^exponent)
  const int quantum = std::max(exponent - 11, -24);  // weight of the last bit
  const double steps = std::nearbyint(std::ldexp(magnitude, -quantum));  // at most 2048, exact
  if (steps == 0) return {sign};
  // Subnormals count in units of 2^-24. A carry out of the significand correctly increments the
  // exponent field.
  const int biased = quantum + 24;
  return {static_cast<std::uint16_t>(sign | ((biased << 10) + static_cast<int>(steps)))};
}

}  // namespace lockstep
