// Single precision arithmetic that IEEE 754 defines: PTX ISA 9.7.3 (add, sub, mul, fma, mad,
// div.rnd, rcp.rnd, sqrt.rnd, min, max, abs, neg, copysign, testp) for .f32.
//
// Built with -ffp-contract=off. Every operation is one correctly rounded host operation, under
// MXCSR's direction where it is not to nearest; .sat clamps last.
#include "simulator/engine/ops/alu/floating.h"
#include "simulator/engine/ops/alu/forms.h"

namespace lockstep::engine::alu {
namespace {

using isa::Rounding;

struct Plus {
  LOCKSTEP_INLINE static f32 of(f32 a, f32 b) { return a + b; }
};
struct Minus {
  LOCKSTEP_INLINE static f32 of(f32 a, f32 b) { return a - b; }
};
struct Times {
  LOCKSTEP_INLINE static f32 of(f32 a, f32 b) { return a * b; }
};
struct Over {
  LOCKSTEP_INLINE static f32 of(f32 a, f32 b) { return a / b; }
};
struct Root {
  LOCKSTEP_INLINE static f32 of(f32 a) { return __builtin_sqrtf(a); }
};
struct Reciprocal {
  LOCKSTEP_INLINE static f32 of(f32 a) { return 1.0f / a; }
};
struct Fused {
  LOCKSTEP_INLINE static f32 of(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
};

template <class O, bool Sat, class... A>
LOCKSTEP_INLINE f32 rounded(A... a) {
  const f32 r = O::of(a...);
  return Sat ? clamped(r) : canonical(r);
}

template <class O, bool Sat, bool Flush, int Sources>
LOCKSTEP_INLINE u32 compute_flushed(const f32* a, const f32* b, const f32* c, f32* r) {
  u32 suspicious = 0;
#pragma GCC ivdep
  for (int i = 0; i < kWarpSize; ++i) {
    f32 v;
    if constexpr (Sources == 1)
      v = O::of(maybe_flushed<Flush>(a[i]));
    else if constexpr (Sources == 2)
      v = O::of(maybe_flushed<Flush>(a[i]), maybe_flushed<Flush>(b[i]));
    else
      v = O::of(maybe_flushed<Flush>(a[i]), maybe_flushed<Flush>(b[i]), maybe_flushed<Flush>(c[i]));
    suspicious |= (bits_as<u32>(v) & 0x7fffffffu) == 0x00800000u ? 1u : 0u;
    v = maybe_flushed<Flush>(v);
    r[i] = Sat ? clamped(v) : canonical(v);
  }
  return suspicious;
}

// .ftz with rounding to nearest. Loading MXCSR twice costs more than flushing in software. Software
// flushing is right unless a result is the smallest normal number, to which a tiny value may have
// been rounded up. Only then the processor flushes.
template <class O, bool Sat, int Sources>
void nearest_flushed(Warp& w, const Op& op, LaneMask mask) {
  const f32* a = source<f32>(w, op.src[0]);
  const f32* b = source<f32>(w, op.src[Sources > 1 ? 1 : 0]);
  const f32* c = source<f32>(w, op.src[Sources > 2 ? 2 : 0]);
  f32 r[kWarpSize];
  if (compute_flushed<O, Sat, true, Sources>(a, b, c, r) != 0) [[unlikely]] {
    FloatingScope<Round::kNearest, true> floating;
    compute_flushed<O, Sat, false, Sources>(a, b, c, r);
    keep_in_memory(r);
  }
  f32* d = destination<f32>(w, op.dst);
  if (mask == kAllLanes) [[likely]] {
    for (int i = 0; i < kWarpSize; ++i) d[i] = r[i];
  } else {
    store_lanes(d, r, mask);
  }
}

template <class O, Round Mode, bool Ftz, bool Sat, int Sources>
constexpr Handler instance() {
  if constexpr (Ftz && Mode == Round::kNearest)
    return &nearest_flushed<O, Sat, Sources>;
  else if constexpr (Sources == 1)
    return &unary<f32, f32, rounded<O, Sat, f32>, Mode, Ftz>;
  else if constexpr (Sources == 2)
    return &binary<f32, f32, f32, rounded<O, Sat, f32, f32>, Mode, Ftz>;
  else
    return &ternary<f32, f32, f32, f32, rounded<O, Sat, f32, f32, f32>, Mode, Ftz>;
}

template <class O, Round Mode, int Sources, bool MaySaturate>
Handler with_mode(const AluKey& key) {
  if constexpr (MaySaturate) {
    if (key.modifiers.sat) {
      return key.modifiers.ftz ? instance<O, Mode, true, true, Sources>()
                               : instance<O, Mode, false, true, Sources>();
    }
  }
  return key.modifiers.ftz ? instance<O, Mode, true, false, Sources>()
                           : instance<O, Mode, false, false, Sources>();
}

template <class O, int Sources, bool MaySaturate>
Handler arithmetic(const AluKey& key, bool default_nearest) {
  if (!only(key, kRounding | kFtz | (MaySaturate ? kSat : 0u))) return nullptr;
  if (key.operand_count != Sources + 1) return nullptr;
  for (int i = 0; i <= Sources; ++i) {
    if (key.register_bytes[i] != 4) return nullptr;
  }
  switch (key.modifiers.rounding) {
    case Rounding::kNone:
      return default_nearest ? with_mode<O, Round::kNearest, Sources, MaySaturate>(key) : nullptr;
    case Rounding::kNearestEven: return with_mode<O, Round::kNearest, Sources, MaySaturate>(key);
    case Rounding::kZero: return with_mode<O, Round::kZero, Sources, MaySaturate>(key);
    case Rounding::kDown: return with_mode<O, Round::kDown, Sources, MaySaturate>(key);
    case Rounding::kUp: return with_mode<O, Round::kUp, Sources, MaySaturate>(key);
    default: return nullptr;
  }
}

// The smaller or larger; a NaN loses against a number unless .NaN; -0 is below +0.
template <bool Smaller, bool Propagate>
LOCKSTEP_INLINE f32 extreme(f32 a, f32 b) {
  const u32 ua = bits_as<u32>(a), ub = bits_as<u32>(b);
  f32 r = (Smaller ? a < b : a > b) ? a : b;
  r = a == b ? bits_as<f32>(Smaller ? ua | ub : ua & ub) : r;
  if (Propagate) {
    r = a == a ? r : canonical_nan();
    r = b == b ? r : canonical_nan();
    return r;
  }
  r = b == b ? r : a;
  return canonical(r);
}

template <bool Smaller, bool Ftz, bool Propagate, bool SignXor>
struct Extreme {
  LOCKSTEP_INLINE static f32 magnitude(f32 a) {
    return bits_as<f32>(bits_as<u32>(a) & 0x7fffffffu);
  }
  LOCKSTEP_INLINE static f32 of(f32 a, f32 b) {
    a = maybe_flushed<Ftz>(a);
    b = maybe_flushed<Ftz>(b);
    if (!SignXor) return extreme<Smaller, Propagate>(a, b);
    const f32 r = extreme<Smaller, Propagate>(magnitude(a), magnitude(b));
    const u32 sign = (bits_as<u32>(a) ^ bits_as<u32>(b)) & 0x80000000u;
    return r == r ? bits_as<f32>(bits_as<u32>(r) | sign) : r;
  }
  LOCKSTEP_INLINE static f32 of_three(f32 a, f32 b, f32 c) { return of(of(a, b), c); }
  LOCKSTEP_INLINE static f32 of_magnitudes(f32 a, f32 b, f32 c) {
    return of(of(magnitude(a), magnitude(b)), magnitude(c));
  }
};

template <bool Smaller, bool Ftz, bool Propagate>
Handler three_inputs(bool magnitudes) {
  using E = Extreme<Smaller, Ftz, Propagate, false>;
  return magnitudes ? &ternary<f32, f32, f32, f32, E::of_magnitudes>
                    : &ternary<f32, f32, f32, f32, E::of_three>;
}

template <bool Smaller, bool Ftz, bool Propagate>
Handler extreme_instance(const AluKey& key) {
  const isa::Modifiers& m = key.modifiers;
  if (widths(key, 4, 4, 4, 4))
    return m.xorsign_abs ? nullptr : three_inputs<Smaller, Ftz, Propagate>(m.abs);
  if (!widths(key, 4, 4, 4) || m.abs) return nullptr;
  return m.xorsign_abs ? &binary<f32, f32, f32, Extreme<Smaller, Ftz, Propagate, true>::of>
                       : &binary<f32, f32, f32, Extreme<Smaller, Ftz, Propagate, false>::of>;
}

template <bool Smaller>
Handler extreme_form(const AluKey& key) {
  if (!only(key, kFtz | kNaN | kXorsignAbs | kAbs)) return nullptr;
  if (key.modifiers.ftz)
    return key.modifiers.nan ? extreme_instance<Smaller, true, true>(key)
                             : extreme_instance<Smaller, true, false>(key);
  return key.modifiers.nan ? extreme_instance<Smaller, false, true>(key)
                           : extreme_instance<Smaller, false, false>(key);
}

// PTX leaves the payload of a NaN after abs and neg unspecified. Hardware returns the canonical NaN
// without a sign.
template <bool Ftz>
LOCKSTEP_INLINE f32 absolute(f32 a) {
  return canonical(bits_as<f32>(bits_as<u32>(maybe_flushed<Ftz>(a)) & 0x7fffffffu));
}
template <bool Ftz>
LOCKSTEP_INLINE f32 negated(f32 a) {
  return canonical(bits_as<f32>(bits_as<u32>(maybe_flushed<Ftz>(a)) ^ 0x80000000u));
}

}  // namespace

Handler resolve_float32(const AluKey& key) {
  switch (key.opcode) {
    case Opcode::k_add: return arithmetic<Plus, 2, true>(key, true);
    case Opcode::k_sub: return arithmetic<Minus, 2, true>(key, true);
    case Opcode::k_mul: return arithmetic<Times, 2, true>(key, true);
    case Opcode::k_fma: return arithmetic<Fused, 3, true>(key, false);
    case Opcode::k_mad: return arithmetic<Fused, 3, true>(key, true);  // as fma since sm_20
    case Opcode::k_div: return arithmetic<Over, 2, false>(key, false);
    case Opcode::k_rcp: return arithmetic<Reciprocal, 1, false>(key, false);
    case Opcode::k_sqrt: return arithmetic<Root, 1, false>(key, false);
    case Opcode::k_min: return extreme_form<true>(key);
    case Opcode::k_max: return extreme_form<false>(key);
    case Opcode::k_abs:
      if (!only(key, kFtz) || !widths(key, 4, 4)) return nullptr;
      return key.modifiers.ftz ? &unary<f32, f32, absolute<true>>
                               : &unary<f32, f32, absolute<false>>;
    case Opcode::k_neg:
      if (!only(key, kFtz) || !widths(key, 4, 4)) return nullptr;
      return key.modifiers.ftz ? &unary<f32, f32, negated<true>> : &unary<f32, f32, negated<false>>;
    case Opcode::k_copysign:  // the sign of a, the magnitude of b
      if (!only(key, 0) || !widths(key, 4, 4, 4)) return nullptr;
      return &binary<u32, u32, u32,
                     [](u32 a, u32 b) { return (a & 0x80000000u) | (b & 0x7fffffffu); }>;
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
