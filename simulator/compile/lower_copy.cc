#include "simulator/compile/lower_copy.h"

#include "simulator/compile/lower_atomic.h"
#include "simulator/compile/lower_load_store.h"
#include "simulator/compile/memory_order.h"
#include "simulator/program/copies.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Space;
using program::CopyMode;

namespace {

bool has_policy(const Instruction& i) {
  return i.text.find(".L2::cache_hint") != std::string::npos;
}

void lower_copy(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kCopyAsync);
  const std::uint64_t bytes = i.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    b.refuse(i, "copies a number of bytes other than 4, 8 or 16");
  if (i.modifiers.cache == isa::CacheOp::kCg && bytes != 16)
    b.refuse(i, "copies a number of bytes other than 16");
  op.width = static_cast<std::uint8_t>(bytes);
  op.elements = 2;
  b.address(i, i.operands[0], Space::kShared, op);
  const program::AddressOperand from = b.further_address(i, i.operands[1], Space::kGlobal);
  if (from.narrow) b.refuse(i, "has a global address of 32 bits");
  if (from.offset != static_cast<std::int32_t>(from.offset))
    b.refuse(i, "has an offset beyond 32 bits");
  op.src[1] = from.slot;
  op.as<program::CopyAsyncFields>().set_source_offset(static_cast<std::int32_t>(from.offset));
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}, {op.src[1], Role::kAddress}};
  if (i.operands.size() > (has_policy(i) ? 4u : 3u)) {
    const bool ignore = i.modifiers.variant == 1;
    op.as<program::CopyAsyncFields>().set_mode(ignore ? CopyMode::kIgnoreSource
                                                      : CopyMode::kSourceSize);
    op.src[2] = b.source(i, i.operands[3], ignore ? 0 : 4);
    uses.push_back({op.src[2], Role::kValue});
  }
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

void lower_bulk_copy(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  program::BulkCopy copy;
  copy.to_space = m.space;
  copy.from_space = m.source_space;
  copy.to = b.further_address(i, i.operands[0], m.space);
  copy.from = b.further_address(i, i.operands[1], m.source_space);
  copy.size = b.source(i, i.operands[2], 4);
  if (i.opcode == Opcode::k_cp_reduce_async_bulk) {
    copy.reduction = m.atom;
    copy.type = m.type;
  }
  std::vector<OperandUse> uses{
      {copy.to.slot, Role::kAddress}, {copy.from.slot, Role::kAddress}, {copy.size, Role::kValue}};
  const bool to_shared = m.space != Space::kGlobal;
  if (to_shared) {
    copy.mbarrier = b.further_address(i, i.operands[3], m.space);
    uses.push_back({copy.mbarrier.slot, Role::kAddress});
    if (m.variant == 1) copy.mask = b.source(i, i.operands[4], 2);
  } else if (m.variant == 2) {
    copy.mask = b.source(i, i.operands.back(), 2);
  }
  uses.push_back({copy.mask, Role::kValue});
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kBulkCopy);
  op.as<program::SideDataFields>().set_index(b.program().bulk_copies.size());
  b.program().bulk_copies.push_back(copy);
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

void lower_async_store(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  program::AsyncStore s;
  s.space = space_of(m);
  s.to = b.further_address(i, i.operands[0], s.space);
  s.mbarrier = b.further_address(i, i.operands[2], s.space);
  s.width = static_cast<std::uint8_t>(isa::size_of(m.type));
  s.elements = m.vector;
  if (i.opcode == Opcode::k_red_async) {
    s.reduction = m.atom;
    s.type = m.type;
  }
  std::vector<OperandUse> uses{{s.to.slot, Role::kAddress}, {s.mbarrier.slot, Role::kAddress}};
  const Operand& data = i.operands[1];
  for (std::uint32_t e = 0; e < s.elements; ++e) {
    s.data[e] = b.source(i, data.kind == Operand::Kind::kVector ? data.elements[e] : data, s.width);
    uses.push_back({s.data[e], Role::kValue});
  }
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kAsyncStore);
  op.as<program::SideDataFields>().set_index(b.program().async_stores.size());
  b.program().async_stores.push_back(s);
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

// st.async and red.async to global memory without an mbarrier. They complete at once, which PTX
// allows (9.7.9.12, 9.7.13.9).
void lower_release(FunctionBuilder& b, const Instruction& i) {
  Instruction plain = i;
  plain.modifiers.semantics = isa::Semantics::kRelease;
  if (i.opcode == Opcode::k_st_async) {
    plain.opcode = Opcode::k_st;
    lower_load_store(b, plain);
  } else {
    plain.opcode = Opcode::k_red;
    lower_atomic(b, plain);
  }
}

