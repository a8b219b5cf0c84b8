#include "simulator/compile/lower_tensor_memory.h"

#include <utility>

#include "simulator/compile/memory_order.h"
#include "simulator/program/synchronisation.h"
#include "simulator/program/tensor_memory.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Space;
using program::TensorOperation;

namespace {

// Builds an operation on tensor memory.
class TensorLowering {
 public:
  TensorLowering(FunctionBuilder& builder, const Instruction& instruction, Action action)
      : b_(builder), i_(instruction) {
    b_.set_action(op_, action);
    of.shape = i_.modifiers.tensor_shape;
    of.multicast = i_.modifiers.tensor_multicast;
    of.kind = i_.modifiers.tensor_kind;
    of.number = i_.modifiers.vector;
    of.type = i_.modifiers.type;
    of.greatest = i_.modifiers.atom == isa::AtomOp::kMax;
    of.absolute = i_.modifiers.abs;
    of.nan_wins = i_.modifiers.nan;
    of.narrow_bits = i_.modifiers.narrow_bits;
    of.paired = i_.modifiers.cta_group == 2;
    of.scale_vector = i_.modifiers.scale_vector;
    of.packed = i_.modifiers.packed;
    of.space = space_of(i_.modifiers);
  }

  TensorOperation of;

  Slot source(const Operand& o, int bytes, Role role = Role::kAddress) {
    const Slot slot = b_.source(i_, o, bytes);
    uses_.push_back({slot, role});
    return slot;
  }
  // An address in shared memory, or a generic one: any address but tensor memory's.
  program::AddressOperand address(const Operand& o, Space space = Space::kShared) {
    const program::AddressOperand a = b_.further_address(i_, o, space);
    uses_.push_back({a.slot, Role::kAddress});
    return a;
  }
  program::AddressOperand tensor_address(const Operand& o) {
    if (!o.has_register || b_.register_bytes(o) != 4)
      b_.refuse(i_, "has an address in tensor memory that is no register of 32 bits");
    return address(o);
  }
  void registers(const Operand& vector, Role role) {
    of.first = static_cast<std::uint32_t>(b_.program().slots.size());
    of.registers = static_cast<int>(vector.elements.size());
    for (const Operand& e : vector.elements) {
      const Slot slot = role == Role::kWrite ? b_.optional_destination(e) : b_.source(i_, e, 4);
      b_.program().slots.push_back(slot);
      uses_.push_back({slot, role});
    }
  }
  Slot destination(const Operand& o) {
    const Slot slot = b_.optional_destination(o);
    uses_.push_back({slot, Role::kWrite});
    return slot;
  }
  void condition(const Operand& o) {
    of.accumulates_negated = b_.predicate_source(i_, o, of.accumulates);
    uses_.push_back({of.accumulates, Role::kCondition});
  }

  // Emits an operation that all lanes of a warp execute together.
  void emit_for_warp(ValidityTransfer transfer) {
    op_.kind = OpKind::kControl;
    op_.as<program::SyncFields>().set_kind(program::SyncKind::kWholeWarp);
    op_.register_bytes = 4;
    Operand all;
    all.kind = Operand::Kind::kImmediate;
    all.bits = 0xffffffff;
    op_.src[3] = b_.source(i_, all, 4);
    op_.immediate = static_cast<std::int64_t>(b_.program().tensor_operations.size());
    finish(transfer);
  }
  void emit_for_lanes() {
    op_.kind = OpKind::kMemory;
    op_.as<program::SideDataFields>().set_index(b_.program().tensor_operations.size());
    finish(ValidityTransfer::kControl);
  }

 private:
  void finish(ValidityTransfer transfer) {
    b_.program().tensor_operations.push_back(of);
    b_.emit(i_, op_, transfer, std::move(uses_));
  }

