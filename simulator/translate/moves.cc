#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::Opcode;
using isa::Type;
using Xbyak::Xmm;
using Xbyak::Ymm;

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

}  // namespace

Emitter move_emitter(const Meaning& m) {
  const int n = m.bytes[0];
  if (m.packs) {
    if (m.opcode != Opcode::k_mov || m.type != Type::kB64) return nullptr;
    return has_bytes(m, {8, 4, 4}) ? &pack : has_bytes(m, {4, 4, 8}) ? &unpack : nullptr;
  }
  if (m.opcode == Opcode::k_mov) return has_bytes(m, {n, n}) && n != 1 && n != 16 ? &move : nullptr;
  return (n == 4 || n == 8) && has_bytes(m, {n, n, n}) ? &select : nullptr;
}

}  // namespace lockstep::translate
