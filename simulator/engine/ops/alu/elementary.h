// Elementary functions in double precision, built of arithmetic and selections only, so that loops
// over lanes vectorise.
//
// Each is accurate to well below an ulp of f32 over the stated range; the approximate instructions
// round their results once. Include only in the handlers' files, which are compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/floating.h"

namespace lockstep::engine::alu {
namespace {

// The nearest integer, ties to even, for |x| below 2^51, and that integer in the low bits of a
// 64-bit word.
constexpr f64 kRoundingShift = 6755399441055744.0;  // 2^52 + 2^51

// 2^x for any x except NaN. Relative error below 2^-45. Outside f32's range the result is large or
// small enough to overflow or vanish in f32.
LOCKSTEP_INLINE f64 exp2_f64(f64 x) {
  x = x < 1000.0 ? x : 1000.0;
  x = x > -1000.0 ? x : -1000.0;
  const f64 shifted = x + kRoundingShift;
  const f64 f = (x - (shifted - kRoundingShift)) * 0.69314718055994530942;  // |f| <= ln(2) / 2
  // Taylor's series of e^f to f^11 / 11!: the first term left out is below 2^-46.
  f64 p = 2.5052108385441719e-08;
  p = __builtin_fma(p, f, 2.7557319223985893e-07);
  p = __builtin_fma(p, f, 2.7557319223985888e-06);
  p = __builtin_fma(p, f, 2.4801587301587302e-05);
  p = __builtin_fma(p, f, 1.9841269841269841e-04);
  p = __builtin_fma(p, f, 1.3888888888888889e-03);
  p = __builtin_fma(p, f, 8.3333333333333332e-03);
  p = __builtin_fma(p, f, 4.1666666666666664e-02);
  p = __builtin_fma(p, f, 1.6666666666666666e-01);
  p = __builtin_fma(p, f, 0.5);
  p = __builtin_fma(p, f, 1.0);
  p = __builtin_fma(p, f, 1.0);
  return p * bits_as<f64>((bits_as<u64>(shifted) + 1023) << 52);
}

// log2(x) for positive normal x. Absolute error below 2^-45; relative error, too, near 1.
LOCKSTEP_INLINE f64 log2_f64(f64 x) {
  const u64 bits = bits_as<u64>(x);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const u64 offset = bits - 0x3fe6a09e667f3bcdu;
  const s64 exponent_bits = static_cast<s64>(offset) & static_cast<s64>(0xfff0000000000000u);
  const f64 m = bits_as<f64>(bits - static_cast<u64>(exponent_bits));
  // The exponent as a double without a 64-bit integer conversion, which AVX2 lacks.
  const u64 biased = (offset >> 52) + 2048;
  const f64 e =
      bits_as<f64>(((biased & 0xfff) | 0x4330000000000000u)) - (4503599627370496.0 + 2048.0);
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.1716.
  const f64 s = (m - 1.0) / (m + 1.0);
  const f64 z = s * s;
  f64 p = 1.0 / 19;
  p = __builtin_fma(p, z, 1.0 / 17);
  p = __builtin_fma(p, z, 1.0 / 15);
  p = __builtin_fma(p, z, 1.0 / 13);
  p = __builtin_fma(p, z, 1.0 / 11);
  p = __builtin_fma(p, z, 1.0 / 9);
  p = __builtin_fma(p, z, 1.0 / 7);
  p = __builtin_fma(p, z, 1.0 / 5);
  p = __builtin_fma(p, z, 1.0 / 3);
  p = __builtin_fma(p, z, 1.0);
  return e + s * p * 2.8853900817779268;  // 2 / ln 2
}

// sin and cos of 2 pi t for |t| below 2^50. Absolute error below 2^-45.
struct SinCos {
  f64 sin, cos;
};
LOCKSTEP_INLINE SinCos sincos_turns(f64 t) {
  const f64 shifted = t * 4.0 + kRoundingShift;
  const u64 quadrant = bits_as<u64>(shifted);
  const f64 r = (t - (shifted - kRoundingShift) * 0.25) * 6.28318530717958647692;  // |r| <= pi / 4
  const f64 z = r * r;
  f64 s = -2.5052108385441719e-08;
  s = __builtin_fma(s, z, 2.7557319223985888e-06);
  s = __builtin_fma(s, z, -1.9841269841269841e-04);
  s = __builtin_fma(s, z, 8.3333333333333332e-03);
  s = __builtin_fma(s, z, -1.6666666666666666e-01);
  s = s * z * r + r;
  f64 c = 2.0876756987868100e-09;
  c = __builtin_fma(c, z, -2.7557319223985893e-07);
  c = __builtin_fma(c, z, 2.4801587301587302e-05);
  c = __builtin_fma(c, z, -1.3888888888888889e-03);
  c = __builtin_fma(c, z, 4.1666666666666664e-02);
  c = __builtin_fma(c, z, -0.5);
  c = __builtin_fma(c, z, 1.0);
  const bool swap = (quadrant & 1) != 0;
  const f64 sine = swap ? c : s;
  const f64 cosine = swap ? s : c;
  return {(quadrant & 2) != 0 ? -sine : sine, ((quadrant + 1) & 2) != 0 ? -cosine : cosine};
}

// tanh(x). Relative error below 2^-40; the sign of zero is kept.
LOCKSTEP_INLINE f64 tanh_f64(f64 x) {
  const f64 z = x * x;
  // Taylor's series for |x| < 1/8: the first term left out is below 2^-43 of the result.
  f64 small = 21844.0 / 6081075.0;
  small = __builtin_fma(small, z, -1382.0 / 155925.0);
  small = __builtin_fma(small, z, 62.0 / 2835.0);
  small = __builtin_fma(small, z, -17.0 / 315.0);
  small = __builtin_fma(small, z, 2.0 / 15.0);
  small = __builtin_fma(small, z, -1.0 / 3.0);
  small = small * z * x + x;
  f64 bounded = x < 40.0 ? x : 40.0;
  bounded = bounded > -40.0 ? bounded : -40.0;
  const f64 e = exp2_f64(bounded * 2.8853900817779268);  // e^(2x)
  const f64 large = (e - 1.0) / (e + 1.0);
  const f64 r = z < 0.015625 ? small : large;
  return z < 1e-20 ? x : r;
}

}  // namespace
}  // namespace lockstep::engine::alu
