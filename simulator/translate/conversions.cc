#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::Rounding;
using isa::Type;
using Xbyak::Xmm;
using Xbyak::Ymm;

// From a 32-bit register.
void widen(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Ymm a = r.word(op.src[0]);
  const Wide d = r.fresh_wide();
  r.g.vextracti128(low(r.t0), a, 1);
  if (m.source_type == Type::kS32) {
    r.g.vpmovsxdq(d.part[0], low(a));
    r.g.vpmovsxdq(d.part[1], low(r.t0));
  } else {
    r.g.vpmovzxdq(d.part[0], low(a));
    r.g.vpmovzxdq(d.part[1], low(r.t0));
  }
  r.set_wide(op, d);
}
void narrow(RunOfLanes& r, const Op& op, const Meaning&) {
  const Wide a = r.wide(op.src[0]);
  const Ymm d = r.fresh();
  words_of(r, d, a, false);
  r.set_word(op, d);
}
void to_half(RunOfLanes& r, const Op& op, const Meaning&) {
  const Ymm a = r.word(op.src[0]), d = r.fresh();
  r.g.vpand(d, a, r.pool.all(0xffff));
  r.g.vextracti128(low(r.t0), d, 1);
  r.g.vpackusdw(low(d), low(d), low(r.t0));
  r.set_half(op, d);
}
void from_half(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Xmm a = r.half(op.src[0]);
  const Ymm d = r.fresh();
  m.source_type == Type::kS16 ? r.g.vpmovsxwd(d, a) : r.g.vpmovzxwd(d, a);
  r.set_word(op, d);
}
void half_to_wide(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Xmm a = r.half(op.src[0]);
  const Wide d = r.fresh_wide();
  r.g.vpsrldq(low(r.t0), a, 8);
  for (int p = 0; p < 2; ++p) {
    const Xmm from = p == 0 ? a : low(r.t0);
    m.source_type == Type::kS16 ? r.g.vpmovsxwq(d.part[p], from) : r.g.vpmovzxwq(d.part[p], from);
  }
  r.set_wide(op, d);
}
void float_of_integer(RunOfLanes& r, const Op& op, const Meaning& m) {
  unary(r, op, 4, [&](Ymm d, Ymm a) {
    if (m.source_type == Type::kS32) return r.g.vcvtdq2ps(d, a);
    // The halves are exact; their sum is rounded once.
    r.g.vpsrld(d, a, 16);
    r.g.vcvtdq2ps(d, d);
    r.g.vmulps(d, d, r.pool.all(0x47800000u));  // 2^16
    r.g.vpand(r.t0, a, r.pool.all(0xffff));
    r.g.vcvtdq2ps(r.t0, r.t0);
    r.g.vaddps(d, d, r.t0);
  });
}
// f32 to s32 towards zero, clamped; a NaN is 0. The processor makes 0x80000000 of all that does not
// fit.
void integer_of_float(RunOfLanes& r, const Op& op, const Meaning&) {
  unary(r, op, 4, [&](Ymm d, Ymm a) {
    r.g.vcvttps2dq(d, a);
    r.g.vcmpps(r.t0, a, r.pool.all(0x4f000000u), 0x0d);  // at least 2^31
    r.g.vpxor(d, d, r.t0);
    r.g.vcmpordps(r.t0, a, a);
    r.g.vpand(d, d, r.t0);
  });
}
void double_of_float(RunOfLanes& r, const Op& op, const Meaning&) {
  const Ymm a = r.word(op.src[0]);
  const Wide d = r.fresh_wide();
  r.g.vextractf128(low(r.t0), a, 1);
  r.g.vcvtps2pd(d.part[0], low(a));
  r.g.vcvtps2pd(d.part[1], low(r.t0));
  r.set_wide(op, d);
}
void float_of_double(RunOfLanes& r, const Op& op, const Meaning&) {
  const Wide a = r.wide(op.src[0]);
  const Ymm d = r.fresh();
  r.g.vcvtpd2ps(low(d), a.part[0]);
  r.g.vcvtpd2ps(low(r.t0), a.part[1]);
  r.g.vinsertf128(d, d, low(r.t0), 1);
  r.set_word(op, d);
}
void double_of_integer(RunOfLanes& r, const Op& op, const Meaning&) {
  const Ymm a = r.word(op.src[0]);
  const Wide d = r.fresh_wide();
  r.g.vextracti128(low(r.t0), a, 1);
  r.g.vcvtdq2pd(d.part[0], low(a));
  r.g.vcvtdq2pd(d.part[1], low(r.t0));
  r.set_wide(op, d);
}

}  // namespace

Emitter conversion_emitter(const Meaning& m) {
  if (m.ftz) return nullptr;
  const Type to = m.type, from = m.source_type;
  const bool nearest = m.rounding == Rounding::kNearestEven, none = m.rounding == Rounding::kNone;
  const auto is = [&](int d, int a) { return has_bytes(m, {d, a}); };
  if (none && is_integer(to, 8) && is_integer(from, 4) && is(8, 4)) return &widen;
  if (none && is_integer(to, 4) && is_integer(from, 8) && is(4, 8)) return &narrow;
  if (none && (to == Type::kU16 || to == Type::kS16) && is_integer(from, 4) && is(2, 4))
    return &to_half;
  if (none && is_integer(to, 4) && (from == Type::kU16 || from == Type::kS16) && is(4, 2))
    return &from_half;
  if (none && is_integer(to, 8) && (from == Type::kU16 || from == Type::kS16) && is(8, 2))
    return &half_to_wide;
  if (to == Type::kF32 && is_integer(from, 4))
    return nearest && is(4, 4) ? &float_of_integer : nullptr;
  if (to == Type::kS32 && from == Type::kF32)
    return m.rounding == Rounding::kIntZero && is(4, 4) ? &integer_of_float : nullptr;
  if (to == Type::kF64 && from == Type::kF32) return none && is(8, 4) ? &double_of_float : nullptr;
  if (to == Type::kF32 && from == Type::kF64)
    return nearest && is(4, 8) ? &float_of_double : nullptr;
  if (to == Type::kF64 && from == Type::kS32)
    return nearest && is(8, 4) ? &double_of_integer : nullptr;
  return nullptr;
}

}  // namespace lockstep::translate
