// The comparisons of setp and set, eight (or four) lanes at a time: PTX ISA 9.7.6 and table
// 'Floating-Point Comparison Operators'.
//
// Vector comparisons yield all-ones or zero lanes; one instruction gathers their sign bits into the
// predicate's mask. Include only in the handlers' files, which are compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

using isa::Compare;

typedef s32 S32x8 __attribute__((vector_size(32)));
typedef u32 U32x8 __attribute__((vector_size(32)));
typedef f32 F32x8 __attribute__((vector_size(32)));
typedef s64 S64x4 __attribute__((vector_size(32)));
typedef u64 U64x4 __attribute__((vector_size(32)));
typedef f64 F64x4 __attribute__((vector_size(32)));
typedef s16 S16x8 __attribute__((vector_size(16)));
typedef u16 U16x8 __attribute__((vector_size(16)));

template <class V>
LOCKSTEP_INLINE V loaded(const void* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
// One bit for each lane of a comparison's result. The compiler chooses the result's type: 8 lanes
// or 4.
template <class V>
LOCKSTEP_INLINE u32 gathered(V v) {
  if constexpr (sizeof(v[0]) == 4)
    return static_cast<u32>(_mm256_movemask_ps(reinterpret_cast<__m256>(v)));
  else
    return static_cast<u32>(_mm256_movemask_pd(reinterpret_cast<__m256d>(v)));
}

// Loads lanes of a PTX type for comparing: kLanes lanes at a time from the register at `p`.
template <class T>
struct Load {};
template <>
struct Load<s32> {
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static S32x8 at(const s32* p) { return loaded<S32x8>(p); }
};
template <>
struct Load<u32> {
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static U32x8 at(const u32* p) { return loaded<U32x8>(p); }
};
template <>
struct Load<f32> {
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const f32* p) { return loaded<F32x8>(p); }
};
template <>
struct Load<s64> {
  static constexpr int kLanes = 4;
  LOCKSTEP_INLINE static S64x4 at(const s64* p) { return loaded<S64x4>(p); }
};
template <>
struct Load<u64> {
  static constexpr int kLanes = 4;
  LOCKSTEP_INLINE static U64x4 at(const u64* p) { return loaded<U64x4>(p); }
};
template <>
struct Load<f64> {
  static constexpr int kLanes = 4;
  LOCKSTEP_INLINE static F64x4 at(const f64* p) { return loaded<F64x4>(p); }
};
template <>
struct Load<s16> {
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static S32x8 at(const s16* p) {
    return __builtin_convertvector(loaded<S16x8>(p), S32x8);
  }
};
template <>
struct Load<u16> {
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static S32x8 at(const u16* p) {
    return __builtin_convertvector(loaded<U16x8>(p), S32x8);
  }
};

// Operands whose register type is not the type compared.
struct FlushedF32 {  // .ftz: a subnormal compares as zero
  using Register = f32;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const f32* p) {
    const S32x8 bits = loaded<S32x8>(p);
    return reinterpret_cast<F32x8>(bits & ((bits & 0x7f800000) != 0));
  }
};
template <class T>
struct Plain : Load<T> {
  using Register = T;
};
struct Float16 {
  using Register = u16;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const u16* p) {
    return reinterpret_cast<F32x8>(_mm256_cvtph_ps(loaded<__m128i>(p)));
  }
};
struct FlushedFloat16 {
  using Register = u16;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const u16* p) {
    const S16x8 bits = loaded<S16x8>(p);
    return reinterpret_cast<F32x8>(
        _mm256_cvtph_ps(reinterpret_cast<__m128i>(bits & ((bits & 0x7c00) != 0))));
  }
};
struct BFloat16 {
  using Register = u16;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const u16* p) {
    return reinterpret_cast<F32x8>(__builtin_convertvector(loaded<U16x8>(p), U32x8) << 16);
  }
};
// One half of every lane's packed pair.
template <bool High>
struct Float16Of2 {
  using Register = u32;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const u32* p) {
    const U32x8 pair = loaded<U32x8>(p);
    const U16x8 half = __builtin_convertvector(High ? pair >> 16 : pair & 0xffffu, U16x8);
    return reinterpret_cast<F32x8>(_mm256_cvtph_ps(reinterpret_cast<__m128i>(half)));
  }
};
template <bool High>
struct FlushedFloat16Of2 {
  using Register = u32;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const u32* p) {
    const U32x8 pair = loaded<U32x8>(p);
    const S16x8 half =
        reinterpret_cast<S16x8>(__builtin_convertvector(High ? pair >> 16 : pair & 0xffffu, U16x8));
    return reinterpret_cast<F32x8>(
        _mm256_cvtph_ps(reinterpret_cast<__m128i>(half & ((half & 0x7c00) != 0))));
  }
};
template <bool High>
struct BFloat16Of2 {
  using Register = u32;
  static constexpr int kLanes = 8;
  LOCKSTEP_INLINE static F32x8 at(const u32* p) {
    const U32x8 pair = loaded<U32x8>(p);
    return reinterpret_cast<F32x8>(High ? pair & 0xffff0000u : pair << 16);
  }
};

