// The loops over the 32 lanes of a warp that every computing handler is made of.
//
// An operation is a captureless function of one lane's operands, given as a template argument; the compiler turns the loop into
// vector code. A full mask stores at once; a partial one computes every lane and keeps the old value of the inactive
// ones, which is cheaper than branching. An operation must therefore be safe on any operand values: it never traps.
// Included only by files that are compiled per instruction set (isa.h).
#pragma once

#include <immintrin.h>

#include "simulator/engine/isa.h"
#include "simulator/engine/warp.h"

namespace lockstep::engine::LOCKSTEP_ISA {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u128 = unsigned __int128;
using s128 = __int128;
using f32 = float;
using f64 = double;

template <class To, class From>
LOCKSTEP_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// Bit i of the mask, in arithmetic as wide as R so that the selection vectorises with R's own lanes.
template <class R>
LOCKSTEP_INLINE bool active(LaneMask mask, int lane) {
  if constexpr (sizeof(R) >= 8) return (u64{mask} >> lane) & 1;
  else return (mask >> lane) & 1;
}

// The x86 rounding control of a loop. Values are MXCSR's RC field.
enum class Round : u32 { kNearest = 0, kDown = 0x2000, kUp = 0x4000, kZero = 0x6000 };

// Sets the rounding direction, and flushing of subnormal operands and results, for its lifetime. Flushing by the processor is
// exactly the GPU's: a result is flushed when it is tiny after rounding as if the exponent had no bound, which the rounded result
// does not show when it is the smallest normal number. The compiler does not know that arithmetic depends on MXCSR; what keeps the
// arithmetic inside is that its operands are loaded from, and its results stored to, the register bank, and that no memory access
// moves across these barriers.
template <Round Mode, bool Flush>
struct FloatingScope {
  static constexpr bool kNeeded = Mode != Round::kNearest || Flush;
  LOCKSTEP_INLINE FloatingScope() {
    if constexpr (kNeeded) {
      u32 csr;
      asm volatile("stmxcsr %0" : "=m"(csr) : : "memory");
      saved = csr;
      csr = (csr & ~0x6000u) | static_cast<u32>(Mode) | (Flush ? 0x8040u : 0u);
      asm volatile("ldmxcsr %0" : : "m"(csr) : "memory");
    }
  }
  LOCKSTEP_INLINE ~FloatingScope() {
    if constexpr (kNeeded) asm volatile("ldmxcsr %0" : : "m"(saved) : "memory");
  }
  u32 saved;
};

template <class R, class A, auto F, Round Mode = Round::kNearest, bool Flush = false>
void unary(Warp& w, const Op& op, LaneMask mask) {
  const A* a = source<A>(w, op.src[0]);
  R* d = destination<R>(w, op.dst);
  FloatingScope<Mode, Flush> floating;
  if (mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = F(a[i]);
  } else {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const R r = F(a[i]);
      d[i] = active<R>(mask, i) ? r : d[i];
    }
  }
}

template <class R, class A, class B, auto F, Round Mode = Round::kNearest, bool Flush = false>
void binary(Warp& w, const Op& op, LaneMask mask) {
  const A* a = source<A>(w, op.src[0]);
  const B* b = source<B>(w, op.src[1]);
  R* d = destination<R>(w, op.dst);
  FloatingScope<Mode, Flush> floating;
  if (mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = F(a[i], b[i]);
  } else {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const R r = F(a[i], b[i]);
      d[i] = active<R>(mask, i) ? r : d[i];
    }
  }
}

template <class R, class A, class B, class C, auto F, Round Mode = Round::kNearest, bool Flush = false>
void ternary(Warp& w, const Op& op, LaneMask mask) {
  const A* a = source<A>(w, op.src[0]);
  const B* b = source<B>(w, op.src[1]);
  const C* c = source<C>(w, op.src[2]);
  R* d = destination<R>(w, op.dst);
  FloatingScope<Mode, Flush> floating;
  if (mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = F(a[i], b[i], c[i]);
  } else {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const R r = F(a[i], b[i], c[i]);
      d[i] = active<R>(mask, i) ? r : d[i];
    }
  }
}

template <class R, class A, class B, class C, class D, auto F>
void quaternary(Warp& w, const Op& op, LaneMask mask) {
  const A* a = source<A>(w, op.src[0]);
  const B* b = source<B>(w, op.src[1]);
  const C* c = source<C>(w, op.src[2]);
  const D* e = source<D>(w, op.src[3]);
  R* d = destination<R>(w, op.dst);
  for (int i = 0; i < kWarpSize; ++i) {
    const R r = F(a[i], b[i], c[i], e[i]);
    d[i] = active<R>(mask, i) ? r : d[i];
  }
}

// A source predicate; `index` is its operand number among the sources, whose bit in Op::flags says that it is negated.
LOCKSTEP_INLINE LaneMask source_predicate(const Warp& w, const Op& op, int index) {
  const LaneMask p = predicate(w, op.src[index]);
  return (op.flags >> index) & 1 ? ~p : p;
}

// Collects one truth value a lane, computed by a function of the lane's operands, into a mask. Eight lanes at a time: comparing
// gives vectors of all-ones, whose sign bits are one instruction to gather.
template <class A, class B, auto F>
LOCKSTEP_INLINE LaneMask collect(const A* a, const B* b) {
  LaneMask result = 0;
  if constexpr (sizeof(A) == 8) {
    for (int g = 0; g < kWarpSize; g += 4) {
      alignas(32) s64 t[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) t[i] = F(a[g + i], b[g + i]) ? -1 : 0;
      __m256d v;
      __builtin_memcpy(&v, t, sizeof v);
      result |= static_cast<u32>(_mm256_movemask_pd(v)) << g;
    }
  } else {
    for (int g = 0; g < kWarpSize; g += 8) {
      alignas(32) s32 t[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) t[i] = F(a[g + i], b[g + i]) ? -1 : 0;
      __m256 v;
      __builtin_memcpy(&v, t, sizeof v);
      result |= static_cast<u32>(_mm256_movemask_ps(v)) << g;
    }
  }
  return result;
}

}  // namespace
}  // namespace lockstep::engine::LOCKSTEP_ISA
