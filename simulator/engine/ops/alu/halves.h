// f16 and bf16 arithmetic through f32. Widening is exact, and every operation yields an f32 that
// rounds to the same half as the exact result.
//
// A packed register (f16x2, bf16x2) has two elements, so a warp's register has 64 adjacent
// elements. The loops below treat both alike. Include only in the handlers' files, which are
// compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/elementary.h"
#include "simulator/engine/ops/alu/forms.h"

namespace lockstep::engine::alu {
namespace {

struct F16 {
  static constexpr u16 kExponent = 0x7c00;
  static constexpr u32 kTinyBelow =
      0x387ff000u;  // 2^-14 (1 - 2^-12): the tie there goes up to 2^-14
  __attribute__((noinline)) static void widen(const u16* in, f32* out, int count) {
    for (int i = 0; i < count; i += 8) {
      __m128i v;
      __builtin_memcpy(&v, in + i, sizeof v);
      const __m256 r = _mm256_cvtph_ps(v);
      __builtin_memcpy(out + i, &r, sizeof r);
    }
  }
  // To nearest even; NaNs become the canonical one.
  __attribute__((noinline)) static void narrow(const f32* in, u16* out, int count) {
    for (int i = 0; i < count; i += 8) {
      __m256 v;
      __builtin_memcpy(&v, in + i, sizeof v);
      const __m128i r = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
      __builtin_memcpy(out + i, &r, sizeof r);
    }
    for (int i = 0; i < count; ++i) out[i] = (out[i] & 0x7fff) > 0x7c00 ? u16{0x7fff} : out[i];
  }
};

struct BF16 {
  static constexpr u16 kExponent = 0x7f80;
  static constexpr u32 kTinyBelow = 0x007f8000u;  // 2^-126 (1 - 2^-8), as f32's own subnormal bits
  LOCKSTEP_INLINE static f32 widened(u16 v) { return bits_as<f32>(u32{v} << 16); }
  LOCKSTEP_INLINE static u16 narrowed(f32 v) {
    const u32 u = bits_as<u32>(v);
    const u32 rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    return (u & 0x7fffffff) > 0x7f800000 ? u16{0x7fff} : static_cast<u16>(rounded);
  }
  __attribute__((noinline)) static void widen(const u16* in, f32* out, int count) {
    for (int i = 0; i < count; ++i) out[i] = widened(in[i]);
  }
  __attribute__((noinline)) static void narrow(const f32* in, u16* out, int count) {
    for (int i = 0; i < count; ++i) out[i] = narrowed(in[i]);
  }
};

// Rounds to odd: if the result, rounded to nearest, is inexact, moves it towards the exact value to
// the neighbour with an odd significand. `error`: exact value minus result. Rounding that to fewer
// digits equals rounding the exact value.
LOCKSTEP_INLINE f32 to_odd(f32 r, f32 error) {
  const u32 u = bits_as<u32>(r);
  const bool finite = (u & 0x7f800000u) != 0x7f800000u;
  const bool grow = (bits_as<u32>(error) >> 31) == (u >> 31);
  const bool move = finite && error != 0 && (u & 1) == 0;
  return bits_as<f32>(move ? (grow ? u + 1 : u - 1) : u);
}
LOCKSTEP_INLINE f64 to_odd(f64 r, f64 error) {
  const u64 u = bits_as<u64>(r);
  const bool finite = (u & 0x7ff0000000000000u) != 0x7ff0000000000000u;
  const bool grow = (bits_as<u64>(error) >> 63) == (u >> 63);
  const bool move = finite && error != 0 && (u & 1) == 0;
  return bits_as<f64>(move ? (grow ? u + 1 : u - 1) : u);
}
// Knuth's sum with its rounding error.
template <class T>
LOCKSTEP_INLINE T sum_to_odd(T a, T b) {
  const T s = a + b;
  const T bb = s - a;
  return to_odd(s, (a - (s - bb)) + (b - bb));
}
// f64 to f32, rounded to odd. Values beyond f32's range become the largest finite number, which
// rounds to infinity in both half formats.
LOCKSTEP_INLINE f32 narrowed_to_odd(f64 v) {
  f32 r = static_cast<f32>(v);
  const f64 back = r;
  const u32 u = bits_as<u32>(r);
  const f64 magnitude = __builtin_fabs(v), back_magnitude = __builtin_fabs(back);
  const bool too_far = back_magnitude > magnitude;
  const bool inexact = back != v && v == v;
  return bits_as<f32>(inexact ? (too_far ? u - 1 : u) | 1u : u);
}

template <int Count>
LOCKSTEP_INLINE void store_elements(u16* d, const u16* r, LaneMask mask) {
  if (mask == kAllLanes) [[likely]] {
    for (int i = 0; i < Count; ++i) d[i] = r[i];
  } else if constexpr (Count == 32) {
    store_lanes<u16>(d, r, mask);
  } else {
    u32 pairs[kWarpSize];
    __builtin_memcpy(pairs, r, sizeof pairs);
    store_lanes<u32>(reinterpret_cast<u32*>(d), pairs, mask);
  }
}

template <class C>
LOCKSTEP_INLINE u16 flushed_element(u16 v) {
  return (v & C::kExponent) == 0 ? static_cast<u16>(v & 0x8000) : v;
}

enum class Finish { kNone, kSaturate, kRelu };
template <Finish F>
LOCKSTEP_INLINE f32 finished(f32 r) {
  if constexpr (F == Finish::kSaturate)
    return clamped(r);
  else if constexpr (F == Finish::kRelu)
    return r > 0 || r != r ? r : 0.0f;
  else
    return r;
}

// Computes d[i] = narrow(F(sources[i]...)) for `Count` elements.
template <class C, int Count, int Sources, auto F, bool Ftz, Finish End>
void elements(Warp& w, const Op& op, LaneMask mask) {
  f32 x[Sources][Count];
  for (int s = 0; s < Sources; ++s) {
    const u16* a = source<u16>(w, op.src[s]);
    if constexpr (Ftz) {
      u16 t[Count];
      for (int i = 0; i < Count; ++i) t[i] = flushed_element<C>(a[i]);
      C::widen(t, x[s], Count);
    } else {
      C::widen(a, x[s], Count);
    }
  }
  f32 y[Count];
  for (int i = 0; i < Count; ++i) {
    if constexpr (Sources == 1)
      y[i] = finished<End>(F(x[0][i]));
    else if constexpr (Sources == 2)
      y[i] = finished<End>(F(x[0][i], x[1][i]));
    else
      y[i] = finished<End>(F(x[0][i], x[1][i], x[2][i]));
  }
  if constexpr (Ftz) {
    // A result is tiny if it is below the smallest normal number after rounding with an unbounded
    // exponent. Only F16 has .ftz here.
    for (int i = 0; i < Count; ++i) {
      const u32 u = bits_as<u32>(y[i]);
      y[i] = bits_as<f32>((u & 0x7fffffffu) < C::kTinyBelow ? u & 0x80000000u : u);
    }
  }
  u16 r[Count];
  C::narrow(y, r, Count);
  store_elements<Count>(destination<u16>(w, op.dst), r, mask);
}

}  // namespace
}  // namespace lockstep::engine::alu
