// Double precision arithmetic: PTX ISA 9.7.3 (add, sub, mul, fma, mad, div, rcp, sqrt, min, max, abs, neg, copysign) for .f64.
//
// f64 never flushes subnormals and has no .sat. Unlike f32's, its NaNs carry the payload of an operand, see quieted().
#include "simulator/engine/alu/floating.h"
#include "simulator/engine/alu/forms.h"

namespace lockstep::engine::LOCKSTEP_ISA {
namespace {

using ptx::Rounding;

// The first operand that is a NaN, quieted; where none is, the NaN that the machine makes of 0 / 0 and its like.
LOCKSTEP_INLINE f64 with_nan_of(f64 r, f64 a) { return r == r ? r : a == a ? kMadeNaN : quieted(a); }
LOCKSTEP_INLINE f64 with_nan_of(f64 r, f64 a, f64 b) { return r == r ? r : a == a ? with_nan_of(r, b) : quieted(a); }
LOCKSTEP_INLINE f64 with_nan_of(f64 r, f64 a, f64 b, f64 c) { return r == r ? r : a == a ? with_nan_of(r, b, c) : quieted(a); }

LOCKSTEP_INLINE f64 plus(f64 a, f64 b) { return with_nan_of(a + b, a, b); }
LOCKSTEP_INLINE f64 minus(f64 a, f64 b) { return with_nan_of(a - b, a, b); }
LOCKSTEP_INLINE f64 times(f64 a, f64 b) { return with_nan_of(a * b, a, b); }
LOCKSTEP_INLINE f64 over(f64 a, f64 b) { return with_nan_of(a / b, a, b); }
LOCKSTEP_INLINE f64 root(f64 a) { return with_nan_of(__builtin_sqrt(a), a); }
LOCKSTEP_INLINE f64 reciprocal(f64 a) { return with_nan_of(1.0 / a, a); }
LOCKSTEP_INLINE f64 fused(f64 a, f64 b, f64 c) { return with_nan_of(__builtin_fma(a, b, c), a, b, c); }

template <bool Smaller>
LOCKSTEP_INLINE f64 extreme(f64 a, f64 b) {
  const u64 ua = bits_as<u64>(a), ub = bits_as<u64>(b);
  f64 r = (Smaller ? a < b : a > b) ? a : b;
  r = a == b ? bits_as<f64>(Smaller ? ua | ub : ua & ub) : r;
  r = b == b ? r : a;
  return r == r ? r : quieted(b);  // both NaN: the second
}

template <auto F, int Sources, Round Mode>
constexpr Handler instance() {
  if constexpr (Sources == 1) return &unary<f64, f64, F, Mode>;
  else if constexpr (Sources == 2) return &binary<f64, f64, f64, F, Mode>;
  else return &ternary<f64, f64, f64, f64, F, Mode>;
}

template <auto F, int Sources>
Handler arithmetic(const AluKey& key, bool default_nearest) {
  if (!only(key, kRounding) || key.operand_count != Sources + 1) return nullptr;
  for (int i = 0; i <= Sources; ++i) {
    if (key.register_bytes[i] != 8) return nullptr;
  }
  switch (key.modifiers.rounding) {
    case Rounding::kNone: return default_nearest ? instance<F, Sources, Round::kNearest>() : nullptr;
    case Rounding::kNearestEven: return instance<F, Sources, Round::kNearest>();
    case Rounding::kZero: return instance<F, Sources, Round::kZero>();
    case Rounding::kDown: return instance<F, Sources, Round::kDown>();
    case Rounding::kUp: return instance<F, Sources, Round::kUp>();
    default: return nullptr;
  }
}

constexpr u64 kSign = u64{1} << 63;

// A NaN keeps its sign here.
LOCKSTEP_INLINE f64 absolute(f64 a) { return a == a ? bits_as<f64>(bits_as<u64>(a) & ~kSign) : quieted(a); }
LOCKSTEP_INLINE f64 negated(f64 a) { return a == a ? bits_as<f64>(bits_as<u64>(a) ^ kSign) : quieted(a); }

}  // namespace

Handler resolve_float64(const AluKey& key) {
  switch (key.opcode) {
    case Opcode::k_add: return arithmetic<plus, 2>(key, true);
    case Opcode::k_sub: return arithmetic<minus, 2>(key, true);
    case Opcode::k_mul: return arithmetic<times, 2>(key, true);
    case Opcode::k_fma: return arithmetic<fused, 3>(key, false);
    case Opcode::k_mad: return arithmetic<fused, 3>(key, true);
    case Opcode::k_div: return arithmetic<over, 2>(key, false);
    case Opcode::k_rcp: return arithmetic<reciprocal, 1>(key, false);
    case Opcode::k_sqrt: return arithmetic<root, 1>(key, false);
    case Opcode::k_min: return only(key, 0) && widths(key, 8, 8, 8) ? &binary<f64, f64, f64, extreme<true>> : nullptr;
    case Opcode::k_max: return only(key, 0) && widths(key, 8, 8, 8) ? &binary<f64, f64, f64, extreme<false>> : nullptr;
    case Opcode::k_abs: return only(key, 0) && widths(key, 8, 8) ? &unary<f64, f64, absolute> : nullptr;
    case Opcode::k_neg: return only(key, 0) && widths(key, 8, 8) ? &unary<f64, f64, negated> : nullptr;
    case Opcode::k_copysign:
      if (!only(key, 0) || !widths(key, 8, 8, 8)) return nullptr;
      return &binary<u64, u64, u64, [](u64 a, u64 b) { return (a & kSign) | (b & ~kSign); }>;
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::LOCKSTEP_ISA
