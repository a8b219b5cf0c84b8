#include "simulator/translate/operations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "simulator/isa/opcode.h"

namespace lockstep::translate {
namespace {

using isa::BoolOp;
using isa::Compare;
using isa::Half;
using isa::Opcode;
using isa::Rounding;
using isa::Type;
using program::is_constant;
using program::kNoSlot;
using program::Meaning;
using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::uint64_t kWideSign = std::uint64_t{1} << 63;

Xmm low(Ymm v) { return Xmm(v.getIdx()); }

// Emits of one vector: lanes of 32 bits, or half of the lanes of 64 bits.
template <class Emit>
void unary(RunOfLanes& r, const Op& op, int bytes, Emit emit) {
  if (bytes == 4) {
    const Ymm a = r.word(op.src[0]), d = r.fresh();
    emit(d, a);
    r.set_word(op, d);
  } else {
    const Wide a = r.wide(op.src[0]), d = r.fresh_wide();
    for (int p = 0; p < 2; ++p) emit(d.part[p], a.part[p]);
    r.set_wide(op, d);
  }
}
template <class Emit>
void binary(RunOfLanes& r, const Op& op, int bytes, Emit emit) {
  if (bytes == 4) {
    const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), d = r.fresh();
    emit(d, a, b);
    r.set_word(op, d);
  } else {
    const Wide a = r.wide(op.src[0]), b = r.wide(op.src[1]), d = r.fresh_wide();
    for (int p = 0; p < 2; ++p) emit(d.part[p], a.part[p], b.part[p]);
    r.set_wide(op, d);
  }
}
template <class Emit>
void ternary(RunOfLanes& r, const Op& op, int bytes, Emit emit) {
  if (bytes == 4) {
    const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), c = r.word(op.src[2]), d = r.fresh();
    emit(d, a, b, c);
    r.set_word(op, d);
  } else {
    const Wide a = r.wide(op.src[0]), b = r.wide(op.src[1]), c = r.wide(op.src[2]),
               d = r.fresh_wide();
    for (int p = 0; p < 2; ++p) emit(d.part[p], a.part[p], b.part[p], c.part[p]);
    r.set_wide(op, d);
  }
}

// Floating point.

// Every NaN becomes the one that f32 arithmetic produces.
void make_canonical(RunOfLanes& r, Ymm d) {
  r.g.vcmpunordps(r.t0, d, d);
  r.g.vblendvps(d, d, r.pool.all(0x7fffffffu), r.t0);
}

// f64: a NaN is the first operand that is one, quieted, or the one that the processor makes. That
// is AVX's own rule for two operands; for three it is written out.
void add(RunOfLanes& r, const Op& op, const Meaning& m) {
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    switch (m.type) {
      case Type::kF32: r.g.vaddps(d, a, b), make_canonical(r, d); break;
      case Type::kF64: r.g.vaddpd(d, a, b); break;
      default: m.bytes[0] == 4 ? r.g.vpaddd(d, a, b) : r.g.vpaddq(d, a, b);
    }
  });
}
void sub(RunOfLanes& r, const Op& op, const Meaning& m) {
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    switch (m.type) {
      case Type::kF32: r.g.vsubps(d, a, b), make_canonical(r, d); break;
      case Type::kF64: r.g.vsubpd(d, a, b); break;
      default: m.bytes[0] == 4 ? r.g.vpsubd(d, a, b) : r.g.vpsubq(d, a, b);
    }
  });
}
void divide(RunOfLanes& r, const Op& op, const Meaning& m) {
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    if (m.type == Type::kF64) return r.g.vdivpd(d, a, b);
    r.g.vdivps(d, a, b);
    make_canonical(r, d);
  });
}
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

// Integers.

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

