// f16 and bf16, scalar and packed, through f32: what simulator/engine/ops/alu/halves.h does, eight
// elements a vector. A packed register has sixteen elements in eight lanes, which are two vectors.
#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::Opcode;
using isa::Rounding;
using isa::Type;
using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint32_t kMagnitudes = 0x7fff7fffu;  // also two canonical NaNs
constexpr int kNotEqualOrdered = 0x0c;

bool is_f16(Type t) { return t == Type::kF16 || t == Type::kF16x2; }

// Rounds f32 to eight halves, to nearest even; a NaN becomes the canonical one. `v` changes.
void halves_of_floats(RunOfLanes& r, Type t, Xmm d, Ymm v) {
  if (is_f16(t)) {
    r.g.vcmpunordps(r.t0, v, v);
    r.g.vblendvps(v, v, r.pool.all(0x7fffffffu), r.t0);
    return r.g.vcvtps2ph(d, v, 0);
  }
  r.g.vcmpunordps(r.t0, v, v);
  r.g.vpsrld(r.t1, v, 16);
  r.g.vpand(r.t1, r.t1, r.pool.all(1));
  r.g.vpaddd(v, v, r.t1);
  r.g.vpaddd(v, v, r.pool.all(0x7fff));
  r.g.vpsrld(v, v, 16);
  r.g.vblendvps(v, v, r.pool.all(0x7fff), r.t0);
  r.g.vextracti128(low(r.t0), v, 1);
  r.g.vpackusdw(d, low(v), low(r.t0));
}

// The sum p + c, rounded to odd: rounding that to f16 equals rounding the exact sum. `p` changes.
void sum_to_odd(RunOfLanes& r, Ymm sum, Ymm p, Ymm c) {
  r.g.vaddps(sum, p, c);
  // Knuth's rounding error of the sum, into p.
  r.g.vsubps(r.t2, sum, p);
  r.g.vsubps(r.t1, c, r.t2);
  r.g.vsubps(r.t2, sum, r.t2);
  r.g.vsubps(p, p, r.t2);
  r.g.vaddps(p, p, r.t1);
  // Of a sum that is no number the error is a NaN, which changes nothing.
  r.g.vxorps(r.t1, r.t1, r.t1);
  r.g.vcmpps(r.t1, p, r.t1, kNotEqualOrdered);
  // Inexact: towards zero, then odd.
  r.g.vpxor(p, p, sum);
  r.g.vpsrad(p, p, 31);
  r.g.vpand(p, p, r.t1);
  r.g.vpaddd(sum, sum, p);
  r.g.vpsrld(r.t1, r.t1, 31);
  r.g.vpor(sum, sum, r.t1);
}

// Emits for each eight elements: emit(d, load), where load(v, i) widens those of source i into v.
template <class Emit>
void for_halves(RunOfLanes& r, const Op& op, const Meaning& m, int sources, Emit emit) {
  if (m.bytes[0] == 2) {
    Xmm source[3];
    for (int i = 0; i < sources; ++i) source[i] = r.half(op.src[i]);
    const Ymm d = r.fresh();
    emit(d, [&](Ymm v, int i) { floats_of_halves(r, m.type, v, source[i]); });
    halves_of_floats(r, m.type, low(d), d);
    return r.set_half(op, d);
  }
  Ymm source[3];
  for (int i = 0; i < sources; ++i) source[i] = r.word(op.src[i]);
  const Ymm d = r.fresh(), upper = r.fresh();
  for (const bool is_upper : {false, true}) {
    const Ymm part = is_upper ? upper : d;
    emit(part, [&](Ymm v, int i) {
      if (!is_upper) return floats_of_halves(r, m.type, v, low(source[i]));
      r.g.vextracti128(low(v), source[i], 1);
      floats_of_halves(r, m.type, v, low(v));
    });
    halves_of_floats(r, m.type, low(part), part);
  }
  r.g.vinserti128(d, d, low(upper), 1);
  r.release(upper);
  r.set_word(op, d);
}

// f32 has more than twice a half's digits plus two: a sum or a product rounded twice is exact.
void sum_or_product(RunOfLanes& r, const Op& op, const Meaning& m) {
  for_halves(r, op, m, 2, [&](Ymm d, const auto& load) {
    load(r.t0, 0);
    load(r.t1, 1);
    switch (m.opcode) {
      case Opcode::k_add: return r.g.vaddps(d, r.t0, r.t1);
      case Opcode::k_sub: return r.g.vsubps(d, r.t0, r.t1);
      default: return r.g.vmulps(d, r.t0, r.t1);
    }
  });
}
// The product of two f16 is exact in f32.
void fused_halves(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Ymm c = r.fresh();
  for_halves(r, op, m, 3, [&](Ymm d, const auto& load) {
    load(r.t0, 0);
    load(r.t1, 1);
    r.g.vmulps(r.t0, r.t0, r.t1);
    load(c, 2);
    sum_to_odd(r, d, r.t0, c);
  });
  r.release(c);
}
// A NaN loses against a number; -0 is below +0.
void extreme_of_halves(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool smaller = m.opcode == Opcode::k_min;
  for_halves(r, op, m, 2, [&](Ymm d, const auto& load) {
    load(r.t0, 0);
    load(r.t1, 1);
    smaller ? r.g.vminps(d, r.t0, r.t1) : r.g.vmaxps(d, r.t0, r.t1);
    r.g.vcmpunordps(r.t2, r.t1, r.t1);
    r.g.vblendvps(d, d, r.t0, r.t2);
    r.g.vcmpeqps(r.t2, r.t0, r.t1);
    smaller ? r.g.vorps(r.t1, r.t0, r.t1) : r.g.vandps(r.t1, r.t0, r.t1);
    r.g.vblendvps(d, d, r.t1, r.t2);
  });
}
// A NaN becomes the canonical one, without a sign.
void sign_of_halves(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool packed = m.bytes[0] == 4;
  const Ymm a = packed ? r.word(op.src[0]) : Ymm(r.half(op.src[0]).getIdx()), d = r.fresh();
  r.g.vpand(d, a, r.pool.all(kMagnitudes));
  r.g.vpcmpgtw(r.t0, d, r.pool.all(is_f16(m.type) ? 0x7c007c00u : 0x7f807f80u));
  if (m.opcode == Opcode::k_neg) r.g.vpxor(d, a, r.pool.all(~kMagnitudes));
  r.g.vpblendvb(d, d, r.pool.all(kMagnitudes), r.t0);
  packed ? r.set_word(op, d) : r.set_half(op, d);
}

