// Rounds the sums of a matrix unit to f32.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lockstep::matrix {

inline constexpr std::uint32_t kNaN32 = 0x7fffffff;  // all NaN results have this value

// sum * 2^scale, truncated to `fraction_bits` fraction bits.
inline std::uint32_t to_f32(std::int64_t sum, int scale, int fraction_bits) {
  if (sum == 0) return 0;
  const std::uint32_t sign = sum < 0 ? 0x80000000u : 0;
  std::uint64_t magnitude =
      sum < 0 ? -static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  const int length = std::bit_width(magnitude);
  const int exponent = scale + length - 1;
  if (exponent > 127) return sign | 0x7f800000u;
  // The number of bits to drop. For normal results it depends on the leading bit, for subnormal
  // ones on the smallest exponent.
  const int drop = std::max(exponent, -126) - fraction_bits - scale;
  if (drop >= 64) return 0;
  if (drop > 0) {
    magnitude = magnitude >> drop << drop;
    if (magnitude == 0) return 0;
  }
  // The value now fits 24 bits.
  const int shift = std::max(exponent, -126) - 23 - scale;
  const std::uint64_t significand = shift > 0 ? magnitude >> shift : magnitude << -shift;
  return sign | (exponent < -126 ? static_cast<std::uint32_t>(significand)
                                 : static_cast<std::uint32_t>(exponent + 127) << 23 |
                                       (static_cast<std::uint32_t>(significand) & 0x7fffffu));
}

}  // namespace lockstep::matrix