void multiply(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool with_sign = isa::is_signed(m.type);
  if (m.half == Half::kWide) return r.set_wide(op, wide_product(r, op, with_sign));
  binary(r, op, m.bytes[0], [&](Ymm d, Ymm a, Ymm b) {
    switch (m.type) {
      case Type::kF32: r.g.vmulps(d, a, b), make_canonical(r, d); break;
      case Type::kF64: r.g.vmulpd(d, a, b); break;
      default:
        m.half == Half::kHi ? high_product(r, with_sign, d, a, b)
                            : low_product(r, m.bytes[0], d, a, b);
    }
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

// Logic.

template <class Emit>
void logic_of(RunOfLanes& r, const Op& op, const Meaning& m, Emit emit) {
  if (m.bytes[0] == 0) {
    const program::ComputeFields fields = op.as<program::ComputeFields>();
    const Ymm d = r.fresh();
    const Ymm a = r.mask(op.src[0], fields.negates(0));
    r.g.vmovdqa(d, a);
    emit(d, d, r.mask(op.src[1], fields.negates(1)));
    return r.set_mask(op, d);
  }
  if (m.bytes[0] == 2) {
    const Xmm a = r.half(op.src[0]), b = r.half(op.src[1]);
    const Ymm d = r.fresh();
    emit(d, Ymm(a.getIdx()), Ymm(b.getIdx()));
    return r.set_half(op, d);
  }
  binary(r, op, m.bytes[0], emit);
}
void logic(RunOfLanes& r, const Op& op, const Meaning& m) {
  logic_of(r, op, m, [&](Ymm d, Ymm a, Ymm b) {
    switch (m.opcode) {
      case Opcode::k_and: r.g.vpand(d, a, b); break;
      case Opcode::k_or: r.g.vpor(d, a, b); break;
      default: r.g.vpxor(d, a, b);
    }
  });
}
void complement(RunOfLanes& r, const Op& op, const Meaning& m) {
  if (m.bytes[0] == 0) {
    const Ymm d = r.fresh();
    r.g.vpxor(d, r.mask(op.src[0], op.as<program::ComputeFields>().negates(0)), r.pool.all(~0u));
    return r.set_mask(op, d);
  }
  unary(r, op, m.bytes[0], [&](Ymm d, Ymm a) { r.g.vpxor(d, a, r.pool.all(~0u)); });
}

// The table as a sum, modulo 2, of products of its operands: bit i of the result stands for the
// product of the operands in i (4: a, 2: b, 1: c).
std::uint32_t products_of(std::uint32_t table) {
  for (const std::uint32_t step : {1u, 2u, 4u}) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      if ((i & step) != 0) table ^= (table >> (i ^ step) & 1) << i;
    }
  }
  return table & 0xff;
}
void table(RunOfLanes& r, const Op& op, const Meaning&) {
  const std::uint32_t products = products_of(r.constant(op.src[3]));
  ternary(r, op, 4, [&](Ymm d, Ymm a, Ymm b, Ymm c) {
    if ((products & 1) != 0)
      r.g.vmovdqa(d, r.pool.all(~0u));
    else
      r.g.vpxor(d, d, d);
    const auto has = [&](std::uint32_t product) { return (products >> product & 1) != 0; };
    if (has(4)) r.g.vpxor(d, d, a);
    if (has(2)) r.g.vpxor(d, d, b);
    if (has(1)) r.g.vpxor(d, d, c);
    if (has(6) || has(7)) r.g.vpand(r.t0, a, b);
    if (has(6)) r.g.vpxor(d, d, r.t0);
    if (has(7)) r.g.vpand(r.t0, r.t0, c), r.g.vpxor(d, d, r.t0);
    if (has(5)) r.g.vpand(r.t0, a, c), r.g.vpxor(d, d, r.t0);
    if (has(3)) r.g.vpand(r.t0, b, c), r.g.vpxor(d, d, r.t0);
  });
}

// Shifts. AVX's shifts, too, shift everything out if the amount reaches the width.
void shift_by_constant(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool to_left = m.opcode == Opcode::k_shl;
  const int n = static_cast<int>(std::min(r.constant(op.src[1]), 64u));
  unary(r, op, m.bytes[0], [&](Ymm d, Ymm a) {
    switch (m.type) {
      case Type::kS64: {
        // The sign is shifted in by flipping and subtracting what it has become.
        const int amount = std::min(n, 63);
        const Xbyak::Address sign = r.pool.all_wide(kWideSign >> amount);
        r.g.vpsrlq(d, a, amount);
        r.g.vpxor(d, d, sign);
        r.g.vpsubq(d, d, sign);
        return;
      }
      case Type::kS32: r.g.vpsrad(d, a, n); return;
      default:
        if (m.bytes[0] == 4)
          to_left ? r.g.vpslld(d, a, n) : r.g.vpsrld(d, a, n);
        else
          to_left ? r.g.vpsllq(d, a, n) : r.g.vpsrlq(d, a, n);
    }
  });
}
void shift(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool to_left = m.opcode == Opcode::k_shl;
  if (is_constant(op.src[1])) return shift_by_constant(r, op, m);
  const Ymm n = r.word(op.src[1]);
  if (m.bytes[0] == 4) {
    const Ymm a = r.word(op.src[0]), d = r.fresh();
    to_left                ? r.g.vpsllvd(d, a, n)
    : m.type == Type::kS32 ? r.g.vpsravd(d, a, n)
                           : r.g.vpsrlvd(d, a, n);
    return r.set_word(op, d);
  }
  const Wide a = r.wide(op.src[0]), d = r.fresh_wide();
  for (int p = 0; p < 2; ++p) {
    if (p == 0)
      r.g.vpmovzxdq(r.t0, low(n));
    else
      r.g.vextracti128(low(r.t0), n, 1), r.g.vpmovzxdq(r.t0, low(r.t0));
    to_left ? r.g.vpsllvq(d.part[p], a.part[p], r.t0) : r.g.vpsrlvq(d.part[p], a.part[p], r.t0);
  }
  r.set_wide(op, d);
}
// shf.wrap: of b:a, b is the high word.
void funnel(RunOfLanes& r, const Op& op, const Meaning& m) {
  if (is_constant(op.src[2])) {
    const int n = static_cast<int>(r.constant(op.src[2]) & 31);
    return binary(r, op, 4, [&](Ymm d, Ymm a, Ymm b) {
      // An amount of 32 shifts everything out.
      m.left ? r.g.vpslld(d, b, n) : r.g.vpsrld(d, a, n);
      m.left ? r.g.vpsrld(r.t0, a, 32 - n) : r.g.vpslld(r.t0, b, 32 - n);
      r.g.vpor(d, d, r.t0);
    });
  }
  ternary(r, op, 4, [&](Ymm d, Ymm a, Ymm b, Ymm c) {
    r.g.vpand(r.t0, c, r.pool.all(31));
    r.g.vmovdqa(r.t1, r.pool.all(32));
    r.g.vpsubd(r.t1, r.t1, r.t0);  // 32 shifts everything out
    if (m.left) {
      r.g.vpsllvd(d, b, r.t0);
      r.g.vpsrlvd(r.t1, a, r.t1);
    } else {
      r.g.vpsrlvd(d, a, r.t0);
      r.g.vpsllvd(r.t1, b, r.t1);
    }
    r.g.vpor(d, d, r.t1);
  });
}

// A constant selector without sign replication: bytes of b:a.
void permute(RunOfLanes& r, const Op& op, const Meaning&) {
  const std::uint32_t selector = r.constant(op.src[2]);
  std::array<std::uint32_t, 2> from = {0, 0};  // of a and of b, each byte's place; 0x80: none
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t byte = selector >> (4 * i) & 7;
    from[0] |= (byte < 4 ? byte : 0x80) << (8 * i);
    from[1] |= (byte < 4 ? 0x80 : byte - 4) << (8 * i);
  }
  const auto places = [&](std::uint32_t word) {
    ConstantPool::Words all{};
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t byte = word >> (8 * i) & 0xff;
        all[lane] |= (byte == 0x80 ? 0x80 : byte + 4 * (lane & 3)) << (8 * i);
      }
    }
    return r.pool(all);
  };
  binary(r, op, 4, [&](Ymm d, Ymm a, Ymm b) {
    r.g.vpshufb(d, a, places(from[0]));
    if (from[1] == 0x80808080u) return;
    r.g.vpshufb(r.t0, b, places(from[1]));
    r.g.vpor(d, d, r.t0);
  });
}
// A field at a constant place. u32: of the bits that there are; s32: the sign is the field's.
void extract(RunOfLanes& r, const Op& op, const Meaning& m) {
  const int position = static_cast<int>(r.constant(op.src[1]) & 0xff),
            length = static_cast<int>(r.constant(op.src[2]) & 0xff);
  unary(r, op, 4, [&](Ymm d, Ymm a) {
    r.g.vpslld(d, a, 32 - position - length);
    m.type == Type::kS32 ? r.g.vpsrad(d, d, 32 - length) : r.g.vpsrld(d, d, 32 - length);
  });
}

