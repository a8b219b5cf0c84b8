// cvt with fp8 and tf32, and cvt.pack: PTX ISA 9.7.9 (cvt, cvt.pack); and the SIMD video
// instructions vabsdiff4, vmin4 and vmax4 (9.7.18).
#include "simulator/engine/ops/alu/converting.h"
#include "simulator/engine/ops/alu/halves.h"
#include "simulator/engine/ops/alu/narrowing.h"

namespace lockstep::engine::alu {
namespace {

// e4m3 has no infinity: its largest exponent holds numbers up to 448, and one NaN. e5m2 is an f16
// cut short.
struct E4M3 {
  LOCKSTEP_INLINE static u8 narrowed(f64 v) {
    if (v != v) return 0x7f;
    // Rounded as a format whose exponents go on: one more exponent bit, then the bias of 15 taken
    // back to 7.
    const f64 bounded = v > 448.0 ? 448.0 : v < -448.0 ? -448.0 : v;
    const u32 sign = (bits_as<u64>(v) >> 63) != 0 ? 0x80 : 0;
    const f64 magnitude = __builtin_fabs(bounded);
    // 2^-6 is the smallest normal; below it the last place is 2^-9.
    if (magnitude < 0.015625) {
      const f64 scaled = magnitude * 512.0;  // a multiple of the last place
      return static_cast<u8>(sign | static_cast<u32>(__builtin_roundeven(scaled)));
    }
    const u32 wide =
        narrowed_bits<4, 8, Round::kNearest>(magnitude, 0x7f);  // bias 127; never a NaN
    return static_cast<u8>(sign | (wide - (120u << 3)));
  }
  LOCKSTEP_INLINE static f32 widened(u8 b) {
    const u32 magnitude = b & 0x7f;
    const f32 v = bits_as<f32>(magnitude << 20) * 0x1p120f;  // subnormals come out right too
    const f32 r = b & 0x80 ? -v : v;
    return magnitude == 0x7f ? canonical_nan() : r;
  }
};
struct E5M2 {
  LOCKSTEP_INLINE static u8 narrowed(f64 v) {
    const u32 r = narrowed_bits<3, 5, Round::kNearest>(v, 0x7f);
    return static_cast<u8>((r & 0x7f) == 0x7c ? r - 1 : r);  // .satfinite
  }
  LOCKSTEP_INLINE static f32 widened(u8 b) { return _cvtsh_ss(static_cast<u16>(b << 8)); }
};

template <bool Relu>
LOCKSTEP_INLINE f64 rectified(f64 v) {
  return !Relu || v > 0 || v != v ? v : 0.0;
}

// a becomes the high byte, b the low one.
template <class E, bool Relu>
LOCKSTEP_INLINE u16 pair_from_f32(f32 a, f32 b) {
  return static_cast<u16>(E::narrowed(rectified<Relu>(a)) << 8 | E::narrowed(rectified<Relu>(b)));
}
template <class E, bool Relu>
LOCKSTEP_INLINE u16 pair_from_halves(u32 a) {
  return pair_from_f32<E, Relu>(_cvtsh_ss(static_cast<u16>(a >> 16)),
                                _cvtsh_ss(static_cast<u16>(a)));
}
template <class E, bool Relu>
LOCKSTEP_INLINE u32 half_from(u8 b) {
  const f32 v = E::widened(b);
  if (v != v) return 0x7fff;
  const f32 r = !Relu || v > 0 ? v : 0.0f;
  return _cvtss_sh(r, _MM_FROUND_TO_NEAREST_INT);
}
template <class E, bool Relu>
LOCKSTEP_INLINE u32 halves_from_pair(u16 a) {
  return half_from<E, Relu>(static_cast<u8>(a >> 8)) << 16 | half_from<E, Relu>(static_cast<u8>(a));
}

template <class E>
Handler to_pair(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kSat | kRelu) || m.rounding != Rounding::kNearestEven ||
      !m.sat)
    return nullptr;
  if (m.source_type == Type::kF32 && widths(key, 2, 4, 4))
    return m.relu ? &binary<u16, f32, f32, pair_from_f32<E, true>>
                  : &binary<u16, f32, f32, pair_from_f32<E, false>>;
  if (m.source_type == Type::kF16x2 && widths(key, 2, 4))
    return m.relu ? &unary<u16, u32, pair_from_halves<E, true>>
                  : &unary<u16, u32, pair_from_halves<E, false>>;
  return nullptr;
}
template <class E>
Handler from_pair(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kRelu) || m.rounding != Rounding::kNearestEven ||
      m.type != Type::kF16x2 || !widths(key, 4, 2))
    return nullptr;
  return m.relu ? &unary<u32, u16, halves_from_pair<E, true>>
                : &unary<u32, u16, halves_from_pair<E, false>>;
}