  FunctionBuilder& b_;
  const Instruction& i_;
  Op op_;
  std::vector<OperandUse> uses_;
};

constexpr std::uint8_t kReduces = 1;  // variant of ld

void lower_tensor_multiply(FunctionBuilder& b, const Instruction& i) {
  constexpr std::uint8_t kScaled = 1, kInTensorMemory = 2, kBlockScale = 4, kStationary = 8,
                         kSparse = 16, kShifted = 64;
  TensorLowering t(b, i, Action::kTensorMultiply);
  t.of.stationary = (i.modifiers.variant & kStationary) != 0;
  t.of.sparse = (i.modifiers.variant & kSparse) != 0;
  t.of.shifts_a = (i.modifiers.variant & kShifted) != 0;
  const std::vector<Operand>& o = i.operands;
  t.of.address = t.tensor_address(o[0]);
  if ((i.modifiers.variant & kInTensorMemory) != 0) {
    t.of.a_address = t.tensor_address(o[1]);
  } else {
    t.of.a = t.source(o[1], 8);
  }
  t.of.b = t.source(o[2], 8);
  std::size_t next = 3;
  if (t.of.sparse) t.of.metadata = t.tensor_address(o[next++]);
  t.of.instruction = t.source(o[next++], 4);
  if ((i.modifiers.variant & kBlockScale) != 0) {
    t.of.row_scales = t.tensor_address(o[next++]);
    t.of.column_scales = t.tensor_address(o[next++]);
  }
  if (o[next].kind == Operand::Kind::kVector) {
    for (std::size_t n = 0; n < o[next].elements.size(); ++n)
      t.of.disabled[n] = t.source(o[next].elements[n], 4);
    ++next;
  }
  t.condition(o[next++]);
  if ((i.modifiers.variant & kScaled) != 0) {
    const std::uint64_t scale = o[next].bits;
    if (scale > 15) b.refuse(i, "scales the accumulator by more than 2^-15");
    t.of.scale = static_cast<int>(scale);
  } else if (next < o.size()) {
    t.of.zero_columns = t.source(o[next], 8);
  }
  t.emit_for_lanes();
}

}  // namespace

void lower_tensor_memory(FunctionBuilder& b, const Instruction& i) {
  const std::vector<Operand>& o = i.operands;
  switch (i.opcode) {
    case Opcode::k_tcgen05_alloc: {
      TensorLowering t(b, i, Action::kTensorAllocate);
      t.of.address = t.address(o[0], t.of.space);
      t.of.columns = t.source(o[1], 4);
      return t.emit_for_warp(ValidityTransfer::kControl);
    }
    case Opcode::k_tcgen05_dealloc: {
      TensorLowering t(b, i, Action::kTensorFree);
      t.of.address.slot = t.source(o[0], 4);
      t.of.address.narrow = true;
      t.of.columns = t.source(o[1], 4);
      return t.emit_for_warp(ValidityTransfer::kControl);
    }
    case Opcode::k_tcgen05_relinquish_alloc_permit:
      return TensorLowering(b, i, Action::kTensorRelinquish)
          .emit_for_warp(ValidityTransfer::kControl);
    case Opcode::k_tcgen05_ld: {
      TensorLowering t(b, i, Action::kTensorLoad);
      const std::size_t at = i.modifiers.variant == kReduces ? 2 : 1;
      t.of.address = t.tensor_address(o[at]);
      if (o.size() > at + 1) t.of.half = static_cast<std::uint32_t>(o[at + 1].bits);
      t.registers(o[0], Role::kWrite);
      if (at == 2) t.of.reduced = t.destination(o[1]);
      return t.emit_for_warp(ValidityTransfer::kLoad);
    }
    case Opcode::k_tcgen05_st: {
      TensorLowering t(b, i, Action::kTensorStore);
      t.of.address = t.tensor_address(o[0]);
      if (o.size() == 3) t.of.half = static_cast<std::uint32_t>(o[1].bits);
      t.registers(o.back(), Role::kValue);
      return t.emit_for_warp(ValidityTransfer::kStore);
    }
    case Opcode::k_tcgen05_wait: {
      TensorLowering t(b, i, Action::kTensorWait);
      t.of.is_load = i.modifiers.read;
      return t.emit_for_warp(ValidityTransfer::kControl);
    }
    case Opcode::k_tcgen05_fence: {
      TensorLowering t(b, i, Action::kTensorFence);
      t.of.before = i.modifiers.semantics == isa::Semantics::kRelease;
      return t.emit_for_lanes();
    }
    case Opcode::k_tcgen05_cp: {
      TensorLowering t(b, i, Action::kTensorFill);
      t.of.address = t.tensor_address(o[0]);
      t.of.a = t.source(o[1], 8);
      return t.emit_for_lanes();
    }
    case Opcode::k_tcgen05_shift: {
      TensorLowering t(b, i, Action::kTensorShift);
      t.of.address = t.tensor_address(o[0]);
      return t.emit_for_lanes();
    }
    case Opcode::k_tcgen05_commit: {
      TensorLowering t(b, i, Action::kTensorCommit);
      t.of.address = t.address(o[0], t.of.space);
      if (o.size() == 2) t.of.mask = t.source(o[1], 2, Role::kValue);
      return t.emit_for_lanes();
    }
    default: return lower_tensor_multiply(b, i);
  }
}

}  // namespace lockstep::compile
