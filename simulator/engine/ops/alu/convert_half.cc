// cvt with f16 or bf16 on either side, scalar or packed: PTX ISA 9.7.9 (cvt).
//
// A conversion reads into a buffer of 32 f64, which holds every source exactly (64-bit integers:
// rounded to odd, which has the same effect). It is then rounded once, in the instruction's
// direction. Frequent conversions have loops of their own.
#include "simulator/engine/ops/alu/converting.h"
#include "simulator/engine/ops/alu/halves.h"
#include "simulator/engine/ops/alu/narrowing.h"

namespace lockstep::engine::alu {
namespace {

// ---- Reading sources as f64.

template <class A, class S>
__attribute__((noinline)) void read_integer(const Warp& w, Slot slot, f64* x) {
  const S* a = source<S>(w, slot);
  for (int i = 0; i < kWarpSize; ++i) {
    const A v = static_cast<A>(a[i]);
    if constexpr (sizeof(A) == 8) {
      const bool negative = kSignedType<A> && v < 0;
      u64 m = negative ? u64{0} - static_cast<u64>(v) : static_cast<u64>(v);
      if (m >> 53) m = (m & ~u64{0x7ff}) | ((m & 0x7ff) != 0 ? 0x800 : 0);
      const f64 d = static_cast<f64>(m);
      x[i] = negative ? -d : d;
    } else {
      x[i] = static_cast<f64>(v);
    }
  }
}
__attribute__((noinline)) void read_f32(const Warp& w, Slot slot, f64* x) {
  const f32* a = source<f32>(w, slot);
  for (int i = 0; i < kWarpSize; ++i) x[i] = static_cast<f64>(a[i]);
}
__attribute__((noinline)) void read_flushed_f32(const Warp& w, Slot slot, f64* x) {
  const f32* a = source<f32>(w, slot);
  for (int i = 0; i < kWarpSize; ++i) x[i] = static_cast<f64>(flushed(a[i]));
}
__attribute__((noinline)) void read_f64(const Warp& w, Slot slot, f64* x) {
  const f64* a = source<f64>(w, slot);
  for (int i = 0; i < kWarpSize; ++i) x[i] = a[i];
}
template <class C>
__attribute__((noinline)) void read_half(const Warp& w, Slot slot, f64* x) {
  f32 t[kWarpSize];
  C::widen(source<u16>(w, slot), t, kWarpSize);
  for (int i = 0; i < kWarpSize; ++i) x[i] = static_cast<f64>(t[i]);
}
using Reader = void (*)(const Warp&, Slot, f64*);

// ---- Writing halves.

enum class Limit { kNone, kKeepNaN, kSaturate, kRelu, kFinite, kReluFinite };

// A NaN from f64 keeps its sign and the top of its payload; from anything else it becomes the
// canonical one.
template <class C, Round Mode, bool KeepNaN = false>
LOCKSTEP_INLINE u16 narrowed_half(f64 v) {
  constexpr u32 kNaNBits = KeepNaN ? 0 : 0x7fff;
  if constexpr (__is_same(C, F16))
    return static_cast<u16>(narrowed_bits<11, 5, Mode>(v, kNaNBits));
  else
    return static_cast<u16>(narrowed_bits<8, 8, Mode>(v, kNaNBits));
}
template <class C, Round Mode, Limit L>
LOCKSTEP_INLINE u16 limited_half(f64 v) {
  if constexpr (L == Limit::kSaturate) v = clamped(v);
  if constexpr (L == Limit::kRelu || L == Limit::kReluFinite) v = v > 0 || v != v ? v : 0.0;
  u16 r = narrowed_half<C, Mode, L == Limit::kKeepNaN>(v);
  if constexpr (L == Limit::kFinite || L == Limit::kReluFinite)
    r = (r & 0x7fff) == C::kExponent ? r - 1 : r;
  return r;
}
template <class C, Round Mode, Limit L>
__attribute__((noinline)) void write_half(Warp& w, Slot slot, const f64* x, LaneMask mask) {
  u16 r[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) r[i] = limited_half<C, Mode, L>(x[i]);
  store_elements<kWarpSize>(destination<u16>(w, slot), r, mask);
}

template <Reader Read, class C, Round Mode, Limit L>
void to_half(Warp& w, const Op& op, LaneMask mask) {
  f64 x[kWarpSize];
  Read(w, op.src[0], x);
  write_half<C, Mode, L>(w, op.dst, x, mask);
}
template <Reader Read, class C, Limit L>
Handler in_direction(Rounding r) {
  switch (r) {
    case Rounding::kNearestEven: return &to_half<Read, C, Round::kNearest, L>;
    case Rounding::kZero: return &to_half<Read, C, Round::kZero, L>;
    case Rounding::kDown: return &to_half<Read, C, Round::kDown, L>;
    case Rounding::kUp: return &to_half<Read, C, Round::kUp, L>;
    default: return nullptr;
  }
}

template <class C>
struct FromIntegerToHalf {
  const AluKey& key;
  template <class A, class S>
  Handler operator()() const {
    if (key.modifiers.sat)
      return __is_same(C, F16)
                 ? in_direction<read_integer<A, S>, C, Limit::kSaturate>(key.modifiers.rounding)
                 : nullptr;
    return in_direction<read_integer<A, S>, C, Limit::kNone>(key.modifiers.rounding);
  }
};

// The everyday conversions, eight lanes at a time.
template <class C>
void nearest_from_f32(Warp& w, const Op& op, LaneMask mask) {
  u16 r[kWarpSize];
  C::narrow(source<f32>(w, op.src[0]), r, kWarpSize);
  store_elements<kWarpSize>(destination<u16>(w, op.dst), r, mask);
}

template <class C, Reader Read>
Handler half_from_f32(const AluKey& key, bool zero_or_nearest) {
  const auto& m = key.modifiers;
  // The modifier .satfinite sets `sat`, too. With f16 and without .relu the row's variant
  // distinguishes it from .sat, which clamps to [0, 1].
  const bool finite = m.sat && (!__is_same(C, F16) || m.relu || m.variant == 1);
  if ((m.relu || finite) && !zero_or_nearest) return nullptr;
  if (m.relu)
    return finite ? in_direction<Read, C, Limit::kReluFinite>(m.rounding)
                  : in_direction<Read, C, Limit::kRelu>(m.rounding);
  if (finite) return in_direction<Read, C, Limit::kFinite>(m.rounding);
  if (m.sat) return in_direction<Read, C, Limit::kSaturate>(m.rounding);
  return in_direction<Read, C, Limit::kNone>(m.rounding);
}

// Rounded to an integral value in its own format.
template <class C, Rounding R, bool Sat, bool Ftz>
void integral_half(Warp& w, const Op& op, LaneMask mask) {
  const u16* a = source<u16>(w, op.src[0]);
  u16 t[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) t[i] = Ftz ? flushed_element<C>(a[i]) : a[i];
  f32 x[kWarpSize];
  C::widen(t, x, kWarpSize);
  for (int i = 0; i < kWarpSize; ++i) {
    if constexpr (R != Rounding::kNone) x[i] = to_integral<R>(x[i]);
    if constexpr (Sat) x[i] = clamped(x[i]);
  }
  u16 r[kWarpSize];
  C::narrow(x, r, kWarpSize);
  store_elements<kWarpSize>(destination<u16>(w, op.dst), r, mask);
}
template <class C, bool Sat, bool Ftz>
Handler integral_instance(Rounding r) {
  switch (r) {
    case Rounding::kNone: return &integral_half<C, Rounding::kNone, Sat, Ftz>;
    case Rounding::kIntNearestEven: return &integral_half<C, Rounding::kIntNearestEven, Sat, Ftz>;
    case Rounding::kIntZero: return &integral_half<C, Rounding::kIntZero, Sat, Ftz>;
    case Rounding::kIntDown: return &integral_half<C, Rounding::kIntDown, Sat, Ftz>;
    case Rounding::kIntUp: return &integral_half<C, Rounding::kIntUp, Sat, Ftz>;
    default: return nullptr;
  }
}

// A NaN becomes the canonical one.
LOCKSTEP_INLINE u16 same_bf16(u16 a) {
  return (a & 0x7fff) > 0x7f80 ? static_cast<u16>(0x7fff) : a;
}

LOCKSTEP_INLINE Rounding nearest_if_none(Rounding r) {
  return r == Rounding::kNone ? Rounding::kNearestEven : r;
}

template <class C>
Handler to_half_form(const AluKey& key) {
  const auto& m = key.modifiers;
  constexpr bool kIsF16 = __is_same(C, F16);
  if (key.operand_count != 2 || key.register_bytes[0] != 2 ||
      !only(key, kSourceType | kRounding | kSat | kFtz | kRelu | kVariant))
    return nullptr;
  const int from = key.register_bytes[1];
  if (integer_bytes(m.source_type) != 0) {
    if (m.ftz || m.relu) return nullptr;
    return with_integer_type(m.source_type, from, FromIntegerToHalf<C>{key});
  }
  const bool zero_or_nearest =
      m.rounding == Rounding::kNearestEven || m.rounding == Rounding::kZero;
  switch (m.source_type) {
    case Type::kF32:
      if (from != 4) return nullptr;
      if (!kIsF16 && m.ftz)
        return m.sat || m.relu ? nullptr
                               : in_direction<read_flushed_f32, C, Limit::kNone>(m.rounding);
      if (m.rounding == Rounding::kNearestEven && !m.sat && !m.relu)
        return &nearest_from_f32<C>;  // .ftz does nothing here: f16 is never flushed, nor is the
                                      // source
      return half_from_f32<C, read_f32>(key, zero_or_nearest);
    case Type::kF64:
      if (from != 8 || m.ftz || m.relu || (m.sat && !kIsF16)) return nullptr;
      return m.sat ? in_direction<read_f64, C, Limit::kSaturate>(m.rounding)
                   : in_direction<read_f64, C, Limit::kKeepNaN>(m.rounding);
    case Type::kF16:
      if (from != 2 || m.relu) return nullptr;
      if (!kIsF16)
        return m.sat || m.ftz
                   ? nullptr
                   : in_direction<read_half<F16>, C, Limit::kNone>(nearest_if_none(m.rounding));
      if (m.ftz)
        return m.sat ? integral_instance<C, true, true>(m.rounding)
                     : integral_instance<C, false, true>(m.rounding);
      return m.sat ? integral_instance<C, true, false>(m.rounding)
                   : integral_instance<C, false, false>(m.rounding);
    case Type::kBF16:
      if (from != 2 || m.relu || m.sat || m.ftz) return nullptr;
      if (kIsF16)
        return in_direction<read_half<BF16>, C, Limit::kNone>(nearest_if_none(m.rounding));
      return m.rounding == Rounding::kNone ? &unary<u16, u16, same_bf16>
                                           : integral_instance<C, false, false>(m.rounding);
    default: return nullptr;
  }
}

// d = {a, b}: a is the high half.
template <class C, Round Mode, Limit L>
void pack_f32(Warp& w, const Op& op, LaneMask mask) {
  f64 a[kWarpSize], b[kWarpSize];
  read_f32(w, op.src[0], a);
  read_f32(w, op.src[1], b);
  u32* d = destination<u32>(w, op.dst);
  const Lanes<u32> selected(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    const u32 r = u32{limited_half<C, Mode, L>(a[i])} << 16 | limited_half<C, Mode, L>(b[i]);
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}
template <class C>
void pack_nearest(Warp& w, const Op& op, LaneMask mask) {
  u16 a[kWarpSize], b[kWarpSize];
  C::narrow(source<f32>(w, op.src[0]), a, kWarpSize);
  C::narrow(source<f32>(w, op.src[1]), b, kWarpSize);
  u32* d = destination<u32>(w, op.dst);
  const Lanes<u32> selected(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    const u32 r = u32{a[i]} << 16 | b[i];
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}
// Stochastic rounding: `random` is added to the first bits that the format drops, 13 for f16 and 16
// for bf16, and the carry out of them rounds the magnitude up. The manual asks for zeros above the
// 13 bits; Blackwell does not look at them.
template <class C, bool Finite>
LOCKSTEP_INLINE u16 stochastic_half(u32 a, u32 random) {
  constexpr int kKept = __is_same(C, F16) ? 10 : 7;  // fraction bits
  constexpr int kDropped = 23 - kKept;
  constexpr u32 kLowest =
      __is_same(C, F16) ? 113 : 1;  // f32's exponent field of the smallest normal number
  const u32 magnitude = a & 0x7fffffffu;
  const u32 field = magnitude >> 23;
  const u32 significand = (magnitude & 0x7fffffu) | (field == 0 ? 0u : 0x800000u);
  // Below the smallest normal number the last place stays where it is.
  const u32 actual = field == 0 ? 1 : field;
  const u32 under = actual < kLowest ? kLowest - actual : 0;
  const u32 kept =
      ((significand >> (under > 31 ? 31 : under)) + (random & ((1u << kDropped) - 1))) >> kDropped;
  u32 r = kept + (((actual < kLowest ? kLowest : actual) - kLowest) << kKept);
  constexpr u32 kLargest = Finite ? C::kExponent - 1u : C::kExponent;
  r = r > kLargest ? kLargest : r;
  return static_cast<u16>(magnitude > 0x7f800000u ? 0x7fffu : (a >> 16 & 0x8000u) | r);
}
template <class C, bool Relu, bool Finite>
void pack_stochastic(Warp& w, const Op& op, LaneMask mask) {
  const u32* a = source<u32>(w, op.src[0]);
  const u32* b = source<u32>(w, op.src[1]);
  const u32* random = source<u32>(w, op.src[2]);
  u32* d = destination<u32>(w, op.dst);
  const Lanes<u32> selected(mask);
  const auto rectified = [](u32 v) {
    return Relu && v >= 0x80000000u && v <= 0xff800000u ? 0u : v;
  };  // a NaN stays one
  for (int i = 0; i < kWarpSize; ++i) {
    const u32 high = stochastic_half<C, Finite>(rectified(a[i]), random[i] >> 16);
    const u32 r = high << 16 | stochastic_half<C, Finite>(rectified(b[i]), random[i]);
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}
template <class C>
Handler stochastic_form(const AluKey& key) {
  if (!widths(key, 4, 4, 4, 4)) return nullptr;
  if (key.modifiers.relu)
    return key.modifiers.sat ? &pack_stochastic<C, true, true> : &pack_stochastic<C, true, false>;
  return key.modifiers.sat ? &pack_stochastic<C, false, true> : &pack_stochastic<C, false, false>;
}

template <class C, Round Mode>
Handler pack_instance(bool relu, bool finite) {
  if (relu)
    return finite ? &pack_f32<C, Mode, Limit::kReluFinite> : &pack_f32<C, Mode, Limit::kRelu>;
  return finite ? &pack_f32<C, Mode, Limit::kFinite> : &pack_f32<C, Mode, Limit::kNone>;
}
template <class C>
Handler pack_form(const AluKey& key) {
  const auto& m = key.modifiers;
  if (m.source_type != Type::kF32 || !only(key, kSourceType | kRounding | kSat | kRelu))
    return nullptr;
  if (m.rounding == Rounding::kStochastic) return stochastic_form<C>(key);
  if (!widths(key, 4, 4, 4)) return nullptr;
  if (m.rounding == Rounding::kNearestEven)
    return m.relu || m.sat ? pack_instance<C, Round::kNearest>(m.relu, m.sat) : &pack_nearest<C>;
  if (m.rounding == Rounding::kZero) return pack_instance<C, Round::kZero>(m.relu, m.sat);
  return nullptr;
}

// ---- From halves.

template <class C, class F, bool Sat, bool Ftz>
void widen_half(Warp& w, const Op& op, LaneMask mask) {
  f32 x[kWarpSize];
  C::widen(source<u16>(w, op.src[0]), x, kWarpSize);
  F* d = destination<F>(w, op.dst);
  const Lanes<F> selected(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    F r = static_cast<F>(maybe_flushed<Ftz>(x[i]));
    // A NaN keeps its payload on the way to f64, and from bf16 to f32 without .ftz (a shift).
    // Otherwise it becomes canonical.
    if constexpr (Sat)
      r = clamped(r);
    else if constexpr (sizeof(F) == 4 && (__is_same(C, F16) || Ftz))
      r = canonical(r);
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}
template <class C, class F>
Handler widen_form(const AluKey& key) {
  const auto& m = key.modifiers;
  // .ftz matters for bf16 alone: what f16 calls subnormal is normal in f32.
  constexpr bool kIsF16 = __is_same(C, F16), kTo32 = sizeof(F) == 4;
  // A rounding may be written with bf16; there is nothing to round.
  if (!only(key, kSourceType | (kIsF16 ? kSat : kRounding) | (kTo32 ? kFtz : 0u)) ||
      !widths(key, sizeof(F), 2))
    return nullptr;
  if constexpr (kIsF16)
    return m.sat ? &widen_half<C, F, true, false> : &widen_half<C, F, false, false>;
  else
    return m.ftz ? &widen_half<C, F, false, true> : &widen_half<C, F, false, false>;
}

template <class C, Rounding R>
__attribute__((noinline)) void read_integral(const Warp& w, Slot slot, f32* x) {
  C::widen(source<u16>(w, slot), x, kWarpSize);
  for (int i = 0; i < kWarpSize; ++i) x[i] = to_integral<R>(x[i]);
}
template <class D, class DR>
__attribute__((noinline)) void write_clamped(Warp& w, Slot slot, const f32* x, LaneMask mask) {
  DR* d = destination<DR>(w, slot);
  const Lanes<DR> selected(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    const DR r = clamped_to<D, DR>(x[i]);
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}
template <class C, Rounding R, class D, class DR>
void half_to_integer(Warp& w, const Op& op, LaneMask mask) {
  f32 x[kWarpSize];
  read_integral<C, R>(w, op.src[0], x);
  write_clamped<D, DR>(w, op.dst, x, mask);
}
template <class C>
struct HalfToInteger {
  Rounding rounding;
  template <class D, class DR>
  Handler operator()() const {
    switch (rounding) {
      case Rounding::kIntNearestEven: return &half_to_integer<C, Rounding::kIntNearestEven, D, DR>;
      case Rounding::kIntZero: return &half_to_integer<C, Rounding::kIntZero, D, DR>;
      case Rounding::kIntDown: return &half_to_integer<C, Rounding::kIntDown, D, DR>;
      case Rounding::kIntUp: return &half_to_integer<C, Rounding::kIntUp, D, DR>;
      default: return nullptr;
    }
  }
};

template <class C>
Handler from_half_form(const AluKey& key) {
  const auto& m = key.modifiers;
  if (m.type == Type::kF32) return widen_form<C, f32>(key);
  if (m.type == Type::kF64) return widen_form<C, f64>(key);
  if (integer_bytes(m.type) == 0 || key.operand_count != 2 || key.register_bytes[1] != 2)
    return nullptr;
  if (!only(key, kSourceType | kRounding | kSat)) return nullptr;
  return with_integer_type(m.type, key.register_bytes[0], HalfToInteger<C>{m.rounding});
}

}  // namespace

Handler resolve_convert_half(const AluKey& key) {
  switch (key.modifiers.type) {
    case Type::kF16: return to_half_form<F16>(key);
    case Type::kBF16: return to_half_form<BF16>(key);
    case Type::kF16x2: return pack_form<F16>(key);
    case Type::kBF16x2: return pack_form<BF16>(key);
    default: break;
  }
  if (key.modifiers.source_type == Type::kF16) return from_half_form<F16>(key);
  if (key.modifiers.source_type == Type::kBF16) return from_half_form<BF16>(key);
  return nullptr;
}

}  // namespace lockstep::engine::alu
