// Classification, flushing and canonical NaNs of f32 and f64, as vectorisable bit operations.
// Included only by files that are compiled per instruction set (isa.h).
#pragma once

#include "simulator/engine/alu/lanes.h"

namespace lockstep::engine::LOCKSTEP_ISA {
namespace {

// The one NaN that arithmetic produces (9.7.3).
template <class T> LOCKSTEP_INLINE T canonical_nan();
template <> LOCKSTEP_INLINE f32 canonical_nan<f32>() { return bits_as<f32>(0x7fffffffu); }
template <> LOCKSTEP_INLINE f64 canonical_nan<f64>() { return bits_as<f64>(u64{0x7ff8000000000000u}); }

template <class T>
LOCKSTEP_INLINE T canonical(T r) {
  return r == r ? r : canonical_nan<T>();
}

// Subnormals become zero, the sign stays.
LOCKSTEP_INLINE f32 flushed(f32 a) {
  const u32 u = bits_as<u32>(a);
  return bits_as<f32>((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
template <bool Flush>
LOCKSTEP_INLINE f32 maybe_flushed(f32 a) {
  return Flush ? flushed(a) : a;
}

// [0, 1], NaN to +0.
template <class T>
LOCKSTEP_INLINE T clamped(T r) {
  r = r > T(0) ? r : T(0);
  return r < T(1) ? r : T(1);
}

}  // namespace
}  // namespace lockstep::engine::LOCKSTEP_ISA
