// The loops over the 32 lanes of a warp from which all computing handlers are built.
//
// An operation is a captureless function of one lane's operands, passed as a template argument; the
// compiler turns the loop into vector code. With a full mask the results are stored at once. With a
// partial mask every lane is computed and inactive lanes keep their old value, which is cheaper
// than branching. So an operation must be safe on any operand values: it must never trap. Include
// only in the handlers' files, which are compiled for AVX2.
#pragma once

#include <immintrin.h>

#include "simulator/engine/ops/alu/handler_file.h"
#include "simulator/engine/state/warp.h"

namespace lockstep::engine::alu {
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

// A mask as a vector of all-ones and zero elements of R's width. It is made by broadcasting the
// mask and comparing with one bit for each element. Selecting by it vectorises; testing bits lane
// by lane does not.
template <int Bytes>
struct LaneWord {
  using type = u64;
};
template <>
struct LaneWord<1> {
  using type = u8;
};
template <>
struct LaneWord<2> {
  using type = u16;
};
template <>
struct LaneWord<4> {
  using type = u32;
};

template <class R>
struct Lanes {
  using Word = typename LaneWord<sizeof(R)>::type;
  alignas(64) Word words[kWarpSize];
  LOCKSTEP_INLINE explicit Lanes(LaneMask mask) {
    if constexpr (sizeof(Word) == 8) {
      typedef u64 V __attribute__((vector_size(32)));
      V bit = {1, 2, 4, 8};
      const V all = V{} + mask;
#pragma GCC unroll 8
      for (int i = 0; i < kWarpSize; i += 4, bit <<= 4) {
        const auto v = (all & bit) == bit;
        __builtin_memcpy(words + i, &v, sizeof v);
      }
    } else if constexpr (sizeof(Word) == 4) {
      typedef u32 V __attribute__((vector_size(32)));
      V bit = {1, 2, 4, 8, 16, 32, 64, 128};
      const V all = V{} + mask;
#pragma GCC unroll 4
      for (int i = 0; i < kWarpSize; i += 8, bit <<= 8) {
        const auto v = (all & bit) == bit;
        __builtin_memcpy(words + i, &v, sizeof v);
      }
    } else if constexpr (sizeof(Word) == 2) {
      typedef u16 V __attribute__((vector_size(32)));
      const V bit = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
#pragma GCC unroll 2
      for (int i = 0; i < kWarpSize; i += 16) {
        const V all = V{} + static_cast<u16>(mask >> i);
        const auto v = (all & bit) == bit;
        __builtin_memcpy(words + i, &v, sizeof v);
      }
    } else {
      for (int i = 0; i < kWarpSize; ++i) words[i] = (mask >> i) & 1 ? 0xff : 0;
    }
  }
};

// The x86 rounding control of a loop. Values are MXCSR's RC field.
enum class Round : u32 { kNearest = 0, kDown = 0x2000, kUp = 0x4000, kZero = 0x6000 };

// Sets the rounding direction, and flushing of subnormal operands and results, for its lifetime.
//
// The processor flushes exactly as the GPU: it flushes a result that is tiny after rounding with an
// unbounded exponent. The rounded result alone does not show this if it is the smallest normal
// number. The compiler does not know that arithmetic depends on MXCSR. The arithmetic stays inside
// the scope because its operands are loaded from, and its results stored to, the register file, and
// no memory access moves across these barriers.
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

// Forces a local array into memory, so that its computation stays inside a FloatingScope.
template <class T>
LOCKSTEP_INLINE void keep_in_memory(T* r) {
  asm volatile("" : : "r"(r) : "memory");
}

// Stores a warp's results for the lanes in the mask.
template <class R>
LOCKSTEP_INLINE void store_lanes(R* d, const R* r, LaneMask mask) {
  const Lanes<R> selected(mask);
#pragma GCC ivdep
  for (int i = 0; i < kWarpSize; ++i) d[i] = selected.words[i] != 0 ? r[i] : d[i];
}

template <class R>
__attribute__((noinline)) void store_apart(R* d, const R* r, LaneMask mask) {
  store_lanes(d, r, mask);
}
// As unary, with half the code: for rare operations of which there are hundreds.
template <class R, class A, auto F, Round Mode = Round::kNearest, bool Flush = false>
void unary_apart(Warp& w, const Op& op, LaneMask mask) {
  const A* a = source<A>(w, op.src[0]);
  alignas(64) R r[kWarpSize];
  {
    FloatingScope<Mode, Flush> floating;
    for (int i = 0; i < kWarpSize; ++i) r[i] = F(a[i]);
    keep_in_memory(r);
  }
  store_apart(destination<R>(w, op.dst), r, mask);
}

template <class R, class A, auto F, Round Mode = Round::kNearest, bool Flush = false>
void unary(Warp& w, const Op& op, LaneMask mask) {
  const A* a = source<A>(w, op.src[0]);
  R* d = destination<R>(w, op.dst);
  FloatingScope<Mode, Flush> floating;
  if (mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = F(a[i]);
  } else {
    const Lanes<R> selected(mask);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const R r = F(a[i]);
      d[i] = selected.words[i] != 0 ? r : d[i];
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
    const Lanes<R> selected(mask);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const R r = F(a[i], b[i]);
      d[i] = selected.words[i] != 0 ? r : d[i];
    }
  }
}

template <class R, class A, class B, class C, auto F, Round Mode = Round::kNearest,
          bool Flush = false>
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
    const Lanes<R> selected(mask);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const R r = F(a[i], b[i], c[i]);
      d[i] = selected.words[i] != 0 ? r : d[i];
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
  const Lanes<R> selected(mask);
#pragma GCC ivdep
  for (int i = 0; i < kWarpSize; ++i) {
    const R r = F(a[i], b[i], c[i], e[i]);
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}

// A source predicate. `index`: its number among the sources, whose bit in Op::flags means negated.
LOCKSTEP_INLINE LaneMask source_predicate(const Warp& w, const Op& op, int index) {
  const LaneMask p = predicate(w, op.src[index]);
  return op.as<program::ComputeFields>().negates(index) ? ~p : p;
}

}  // namespace
}  // namespace lockstep::engine::alu
