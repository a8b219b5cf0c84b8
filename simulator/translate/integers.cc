#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::Half;
using isa::Opcode;
using isa::Type;
using Xbyak::Ymm;

// Signedness of 32-bit products whose 64 bits count.
void product(RunOfLanes& r, bool with_sign, Ymm d, Ymm a, Ymm b) {
  with_sign ? r.g.vpmuldq(d, a, b) : r.g.vpmuludq(d, a, b);
}
Wide wide_product(RunOfLanes& r, const Op& op, bool with_sign) {
  const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]);
  const Wide d = r.fresh_wide();
  // Each 32-bit lane into the low half of a 64-bit lane; the high halves do not count.
  r.g.vpmovzxdq(d.part[0], low(a));
  r.g.vpmovzxdq(r.t0, low(b));
  product(r, with_sign, d.part[0], d.part[0], r.t0);
  r.g.vextracti128(low(r.t0), a, 1);
  r.g.vextracti128(low(r.t1), b, 1);
  r.g.vpmovzxdq(d.part[1], low(r.t0));
  r.g.vpmovzxdq(r.t1, low(r.t1));
  product(r, with_sign, d.part[1], d.part[1], r.t1);
  return d;
}
void high_product(RunOfLanes& r, bool with_sign, Ymm d, Ymm a, Ymm b) {
  r.g.vpsrlq(r.t0, a, 32);
  r.g.vpsrlq(r.t1, b, 32);
  product(r, with_sign, r.t0, r.t0, r.t1);  // of odd lanes: the high halves are in place
  product(r, with_sign, d, a, b);           // of even ones
  r.g.vpsrlq(d, d, 32);
  r.g.vpblendd(d, d, r.t0, 0xaa);
}
void low_product(RunOfLanes& r, int bytes, Ymm d, Ymm a, Ymm b) {
  if (bytes == 4) return r.g.vpmulld(d, a, b);
  r.g.vpsrlq(r.t0, a, 32);
  r.g.vpmuludq(r.t0, r.t0, b);
  r.g.vpsrlq(r.t1, b, 32);
  r.g.vpmuludq(r.t1, r.t1, a);
  r.g.vpaddq(r.t0, r.t0, r.t1);
  r.g.vpsllq(r.t0, r.t0, 32);
  r.g.vpmuludq(d, a, b);
  r.g.vpaddq(d, d, r.t0);
}

void integer_sum(RunOfLanes& r, const Op& op, const Meaning& m) {
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    if (m.opcode == Opcode::k_add)
      m.bytes[0] == 4 ? r.g.vpaddd(d, a, b) : r.g.vpaddq(d, a, b);
    else
      m.bytes[0] == 4 ? r.g.vpsubd(d, a, b) : r.g.vpsubq(d, a, b);
  });
}
void multiply(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool with_sign = isa::is_signed(m.type);
  if (m.half == Half::kWide) return r.set_wide(op, wide_product(r, op, with_sign));
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    m.half == Half::kHi ? high_product(r, with_sign, d, a, b) : low_product(r, m.bytes[0], d, a, b);
  });
}
void multiply_add(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool with_sign = isa::is_signed(m.type);
  if (m.half == Half::kWide) {
    const Wide c = r.wide(op.src[2]);
    const Wide d = wide_product(r, op, with_sign);
    for (int p = 0; p < 2; ++p) r.g.vpaddq(d.part[p], d.part[p], c.part[p]);
    return r.set_wide(op, d);
  }
  ternary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b, Ymm c) {
    m.half == Half::kHi ? high_product(r, with_sign, d, a, b) : low_product(r, m.bytes[0], d, a, b);
    m.bytes[0] == 4 ? r.g.vpaddd(d, d, c) : r.g.vpaddq(d, d, c);
  });
}
void integer_extreme(RunOfLanes& r, const Op& op, const Meaning& m) {
  binary(r, op, 4, [&](Ymm d, Ymm a, Ymm b) {
    if (m.opcode == Opcode::k_min)
      m.type == Type::kS32 ? r.g.vpminsd(d, a, b) : r.g.vpminud(d, a, b);
    else
      m.type == Type::kS32 ? r.g.vpmaxsd(d, a, b) : r.g.vpmaxud(d, a, b);
  });
}
void negate(RunOfLanes& r, const Op& op, const Meaning& m) {
  unary(r, op, m.bytes[0], [&](Ymm d, Ymm a) {
    r.g.vpxor(r.t0, r.t0, r.t0);
    m.bytes[0] == 4 ? r.g.vpsubd(d, r.t0, a) : r.g.vpsubq(d, r.t0, a);
  });
}
void absolute(RunOfLanes& r, const Op& op, const Meaning&) {
  unary(r, op, 4, [&](Ymm d, Ymm a) { r.g.vpabsd(d, a); });
}

