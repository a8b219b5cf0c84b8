// Asynchronous copies and mbarrier objects.
#include "simulator/decode/function_decoder.h"
#include "simulator/engine/async_copy.h"
#include "simulator/engine/mbarrier.h"
#include "simulator/engine/memory_ops.h"

namespace lockstep::decode {

using engine::CopyMode;
using engine::Flow;
using engine::MbarrierOp;
using engine::Op;
using engine::OpKind;
using engine::OperandUse;
using ptx::Opcode;
using ptx::Semantics;
using ptx::Space;
using Role = OperandUse::Role;

namespace {

Space space_or_generic(Space s) { return s == Space::kNone ? Space::kGeneric : s; }

bool has_policy(const ptx::Instruction& i) { return i.text.find(".L2::cache_hint") != std::string::npos; }

}  // namespace

bool FunctionDecoder::decode_async(const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  switch (i.opcode) {
    case Opcode::k_cp_async: decode_copy(i); return true;
    case Opcode::k_cp_async_bulk: decode_bulk_copy(i); return true;
    case Opcode::k_mbarrier_init: case Opcode::k_mbarrier_inval: case Opcode::k_mbarrier_expect_tx: case Opcode::k_mbarrier_complete_tx:
    case Opcode::k_mbarrier_arrive: case Opcode::k_mbarrier_arrive_drop: case Opcode::k_mbarrier_test_wait: case Opcode::k_mbarrier_try_wait:
      decode_mbarrier(i);
      return true;
    case Opcode::k_mbarrier_pending_count:
      op.run = &engine::run_pending_count;
      op.dst = destination(i, i.operands[0], 4);
      op.src[0] = source(i, i.operands[1], 8);
      emit(i, op, Flow::kCompute, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
      return true;
    case Opcode::k_cp_async_commit_group: op.run = &engine::run_copy_commit; break;
    case Opcode::k_cp_async_wait_all:
      op.run = &engine::run_copy_wait;
      op.immediate = -1;
      break;
    case Opcode::k_cp_async_wait_group: case Opcode::k_cp_async_bulk_wait_group:
      op.run = i.opcode == Opcode::k_cp_async_wait_group ? &engine::run_copy_wait : &engine::run_bulk_wait;
      op.immediate = static_cast<std::int64_t>(i.operands[0].bits);
      if (op.immediate < 0) refuse(i, "leaves a negative number of groups");
      break;
    case Opcode::k_cp_async_bulk_commit_group: op.run = &engine::run_bulk_commit; break;
    case Opcode::k_cp_async_mbarrier_arrive:
      op.run = &engine::run_copy_arrive;
      op.flags = engine::kStrong;
      op.mode = i.modifiers.no_increment ? 1 : 0;
      address(i, i.operands[0], space_or_generic(i.modifiers.space), op);
      emit(i, op, Flow::kControl, {{op.src[0], Role::kAddress}});
      return true;
    case Opcode::k_discard:
      op.run = &engine::run_discard;
      address(i, i.operands[0], space_or_generic(i.modifiers.space), op);
      emit(i, op, Flow::kControl, {{op.src[0], Role::kAddress}});
      return true;
    default: return false;
  }
  emit(i, op, Flow::kControl, {});
  return true;
}

void FunctionDecoder::decode_mbarrier(const Instruction& i) {
  const ptx::Modifiers& m = i.modifiers;
  Op op;
  op.kind = OpKind::kMemory;
  op.run = &engine::run_mbarrier;
  op.width = 8;
  op.register_bytes = 4;
  op.elements = 2;  // nothing that a race could compare
  MbarrierOp what = MbarrierOp::kArrive;
  bool has_result = false, releases = false, acquires = false;
  switch (i.opcode) {
    case Opcode::k_mbarrier_init: what = MbarrierOp::kInit; break;
    case Opcode::k_mbarrier_inval: what = MbarrierOp::kInvalidate; break;
    case Opcode::k_mbarrier_expect_tx: what = MbarrierOp::kExpectTx; break;
    case Opcode::k_mbarrier_complete_tx: what = MbarrierOp::kCompleteTx; break;
    case Opcode::k_mbarrier_arrive: case Opcode::k_mbarrier_arrive_drop:
      has_result = releases = true;
      if (m.expect_tx) op.target |= engine::kWithTx;
      if (i.opcode == Opcode::k_mbarrier_arrive_drop) op.target |= engine::kDropped;
      if (m.no_complete) op.target |= engine::kIncomplete;
      break;
    default:
      what = i.opcode == Opcode::k_mbarrier_test_wait ? MbarrierOp::kTestWait : MbarrierOp::kTryWait;
      has_result = acquires = true;
      if (m.parity) op.target |= engine::kByParity;
      op.register_bytes = m.parity ? 4 : 8;
  }
  op.mode = static_cast<std::uint8_t>(what);
  // A wait may give up the warp's turn.
  if (what == MbarrierOp::kTryWait) op.kind = OpKind::kControl;
  if (what != MbarrierOp::kInit && what != MbarrierOp::kInvalidate) op.flags |= engine::kStrong;
  const bool relaxed = m.semantics == Semantics::kRelaxed;
  if (releases && !relaxed) op.flags |= engine::kRelease;
  if (acquires && !relaxed) op.flags |= engine::kAcquire;
  std::size_t n = has_result ? 1 : 0;
  address(i, i.operands[n++], space_or_generic(m.space), op);
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  if (n < i.operands.size()) {
    op.src[1] = source(i, i.operands[n], op.register_bytes);
    uses.push_back({op.src[1], Role::kValue});
  }
  if (has_result) {
    op.dst = optional_destination(i.operands[0]);
    uses.push_back({op.dst, Role::kWrite});
  }
  emit(i, op, Flow::kControl, std::move(uses));
}

engine::AddressOperand FunctionDecoder::further_address(const Instruction& i, const Operand& o, Space space) {
  Op op;
  address(i, o, space, op);
  if (op.flags & engine::kFrameAddress) refuse(i, "copies from or to local memory");
  return {op.src[0], op.immediate, (op.flags & engine::kNarrowAddress) != 0};
}

void FunctionDecoder::decode_copy(const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  op.run = &engine::run_copy_async;
  const std::uint64_t bytes = i.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) refuse(i, "copies a number of bytes other than 4, 8 or 16");
  if (i.modifiers.cache == ptx::CacheOp::kCg && bytes != 16) refuse(i, "copies a number of bytes other than 16");
  op.width = static_cast<std::uint8_t>(bytes);
  op.elements = 2;
  address(i, i.operands[0], Space::kShared, op);
  const engine::AddressOperand from = further_address(i, i.operands[1], Space::kGlobal);
  if (from.narrow) refuse(i, "has a global address of 32 bits");
  if (from.offset != static_cast<std::int32_t>(from.offset)) refuse(i, "has an offset beyond 32 bits");
  op.src[1] = from.slot;
  op.target = static_cast<std::uint32_t>(from.offset);
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}, {op.src[1], Role::kAddress}};
  if (i.operands.size() > (has_policy(i) ? 4u : 3u)) {
    const bool ignore = i.modifiers.variant == 1;
    op.mode = static_cast<std::uint8_t>(ignore ? CopyMode::kIgnoreSource : CopyMode::kSourceSize);
    op.src[2] = source(i, i.operands[3], ignore ? 0 : 4);
    uses.push_back({op.src[2], Role::kValue});
  }
  emit(i, op, Flow::kControl, std::move(uses));
}

