#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::Opcode;
using isa::Rounding;
using isa::Type;
using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint32_t kSign = 0x80000000u;

// Every NaN becomes the one that f32 arithmetic produces.
void make_canonical(RunOfLanes& r, Ymm d) {
  r.g.vcmpunordps(r.t0, d, d);
  r.g.vblendvps(d, d, r.pool.all(0x7fffffffu), r.t0);
}

// f64: a NaN is the first operand that is one, quieted, or the one that the processor makes. That
// is AVX's own rule for two operands; for three it is written out.
using Instruction = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xbyak::Operand&,
                                                   const Xbyak::Operand&);
template <Instruction kSingle, Instruction kDouble>
void two_operands(RunOfLanes& r, const Op& op, const Meaning& m) {
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    if (m.type == Type::kF64) return (r.g.*kDouble)(d, a, b);
    (r.g.*kSingle)(d, a, b);
    make_canonical(r, d);
  });
}
using G = Xbyak::CodeGenerator;
constexpr Emitter kAdd = &two_operands<&G::vaddps, &G::vaddpd>,
                  kSubtract = &two_operands<&G::vsubps, &G::vsubpd>,
                  kMultiply = &two_operands<&G::vmulps, &G::vmulpd>,
                  kDivide = &two_operands<&G::vdivps, &G::vdivpd>;
void square_root(RunOfLanes& r, const Op& op, const Meaning& m) {
  unary(r, op, m.bytes[0], [&](Ymm d, Ymm a) {
    if (m.type == Type::kF64) return r.g.vsqrtpd(d, a);
    r.g.vsqrtps(d, a);
    make_canonical(r, d);
  });
}
void reciprocal(RunOfLanes& r, const Op& op, const Meaning& m) {
  unary(r, op, m.bytes[0], [&](Ymm d, Ymm a) {
    if (m.type == Type::kF64) {
      r.g.vmovapd(d, r.pool.all_wide(0x3ff0000000000000u));
      return r.g.vdivpd(d, d, a);
    }
    r.g.vmovaps(d, r.pool.all(0x3f800000u));
    r.g.vdivps(d, d, a);
    make_canonical(r, d);
  });
}
void fused(RunOfLanes& r, const Op& op, const Meaning& m) {
  ternary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b, Ymm c) {
    if (m.type == Type::kF32) {
      r.g.vmovaps(d, a);
      r.g.vfmadd213ps(d, b, c);
      return make_canonical(r, d);
    }
    r.g.vmovapd(d, a);
    r.g.vfmadd213pd(d, b, c);
    Xbyak::Label no_nan;
    r.g.vcmpunordpd(r.t0, d, d);
    r.g.vtestpd(r.t0, r.t0);
    r.g.jz(no_nan, Xbyak::CodeGenerator::T_NEAR);
    r.g.vblendvpd(d, d, r.pool.all_wide(0xfff8000000000000u), r.t0);
    for (const Ymm source : {c, b, a}) {
      r.g.vcmpunordpd(r.t0, source, source);
      r.g.vorpd(r.t1, source, r.pool.all_wide(0x0008000000000000u));
      r.g.vblendvpd(d, d, r.t1, r.t0);
    }
    r.g.L(no_nan);
  });
}
// f32: the smaller or larger; a NaN loses against a number; -0 is below +0.
void extreme(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool smaller = m.opcode == Opcode::k_min;
  const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), d = r.fresh();
  const Ymm t = r.t0, u = r.t1;
  smaller ? r.g.vminps(d, a, b) : r.g.vmaxps(d, a, b);
  r.g.vcmpeqps(t, a, b);
  smaller ? r.g.vorps(u, a, b) : r.g.vandps(u, a, b);
  r.g.vblendvps(d, d, u, t);
  r.g.vcmpunordps(t, b, b);
  r.g.vblendvps(d, d, a, t);
  make_canonical(r, d);
  r.set_word(op, d);
}
// f32. Of a NaN the result is the canonical one.
void sign_of_float(RunOfLanes& r, const Op& op, const Meaning& m) {
  unary(r, op, 4, [&](Ymm d, Ymm a) {
    if (m.opcode == Opcode::k_abs)
      r.g.vandps(d, a, r.pool.all(~kSign));
    else
      r.g.vxorps(d, a, r.pool.all(kSign));
    make_canonical(r, d);
  });
}

// f64. A NaN is handed on, quieted: of both operands the second, and with its sign.
constexpr std::uint64_t kWideSignBit = std::uint64_t{1} << 63, kQuiet = 0x0008000000000000u;
void hand_on_nan(RunOfLanes& r, Ymm d, Ymm of, Ymm where) {
  r.g.vorpd(r.t1, of, r.pool.all_wide(kQuiet));
  r.g.vblendvpd(d, d, r.t1, where);
}
void extreme_of_doubles(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool smaller = m.opcode == Opcode::k_min;
  binary(r, op, 8, [&](Ymm d, Ymm a, Ymm b) {
    smaller ? r.g.vminpd(d, a, b) : r.g.vmaxpd(d, a, b);
    r.g.vcmpeqpd(r.t0, a, b);
    smaller ? r.g.vorpd(r.t1, a, b) : r.g.vandpd(r.t1, a, b);
    r.g.vblendvpd(d, d, r.t1, r.t0);
    r.g.vcmpunordpd(r.t0, b, b);
    r.g.vblendvpd(d, d, a, r.t0);
    r.g.vcmpunordpd(r.t0, d, d);
    hand_on_nan(r, d, b, r.t0);
  });
}
void sign_of_double(RunOfLanes& r, const Op& op, const Meaning& m) {
  unary(r, op, 8, [&](Ymm d, Ymm a) {
    if (m.opcode == Opcode::k_abs)
      r.g.vandpd(d, a, r.pool.all_wide(~kWideSignBit));
    else
      r.g.vxorpd(d, a, r.pool.all_wide(kWideSignBit));
    r.g.vcmpunordpd(r.t0, a, a);
    hand_on_nan(r, d, a, r.t0);
  });
}
bool is_nearest(const Meaning& m) {
  return m.rounding == Rounding::kNone || m.rounding == Rounding::kNearestEven;
}

}  // namespace

Emitter float_emitter(const Meaning& m) {
  const bool f32 = m.type == Type::kF32, exact = m.rounding == Rounding::kNearestEven;
  const int n = f32 ? 4 : 8;
  const bool one = has_bytes(m, {n, n}), two = has_bytes(m, {n, n, n}),
             three = has_bytes(m, {n, n, n, n});
  switch (m.opcode) {
    case Opcode::k_add: return two && is_nearest(m) ? kAdd : nullptr;
    case Opcode::k_sub: return two && is_nearest(m) ? kSubtract : nullptr;
    case Opcode::k_mul: return two && is_nearest(m) ? kMultiply : nullptr;
    case Opcode::k_fma:
    case Opcode::k_mad: return three && is_nearest(m) ? &fused : nullptr;
    case Opcode::k_div: return two && exact ? kDivide : nullptr;
    case Opcode::k_sqrt: return one && exact ? &square_root : nullptr;
    case Opcode::k_rcp: return one && exact ? &reciprocal : nullptr;
    case Opcode::k_min:
    case Opcode::k_max:
      return !two || m.ftz || !m.plain ? nullptr : f32 ? &extreme : &extreme_of_doubles;
    case Opcode::k_abs:
    case Opcode::k_neg: return !one || m.ftz ? nullptr : f32 ? &sign_of_float : &sign_of_double;
    default: return nullptr;
  }
}

}  // namespace lockstep::translate
