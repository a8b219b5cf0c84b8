// Half precision arithmetic: PTX ISA 9.7.4 (add, sub, mul, fma, neg, abs, min, max, tanh, ex2) for
// f16, f16x2, bf16, bf16x2.
#include "simulator/engine/ops/alu/halves.h"

namespace lockstep::engine::alu {
namespace {

using isa::Rounding;

// f32 has more than twice a half's digits plus two, so rounding a sum or product twice equals
// rounding it once.
LOCKSTEP_INLINE f32 plus(f32 a, f32 b) { return a + b; }
LOCKSTEP_INLINE f32 minus(f32 a, f32 b) { return a - b; }
LOCKSTEP_INLINE f32 times(f32 a, f32 b) { return a * b; }

// This does not hold for a fused multiply-add. The product of two f16 is exact in f32, that of two
// bf16 in f64; the sum is rounded to odd.
LOCKSTEP_INLINE f32 fused_f16(f32 a, f32 b, f32 c) { return sum_to_odd<f32>(a * b, c); }
LOCKSTEP_INLINE f32 fused_bf16(f32 a, f32 b, f32 c) {
  return narrowed_to_odd(
      sum_to_odd<f64>(static_cast<f64>(a) * static_cast<f64>(b), static_cast<f64>(c)));
}

// fma of f16 without modifiers, the most frequent: eight elements from register to register.
template <int Count>
void fused_elements(Warp& w, const Op& op, LaneMask mask) {
  const u16* const a = source<u16>(w, op.src[0]);
  const u16* const b = source<u16>(w, op.src[1]);
  const u16* const c = source<u16>(w, op.src[2]);
  alignas(32) u16 r[Count];
#pragma GCC unroll 2
  for (int i = 0; i < Count; i += 8) {
    const auto widened = [&](const u16* from) __attribute__((always_inline)) {
      __m128i v;
      __builtin_memcpy(&v, from + i, sizeof v);
      return _mm256_cvtph_ps(v);
    };
    const __m256 p = widened(a) * widened(b), term = widened(c), sum = p + term;
    // As sum_to_odd(). Of a sum that is no finite number the error is a NaN, and nothing changes.
    const __m256 back = sum - p, error = (p - (sum - back)) + (term - back);
    const auto bits = [](__m256 v) { return _mm256_castps_si256(v); };
    const __m256i inexact = bits(_mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_OQ)),
                  beyond = _mm256_srai_epi32(_mm256_xor_si256(bits(error), bits(sum)), 31),
                  towards_zero = _mm256_add_epi32(bits(sum), _mm256_and_si256(beyond, inexact)),
                  odd = _mm256_or_si256(towards_zero, _mm256_srli_epi32(inexact, 31));
    __m128i h = _mm256_cvtps_ph(_mm256_castsi256_ps(odd), _MM_FROUND_TO_NEAREST_INT);
    const __m128i canonical = _mm_set1_epi16(0x7fff),
                  is_nan =
                      _mm_cmpgt_epi16(_mm_and_si128(h, canonical), _mm_set1_epi16(F16::kExponent));
    h = _mm_blendv_epi8(h, canonical, is_nan);
    __builtin_memcpy(r + i, &h, sizeof h);
  }
  store_elements<Count>(destination<u16>(w, op.dst), r, mask);
}

template <bool Smaller, bool Propagate, bool SignXor>
LOCKSTEP_INLINE f32 extreme(f32 a, f32 b) {
  const u32 sign = (bits_as<u32>(a) ^ bits_as<u32>(b)) & 0x80000000u;
  if (SignXor) {
    a = bits_as<f32>(bits_as<u32>(a) & 0x7fffffffu);
    b = bits_as<f32>(bits_as<u32>(b) & 0x7fffffffu);
  }
  const u32 ua = bits_as<u32>(a), ub = bits_as<u32>(b);
  f32 r = (Smaller ? a < b : a > b) ? a : b;
  r = a == b ? bits_as<f32>(Smaller ? ua | ub : ua & ub) : r;
  r = b == b ? r : Propagate ? b : a;
  r = Propagate && a != a ? a : r;
  return SignXor && r == r ? bits_as<f32>(bits_as<u32>(r) | sign) : r;
}

LOCKSTEP_INLINE f32 exponential(f32 a) {
  const f32 r = static_cast<f32>(exp2_f64(a));
  return a == a ? r : a;
}
LOCKSTEP_INLINE f32 hyperbolic(f32 a) {
  const f32 r = static_cast<f32>(tanh_f64(a));
  return a == a ? r : a;
}

template <class C, int Count>
struct Of {
  template <int Sources, auto F>
  static Handler plain(bool ftz) {
    return ftz ? &elements<C, Count, Sources, F, true, Finish::kNone>
               : &elements<C, Count, Sources, F, false, Finish::kNone>;
  }
  template <int Sources, auto F>
  static Handler saturating(bool ftz) {
    return ftz ? &elements<C, Count, Sources, F, true, Finish::kSaturate>
               : &elements<C, Count, Sources, F, false, Finish::kSaturate>;
  }
  template <int Sources, auto F>
  static Handler rectifying(bool ftz) {
    return ftz ? &elements<C, Count, Sources, F, true, Finish::kRelu>
               : &elements<C, Count, Sources, F, false, Finish::kRelu>;
  }