// tf32: f32 with 13 fewer significand bits, which are zero in the register.
template <Rounding R, bool Relu, bool Finite>
LOCKSTEP_INLINE u32 to_tf32(u32 a) {
  const u32 magnitude = a & 0x7fffffffu;
  u32 rounded = a;
  if constexpr (R == Rounding::kNearestAway)
    rounded = a + 0x1000;
  else if constexpr (R == Rounding::kNearestEven)
    rounded = a + 0xfff + ((a >> 13) & 1);
  rounded &= 0xffffe000u;
  rounded = magnitude >= 0x7f800000u ? a & 0xffffe000u : rounded;
  // .satfinite takes one from infinity, and with .rna on silicon from a NaN as well.
  if (Finite && (rounded & 0x7fffffffu) >= 0x7f800000u) rounded -= 0x2000;
  if (Relu && (rounded >> 31)) rounded = 0;
  // .rna only cuts a NaN's payload, even down to that of an infinity; the others make it canonical.
  return R != Rounding::kNearestAway && magnitude > 0x7f800000u ? 0x7fffe000u : rounded;
}
template <Rounding R>
Handler tf32_of(bool relu, bool finite) {
  return relu     ? finite ? &unary<u32, u32, to_tf32<R, true, true>>
                           : &unary<u32, u32, to_tf32<R, true, false>>
             : finite ? &unary<u32, u32, to_tf32<R, false, true>>
                  : &unary<u32, u32, to_tf32<R, false, false>>;
}
Handler tf32_form(const AluKey& key) {
  const auto& m = key.modifiers;
  if (m.source_type != Type::kF32 || !only(key, kSourceType | kRounding | kSat | kRelu) ||
      !widths(key, 4, 4))
    return nullptr;
  switch (m.rounding) {
    case Rounding::kNearestAway:
      if (m.relu) return nullptr;
      return m.sat ? &unary<u32, u32, to_tf32<Rounding::kNearestAway, false, true>>
                   : &unary<u32, u32, to_tf32<Rounding::kNearestAway, false, false>>;
    case Rounding::kNearestEven: return tf32_of<Rounding::kNearestEven>(m.relu, m.sat);
    case Rounding::kZero: return tf32_of<Rounding::kZero>(m.relu, m.sat);
    default: return nullptr;
  }
}

// cvt.pack.sat: a and b clamped to T; b lowest, a above it, and for bytes the low half of c above
// both.
template <class T>
LOCKSTEP_INLINE T clamped_integer(s32 v) {
  constexpr s32 kLow = kSignedType<T> ? -(1 << (8 * sizeof(T) - 1)) : 0;
  constexpr s32 kHigh = (1 << (8 * sizeof(T) - (kSignedType<T> ? 1 : 0))) - 1;
  return static_cast<T>(v < kLow ? kLow : v > kHigh ? kHigh : v);
}
template <class T>
LOCKSTEP_INLINE u32 pack_words(s32 a, s32 b) {
  return u32{static_cast<u16>(clamped_integer<T>(a))} << 16 |
         static_cast<u16>(clamped_integer<T>(b));
}
template <class T>
LOCKSTEP_INLINE u32 pack_bytes(s32 a, s32 b, u32 c) {
  return c << 16 | u32{static_cast<u8>(clamped_integer<T>(a))} << 8 |
         static_cast<u8>(clamped_integer<T>(b));
}

// Absolute differences of bytes, each of its operand's signedness; one result a byte, or their sum
// added to c.
template <class A, class B>
LOCKSTEP_INLINE s32 byte_difference(u32 a, u32 b, int i) {
  const s32 d = s32{static_cast<A>(a >> (8 * i))} - s32{static_cast<B>(b >> (8 * i))};
  return d < 0 ? -d : d;
}
template <class D, class A, class B, bool Sat>
LOCKSTEP_INLINE u32 differences(u32 a, u32 b, u32) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) {
    const s32 d = byte_difference<A, B>(a, b, i);
    r |= u32{static_cast<u8>(Sat ? clamped_integer<D>(d) : static_cast<D>(d))} << (8 * i);
  }
  return r;
}

template <class A, class B>
LOCKSTEP_INLINE u32 differences_added(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += static_cast<u32>(byte_difference<A, B>(a, b, i));
  return c;
}

