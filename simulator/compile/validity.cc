#include "simulator/compile/validity.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Type;
using program::Bitwise;
using program::Decides;
using program::Op;
using program::Selects;
using program::ValidityTransfer;

namespace {

int bytes_of(Type t) { return t == Type::kPred ? 0 : isa::size_of(t); }
bool is_integer(Type t) { return t >= Type::kB8 && t <= Type::kS64 && t != Type::kB128; }
bool is_constant(program::Slot s) { return s != program::kNoSlot && program::is_constant(s); }

Bitwise bitwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::k_and: return Bitwise::kAnd;
    case Opcode::k_or: return Bitwise::kOr;
    case Opcode::k_xor: return Bitwise::kXor;
    default: return Bitwise::kNot;
  }
}

Selects what_selects(const isa::Modifiers& m, Opcode opcode) {
  if (opcode == Opcode::k_selp) return Selects::kPredicate;
  if (m.source_type == Type::kS32) return Selects::kSign;
  return m.ftz ? Selects::kFlushedSign : Selects::kFloatSign;
}

ValidityTransfer conversion(const isa::Modifiers& m) {
  if (is_integer(m.type) && is_integer(m.source_type) && !m.sat)
    return isa::is_signed(m.source_type) ? ValidityTransfer::kConvertSigned
                                         : ValidityTransfer::kConvert;
  const bool plain =
      m.type == m.source_type && m.rounding == isa::Rounding::kNone && !m.sat && !m.ftz;
  return plain ? ValidityTransfer::kCopy : ValidityTransfer::kConvertFrom;
}

}  // namespace

ValidityTransfer validity_transfer(const ptx::Instruction& i, Op& op) {
  const isa::Modifiers& m = i.modifiers;
  op.register_bytes = static_cast<std::uint8_t>(bytes_of(m.type));
  switch (i.opcode) {
    case Opcode::k_mov: return ValidityTransfer::kCopy;
    case Opcode::k_selp:
    case Opcode::k_slct:
      op.as<program::ComputeFields>().set_detail(what_selects(m, i.opcode));
      return ValidityTransfer::kSelect;
    case Opcode::k_shl:
      return is_constant(op.src[1]) ? ValidityTransfer::kShiftLeft : ValidityTransfer::kCompute;
    case Opcode::k_shr:
      return !is_constant(op.src[1])  ? ValidityTransfer::kCompute
             : isa::is_signed(m.type) ? ValidityTransfer::kShiftRightSigned
                                      : ValidityTransfer::kShiftRight;
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor:
    case Opcode::k_not:
      if (m.type == Type::kPred) {
        op.as<program::ComputeFields>().set_detail(i.opcode == Opcode::k_and ? Decides::kFalse
                                                                             : Decides::kTrue);
        return i.opcode == Opcode::k_and || i.opcode == Opcode::k_or ? ValidityTransfer::kLogic
                                                                     : ValidityTransfer::kCompute;
      }
      op.as<program::ComputeFields>().set_detail(bitwise(i.opcode));
      return ValidityTransfer::kBitwise;
    case Opcode::k_setp:
      op.as<program::ComputeFields>().set_detail(m.bool_op == isa::BoolOp::kAnd ? Decides::kFalse
                                                                                : Decides::kTrue);
      return m.bool_op == isa::BoolOp::kAnd || m.bool_op == isa::BoolOp::kOr
                 ? ValidityTransfer::kCompareLogic
                 : ValidityTransfer::kCompute;
    case Opcode::k_lop3:
      return m.bool_op == isa::BoolOp::kNone ? ValidityTransfer::kTable
                                             : ValidityTransfer::kCompute;
    case Opcode::k_bfe:
      if (!is_constant(op.src[1]) || !is_constant(op.src[2])) return ValidityTransfer::kCompute;
      return isa::is_signed(m.type) ? ValidityTransfer::kExtractSigned : ValidityTransfer::kExtract;
    case Opcode::k_bfi:
      return is_constant(op.src[2]) && is_constant(op.src[3]) ? ValidityTransfer::kInsert
                                                              : ValidityTransfer::kCompute;
    case Opcode::k_prmt:
      return m.prmt == isa::PrmtMode::kNone && is_constant(op.src[2]) ? ValidityTransfer::kPermute
                                                                      : ValidityTransfer::kCompute;
    case Opcode::k_cvt:
      if (i.operands.size() != 2) return ValidityTransfer::kCompute;
      op.width = static_cast<std::uint8_t>(bytes_of(m.source_type));
      return conversion(m);
    default: return ValidityTransfer::kCompute;
  }
}

}  // namespace lockstep::compile
