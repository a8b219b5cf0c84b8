#include "simulator/translate/operations.h"

#include "simulator/translate/emitters.h"

namespace lockstep::translate {

using isa::Opcode;
using isa::Type;

Emitter emitter_of(const Op& op, const Meaning& m, const program::Program& program) {
  if (op.kind != program::OpKind::kCompute || op.action != program::Action::kNone || !m.common)
    return nullptr;
  if (m.packs) return m.type == Type::kB32 ? half_move_emitter(m) : move_emitter(m);
  if (!m.plain || op.dst == kNoSlot) return nullptr;
  switch (m.opcode) {
    case Opcode::k_mov:
    case Opcode::k_selp: return move_emitter(m);
    case Opcode::k_setp: return comparison_emitter(m);
    case Opcode::k_cvt:
      return is_half(m.type) || is_half(m.source_type) ? half_conversion_emitter(m)
                                                       : conversion_emitter(m);
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
    default:
      if (is_half(m.type)) return half_emitter(m);
      return m.type == Type::kF32 || m.type == Type::kF64 ? float_emitter(m) : integer_emitter(m);
  }
}

std::vector<Place> places_of(const Op& op, const Meaning& m) {
  std::vector<Place> places;
  if (op.guard != kNoSlot) places.push_back({op.guard, 0, false});
  places.push_back({op.dst, m.bytes[0], true});
  int operand = 1;
  if (m.packs && op.dst2 != kNoSlot) places.push_back({op.dst2, m.bytes[operand++], true});
  for (const Slot source : op.src) {
    if (source == kNoSlot) break;
    // Of a predicate as the last source the width is 0.
    places.push_back({source, operand < 5 ? m.bytes[operand] : 0, false});
    ++operand;
  }
  return places;
}

Mode mode_of(const Meaning& m) {
  const auto is_float = [](Type t) { return t == Type::kF32 || t == Type::kF64 || is_half(t); };
  if (m.opcode == Opcode::k_mov || m.opcode == Opcode::k_selp) return Mode::kAny;
  if (!is_float(m.type) && !is_float(m.source_type)) return Mode::kAny;
  return m.ftz ? Mode::kFlushing : Mode::kDefault;
}

}  // namespace lockstep::translate