// Moves.

void move(RunOfLanes& r, const Op& op, const Meaning& m) {
  switch (m.bytes[0]) {
    case 0: {
      const Ymm d = r.fresh();
      r.g.vmovdqa(d, r.mask(op.src[0], op.as<program::ComputeFields>().negates(0)));
      return r.set_mask(op, d);
    }
    case 2: {
      const Xmm a = r.half(op.src[0]);
      const Ymm d = r.fresh();
      r.g.vmovdqa(low(d), a);
      return r.set_half(op, d);
    }
    default: unary(r, op, m.bytes[0], [&](Ymm d, Ymm a) { r.g.vmovdqa(d, a); });
  }
}
void pack(RunOfLanes& r, const Op& op, const Meaning&) {
  const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]);
  const Wide d = r.fresh_wide();
  r.g.vpunpckldq(r.t0, a, b);  // lanes 0 1 4 5
  r.g.vpunpckhdq(r.t1, a, b);  // lanes 2 3 6 7
  r.g.vperm2i128(d.part[0], r.t0, r.t1, 0x20);
  r.g.vperm2i128(d.part[1], r.t0, r.t1, 0x31);
  r.set_wide(op, d);
}
// The low or the high words of eight 64-bit lanes.
void words_of(RunOfLanes& r, Ymm d, Wide a, bool high) {
  r.g.vshufps(d, a.part[0], a.part[1], high ? 0xdd : 0x88);
  r.g.vpermq(d, d, 0xd8);
}
void unpack(RunOfLanes& r, const Op& op, const Meaning&) {
  const Wide a = r.wide(op.src[0]);
  const Ymm first = r.fresh(), second = r.fresh();
  words_of(r, first, a, false);
  words_of(r, second, a, true);
  r.set_word_at(op, op.dst, first);
  r.set_word_at(op, op.dst2, second);
}
void select(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool negated = op.as<program::ComputeFields>().negates(2);
  if (m.bytes[0] == 4) {
    const Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), p = r.mask(op.src[2], false),
              d = r.fresh();
    negated ? r.g.vblendvps(d, a, b, p) : r.g.vblendvps(d, b, a, p);
    return r.set_word(op, d);
  }
  const Wide a = r.wide(op.src[0]), b = r.wide(op.src[1]), p = r.wide_mask(op.src[2], negated),
             d = r.fresh_wide();
  for (int i = 0; i < 2; ++i) r.g.vblendvpd(d.part[i], b.part[i], a.part[i], p.part[i]);
  r.set_wide(op, d);
}

