#include "simulator/compile/lower_control.h"

#include <bit>

namespace lockstep::compile {

using isa::Opcode;

void lower_control(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kControl;
  switch (i.opcode) {
    case Opcode::k_bra:
      op.kind = OpKind::kBranch;
      b.branch_to(i.operands[0].index);
      b.emit(i, op, ValidityTransfer::kControl, {});
      return;
    case Opcode::k_brx_idx: {
      b.set_action(op, Action::kBranchTable);
      op.src[0] = b.source(i, i.operands[0], 4);
      op.target = static_cast<std::uint32_t>(b.program().tables.size());
      const auto& labels = i.operands[1].elements;
      b.program().tables.emplace_back(labels.size());
      for (std::uint32_t n = 0; n < labels.size(); ++n)
        b.table_entry_to(op.target, n, labels[n].index);
      b.emit(i, op, ValidityTransfer::kControl, {{op.src[0], Role::kValue}});
      return;
    }
    case Opcode::k_ret:
      b.set_action(op, Action::kReturn);
      b.emit(i, op, ValidityTransfer::kControl, {});
      return;
    case Opcode::k_exit:
      b.set_action(op, Action::kExit);
      b.emit(i, op, ValidityTransfer::kControl, {});
      return;
    case Opcode::k_trap:
    case Opcode::k_brkpt:
      b.set_action(op, Action::kTrap);
      b.emit(i, op, ValidityTransfer::kControl, {});
      return;
    case Opcode::k_nanosleep:
      b.set_action(op, Action::kSleep);
      op.src[0] = b.source(i, i.operands[0], 4);
      b.emit(i, op, ValidityTransfer::kControl, {{op.src[0], Role::kValue}});
      return;
    default: b.refuse(i, "is not implemented by the simulated GPU");
  }
}

void lower_stack(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kControl;
  switch (i.opcode) {
    case Opcode::k_alloca: {
      b.out().uses_alloca = true;
      b.set_action(op, Action::kAlloca);
      op.width = static_cast<std::uint8_t>(b.register_bytes(i.operands[0]));
      op.register_bytes = static_cast<std::uint8_t>(
          i.operands[1].kind == Operand::Kind::kRegister ? b.register_bytes(i.operands[1]) : 8);
      op.dst = b.register_slot(i.operands[0]);
      op.src[0] = b.source(i, i.operands[1], op.register_bytes);
      op.immediate = i.operands.size() > 2 && i.operands[2].kind == Operand::Kind::kImmediate
                         ? static_cast<std::int64_t>(i.operands[2].bits)
                         : 8;
      if (op.immediate <= 0 || op.immediate > kLocalBytes ||
          !std::has_single_bit(static_cast<std::uint64_t>(op.immediate))) {
        b.refuse(i,
                 "has an alignment that is no power of two up to " + std::to_string(kLocalBytes));
      }
      b.emit(i, op, ValidityTransfer::kControl,
             {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
      return;
    }
    case Opcode::k_stacksave:
      b.set_action(op, Action::kStackSave);
      op.width = static_cast<std::uint8_t>(b.register_bytes(i.operands[0]));
      op.dst = b.register_slot(i.operands[0]);
      b.emit(i, op, ValidityTransfer::kFresh, {{op.dst, Role::kWrite}});
      return;
    case Opcode::k_stackrestore:
      b.set_action(op, Action::kStackRestore);
      op.register_bytes = static_cast<std::uint8_t>(
          i.operands[0].kind == Operand::Kind::kRegister ? b.register_bytes(i.operands[0]) : 8);
      op.src[0] = b.source(i, i.operands[0], op.register_bytes);
      b.emit(i, op, ValidityTransfer::kControl, {{op.src[0], Role::kValue}});
      return;
    default: b.refuse(i, "is not implemented by the simulated GPU");
  }
}

}  // namespace lockstep::compile
