// cvt with fp6, fp4 and ue8m0, and of four values at once: PTX ISA 9.7.9.22 (cvt).
//
// NaNs and values out of range are converted as the manual says, and as cuda_fp6.hpp, cuda_fp4.hpp
// and cuda_fp8.hpp do on a host. Only a figure in the manual shows which random bits belong to
// which of four values. Here each value uses one byte, the first value the highest.
#include "simulator/engine/ops/alu/converting.h"
#include "simulator/engine/ops/alu/halves.h"

namespace lockstep::engine::alu {
namespace {

constexpr int kRandomBits = 8;  // of each of four values

// A format of `FractionBits`, whose smallest normal number is 2^`Lowest`, and whose largest finite
// one has the bits `Largest`. A NaN becomes `NaN`.
template <int FractionBits, int Lowest, u32 Largest, u32 NaN, int SignBit>
struct Format {
  static constexpr int kFraction = FractionBits;
  static constexpr u32 kSign = 1u << SignBit;
  static constexpr u32 kNaN = NaN;

  // The exponent of the binade whose last place rounds `magnitude`.
  LOCKSTEP_INLINE static int exponent_of(f64 magnitude) {
    const int e = static_cast<int>(bits_as<u64>(magnitude) >> 52) - 1023;
    return e < Lowest ? Lowest : e;
  }
  // The code of `places` units in the last place at exponent `e`. If rounding has carried into the
  // next exponent, the addition carries, too.
  LOCKSTEP_INLINE static u32 code(f64 places, int e) {
    if (!(places < 64)) return Largest;
    const u32 r = static_cast<u32>(places) + (static_cast<u32>(e - Lowest) << FractionBits);
    return r > Largest ? Largest : r;
  }
  LOCKSTEP_INLINE static f64 power(int e) { return bits_as<f64>(static_cast<u64>(1023 + e) << 52); }
  LOCKSTEP_INLINE static u32 narrowed(f32 v) {
    if (v != v) return NaN;
    const f64 magnitude = __builtin_fabs(static_cast<f64>(v));
    const u32 sign = (bits_as<u32>(v) >> 31) != 0 ? kSign : 0;
    const int e = exponent_of(magnitude);
    return sign | code(__builtin_roundeven(magnitude * power(FractionBits - e)), e);
  }
  // Adds a random fraction of the last place and truncates.
  LOCKSTEP_INLINE static u32 narrowed(f32 v, u32 random) {
    if (v != v) return NaN;
    const f64 magnitude = __builtin_fabs(static_cast<f64>(v));
    const u32 sign = (bits_as<u32>(v) >> 31) != 0 ? kSign : 0;
    const int e = exponent_of(magnitude);
    const f64 scaled = magnitude * power(FractionBits - e);
    if (!(scaled < 64)) return sign | Largest;
    const f64 fraction = static_cast<f64>(random) / (1 << kRandomBits);
    // Bits of the value below the random ones cannot carry.
    constexpr f64 kFine = 1 << kRandomBits;
    const f64 cut = __builtin_trunc(scaled * kFine) / kFine;
    return sign | code(__builtin_trunc(cut + fraction), e);
  }
  LOCKSTEP_INLINE static u16 widened(u32 b) {
    const u32 magnitude = b & (kSign - 1), field = magnitude >> FractionBits,
              fraction = magnitude & ((1u << FractionBits) - 1);
    const int e = (field == 0 ? 0 : static_cast<int>(field) - 1) + Lowest - FractionBits;
    const f32 v = static_cast<f32>(field == 0 ? fraction : fraction | 1u << FractionBits) *
                  static_cast<f32>(power(e));
    const u16 half = _cvtss_sh(v, _MM_FROUND_TO_NEAREST_INT);
    return static_cast<u16>(half | ((b & kSign) != 0 ? 0x8000 : 0));
  }
};

using E2M3 = Format<3, 0, 0x1f, 0x1f, 5>;
using E3M2 = Format<2, -2, 0x1f, 0x1f, 5>;
using E2M1 = Format<1, 0, 0x7, 0x7, 3>;
using E4M3 = Format<3, -6, 0x7e, 0x7f, 7>;
using E5M2 = Format<2, -14, 0x7b, 0x7f, 7>;

template <bool Relu>
LOCKSTEP_INLINE f32 rectified(f32 v) {
  return !Relu || v > 0 || v != v ? v : 0.0f;
}

// Bits of an element in a register: fp4 share a byte, fp6 have one each.
template <class E>
constexpr int kPlace = E::kFraction == 1 ? 4 : 8;

// a becomes the high element, b the low one.
template <class E, class R, bool Relu>
LOCKSTEP_INLINE R pair_of(f32 a, f32 b) {
  return static_cast<R>(E::narrowed(rectified<Relu>(a)) << kPlace<E> |
                        E::narrowed(rectified<Relu>(b)));
}
template <class E, class R, bool Relu>
LOCKSTEP_INLINE R pair_of_halves(u32 a) {
  return pair_of<E, R, Relu>(_cvtsh_ss(static_cast<u16>(a >> 16)), _cvtsh_ss(static_cast<u16>(a)));
}
template <class E, class S, bool Relu>
LOCKSTEP_INLINE u32 halves_of(S pair) {
  const auto half = [](u32 bits) -> u32 {
    const u32 r = E::widened(bits);
    return Relu && (r & 0x8000) != 0 ? 0 : r;
  };
  constexpr u32 kMask = 2 * E::kSign - 1;
  return half(pair >> kPlace<E> & kMask) << 16 | half(pair & kMask);
}

template <class E, class R>
Handler to_pair(const AluKey& key) {
  constexpr int kBytes = sizeof(R);
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kSat | kRelu) || m.rounding != Rounding::kNearestEven ||
      !m.sat)
    return nullptr;
  if (m.source_type == Type::kF32 && widths(key, kBytes, 4, 4))
    return m.relu ? &binary<R, f32, f32, pair_of<E, R, true>>
                  : &binary<R, f32, f32, pair_of<E, R, false>>;
  if (kBytes == 1 && m.source_type == Type::kF16x2 && widths(key, kBytes, 4))
    return m.relu ? &unary<R, u32, pair_of_halves<E, R, true>>
                  : &unary<R, u32, pair_of_halves<E, R, false>>;
  return nullptr;
}
template <class E, class S>
Handler from_pair(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kRelu) || m.rounding != Rounding::kNearestEven ||
      m.type != Type::kF16x2 || !widths(key, 4, static_cast<int>(sizeof(S))))
    return nullptr;
  return m.relu ? &unary<u32, S, halves_of<E, S, true>> : &unary<u32, S, halves_of<E, S, false>>;
}

