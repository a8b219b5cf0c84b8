// What the parts of the table of operations share: shapes of operations, and the choosers.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/translate/operations.h"
#include "simulator/translate/run_of_lanes.h"

namespace lockstep::translate {

using program::kNoSlot;
using program::Meaning;

// By kind of operation: how it is emitted; nullptr: it is not translated.
Emitter float_emitter(const Meaning& m);  // f32 and f64
Emitter integer_emitter(const Meaning& m);
Emitter bits_emitter(const Op& op, const Meaning& m, const program::Program& program);
Emitter move_emitter(const Meaning& m);  // mov and selp
Emitter comparison_emitter(const Meaning& m);
Emitter conversion_emitter(const Meaning& m);
Emitter half_emitter(const Meaning& m);  // f16 and bf16
Emitter half_conversion_emitter(const Meaning& m);
Emitter half_move_emitter(const Meaning& m);  // between a word and its halves

bool is_half(isa::Type t);  // f16 or bf16, scalar or packed
// Widens eight halves of this type to f32.
void floats_of_halves(RunOfLanes& r, isa::Type t, Xbyak::Ymm d, Xbyak::Xmm halves);

inline bool is_integer(isa::Type t, int bytes) {
  return bytes == 4 ? t == isa::Type::kU32 || t == isa::Type::kS32 || t == isa::Type::kB32
                    : t == isa::Type::kU64 || t == isa::Type::kS64 || t == isa::Type::kB64;
}
// Of the destination and the sources; 0: a predicate, or none.
inline bool has_bytes(const Meaning& m, std::array<int, 5> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (m.bytes[i] != bytes[i]) return false;
  }
  return true;
}
inline Xbyak::Xmm low(Xbyak::Ymm v) { return Xbyak::Xmm(v.getIdx()); }

// Emits of one vector: lanes of 32 bits, or half of the lanes of 64 bits.
template <class Emit>
void unary(RunOfLanes& r, const Op& op, int bytes, Emit emit) {
  if (bytes == 4) {
    const Xbyak::Ymm a = r.word(op.src[0]), d = r.fresh();
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
    const Xbyak::Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), d = r.fresh();
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
    const Xbyak::Ymm a = r.word(op.src[0]), b = r.word(op.src[1]), c = r.word(op.src[2]),
                     d = r.fresh();
    emit(d, a, b, c);
    r.set_word(op, d);
  } else {
    const Wide a = r.wide(op.src[0]), b = r.wide(op.src[1]), c = r.wide(op.src[2]),
               d = r.fresh_wide();
    for (int p = 0; p < 2; ++p) emit(d.part[p], a.part[p], b.part[p], c.part[p]);
    r.set_wide(op, d);
  }
}

// The low or the high words of eight 64-bit lanes.
inline void words_of(RunOfLanes& r, Xbyak::Ymm d, Wide a, bool high) {
  r.g.vshufps(d, a.part[0], a.part[1], high ? 0xdd : 0x88);
  r.g.vpermq(d, d, 0xd8);
}

}  // namespace lockstep::translate
