// Double precision arithmetic: PTX ISA 9.7.3 (add, sub, mul, fma, mad, div, rcp, sqrt, min, max,
// abs, neg, copysign) for .f64.
//
// f64 never flushes subnormals and has no .sat. Unlike f32's, its NaNs carry the payload of an
// operand, see quieted().
#include "simulator/engine/ops/alu/floating.h"
#include "simulator/engine/ops/alu/forms.h"

namespace lockstep::engine::alu {
namespace {

using isa::Rounding;

LOCKSTEP_INLINE f64 plus(f64 a, f64 b) { return a + b; }
LOCKSTEP_INLINE f64 minus(f64 a, f64 b) { return a - b; }
LOCKSTEP_INLINE f64 times(f64 a, f64 b) { return a * b; }
LOCKSTEP_INLINE f64 over(f64 a, f64 b) { return a / b; }
LOCKSTEP_INLINE f64 root(f64 a) { return __builtin_sqrt(a); }
LOCKSTEP_INLINE f64 reciprocal(f64 a) { return 1.0 / a; }
LOCKSTEP_INLINE f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }

// A NaN result is the first NaN operand, quieted, or the default NaN if no operand is one. This is
// rare, so it is not in the computing loop.
template <int Sources>
__attribute__((noinline, cold)) void mend_nans(const Warp& w, const Op& op, f64* r) {
  for (int i = 0; i < kWarpSize; ++i) {
    if (r[i] == r[i]) continue;
    r[i] = kMadeNaN;
    for (int s = Sources - 1; s >= 0; --s) {
      const f64 a = source<f64>(w, op.src[s])[i];
      if (a != a) r[i] = quieted(a);
    }
  }
}

template <auto F, int Sources, Round Mode>
void compute(Warp& w, const Op& op, LaneMask mask) {
  const f64* a = source<f64>(w, op.src[0]);
  const f64* b = source<f64>(w, op.src[Sources > 1 ? 1 : 0]);
  const f64* c = source<f64>(w, op.src[Sources > 2 ? 2 : 0]);
  f64 r[kWarpSize];
  u64 nans = 0;
  {
    FloatingScope<Mode, false> floating;
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      if constexpr (Sources == 1)
        r[i] = F(a[i]);
      else if constexpr (Sources == 2)
        r[i] = F(a[i], b[i]);
      else
        r[i] = F(a[i], b[i], c[i]);
    }
    keep_in_memory(r);
  }
  for (int i = 0; i < kWarpSize; ++i) nans |= r[i] == r[i] ? u64{0} : u64{1};
  if (nans != 0) [[unlikely]]
    mend_nans<Sources>(w, op, r);
  f64* d = destination<f64>(w, op.dst);
  if (mask == kAllLanes) [[likely]] {
    for (int i = 0; i < kWarpSize; ++i) d[i] = r[i];
  } else {
    store_lanes(d, r, mask);
  }
}

template <bool Smaller>
LOCKSTEP_INLINE f64 extreme(f64 a, f64 b) {
  const u64 ua = bits_as<u64>(a), ub = bits_as<u64>(b);
  f64 r = (Smaller ? a < b : a > b) ? a : b;
  r = a == b ? bits_as<f64>(Smaller ? ua | ub : ua & ub) : r;
  r = b == b ? r : a;
  return r == r ? r : quieted(b);  // both NaN: the second
}

template <auto F, int Sources>
Handler arithmetic(const AluKey& key, bool default_nearest) {
  if (!only(key, kRounding) || key.operand_count != Sources + 1) return nullptr;
  for (int i = 0; i <= Sources; ++i) {
    if (key.register_bytes[i] != 8) return nullptr;
  }
  switch (key.modifiers.rounding) {
    case Rounding::kNone: return default_nearest ? &compute<F, Sources, Round::kNearest> : nullptr;
    case Rounding::kNearestEven: return &compute<F, Sources, Round::kNearest>;
    case Rounding::kZero: return &compute<F, Sources, Round::kZero>;
    case Rounding::kDown: return &compute<F, Sources, Round::kDown>;
    case Rounding::kUp: return &compute<F, Sources, Round::kUp>;
    default: return nullptr;
  }
}

constexpr u64 kSign = u64{1} << 63;

// A NaN keeps its sign here.
LOCKSTEP_INLINE f64 absolute(f64 a) {
  return a == a ? bits_as<f64>(bits_as<u64>(a) & ~kSign) : quieted(a);
}
LOCKSTEP_INLINE f64 negated(f64 a) {
  return a == a ? bits_as<f64>(bits_as<u64>(a) ^ kSign) : quieted(a);
}

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
    case Opcode::k_min:
      return only(key, 0) && widths(key, 8, 8, 8) ? &binary<f64, f64, f64, extreme<true>> : nullptr;
    case Opcode::k_max:
      return only(key, 0) && widths(key, 8, 8, 8) ? &binary<f64, f64, f64, extreme<false>>
                                                  : nullptr;
    case Opcode::k_abs:
      return only(key, 0) && widths(key, 8, 8) ? &unary<f64, f64, absolute> : nullptr;
    case Opcode::k_neg:
      return only(key, 0) && widths(key, 8, 8) ? &unary<f64, f64, negated> : nullptr;
    case Opcode::k_copysign:
      if (!only(key, 0) || !widths(key, 8, 8, 8)) return nullptr;
      return &binary<u64, u64, u64, [](u64 a, u64 b) { return (a & kSign) | (b & ~kSign); }>;
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