// ue8m0: the exponent of a power of two, biased by 127; 255 is NaN. The sign does not count, and
// nothing is less than 2^-127. A value beyond 2^127 is NaN, or with .satfinite 2^127.
template <bool Up, bool Finite>
LOCKSTEP_INLINE u32 exponent_from(u32 bits) {
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0xff;
  u32 e = magnitude >> 23;
  // A subnormal number of more than 2^-127 lies between that and 2^-126.
  if (Up && e != 0xff && (e == 0 ? magnitude > 0x400000u : (magnitude & 0x7fffffu) != 0)) ++e;
  return Finite && e == 0xff ? 0xfe : e;
}
template <bool Up, bool Finite>
LOCKSTEP_INLINE u16 exponents_from_f32(u32 a, u32 b) {
  return static_cast<u16>(exponent_from<Up, Finite>(a) << 8 | exponent_from<Up, Finite>(b));
}
template <bool Up, bool Finite>
LOCKSTEP_INLINE u16 exponents_from_bf16(u32 a) {
  return exponents_from_f32<Up, Finite>(a & 0xffff0000u, a << 16);
}
LOCKSTEP_INLINE u32 power_of(u32 e) { return e == 0xff ? 0x7fff : e == 0 ? 0x0040 : e << 7; }
LOCKSTEP_INLINE u32 powers_of(u16 a) { return power_of(a >> 8) << 16 | power_of(a & 0xff); }

