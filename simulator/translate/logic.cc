#include <algorithm>
#include <array>
#include <cstring>

#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::BoolOp;
using isa::Opcode;
using isa::Type;
using program::is_constant;
using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint64_t kSignOfWide = std::uint64_t{1} << 63;

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
        const Xbyak::Address sign = r.pool.all_wide(kSignOfWide >> amount);
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

}  // namespace

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

}  // namespace lockstep::translate