  static constexpr bool kIsF16 = __is_same(C, F16);
  static constexpr int kBytes = Count == 64 ? 4 : 2;

  template <auto F>
  static Handler arithmetic(const AluKey& key) {
    if (!only(key, kRounding | (kIsF16 ? kFtz | kSat : 0u)) || !widths(key, kBytes, kBytes, kBytes))
      return nullptr;
    const Rounding r = key.modifiers.rounding;
    if (r != Rounding::kNone && r != Rounding::kNearestEven) return nullptr;
    if constexpr (kIsF16) {
      if (key.modifiers.sat) return saturating<2, F>(key.modifiers.ftz);
    }
    return plain<2, F>(key.modifiers.ftz);
  }

  static constexpr auto kFused = kIsF16 ? fused_f16 : fused_bf16;

  // fma.oob: if a factor is the out-of-bounds NaN, the result is +0. The manual does not define
  // that NaN. On an H100 its payload is 0x7ff7, with either sign, in both formats. An addend with
  // these bits is an ordinary NaN.
  LOCKSTEP_INLINE static bool out_of_bounds(u16 v) { return (v & 0x7fff) == 0x7ff7; }
  template <Finish End>
  static void multiply_add_oob(Warp& w, const Op& op, LaneMask mask) {
    f32 x[3][Count];
    for (int s = 0; s < 3; ++s) C::widen(source<u16>(w, op.src[s]), x[s], Count);
    for (int i = 0; i < Count; ++i) x[0][i] = finished<End>(kFused(x[0][i], x[1][i], x[2][i]));
    u16 r[Count];
    C::narrow(x[0], r, Count);
    const u16* a = source<u16>(w, op.src[0]);
    const u16* b = source<u16>(w, op.src[1]);
    for (int i = 0; i < Count; ++i)
      r[i] = out_of_bounds(a[i]) || out_of_bounds(b[i]) ? u16{0} : r[i];
    store_elements<Count>(destination<u16>(w, op.dst), r, mask);
  }

  static Handler multiply_add(const AluKey& key) {
    if (!only(key, kRounding | kRelu | kOob | (kIsF16 ? kFtz | kSat : 0u)) ||
        !widths(key, kBytes, kBytes, kBytes, kBytes))
      return nullptr;
    if (key.modifiers.rounding != Rounding::kNearestEven ||
        (key.modifiers.relu && key.modifiers.sat))
      return nullptr;
    if (key.modifiers.oob) {
      if (key.modifiers.ftz || key.modifiers.sat) return nullptr;
      return key.modifiers.relu ? &multiply_add_oob<Finish::kRelu>
                                : &multiply_add_oob<Finish::kNone>;
    }
    constexpr auto kF = kFused;
    if (key.modifiers.relu) return rectifying<3, kF>(key.modifiers.ftz);
    if constexpr (kIsF16) {
      if (key.modifiers.sat) return saturating<3, kF>(key.modifiers.ftz);
      if (!key.modifiers.ftz) return &fused_elements<Count>;
    }
    return plain<3, kF>(key.modifiers.ftz);
  }