void lower_bulk_store(FunctionBuilder& b, const Instruction& i) {
  program::AsyncStore s;
  s.space = space_of(i.modifiers);
  s.to = b.further_address(i, i.operands[0], s.space);
  s.width = 8;
  s.data[0] = b.source(i, i.operands[1], 8);
  if (i.operands[2].bits != 0) b.refuse(i, "has an initial value other than 0");
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kBulkStore);
  op.as<program::SideDataFields>().set_index(b.program().async_stores.size());
  b.program().async_stores.push_back(s);
  b.emit(i, op, ValidityTransfer::kControl,
         {{s.to.slot, Role::kAddress}, {s.data[0], Role::kAddress}});
}

void lower_try_cancel(FunctionBuilder& b, const Instruction& i) {
  program::AsyncStore s;
  s.space = space_of(i.modifiers);
  s.to = b.further_address(i, i.operands[0], s.space);
  s.mbarrier = b.further_address(i, i.operands[1], s.space);
  s.to_all = i.modifiers.variant == 1;
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kTryCancel);
  op.as<program::SideDataFields>().set_index(b.program().async_stores.size());
  b.program().async_stores.push_back(s);
  b.emit(i, op, ValidityTransfer::kControl,
         {{s.to.slot, Role::kAddress}, {s.mbarrier.slot, Role::kAddress}});
}

}  // namespace

void lower_async_copy(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  switch (i.opcode) {
    case Opcode::k_cp_async: lower_copy(b, i); return;
    case Opcode::k_cp_async_bulk:
    case Opcode::k_cp_reduce_async_bulk: lower_bulk_copy(b, i); return;
    case Opcode::k_red_async:
    case Opcode::k_st_async:
      if (i.operands.size() == 2) return lower_release(b, i);
      return lower_async_store(b, i);
    case Opcode::k_clusterlaunchcontrol_try_cancel: lower_try_cancel(b, i); return;
    case Opcode::k_st_bulk: lower_bulk_store(b, i); return;
    case Opcode::k_cp_async_commit_group: b.set_action(op, Action::kCopyCommit); break;
    case Opcode::k_cp_async_wait_all:
      b.set_action(op, Action::kCopyWait);
      op.immediate = -1;
      break;
    case Opcode::k_cp_async_wait_group:
    case Opcode::k_cp_async_bulk_wait_group:
      b.set_action(
          op, i.opcode == Opcode::k_cp_async_wait_group ? Action::kCopyWait : Action::kBulkWait);
      op.immediate = static_cast<std::int64_t>(i.operands[0].bits);
      if (op.immediate < 0) b.refuse(i, "leaves a negative number of groups");
      break;
    case Opcode::k_cp_async_bulk_commit_group: b.set_action(op, Action::kBulkCommit); break;
    case Opcode::k_cp_async_mbarrier_arrive:
      b.set_action(op, Action::kCopyArrive);
      op.as<program::MemoryFields>().set(program::kStrong);
      op.as<program::CopyArriveFields>().set_no_increment(i.modifiers.no_increment);
      b.address(i, i.operands[0], space_of(i.modifiers), op);
      b.emit(i, op, ValidityTransfer::kControl, {{op.src[0], Role::kAddress}});
      return;
    case Opcode::k_discard:
      b.set_action(op, Action::kDiscard);
      b.address(i, i.operands[0], space_of(i.modifiers), op);
      b.emit(i, op, ValidityTransfer::kControl, {{op.src[0], Role::kAddress}});
      return;
    default: b.refuse(i, "is not implemented by the simulated GPU");
  }
  b.emit(i, op, ValidityTransfer::kControl, {});
  return;
}

void lower_multimem(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  program::Multimem access;
  access.what = i.opcode == Opcode::k_multimem_ld_reduce ? program::Multimem::What::kLoadReduce
                : i.opcode == Opcode::k_multimem_st      ? program::Multimem::What::kStore
                                                         : program::Multimem::What::kReduce;
  const bool loads = access.what == program::Multimem::What::kLoadReduce;
  access.space = space_of(m);
  access.address = b.further_address(i, i.operands[loads ? 1 : 0], access.space);
  access.reduction = m.atom;
  access.type = m.type;
  access.wide_sum = m.variant == 1;
  access.elements = m.vector;
  access.order = ordering(m);
  if (access.what == program::Multimem::What::kReduce) access.order |= program::kStrong;
  std::vector<OperandUse> uses{{access.address.slot, Role::kAddress}};
  const Operand& data = i.operands[loads ? 0 : 1];
  for (std::uint32_t e = 0; e < access.elements; ++e) {
    const Operand& o = data.kind == Operand::Kind::kVector ? data.elements[e] : data;
    access.data[e] = loads ? b.optional_destination(o) : b.source(i, o, isa::size_of(access.type));
    uses.push_back({access.data[e], loads ? Role::kWrite : Role::kValue});
  }
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kMultimem);
  op.scope = scope_of(m);
  op.as<program::SideDataFields>().set_index(b.program().multimem.size());
  b.program().multimem.push_back(access);
  b.emit(i, op, loads ? ValidityTransfer::kFresh : ValidityTransfer::kControl, std::move(uses));
}

}  // namespace lockstep::compile
