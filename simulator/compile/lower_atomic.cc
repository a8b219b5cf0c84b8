#include "simulator/compile/lower_atomic.h"

#include "simulator/compile/memory_order.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::AtomOp;
using isa::Type;

void lower_atomic(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const bool has_result = i.opcode == isa::Opcode::k_atom;
  std::size_t n = has_result ? 1 : 0;
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kAtomic);
  op.width = static_cast<std::uint8_t>(isa::size_of(m.type));
  op.register_bytes = op.width;
  op.elements = m.vector;
  op.as<program::AtomicFields>().set_what(m.atom);
  op.as<program::MemoryFields>().set(ordering(m) | program::kStrong);
  op.scope = scope_of(m);
  const bool brain = m.type == Type::kBF16 || m.type == Type::kBF16x2;
  const bool halves = brain || m.type == Type::kF16 || m.type == Type::kF16x2;
  if (m.type == Type::kF32 || m.type == Type::kF64)
    op.as<program::MemoryFields>().add(program::kFloatResult);
  if (halves) op.as<program::MemoryFields>().add(program::kHalfElements);
  if (brain || isa::is_signed(m.type)) op.as<program::MemoryFields>().add(program::kSignExtend);
  const bool compares = m.atom == AtomOp::kCas, exchanges = m.atom == AtomOp::kExch;
  if (m.atom == AtomOp::kNone || (op.width == 2 && !halves && !compares) || op.width < 2 ||
      (op.width == 16 && !compares && !exchanges) ||
      (op.as<program::MemoryFields>().has(program::kFloatResult) && m.atom != AtomOp::kAdd &&
       !exchanges)) {
    b.refuse(i, "is not implemented by the simulated GPU");
  }
  b.address(i, i.operands[n++], space_of(i.modifiers), op);
  if (op.width == 2) b.out().byte_granular = true;
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  if (m.vector != 1) {
    const auto& data = i.operands[n].elements;
    std::vector<Slot> slots;
    for (const Operand& e : data) {
      slots.push_back(b.source(i, e, op.width));
      uses.push_back({slots.back(), Role::kValue});
    }
    for (std::size_t e = 0; e < data.size(); ++e) {
      slots.push_back(has_result ? b.optional_destination(i.operands[0].elements[e]) : kNoSlot);
      uses.push_back({slots.back(), Role::kWrite});
    }
    op.as<program::ListedFields>().set_first(b.program().slots.size());
    b.program().slots.insert(b.program().slots.end(), slots.begin(), slots.end());
    b.emit(i, op, ValidityTransfer::kAtomic, std::move(uses));
    return;
  }
  op.src[1] = b.source(i, i.operands[n++], op.width);
  uses.push_back({op.src[1], Role::kValue});
  if (compares) {
    op.src[2] = b.source(i, i.operands[n++], op.width);
    uses.push_back({op.src[2], Role::kValue});
  }
  // An atomic whose result is not read becomes a red, as with ptxas: nothing in the thread depends
  // on the old value.
  if (has_result && i.operands[0].kind == Operand::Kind::kRegister &&
      b.mentions(i.operands[0].index) > 1) {
    op.dst = b.register_slot(i.operands[0]);
    uses.push_back({op.dst, Role::kWrite});
  }
  b.emit(i, op, ValidityTransfer::kAtomic, std::move(uses));
}

}  // namespace lockstep::compile