template <Compare C, class V>
LOCKSTEP_INLINE auto compared(V a, V b) {
  if constexpr (C == Compare::kEq)
    return a == b;
  else if constexpr (C == Compare::kNe)
    return (a < b) | (a > b);  // ordered: false on a NaN
  else if constexpr (C == Compare::kLt)
    return a < b;
  else if constexpr (C == Compare::kLe)
    return a <= b;
  else if constexpr (C == Compare::kGt)
    return a > b;
  else if constexpr (C == Compare::kGe)
    return a >= b;
  else if constexpr (C == Compare::kEqu)
    return ~((a < b) | (a > b));
  else if constexpr (C == Compare::kNeu)
    return a != b;
  else if constexpr (C == Compare::kLtu)
    return ~(a >= b);
  else if constexpr (C == Compare::kLeu)
    return ~(a > b);
  else if constexpr (C == Compare::kGtu)
    return ~(a <= b);
  else if constexpr (C == Compare::kGeu)
    return ~(a < b);
  else if constexpr (C == Compare::kNum)
    return (a == a) & (b == b);
  else
    return (a != a) | (b != b);
}

// The comparison of all lanes of sources 0 and 1.
template <class L, Compare C>
LOCKSTEP_INLINE LaneMask compare_lanes(const Warp& w, const Op& op) {
  using R = typename L::Register;
  const R* a = source<R>(w, op.src[0]);
  const R* b = source<R>(w, op.src[1]);
  LaneMask m = 0;
#pragma GCC unroll 8
  for (int i = 0; i < kWarpSize; i += L::kLanes)
    m |= gathered(compared<C>(L::at(a + i), L::at(b + i))) << i;
  return m;
}

// Selects the handler for a comparison operator. `Use::template handler<L, C>()` returns the
// handler for a loader L and an operator C; it defines what is done with the comparison's mask.
template <class L, class Use>
Handler by_order(Compare c) {
  switch (c) {
    case Compare::kEq: return Use::template handler<L, Compare::kEq>();
    case Compare::kNe: return Use::template handler<L, Compare::kNe>();
    case Compare::kLt: return Use::template handler<L, Compare::kLt>();
    case Compare::kLe: return Use::template handler<L, Compare::kLe>();
    case Compare::kGt: return Use::template handler<L, Compare::kGt>();
    case Compare::kGe: return Use::template handler<L, Compare::kGe>();
    default: return nullptr;
  }
}
template <class L, class Use>
Handler by_float(Compare c) {
  switch (c) {
    case Compare::kEqu: return Use::template handler<L, Compare::kEqu>();
    case Compare::kNeu: return Use::template handler<L, Compare::kNeu>();
    case Compare::kLtu: return Use::template handler<L, Compare::kLtu>();
    case Compare::kLeu: return Use::template handler<L, Compare::kLeu>();
    case Compare::kGtu: return Use::template handler<L, Compare::kGtu>();
    case Compare::kGeu: return Use::template handler<L, Compare::kGeu>();
    case Compare::kNum: return Use::template handler<L, Compare::kNum>();
    case Compare::kNan: return Use::template handler<L, Compare::kNan>();
    default: return by_order<L, Use>(c);
  }
}
template <class L, class Use>
Handler by_signed(Compare c) {
  return by_order<L, Use>(c);
}
template <class L, class Use>
Handler by_unsigned(Compare c) {
  switch (c) {
    case Compare::kLo: return Use::template handler<L, Compare::kLt>();
    case Compare::kLs: return Use::template handler<L, Compare::kLe>();
    case Compare::kHi: return Use::template handler<L, Compare::kGt>();
    case Compare::kHs: return Use::template handler<L, Compare::kGe>();
    default: return by_order<L, Use>(c);
  }
}
template <class L, class Use>
Handler by_bits(Compare c) {
  return c == Compare::kEq || c == Compare::kNe ? by_order<L, Use>(c) : nullptr;
}

// Selects the comparison by the operands' type. `flush`: .ftz, allowed for f32 only here; half.cc
// handles halves.
template <class Use>
Handler by_type(Type type, Compare c, bool flush) {
  if (type == Type::kF32)
    return flush ? by_float<FlushedF32, Use>(c) : by_float<Plain<f32>, Use>(c);
  if (flush) return nullptr;
  switch (type) {
    case Type::kB16: return by_bits<Plain<u16>, Use>(c);
    case Type::kB32: return by_bits<Plain<u32>, Use>(c);
    case Type::kB64: return by_bits<Plain<u64>, Use>(c);
    case Type::kU16: return by_unsigned<Plain<u16>, Use>(c);
    case Type::kU32: return by_unsigned<Plain<u32>, Use>(c);
    case Type::kU64: return by_unsigned<Plain<u64>, Use>(c);
    case Type::kS16: return by_signed<Plain<s16>, Use>(c);
    case Type::kS32: return by_signed<Plain<s32>, Use>(c);
    case Type::kS64: return by_signed<Plain<s64>, Use>(c);
    case Type::kF64: return by_float<Plain<f64>, Use>(c);
    default: return nullptr;
  }
}

LOCKSTEP_INLINE int compared_bytes(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
    case Type::kS16: return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32: return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64: return 8;
    default: return -1;
  }
}

template <isa::BoolOp B>
LOCKSTEP_INLINE LaneMask combined(LaneMask result, LaneMask c) {
  if constexpr (B == isa::BoolOp::kAnd)
    return result & c;
  else if constexpr (B == isa::BoolOp::kOr)
    return result | c;
  else
    return result ^ c;
}

}  // namespace
}  // namespace lockstep::engine::alu