void FunctionDecoder::decode_bulk_copy(const Instruction& i) {
  const ptx::Modifiers& m = i.modifiers;
  engine::BulkCopy copy;
  copy.to_space = m.space;
  copy.from_space = m.source_space;
  copy.to = further_address(i, i.operands[0], m.space);
  copy.from = further_address(i, i.operands[1], m.source_space);
  copy.size = source(i, i.operands[2], 4);
  std::vector<OperandUse> uses{{copy.to.slot, Role::kAddress}, {copy.from.slot, Role::kAddress}, {copy.size, Role::kValue}};
  const bool to_shared = m.space != Space::kGlobal;
  if (to_shared) {
    copy.mbarrier = further_address(i, i.operands[3], m.space);
    uses.push_back({copy.mbarrier.slot, Role::kAddress});
    if (m.variant == 1) copy.mask = source(i, i.operands[4], 2);
  } else if (m.variant == 2) {
    copy.mask = source(i, i.operands.back(), 2);
  }
  uses.push_back({copy.mask, Role::kValue});
  Op op;
  op.kind = OpKind::kMemory;
  op.run = &engine::run_bulk_copy;
  op.target = static_cast<std::uint32_t>(program_.bulk_copies.size());
  program_.bulk_copies.push_back(copy);
  emit(i, op, Flow::kControl, std::move(uses));
}

}  // namespace lockstep::decode