template <bool Up, bool Finite>
Handler exponents_form(const AluKey& key) {
  if (key.modifiers.source_type == Type::kF32 && widths(key, 2, 4, 4))
    return &binary<u16, u32, u32, exponents_from_f32<Up, Finite>>;
  if (key.modifiers.source_type == Type::kBF16x2 && widths(key, 2, 4))
    return &unary<u16, u32, exponents_from_bf16<Up, Finite>>;
  return nullptr;
}
Handler to_exponents(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kSat)) return nullptr;
  if (m.rounding == Rounding::kUp)
    return m.sat ? exponents_form<true, true>(key) : exponents_form<true, false>(key);
  if (m.rounding == Rounding::kZero)
    return m.sat ? exponents_form<false, true>(key) : exponents_form<false, false>(key);
  return nullptr;
}
Handler from_exponents(const AluKey& key) {
  const auto& m = key.modifiers;
  return only(key, kSourceType | kRounding) && m.rounding == Rounding::kNearestEven &&
                 m.type == Type::kBF16x2 && widths(key, 4, 2)
             ? &unary<u32, u16, powers_of>
             : nullptr;
}

// Four values, the first highest.
template <class E, class R, bool Relu>
void four_stochastic(Warp& w, const Op& op, LaneMask mask) {
  const u32* const random = source<u32>(w, op.as<program::ComputeFields>().fifth_source());
  R r[kWarpSize] = {};
  for (int n = 0; n < 4; ++n) {
    const f32* const v = source<f32>(w, op.src[n]);
    for (int i = 0; i < kWarpSize; ++i) {
      const u32 bits = random[i] >> (kRandomBits * (3 - n)) & ((1u << kRandomBits) - 1);
      r[i] =
          static_cast<R>(r[i] | E::narrowed(rectified<Relu>(v[i]), bits) << (kPlace<E> * (3 - n)));
    }
  }
  store_lanes(destination<R>(w, op.dst), r, mask);
}
template <class E, class R>
Handler to_four(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kSat | kRelu) || m.rounding != Rounding::kStochastic ||
      !m.sat || m.source_type != Type::kF32 ||
      !widths(key, static_cast<int>(sizeof(R)), 4, 4, 4, 4, 4))
    return nullptr;
  return m.relu ? &four_stochastic<E, R, true> : &four_stochastic<E, R, false>;
}

}  // namespace

Handler resolve_convert_narrow(const AluKey& key) {
  switch (key.modifiers.type) {
    case Type::kE2M3x2: return to_pair<E2M3, u16>(key);
    case Type::kE3M2x2: return to_pair<E3M2, u16>(key);
    case Type::kE2M1x2: return to_pair<E2M1, u8>(key);
    case Type::kUE8M0x2: return to_exponents(key);
    case Type::kE4M3x4: return to_four<E4M3, u32>(key);
    case Type::kE5M2x4: return to_four<E5M2, u32>(key);
    case Type::kE2M3x4: return to_four<E2M3, u32>(key);
    case Type::kE3M2x4: return to_four<E3M2, u32>(key);
    case Type::kE2M1x4: return to_four<E2M1, u16>(key);
    default: break;
  }
  switch (key.modifiers.source_type) {
    case Type::kE2M3x2: return from_pair<E2M3, u16>(key);
    case Type::kE3M2x2: return from_pair<E3M2, u16>(key);
    case Type::kE2M1x2: return from_pair<E2M1, u8>(key);
    case Type::kUE8M0x2: return from_exponents(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
