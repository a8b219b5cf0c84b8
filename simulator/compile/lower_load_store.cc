#include "simulator/compile/lower_load_store.h"

#include "simulator/compile/memory_order.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Space;

namespace {

// Lowers the data registers: a single element into `slot` of `op`, several into Program::slots.
// Sets op.register_bytes.
void lower_data(FunctionBuilder& b, const Instruction& i, const Operand& data, bool load,
                Slot& slot, Op& op, std::vector<OperandUse>& uses) {
  const Role role = load ? Role::kWrite : Role::kValue;
  if (op.elements != 1) {
    if (data.kind != Operand::Kind::kVector || data.elements.size() != op.elements)
      b.refuse(i, "has a vector operand of another length");
    op.register_bytes = b.register_bytes_of(i, data, op.width);
    std::vector<Slot> slots;
    for (const Operand& e : data.elements)
      slots.push_back(load ? b.optional_destination(e) : b.source(i, e, op.register_bytes));
    op.as<program::ListedFields>().set_first(b.program().slots.size());
    for (const Slot s : slots) {
      b.program().slots.push_back(s);
      uses.push_back({s, role});
    }
  } else {
    const Operand& d =
        data.kind == Operand::Kind::kVector && data.elements.size() == 1 ? data.elements[0] : data;
    op.register_bytes = d.kind == Operand::Kind::kRegister
                            ? static_cast<std::uint8_t>(b.register_bytes(d))
                            : op.width;
    slot = load ? b.destination(i, d, op.register_bytes) : b.source(i, d, op.register_bytes);
    uses.push_back({slot, role});
  }
  if (op.register_bytes < op.width) b.refuse(i, "has a register narrower than the access");
}

void lower_parameter_access(FunctionBuilder& b, const Instruction& i, bool load) {
  const Operand& where = i.operands[load ? 1 : 0];
  const Operand& data = i.operands[load ? 0 : 1];
  Op op;
  op.action = load ? Action::kLoad : Action::kStore;
  op.width = static_cast<std::uint8_t>(isa::size_of(i.modifiers.type));
  op.elements = i.modifiers.vector;
  if (isa::is_signed(i.modifiers.type)) op.as<program::MemoryFields>().add(program::kSignExtend);
  const std::uint64_t bytes = std::uint64_t{op.width} * op.elements;
  std::uint64_t size = 0;
  if (const auto parameter = b.kernel_parameter(where.symbol)) {
    if (!load) b.refuse(i, "writes a kernel parameter");
    size = b.out().parameter_sizes[*parameter];
    b.set_action(op, Action::kLoadKernelParameter);
    op.immediate = b.out().parameter_offsets[*parameter];
  } else if (const program::Storage* s = b.storage(where.symbol)) {
    size = s->size;
    b.set_action(op, load ? Action::kLoadStorage : Action::kStoreStorage);
    op.src[0] = s->offset;
    op.src[1] = s->size;
  } else {
    b.refuse(i, "names no parameter: '" + where.symbol + "'");
  }
  if (where.offset < 0 || static_cast<std::uint64_t>(where.offset) + bytes > size) {
    b.refuse(i, "reaches outside the parameter '" + where.symbol + "' of " + std::to_string(size) +
                    " bytes");
  }
  op.immediate += where.offset;
  std::vector<OperandUse> uses;
  lower_data(b, i, data, load, load ? op.dst : op.src[3], op, uses);
  b.emit(i, op, load ? ValidityTransfer::kFresh : ValidityTransfer::kControl,
         load ? std::move(uses) : std::vector<OperandUse>{});
}

}  // namespace

void lower_load_store(FunctionBuilder& b, const Instruction& i) {
  const bool load = i.opcode != isa::Opcode::k_st;
  const Operand& where = i.operands[load ? 1 : 0];
  const Operand& data = i.operands[load ? 0 : 1];
  const Space space = space_of(i.modifiers);
  if (space == Space::kParam && !(where.kind == Operand::Kind::kAddress && where.has_register)) {
    lower_parameter_access(b, i, load);
    return;
  }
  Op op;
  op.action = load ? Action::kLoad : Action::kStore;
  op.kind = OpKind::kMemory;
  op.width = static_cast<std::uint8_t>(isa::size_of(i.modifiers.type));
  op.as<program::MemoryFields>().set(ordering(i.modifiers));
  op.scope = scope_of(i.modifiers);
  if (isa::is_signed(i.modifiers.type)) op.as<program::MemoryFields>().add(program::kSignExtend);
  b.address(i, where, space, op);
  if (space == Space::kShared || space == Space::kSharedCluster || space == Space::kGeneric) {
    if (op.width < 4) b.out().byte_granular = true;
  }
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  op.elements = i.modifiers.vector;
  if (op.width * op.elements > 32) b.refuse(i, "moves more than 32 bytes a thread");
  lower_data(b, i, data, load, load ? op.dst : op.src[1], op, uses);
  op.run = load ? b.handlers().load(op) : b.handlers().store(op);
  b.emit(i, op, load ? ValidityTransfer::kLoad : ValidityTransfer::kStore, std::move(uses));
}

}  // namespace lockstep::compile
