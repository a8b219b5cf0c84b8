#include "simulator/compile/lower_tensor_copy.h"

#include "simulator/compile/memory_order.h"
#include "simulator/program/copies.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Space;
using program::MapField;
using program::TensorCopy;

namespace {

constexpr std::uint64_t kMapBytes = 128;

void lower_tensor_of(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  TensorCopy copy;
  copy.what = i.opcode == Opcode::k_cp_async_bulk_prefetch_tensor ? TensorCopy::What::kPrefetch
              : i.opcode == Opcode::k_cp_reduce_async_bulk_tensor ? TensorCopy::What::kReduce
              : m.space == Space::kGlobal                         ? TensorCopy::What::kStore
                                                                  : TensorCopy::What::kLoad;
  copy.mode = m.load_mode;
  copy.cta_group = m.cta_group;
  copy.dimensions = m.dimensions;
  copy.reduction = m.atom;
  copy.to_space = m.space;
  std::vector<OperandUse> uses;
  const auto address = [&](const Operand& o, Space space) {
    const program::AddressOperand a = b.further_address(i, o, space);
    uses.push_back({a.slot, Role::kAddress});
    return a;
  };
  const bool loads = copy.what == TensorCopy::What::kLoad;
  std::size_t next = 0;
  if (loads) copy.shared = address(i.operands[next++], m.space);
  const Operand& tensor = i.operands[next++];
  Operand map = tensor;
  map.elements.clear();
  copy.map = address(map, Space::kGeneric);
  const auto slots = [&](const Operand& vector, Slot* to, int bytes) {
    for (const Operand& e : vector.elements) {
      *to = b.source(i, e, bytes);
      uses.push_back({*to++, Role::kAddress});
    }
  };
  slots(tensor.elements[0], copy.at, 4);
  if (loads) {
    copy.mbarrier = address(i.operands[next++], m.space);
  } else if (copy.what != TensorCopy::What::kPrefetch) {
    copy.shared = address(i.operands[next++], Space::kShared);
  }
  if (m.load_mode == isa::LoadMode::kIm2col || m.load_mode == isa::LoadMode::kIm2colW ||
      m.load_mode == isa::LoadMode::kIm2colW128)
    slots(i.operands[next++], copy.offsets, 2);
  if (loads && m.variant == 1) {
    copy.mask = b.source(i, i.operands[next++], 2);
    uses.push_back({copy.mask, Role::kValue});
  }
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kTensorCopy);
  op.as<program::SideDataFields>().set_index(b.program().tensor_copies.size());
  b.program().tensor_copies.push_back(copy);
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

void lower_map_replace(FunctionBuilder& b, const Instruction& i) {
  const auto field = static_cast<MapField>(i.modifiers.variant);
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kTensorMapReplace);
  op.as<program::MapReplaceFields>().set_field(field);
  b.address(i, i.operands[0], space_of(i.modifiers), op);
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  std::uint64_t most = 0;
  switch (field) {
    case MapField::kBox:
    case MapField::kSize:
    case MapField::kElementStride:
    case MapField::kStride: most = 4; break;
    case MapField::kType: most = 15; break;
    case MapField::kInterleave: most = 2; break;
    case MapField::kSwizzle: most = 4; break;
    case MapField::kFill: most = 1; break;
    case MapField::kAtom: most = 3; break;
    case MapField::kAddress:
    case MapField::kRank: break;
  }
  std::size_t next = 1;
  if (most != 0) {
    if (i.operands[next].bits > most) b.refuse(i, "has a constant beyond " + std::to_string(most));
    op.as<program::MapReplaceFields>().set_ordinal(
        static_cast<std::uint32_t>(i.operands[next++].bits));
  }
  if (next < i.operands.size()) {
    op.width = static_cast<std::uint8_t>(isa::size_of(i.modifiers.type));
    op.src[1] = b.source(i, i.operands[next], op.width);
    uses.push_back({op.src[1], Role::kValue});
  }
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

void lower_map_copy(FunctionBuilder& b, const Instruction& i) {
  if (i.operands[2].bits != kMapBytes) b.refuse(i, "copies a number of bytes other than 128");
  program::BulkCopy copy;
  copy.to_space = Space::kGlobal;
  copy.from_space = Space::kShared;
  copy.to = b.further_address(i, i.operands[0], copy.to_space);
  copy.from = b.further_address(i, i.operands[1], copy.from_space);
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kTensorMapCopy);
  op.scope = scope_of(i.modifiers);
  op.as<program::SideDataFields>().set_index(b.program().bulk_copies.size());
  b.program().bulk_copies.push_back(copy);
  b.emit(i, op, ValidityTransfer::kControl,
         {{copy.to.slot, Role::kAddress}, {copy.from.slot, Role::kAddress}});
}

}  // namespace

void lower_tensor_copy(FunctionBuilder& b, const Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_tensormap_replace: return lower_map_replace(b, i);
    case Opcode::k_tensormap_cp_fenceproxy: return lower_map_copy(b, i);
    default: return lower_tensor_of(b, i);
  }
}

}  // namespace lockstep::compile