// Four quotients of 32 bits as doubles, exactly: a quotient differs from the next integer by more
// than a double's rounding.
void four_quotients(RunOfLanes& r, bool with_sign, Ymm a, Ymm b, bool upper) {
  const auto as_doubles = [&](Ymm d, Ymm from) {
    upper ? r.g.vextracti128(low(d), from, 1) : r.g.vmovdqa(low(d), low(from));
    if (!with_sign) r.g.vpxor(low(d), low(d), r.pool.all(0x80000000u));
    r.g.vcvtdq2pd(d, low(d));
    if (!with_sign) r.g.vaddpd(d, d, r.pool.all_wide(0x41e0000000000000u));  // 2^31
  };
  as_doubles(r.t0, a);
  as_doubles(r.t1, b);
  r.g.vdivpd(r.t0, r.t0, r.t1);
  if (!with_sign) {
    r.g.vroundpd(r.t0, r.t0, 3);
    r.g.vsubpd(r.t0, r.t0, r.pool.all_wide(0x41e0000000000000u));
  }
  r.g.vcvttpd2dq(low(r.t0), r.t0);
}
// Of a division by zero quotient and remainder are all ones. The smallest integer by -1 is itself.
void divide_integers(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool with_sign = m.type == Type::kS32;
  binary(r, op, 4, [&](Ymm d, Ymm a, Ymm b) {
    four_quotients(r, with_sign, a, b, /*upper=*/false);
    r.g.vmovdqa(low(d), low(r.t0));
    four_quotients(r, with_sign, a, b, /*upper=*/true);
    r.g.vinserti128(d, d, low(r.t0), 1);
    if (!with_sign) r.g.vpxor(d, d, r.pool.all(0x80000000u));
    if (m.opcode == Opcode::k_rem) {
      r.g.vpmulld(d, d, b);
      r.g.vpsubd(d, a, d);
    }
    r.g.vpxor(r.t0, r.t0, r.t0);
    r.g.vpcmpeqd(r.t0, b, r.t0);
    r.g.vpor(d, d, r.t0);
  });
}
void sum_of_halves(RunOfLanes& r, const Op& op, const Meaning& m) {
  const Xbyak::Xmm a = r.half(op.src[0]), b = r.half(op.src[1]);
  const Ymm d = r.fresh();
  m.opcode == Opcode::k_add ? r.g.vpaddw(low(d), a, b) : r.g.vpsubw(low(d), a, b);
  r.set_half(op, d);
}

}  // namespace

Emitter integer_emitter(const Meaning& m) {
  const int n = m.bytes[0];
  const bool wide = m.half == Half::kWide, high = m.half == Half::kHi;
  if (m.type == Type::kU16 || m.type == Type::kS16) {
    const bool sum = m.opcode == Opcode::k_add || m.opcode == Opcode::k_sub;
    return sum && has_bytes(m, {2, 2, 2}) ? &sum_of_halves : nullptr;
  }
  if (!is_integer(m.type, wide ? 4 : n)) return nullptr;
  const bool one = has_bytes(m, {n, n}), two = has_bytes(m, {n, n, n}),
             three = has_bytes(m, {n, n, n, n});
  switch (m.opcode) {
    case Opcode::k_add:
    case Opcode::k_sub: return two ? &integer_sum : nullptr;
    case Opcode::k_mul:
      if (wide) return has_bytes(m, {8, 4, 4}) ? &multiply : nullptr;
      return two && (n == 4 || !high) ? &multiply : nullptr;
    case Opcode::k_mad:
      if (wide) return has_bytes(m, {8, 4, 4, 8}) ? &multiply_add : nullptr;
      return three && (n == 4 || !high) ? &multiply_add : nullptr;
    case Opcode::k_min:
    case Opcode::k_max: return two && n == 4 ? &integer_extreme : nullptr;
    case Opcode::k_div:
    case Opcode::k_rem: return two && n == 4 ? &divide_integers : nullptr;
    case Opcode::k_neg: return one ? &negate : nullptr;
    case Opcode::k_abs: return one && n == 4 ? &absolute : nullptr;
    default: return nullptr;
  }
}

}  // namespace lockstep::translate