// The lesser or the greater of each pair of bytes, as a byte of D. A and B may differ in sign: the
// values are compared, not the bytes.
template <class D, class A, class B, bool kMax, bool kSat>
LOCKSTEP_INLINE u32 extremes(u32 a, u32 b, u32) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) {
    const s32 x = static_cast<A>(a >> (8 * i)), y = static_cast<B>(b >> (8 * i)),
              d = (x < y) == kMax ? y : x;
    r |= u32{static_cast<u8>(kSat ? clamped_integer<D>(d) : static_cast<D>(d))} << (8 * i);
  }
  return r;
}

template <class D, class A, class B>
Handler extreme_instance(const AluKey& key) {
  if (key.modifiers.atom != isa::AtomOp::kNone) return nullptr;
  const bool greater = key.opcode == Opcode::k_vmax4, sat = key.modifiers.sat;
  if (greater)
    return sat ? &ternary<u32, u32, u32, u32, extremes<D, A, B, true, true>>
               : &ternary<u32, u32, u32, u32, extremes<D, A, B, true, false>>;
  return sat ? &ternary<u32, u32, u32, u32, extremes<D, A, B, false, true>>
             : &ternary<u32, u32, u32, u32, extremes<D, A, B, false, false>>;
}

template <class D, class A, class B>
Handler difference_instance(const AluKey& key) {
  if (key.modifiers.atom == isa::AtomOp::kAdd)
    return key.modifiers.sat ? nullptr : &ternary<u32, u32, u32, u32, differences_added<A, B>>;
  return key.modifiers.sat ? &ternary<u32, u32, u32, u32, differences<D, A, B, true>>
                           : &ternary<u32, u32, u32, u32, differences<D, A, B, false>>;
}
template <class D, class A, class B>
Handler video_instance(const AluKey& key) {
  return key.opcode == Opcode::k_vabsdiff4 ? difference_instance<D, A, B>(key)
                                           : extreme_instance<D, A, B>(key);
}
template <class A, class B>
Handler video_destination(const AluKey& key) {
  if (key.modifiers.type == Type::kU32) return video_instance<u8, A, B>(key);
  if (key.modifiers.type == Type::kS32) return video_instance<s8, A, B>(key);
  return nullptr;
}

}  // namespace

Handler resolve_convert_small(const AluKey& key) {
  const auto& m = key.modifiers;
  if (m.type == Type::kE4M3x2) return to_pair<E4M3>(key);
  if (m.type == Type::kE5M2x2) return to_pair<E5M2>(key);
  if (m.source_type == Type::kE4M3x2) return from_pair<E4M3>(key);
  if (m.source_type == Type::kE5M2x2) return from_pair<E5M2>(key);
  if (m.type == Type::kTF32) return tf32_form(key);
  return nullptr;
}

Handler resolve_convert_pack(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!m.sat || m.source_type != Type::kS32 || !only(key, kSourceType | kThirdType | kSat))
    return nullptr;
  if (m.third_type == Type::kNone && widths(key, 4, 4, 4)) {
    if (m.type == Type::kU16) return &binary<u32, s32, s32, pack_words<u16>>;
    if (m.type == Type::kS16) return &binary<u32, s32, s32, pack_words<s16>>;
  }
  if (m.third_type == Type::kB32 && widths(key, 4, 4, 4, 4)) {
    if (m.type == Type::kU8) return &ternary<u32, s32, s32, u32, pack_bytes<u8>>;
    if (m.type == Type::kS8) return &ternary<u32, s32, s32, u32, pack_bytes<s8>>;
  }
  return nullptr;
}

Handler resolve_video(const AluKey& key) {
  const auto& m = key.modifiers;
  const bool everyday = key.opcode == Opcode::k_vabsdiff4 ||
                        ((key.opcode == Opcode::k_vmin4 || key.opcode == Opcode::k_vmax4) &&
                         m.atom == isa::AtomOp::kNone);
  if (key.selects || !everyday) return resolve_selecting_video(key);
  AluKey plain = key;
  plain.modifiers.atom = isa::AtomOp::kNone;  // .add
  if (!only(plain, kSourceType | kThirdType | kSat) || !widths(key, 4, 4, 4, 4)) return nullptr;
  if (m.source_type == Type::kU32 && m.third_type == Type::kU32)
    return video_destination<u8, u8>(key);
  if (m.source_type == Type::kU32 && m.third_type == Type::kS32)
    return video_destination<u8, s8>(key);
  if (m.source_type == Type::kS32 && m.third_type == Type::kU32)
    return video_destination<s8, u8>(key);
  if (m.source_type == Type::kS32 && m.third_type == Type::kS32)
    return video_destination<s8, s8>(key);
  return nullptr;
}

}  // namespace lockstep::engine::alu
