#include "simulator/compile/lower_hint.h"

#include "simulator/compile/lower_compute.h"

namespace lockstep::compile {

// Caches, counters and register budgets change no result, and launches run one after another.
void lower_hint(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.run = b.handlers().of(Action::kHint);
  b.emit(i, op, ValidityTransfer::kFresh, {});
}

// Policies only steer caches; the value is opaque.
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