// Comparisons.

// AVX's predicate of a comparison of floats.
int float_predicate(Compare c) {
  switch (c) {
    case Compare::kEq: return 0x00;
    case Compare::kNe: return 0x0c;  // ordered
    case Compare::kLt: return 0x01;
    case Compare::kLe: return 0x02;
    case Compare::kGt: return 0x0e;
    case Compare::kGe: return 0x0d;
    case Compare::kEqu: return 0x08;
    case Compare::kNeu: return 0x04;
    case Compare::kLtu: return 0x09;  // not at least
    case Compare::kLeu: return 0x0a;
    case Compare::kGtu: return 0x06;
    case Compare::kGeu: return 0x05;
    case Compare::kNum: return 0x07;
    case Compare::kNan: return 0x03;
    default: return -1;
  }
}
// A comparison of integers from `equal` and `greater`, of which one is asked for.
struct Order {
  bool equal, swapped, negated, is_unsigned;
};
Order order_of(Compare c, Type t) {
  const bool without_sign = t == Type::kU32 || t == Type::kU64;
  switch (c) {
    case Compare::kEq: return {true, false, false, false};
    case Compare::kNe: return {true, false, true, false};
    case Compare::kLt: return {false, true, false, without_sign};
    case Compare::kLe: return {false, false, true, without_sign};
    case Compare::kGt: return {false, false, false, without_sign};
    case Compare::kGe: return {false, true, true, without_sign};
    case Compare::kLo: return {false, true, false, true};
    case Compare::kLs: return {false, false, true, true};
    case Compare::kHi: return {false, false, false, true};
    default: return {false, true, true, true};  // kHs
  }
}
void compare_integers(RunOfLanes& r, Order o, int bytes, Ymm d, Ymm a, Ymm b) {
  if (o.equal) {
    bytes == 4 ? r.g.vpcmpeqd(d, a, b) : r.g.vpcmpeqq(d, a, b);
  } else {
    if (o.swapped) std::swap(a, b);
    if (o.is_unsigned) {
      const Xbyak::Address sign = bytes == 4 ? r.pool.all(kSign) : r.pool.all_wide(kWideSign);
      r.g.vpxor(r.t0, a, sign);
      r.g.vpxor(r.t1, b, sign);
      a = r.t0, b = r.t1;
    }
    bytes == 4 ? r.g.vpcmpgtd(d, a, b) : r.g.vpcmpgtq(d, a, b);
  }
  if (o.negated) r.g.vpxor(d, d, r.pool.all(~0u));
}
void compare(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool is_float = m.type == Type::kF32 || m.type == Type::kF64;
  const int bytes = m.bytes[1], predicate = float_predicate(m.compare);
  const Order order = order_of(m.compare, m.type);
  const auto one = [&](Ymm d, Ymm a, Ymm b) {
    if (!is_float) return compare_integers(r, order, bytes, d, a, b);
    bytes == 4 ? r.g.vcmpps(d, a, b, predicate) : r.g.vcmppd(d, a, b, predicate);
  };
  const Ymm d = r.fresh();
  if (bytes == 4) {
    one(d, r.word(op.src[0]), r.word(op.src[1]));
  } else {
    const Wide a = r.wide(op.src[0]), b = r.wide(op.src[1]);
    const Ymm second = r.fresh();
    one(d, a.part[0], b.part[0]);
    one(second, a.part[1], b.part[1]);
    words_of(r, d, {{d, second}}, false);
    // `second` is nobody's.
    r.release(second);
  }
  if (m.bool_op != BoolOp::kNone) {
    const Ymm c = r.mask(op.src[2], op.as<program::ComputeFields>().negates(2));
    switch (m.bool_op) {
      case BoolOp::kAnd: r.g.vpand(d, d, c); break;
      case BoolOp::kOr: r.g.vpor(d, d, c); break;
      default: r.g.vpxor(d, d, c);
    }
  }
  r.set_mask(op, d);
}

