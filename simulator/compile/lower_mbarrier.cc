#include "simulator/compile/lower_mbarrier.h"

#include "simulator/compile/memory_order.h"
#include "simulator/program/memory_access.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Semantics;
using program::MbarrierOp;

namespace {

void lower_pending_count(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kPendingCount);
  op.dst = b.destination(i, i.operands[0], 4);
  op.src[0] = b.source(i, i.operands[1], 8);
  b.emit(i, op, ValidityTransfer::kCompute, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
}

void lower_operation(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kMbarrier);
  op.width = 8;
  op.register_bytes = 4;
  op.elements = 2;  // not a single element, so that races do not compare its value
  MbarrierOp what = MbarrierOp::kArrive;
  bool has_result = false, releases = false, acquires = false;
  switch (i.opcode) {
    case Opcode::k_mbarrier_init: what = MbarrierOp::kInit; break;
    case Opcode::k_mbarrier_inval: what = MbarrierOp::kInvalidate; break;
    case Opcode::k_mbarrier_expect_tx: what = MbarrierOp::kExpectTx; break;
    case Opcode::k_mbarrier_complete_tx: what = MbarrierOp::kCompleteTx; break;
    case Opcode::k_mbarrier_arrive:
    case Opcode::k_mbarrier_arrive_drop:
      has_result = releases = true;
      if (m.expect_tx) op.as<program::MbarrierFields>().add(program::kWithTx);
      if (i.opcode == Opcode::k_mbarrier_arrive_drop)
        op.as<program::MbarrierFields>().add(program::kDropped);
      if (m.no_complete) op.as<program::MbarrierFields>().add(program::kIncomplete);
      break;
    default:
      what =
          i.opcode == Opcode::k_mbarrier_test_wait ? MbarrierOp::kTestWait : MbarrierOp::kTryWait;
      has_result = acquires = true;
      if (m.parity) op.as<program::MbarrierFields>().add(program::kByParity);
      op.register_bytes = m.parity ? 4 : 8;
  }
  op.as<program::MbarrierFields>().set_what(what);
  // A wait may yield the warp's turn.
  if (what == MbarrierOp::kTryWait) op.kind = OpKind::kControl;
  if (what != MbarrierOp::kInit && what != MbarrierOp::kInvalidate)
    op.as<program::MemoryFields>().add(program::kStrong);
  const bool relaxed = m.semantics == Semantics::kRelaxed;
  if (releases && !relaxed) op.as<program::MemoryFields>().add(program::kRelease);
  if (acquires && !relaxed) op.as<program::MemoryFields>().add(program::kAcquire);
  std::size_t n = has_result ? 1 : 0;
  b.address(i, i.operands[n++], space_of(m), op);
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  if (n < i.operands.size()) {
    op.src[1] = b.source(i, i.operands[n], op.register_bytes);
    uses.push_back({op.src[1], Role::kValue});
  }
  if (has_result) {
    op.dst = b.optional_destination(i.operands[0]);
    uses.push_back({op.dst, Role::kWrite});
  }
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

}  // namespace

void lower_mbarrier(FunctionBuilder& b, const Instruction& i) {
  i.opcode == Opcode::k_mbarrier_pending_count ? lower_pending_count(b, i) : lower_operation(b, i);
}

}  // namespace lockstep::compile