// ---- Conversions and moves.

// f16 makes a NaN canonical; bf16 is the upper half of an f32.
void float_of_half(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Xmm a = r.half(op.src[0]);
  const Ymm d = r.fresh();
  floats_of_halves(r, m.source_type, d, a);
  if (is_f16(m.source_type)) {
    r.g.vcmpunordps(r.t0, d, d);
    r.g.vblendvps(d, d, r.pool.all(0x7fffffffu), r.t0);
  }
  r.set_word(op, d);
}
void half_of_float(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Ymm a = r.word(op.src[0]), d = r.fresh();
  r.g.vmovaps(d, a);
  halves_of_floats(r, m.type, low(d), d);
  r.set_half(op, d);
}
// Of eight 16-bit words, in the low halves of 32-bit lanes.
void join_halves(RunOfLanes& r, Ymm d, Xmm lower, Xmm upper) {
  r.g.vpmovzxwd(r.t0, lower);
  r.g.vpmovzxwd(d, upper);
  r.g.vpslld(d, d, 16);
  r.g.vpor(d, d, r.t0);
}
// d = {a, b}: a is the high half.
void pair_of_floats(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), d = r.fresh(), upper = r.fresh();
  r.g.vmovaps(d, b);
  halves_of_floats(r, m.type, low(d), d);
  r.g.vmovaps(upper, a);
  halves_of_floats(r, m.type, low(upper), upper);
  join_halves(r, d, low(d), low(upper));
  r.release(upper);
  r.set_word(op, d);
}
// mov between a 32-bit register and two of 16 bits. The first of the two is the low half.
void join_pair(RunOfLanes& r, const Op& op, const Meaning&) {
  const Xmm a = r.half(op.src[0]), b = r.half(op.src[1]);
  const Ymm d = r.fresh();
  join_halves(r, d, a, b);
  r.set_word(op, d);
}
void split_pair(RunOfLanes& r, const Op& op, const Meaning&) {
  const Ymm a = r.word(op.src[0]), first = r.fresh(), second = r.fresh();
  r.g.vpand(first, a, r.pool.all(0xffff));
  r.g.vextracti128(low(r.t0), first, 1);
  r.g.vpackusdw(low(first), low(first), low(r.t0));
  r.g.vpsrld(second, a, 16);
  r.g.vextracti128(low(r.t0), second, 1);
  r.g.vpackusdw(low(second), low(second), low(r.t0));
  r.set_half_at(op, op.dst, first);
  r.set_half_at(op, op.dst2, second);
}

}  // namespace

void floats_of_halves(RunOfLanes& r, Type t, Ymm d, Xmm halves) {
  if (is_f16(t)) return r.g.vcvtph2ps(d, halves);
  r.g.vpmovzxwd(d, halves);
  r.g.vpslld(d, d, 16);
}

bool is_half(Type t) { return is_f16(t) || t == Type::kBF16 || t == Type::kBF16x2; }

Emitter half_emitter(const Meaning& m) {
  const bool packed = m.type == Type::kF16x2 || m.type == Type::kBF16x2;
  const int n = packed ? 4 : 2;
  const bool nearest = m.rounding == Rounding::kNone || m.rounding == Rounding::kNearestEven;
  if (m.ftz || !nearest) return nullptr;
  const bool one = has_bytes(m, {n, n}), two = has_bytes(m, {n, n, n}),
             three = has_bytes(m, {n, n, n, n});
  switch (m.opcode) {
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mul: return two ? &sum_or_product : nullptr;
    case Opcode::k_fma: return three && is_f16(m.type) ? &fused_halves : nullptr;
    case Opcode::k_min:
    case Opcode::k_max: return two ? &extreme_of_halves : nullptr;
    case Opcode::k_neg:
    case Opcode::k_abs: return one ? &sign_of_halves : nullptr;
    default: return nullptr;
  }
}

Emitter half_conversion_emitter(const Meaning& m) {
  if (m.ftz) return nullptr;
  const bool nearest = m.rounding == Rounding::kNearestEven;
  switch (m.type) {
    case Type::kF32:
      return is_half(m.source_type) && has_bytes(m, {4, 2}) ? &float_of_half : nullptr;
    case Type::kF16:
    case Type::kBF16:
      return nearest && m.source_type == Type::kF32 && has_bytes(m, {2, 4}) ? &half_of_float
                                                                            : nullptr;
    default:
      return nearest && is_half(m.type) && m.source_type == Type::kF32 && has_bytes(m, {4, 4, 4})
                 ? &pair_of_floats
                 : nullptr;
  }
}

Emitter half_move_emitter(const Meaning& m) {
  if (m.opcode != Opcode::k_mov || m.type != Type::kB32) return nullptr;
  return has_bytes(m, {4, 2, 2}) ? &join_pair : has_bytes(m, {2, 2, 4}) ? &split_pair : nullptr;
}

}  // namespace lockstep::translate
