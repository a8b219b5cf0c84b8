// Classification, flushing and canonical NaNs of f32 and f64, as vectorisable bit operations.
// Included only by the handlers' files, which are compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

// The one NaN that f32 arithmetic produces (9.7.3).
LOCKSTEP_INLINE f32 canonical_nan() { return bits_as<f32>(0x7fffffffu); }
LOCKSTEP_INLINE f32 canonical(f32 r) { return r == r ? r : canonical_nan(); }

// f64 arithmetic returns a NaN operand quieted, and this NaN if no operand is one. PTX leaves both
// open; hardware does this.
constexpr f64 kMadeNaN = __builtin_bit_cast(f64, u64{0xfff8000000000000u});
LOCKSTEP_INLINE f64 quieted(f64 nan) {
  return bits_as<f64>(bits_as<u64>(nan) | u64{0x0008000000000000u});
}

// Flushes subnormals to zero of the same sign.
LOCKSTEP_INLINE f32 flushed(f32 a) {
  const u32 u = bits_as<u32>(a);
  return bits_as<f32>((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
template <bool Flush>
LOCKSTEP_INLINE f32 maybe_flushed(f32 a) {
  return Flush ? flushed(a) : a;
}

// Clamps to [0, 1], NaN to +0.
template <class T>
LOCKSTEP_INLINE T clamped(T r) {
  r = r > T(0) ? r : T(0);
  return r < T(1) ? r : T(1);
}

}  // namespace
}  // namespace lockstep::engine::alu