  template <bool Smaller>
  static Handler extreme_form(const AluKey& key) {
    if (!only(key, kNaN | kXorsignAbs | (kIsF16 ? std::uint32_t{kFtz} : 0u)) ||
        !widths(key, kBytes, kBytes, kBytes))
      return nullptr;
    const bool ftz = key.modifiers.ftz;
    if (key.modifiers.nan)
      return key.modifiers.xorsign_abs ? plain<2, extreme<Smaller, true, true>>(ftz)
                                       : plain<2, extreme<Smaller, true, false>>(ftz);
    return key.modifiers.xorsign_abs ? plain<2, extreme<Smaller, false, true>>(ftz)
                                     : plain<2, extreme<Smaller, false, false>>(ftz);
  }

  // Sign operations make a NaN canonical, without a sign.
  template <u16 Keep, u16 Flip, bool Ftz>
  static void sign(Warp& w, const Op& op, LaneMask mask) {
    const u16* a = source<u16>(w, op.src[0]);
    u16 r[Count];
    for (int i = 0; i < Count; ++i) {
      const u16 v = Ftz ? flushed_element<C>(a[i]) : a[i];
      r[i] = (v & 0x7fff) > C::kExponent ? u16{0x7fff} : static_cast<u16>((v & Keep) ^ Flip);
    }
    store_elements<Count>(destination<u16>(w, op.dst), r, mask);
  }
  template <u16 Keep, u16 Flip>
  static Handler sign_form(const AluKey& key) {
    if (!only(key, kIsF16 ? std::uint32_t{kFtz} : 0u) || !widths(key, kBytes, kBytes))
      return nullptr;
    return key.modifiers.ftz ? &sign<Keep, Flip, true> : &sign<Keep, Flip, false>;
  }

  // ex2 of f16 keeps subnormals, of bf16 always flushes; tanh has no .ftz.
  static Handler approximate(const AluKey& key) {
    if (!key.modifiers.approx || !only(key, kApprox | kFtz) || !widths(key, kBytes, kBytes))
      return nullptr;
    const bool ftz = key.modifiers.ftz;
    if (key.opcode == Opcode::k_tanh) return ftz ? nullptr : plain<1, hyperbolic>(false);
    return ftz != kIsF16 ? plain<1, exponential>(ftz) : nullptr;
  }

  static Handler resolve(const AluKey& key) {
    switch (key.opcode) {
      case Opcode::k_add: return arithmetic<plus>(key);
      case Opcode::k_sub: return arithmetic<minus>(key);
      case Opcode::k_mul: return arithmetic<times>(key);
      case Opcode::k_fma: return multiply_add(key);
      case Opcode::k_min: return extreme_form<true>(key);
      case Opcode::k_max: return extreme_form<false>(key);
      case Opcode::k_neg: return sign_form<0xffff, 0x8000>(key);
      case Opcode::k_abs: return sign_form<0x7fff, 0>(key);
      case Opcode::k_ex2:
      case Opcode::k_tanh: return approximate(key);
      default: return nullptr;
    }
  }
};

}  // namespace

Handler resolve_half(const AluKey& key) {
  switch (key.modifiers.type) {
    case Type::kF16: return Of<F16, 32>::resolve(key);
    case Type::kF16x2: return Of<F16, 64>::resolve(key);
    case Type::kBF16: return Of<BF16, 32>::resolve(key);
    case Type::kBF16x2: return Of<BF16, 64>::resolve(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
