#include "simulator/compile/lower_hint.h"

#include "simulator/compile/lower_compute.h"

namespace lockstep::compile {

// No effect: caches, counters and register budgets change no result, and launches run one after
// another.
void lower_hint(FunctionBuilder& b, const Instruction& i) {
  Op op;
  b.set_action(op, Action::kHint);
  b.emit(i, op, ValidityTransfer::kFresh, {});
}

void lower_cache_hint(FunctionBuilder& b, const Instruction& i) {
  const bool bulk = i.opcode == isa::Opcode::k_cp_async_bulk_prefetch;
  // Valid for any address: PTX has no requirements for it.
  if (!bulk && i.opcode != isa::Opcode::k_applypriority) return lower_hint(b, i);
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kLineHint);
  b.address(i, i.operands[0], isa::Space::kGlobal, op);
  op.width = bulk ? 16 : 128;
  if (bulk) op.src[1] = b.source(i, i.operands[1], 4);
  b.emit(i, op, ValidityTransfer::kControl,
         {{op.src[0], Role::kAddress}, {op.src[1], Role::kAddress}});
}

// Policies only control caches, so the value is arbitrary.
void lower_cache_policy(FunctionBuilder& b, const Instruction& i) {
  Instruction move = i;
  move.opcode = isa::Opcode::k_mov;
  move.modifiers = {};
  move.modifiers.type = isa::Type::kB64;
  move.rules = nullptr;
  Operand zero;
  zero.kind = Operand::Kind::kImmediate;
  move.operands = {i.operands[0], zero};
  lower_compute(b, move);
}

}  // namespace lockstep::compile