// Conversions.

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

// The table.

bool is_integer(Type t, int bytes) {
  return bytes == 4 ? t == Type::kU32 || t == Type::kS32 || t == Type::kB32
                    : t == Type::kU64 || t == Type::kS64 || t == Type::kB64;
}
bool has_bytes(const Meaning& m, std::array<int, 5> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (m.bytes[i] != bytes[i]) return false;
  }
  return true;
}
bool is_nearest(const Meaning& m) {
  return m.rounding == Rounding::kNone || m.rounding == Rounding::kNearestEven;
}

Emitter arithmetic_emitter(const Meaning& m) {
  const int n = m.bytes[0];
  const bool one = has_bytes(m, {n, n}), two = has_bytes(m, {n, n, n}),
             three = has_bytes(m, {n, n, n, n});
  if (m.type == Type::kF32 || m.type == Type::kF64) {
    const bool f32 = m.type == Type::kF32;
    if (n != (f32 ? 4 : 8)) return nullptr;
    switch (m.opcode) {
      case Opcode::k_add: return two && is_nearest(m) ? &add : nullptr;
      case Opcode::k_sub: return two && is_nearest(m) ? &sub : nullptr;
      case Opcode::k_mul: return two && is_nearest(m) ? &multiply : nullptr;
      case Opcode::k_fma:
      case Opcode::k_mad: return three && is_nearest(m) ? &fused : nullptr;
      case Opcode::k_div: return two && m.rounding == Rounding::kNearestEven ? &divide : nullptr;
      case Opcode::k_sqrt:
        return one && m.rounding == Rounding::kNearestEven ? &square_root : nullptr;
      case Opcode::k_rcp:
        return one && m.rounding == Rounding::kNearestEven ? &reciprocal : nullptr;
      case Opcode::k_min:
      case Opcode::k_max: return f32 && two && !m.ftz ? &extreme : nullptr;
      case Opcode::k_abs:
      case Opcode::k_neg: return f32 && one && !m.ftz ? &sign_of_float : nullptr;
      default: return nullptr;
    }
  }
  if (!is_integer(m.type, m.half == Half::kWide ? 4 : n)) return nullptr;
  const bool wide = m.half == Half::kWide, high = m.half == Half::kHi;
  switch (m.opcode) {
    case Opcode::k_add: return two ? &add : nullptr;
    case Opcode::k_sub: return two ? &sub : nullptr;
    case Opcode::k_mul:
      if (wide) return has_bytes(m, {8, 4, 4}) ? &multiply : nullptr;
      return two && (n == 4 || !high) ? &multiply : nullptr;
    case Opcode::k_mad:
      if (wide) return has_bytes(m, {8, 4, 4, 8}) ? &multiply_add : nullptr;
      return three && (n == 4 || !high) ? &multiply_add : nullptr;
    case Opcode::k_min:
    case Opcode::k_max: return two && n == 4 ? &integer_extreme : nullptr;
    case Opcode::k_neg: return one ? &negate : nullptr;
    case Opcode::k_abs: return one && n == 4 ? &absolute : nullptr;
    default: return nullptr;
  }
}

