#include "simulator/decode/validity_flow.h"

namespace lockstep::decode {

using engine::Decides;
using engine::Flow;
using engine::Op;
using engine::Selects;
using ptx::Opcode;
using ptx::Type;

namespace {

int bytes_of(Type t) { return t == Type::kPred ? 0 : ptx::size_of(t); }
bool is_signed(Type t) { return t == Type::kS8 || t == Type::kS16 || t == Type::kS32 || t == Type::kS64; }
bool is_integer(Type t) { return t >= Type::kB8 && t <= Type::kS64 && t != Type::kB128; }
bool is_constant(engine::Slot s) { return s != engine::kNoSlot && engine::is_constant(s); }

Selects what_selects(const ptx::Modifiers& m, Opcode opcode) {
  if (opcode == Opcode::k_selp) return Selects::kPredicate;
  if (m.source_type == Type::kS32) return Selects::kSign;
  return m.ftz ? Selects::kFlushedSign : Selects::kFloatSign;
}

Flow conversion(const ptx::Modifiers& m) {
  if (is_integer(m.type) && is_integer(m.source_type) && !m.sat) return is_signed(m.source_type) ? Flow::kConvertSigned : Flow::kConvert;
  const bool plain = m.type == m.source_type && m.rounding == ptx::Rounding::kNone && !m.sat && !m.ftz;
  return plain ? Flow::kCopy : Flow::kConvertFrom;
}

}  // namespace

Flow validity_flow(const ptx::Instruction& i, Op& op) {
  const ptx::Modifiers& m = i.modifiers;
  op.register_bytes = static_cast<std::uint8_t>(bytes_of(m.type));
  switch (i.opcode) {
    case Opcode::k_mov: return Flow::kCopy;
    case Opcode::k_selp: case Opcode::k_slct:
      op.mode = static_cast<std::uint8_t>(what_selects(m, i.opcode));
      return Flow::kSelect;
    case Opcode::k_shl: return is_constant(op.src[1]) ? Flow::kShiftLeft : Flow::kCompute;
    case Opcode::k_shr: return !is_constant(op.src[1]) ? Flow::kCompute : is_signed(m.type) ? Flow::kShiftRightSigned : Flow::kShiftRight;
    case Opcode::k_and: case Opcode::k_or: case Opcode::k_xor: case Opcode::k_not:
      if (m.type == Type::kPred) {
        op.mode = static_cast<std::uint8_t>(i.opcode == Opcode::k_and ? Decides::kFalse : Decides::kTrue);
        return i.opcode == Opcode::k_and || i.opcode == Opcode::k_or ? Flow::kLogic : Flow::kCompute;
      }
      return i.opcode == Opcode::k_and && (is_constant(op.src[0]) || is_constant(op.src[1])) ? Flow::kMask : Flow::kBitwise;
    case Opcode::k_setp:
      op.mode = static_cast<std::uint8_t>(m.bool_op == ptx::BoolOp::kAnd ? Decides::kFalse : Decides::kTrue);
      return m.bool_op == ptx::BoolOp::kAnd || m.bool_op == ptx::BoolOp::kOr ? Flow::kCompareLogic : Flow::kCompute;
    case Opcode::k_lop3: return m.bool_op == ptx::BoolOp::kNone ? Flow::kTable : Flow::kCompute;
    case Opcode::k_bfe:
      if (!is_constant(op.src[1]) || !is_constant(op.src[2])) return Flow::kCompute;
      return is_signed(m.type) ? Flow::kExtractSigned : Flow::kExtract;
    case Opcode::k_prmt: return m.prmt == ptx::PrmtMode::kNone && is_constant(op.src[2]) ? Flow::kPermute : Flow::kCompute;
    case Opcode::k_cvt:
      if (i.operands.size() != 2) return Flow::kCompute;
      op.width = static_cast<std::uint8_t>(bytes_of(m.source_type));
      return conversion(m);
    default: return Flow::kCompute;
  }
}

}  // namespace lockstep::decode
