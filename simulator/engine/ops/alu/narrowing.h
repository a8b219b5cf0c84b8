// Rounding f64 to any smaller binary format in any direction, on integers.
// Included only by the handlers' files, which are compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

// The bits of `v` in a format of `Precision` significand bits (the hidden one included) and
// `ExponentBits`, rounded once. A NaN becomes `nan`; if `nan` is 0 it keeps its sign and the top of
// its payload, quieted. Infinity is the format's all-ones exponent.
template <int Precision, int ExponentBits, Round Mode>
LOCKSTEP_INLINE u32 narrowed_bits(f64 v, u32 nan) {
  constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  constexpr int kLowest = 1 - kBias;  // exponent of the smallest normal, and of subnormals
  constexpr u32 kInfinity = ((1u << ExponentBits) - 1) << (Precision - 1);
  constexpr u32 kHidden = 1u << (Precision - 1);
  const u64 bits = bits_as<u64>(v);
  const bool negative = (bits >> 63) != 0;
  const u32 sign = negative ? 1u << (Precision + ExponentBits - 1) : 0;
  const u64 magnitude = bits & ~(u64{1} << 63);
  if (magnitude > (u64{0x7ff} << 52))
    return nan != 0 ? nan
                    : sign | kInfinity | (kHidden >> 1) |
                          static_cast<u32>((magnitude & ((u64{1} << 52) - 1)) >> (53 - Precision));
  if (magnitude == (u64{0x7ff} << 52)) return sign | kInfinity;
  if (magnitude == 0) return sign;
  const int field = static_cast<int>(magnitude >> 52);
  const u64 significand = (magnitude & ((u64{1} << 52) - 1)) | (field == 0 ? 0 : u64{1} << 52);
  const int exponent = (field == 0 ? 1 : field) - 1023;
  const int place =
      exponent > kLowest ? exponent : kLowest;  // exponent that the result's hidden bit stands for
  int drop = 52 - (Precision - 1) + (place - exponent);
  drop = drop > 63 ? 63 : drop;
  u64 kept = significand >> drop;
  const bool half = (significand >> (drop - 1)) & 1;
  const bool rest = (significand & ((u64{1} << (drop - 1)) - 1)) != 0;
  bool up;
  if constexpr (Mode == Round::kNearest)
    up = half && (rest || (kept & 1));
  else if constexpr (Mode == Round::kZero)
    up = false;
  else if constexpr (Mode == Round::kDown)
    up = negative && (half || rest);
  else
    up = !negative && (half || rest);
  kept += up;
  u32 r = static_cast<u32>(kept);
  if (r >= kHidden) r = r - kHidden + (static_cast<u32>(place - kLowest + 1) << (Precision - 1));
  if (r >= kInfinity) {
    const bool stays = Mode == Round::kZero || (Mode == Round::kDown && !negative) ||
                       (Mode == Round::kUp && negative);
    r = stays ? kInfinity - 1 : kInfinity;
  }
  return sign | r;
}

}  // namespace
}  // namespace lockstep::engine::alu