Emitter bits_emitter(const Op& op, const Meaning& m, const program::Program& program) {
  const int n = m.bytes[0];
  const auto constant = [&](int source) -> std::uint32_t {
    std::uint32_t word;
    std::memcpy(&word, program.constants.get() + (op.src[source] & ~Slot{1}), sizeof word);
    return word;
  };
  switch (m.opcode) {
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor: return n != 1 && has_bytes(m, {n, n, n}) ? &logic : nullptr;
    case Opcode::k_not:
      return (n == 0 || n == 4 || n == 8) && has_bytes(m, {n, n}) ? &complement : nullptr;
    case Opcode::k_shl:
    case Opcode::k_shr:
      if (!has_bytes(m, {n, n, 4}) || n < 4) return nullptr;
      if (m.type == Type::kS64 && !is_constant(op.src[1])) return nullptr;
      return &shift;
    case Opcode::k_shf: return has_bytes(m, {4, 4, 4, 4}) ? &funnel : nullptr;
    case Opcode::k_lop3:
      return m.bool_op == BoolOp::kNone && has_bytes(m, {4, 4, 4, 4, 4}) && is_constant(op.src[3])
                 ? &table
                 : nullptr;
    case Opcode::k_prmt:
      return has_bytes(m, {4, 4, 4, 4}) && is_constant(op.src[2]) && (constant(2) & 0x8888) == 0
                 ? &permute
                 : nullptr;
    case Opcode::k_bfe: {
      if (!has_bytes(m, {4, 4, 4, 4}) || !is_constant(op.src[1]) || !is_constant(op.src[2]))
        return nullptr;
      const std::uint32_t length = constant(2) & 0xff;
      return length != 0 && (constant(1) & 0xff) + length <= 32 ? &extract : nullptr;
    }
    default: return nullptr;
  }
}

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

}  // namespace

Emitter emitter_of(const Op& op, const Meaning& m, const program::Program& program) {
  if (op.kind != program::OpKind::kCompute || op.action != program::Action::kNone || !m.common)
    return nullptr;
  if (m.packs) {
    if (m.opcode != Opcode::k_mov || m.type != Type::kB64) return nullptr;
    return has_bytes(m, {8, 4, 4}) ? &pack : has_bytes(m, {4, 4, 8}) ? &unpack : nullptr;
  }
  if (!m.plain || op.dst == kNoSlot) return nullptr;
  const int n = m.bytes[0];
  switch (m.opcode) {
    case Opcode::k_mov: return has_bytes(m, {n, n}) && n != 1 && n != 16 ? &move : nullptr;
    case Opcode::k_selp: return (n == 4 || n == 8) && has_bytes(m, {n, n, n}) ? &select : nullptr;
    case Opcode::k_setp: {
      const int compared = m.bytes[1];
      const bool known = m.type == Type::kF32   ? compared == 4
                         : m.type == Type::kF64 ? compared == 8
                                                : is_integer(m.type, compared);
      return n == 0 && known && has_bytes(m, {0, compared, compared}) ? &compare : nullptr;
    }
    case Opcode::k_cvt: return conversion_emitter(m);
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor:
    case Opcode::k_not:
    case Opcode::k_shl:
    case Opcode::k_shr:
    case Opcode::k_shf:
    case Opcode::k_lop3:
    case Opcode::k_prmt:
    case Opcode::k_bfe: return bits_emitter(op, m, program);
    default: return arithmetic_emitter(m);
  }
}

std::vector<Place> places_of(const Op& op, const Meaning& m) {
  std::vector<Place> places;
  if (op.guard != kNoSlot) places.push_back({op.guard, 0, false});
  places.push_back({op.dst, m.bytes[0], true});
  int operand = 1;
  if (m.packs && m.bytes[0] == 4) places.push_back({op.dst2, m.bytes[operand++], true});
  for (const Slot source : op.src) {
    if (source == kNoSlot) break;
    // Of a predicate as the last source the width is 0.
    places.push_back({source, operand < 5 ? m.bytes[operand] : 0, false});
    ++operand;
  }
  return places;
}

Mode mode_of(const Meaning& m) {
  const auto is_float = [](Type t) { return t == Type::kF32 || t == Type::kF64; };
  if (m.opcode == Opcode::k_mov || m.opcode == Opcode::k_selp) return Mode::kAny;
  if (!is_float(m.type) && !is_float(m.source_type)) return Mode::kAny;
  return m.ftz ? Mode::kFlushing : Mode::kDefault;
}

}  // namespace lockstep::translate
