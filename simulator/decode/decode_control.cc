// Branches, calls, barriers, and what lanes of a warp do together.
#include <bit>

#include "simulator/decode/function_decoder.h"
#include "simulator/engine/cluster.h"
#include "simulator/engine/memory_ops.h"
#include "simulator/engine/control.h"
#include "simulator/engine/barrier.h"
#include "simulator/engine/sync.h"

namespace lockstep::decode {

using engine::Flow;
using engine::kNoSlot;
using engine::Op;
using engine::OpKind;
using engine::OperandUse;
using engine::Slot;
using engine::SyncKind;
using ptx::AtomOp;
using ptx::Opcode;
using ptx::Type;
using Role = OperandUse::Role;

bool FunctionDecoder::decode_control(const Instruction& i) {
  Op op;
  op.kind = OpKind::kControl;
  switch (i.opcode) {
    case Opcode::k_bra:
      op.kind = OpKind::kBranch;
      fixups_.push_back({static_cast<std::uint32_t>(program_.ops.size()), ~0u, 0, i.operands[0].index});
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_brx_idx: {
      op.run = &engine::run_branch_table;
      op.src[0] = source(i, i.operands[0], 4);
      op.target = static_cast<std::uint32_t>(program_.tables.size());
      const auto& labels = i.operands[1].elements;
      program_.tables.emplace_back(labels.size());
      for (std::uint32_t n = 0; n < labels.size(); ++n) fixups_.push_back({0, op.target, n, labels[n].index});
      emit(i, op, Flow::kControl, {{op.src[0], Role::kValue}});
      return true;
    }
    case Opcode::k_call: decode_call(i); return true;
    case Opcode::k_ret:
      op.run = &engine::run_return;
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_exit:
      op.run = &engine::run_exit;
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_trap: case Opcode::k_brkpt:
      op.run = &engine::run_trap;
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_nanosleep:
      op.run = &engine::run_nanosleep;
      op.src[0] = source(i, i.operands[0], 4);
      emit(i, op, Flow::kControl, {{op.src[0], Role::kValue}});
      return true;
    case Opcode::k_pmevent: case Opcode::k_setmaxnreg: case Opcode::k_griddepcontrol:
      // Counters, register budgets and early starts change no result: launches run one after another.
      op.run = &engine::run_nothing;
      op.kind = OpKind::kCompute;
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_membar: case Opcode::k_fence: case Opcode::k_fence_mbarrier_init: case Opcode::k_fence_proxy:
      // All memory is one to the simulated GPU, whichever proxy it is reached through.
      op.run = &engine::run_fence;
      op.reach = reach(i.modifiers);
      op.kind = OpKind::kMemory;
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_barrier_cluster_arrive: case Opcode::k_barrier_cluster_wait:
      program_.cluster_barriers = true;
      op.run = i.opcode == Opcode::k_barrier_cluster_arrive ? &engine::run_cluster_arrive : &engine::run_cluster_wait;
      if (i.modifiers.semantics != ptx::Semantics::kRelaxed) op.flags |= engine::kRelease;
      emit(i, op, Flow::kControl, {});
      return true;
    case Opcode::k_alloca: {
      out_.uses_alloca = true;
      op.run = &engine::run_alloca;
      op.width = static_cast<std::uint8_t>(register_bytes(i.operands[0]));
      op.register_bytes = static_cast<std::uint8_t>(i.operands[1].kind == Operand::Kind::kRegister ? register_bytes(i.operands[1]) : 8);
      op.dst = register_slot(i.operands[0]);
      op.src[0] = source(i, i.operands[1], op.register_bytes);
      op.immediate = i.operands.size() > 2 && i.operands[2].kind == Operand::Kind::kImmediate ? static_cast<std::int64_t>(i.operands[2].bits) : 8;
      if (op.immediate <= 0 || op.immediate > kLocalBytes || !std::has_single_bit(static_cast<std::uint64_t>(op.immediate))) {
        refuse(i, "has an alignment that is no power of two up to " + std::to_string(kLocalBytes));
      }
      emit(i, op, Flow::kControl, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
      return true;
    }
    case Opcode::k_stacksave:
      op.run = &engine::run_stack_save;
      op.width = static_cast<std::uint8_t>(register_bytes(i.operands[0]));
      op.dst = register_slot(i.operands[0]);
      emit(i, op, Flow::kFresh, {{op.dst, Role::kWrite}});
      return true;
    case Opcode::k_stackrestore:
      op.run = &engine::run_stack_restore;
      op.register_bytes = static_cast<std::uint8_t>(i.operands[0].kind == Operand::Kind::kRegister ? register_bytes(i.operands[0]) : 8);
      op.src[0] = source(i, i.operands[0], op.register_bytes);
      emit(i, op, Flow::kControl, {{op.src[0], Role::kValue}});
      return true;
    default: return false;
  }
}

void FunctionDecoder::decode_call(const Instruction& i) {
  const Operand& target = i.operands[1];
  engine::Call call;
  const auto storages = [&](const Operand& list, std::vector<engine::Storage>& out) {
    for (const Operand& o : list.elements) {
      if (o.kind == Operand::Kind::kSymbol || o.kind == Operand::Kind::kAddress) {
        const engine::Storage* s = storage(o.symbol);
        if (s == nullptr) refuse(i, "passes '" + o.symbol + "', which is no parameter variable of this function");
        out.push_back(*s);
      } else if (o.kind == Operand::Kind::kRegister && register_bytes(o) != 0) {
        // A register lies in the bank as a parameter of its width does.
        out.push_back({"", register_slot(o), static_cast<std::uint32_t>(register_bytes(o))});
      } else {
        refuse(i, "passes an argument of a kind that the simulated GPU does not implement");
      }
    }
  };
  storages(i.operands[0], call.results);
  storages(i.operands[2], call.arguments);
  Op op;
  op.kind = OpKind::kControl;
  op.run = &engine::run_call;
  std::vector<OperandUse> uses;
  if (target.kind == Operand::Kind::kRegister) {
    if (register_bytes(target) != 8) refuse(i, "calls through a register that is not 64 bits wide");
    call.target = register_slot(target);
    call.name = "a function pointer";
    out_.calls = true;
    uses.push_back({call.target, Role::kAddress});
  } else {
    call.name = target.symbol;
    const Symbol* s = linker_.find(ref_.module_index, &function_, target.symbol);
    if (s != nullptr && s->kind == Symbol::Kind::kFunction) {
      call.function = static_cast<std::int32_t>(s->index);
      out_.calls = true;
    } else if (target.symbol == "vprintf") {
      call.builtin = engine::Builtin::kVprintf;
    } else if (target.symbol == "malloc") {
      call.builtin = engine::Builtin::kMalloc;
    } else if (target.symbol == "free") {
      call.builtin = engine::Builtin::kFree;
    } else if (target.symbol == "__assertfail") {
      call.builtin = engine::Builtin::kAssertFail;
    } else if (target.symbol.starts_with("__cudaCDP2")) {
      refuse(i, "calls '" + target.symbol + "' of the device runtime (libcudadevrt): the simulated GPU has no kernels that launch kernels (dynamic "
                "parallelism), nor the runtime API within kernels");
    } else {
      refuse(i, "calls '" + target.symbol + "', which nothing in the program defines");
    }
    const std::size_t wanted = call.builtin == engine::Builtin::kVprintf ? 2
                               : call.builtin == engine::Builtin::kAssertFail ? 5
                               : call.builtin != engine::Builtin::kNone ? 1 : call.arguments.size();
    if (call.arguments.size() != wanted) refuse(i, "passes another number of arguments than '" + target.symbol + "' takes");
  }
  op.target = static_cast<std::uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(call));
  emit(i, op, Flow::kControl, std::move(uses));
}

bool FunctionDecoder::decode_exchange(const Instruction& i) {
  const ptx::Modifiers& m = i.modifiers;
  const auto& operands = i.operands;
  Op op;
  op.kind = OpKind::kControl;
  std::vector<OperandUse> uses;
  const auto kind = [&](SyncKind k) {
    op.run = &engine::run_sync;
    op.flags = static_cast<std::uint8_t>(k);
  };
  // d, d|p or p.
  const auto results = [&](const Operand& d) {
    const Operand& first = d.kind == Operand::Kind::kPair ? d.elements[0] : d;
    op.dst = optional_destination(first);
    if (d.kind == Operand::Kind::kPair) op.dst2 = optional_destination(d.elements[1]);
    uses.push_back({op.dst, Role::kWrite});
    uses.push_back({op.dst2, Role::kWrite});
  };
  const auto input = [&](int n, const Operand& o, int bytes, Role role = Role::kValue) {
    if (bytes == 0) {
      Slot s = kNoSlot;
      if (predicate_source(i, o, s)) {
        // The negation is its own operation, so that a lane that waits can be asked for its value later.
        engine::AluKey key;
        key.opcode = Opcode::k_not;
        key.modifiers.type = Type::kPred;
        key.operand_count = 2;
        Op negate;
        negate.run = engine::resolve_alu(key);
        if (negate.run == nullptr) refuse(i, "is not implemented by the simulated GPU");
        negate.src[0] = s;
        s = negate.dst = scratch(0);
        emit(i, negate, Flow::kCompute, {{negate.src[0], Role::kValue}, {s, Role::kWrite}});
      }
      op.src[n] = s;
    } else {
      op.src[n] = source(i, o, bytes);
    }
    uses.push_back({op.src[n], role});
  };
  Flow flow = Flow::kCompute;
  switch (i.opcode) {
    case Opcode::k_shfl_sync:
      switch (m.shfl) {
        case ptx::ShflMode::kUp: kind(SyncKind::kShflUp); break;
        case ptx::ShflMode::kDown: kind(SyncKind::kShflDown); break;
        case ptx::ShflMode::kBfly: kind(SyncKind::kShflBfly); break;
        default: kind(SyncKind::kShflIdx); break;
      }
      results(operands[0]);
      if (op.dst == kNoSlot) op.dst = scratch(4);
      input(0, operands[1], 4);
      input(1, operands[2], 4, Role::kAddress);
      input(2, operands[3], 4, Role::kAddress);
      input(3, operands[4], 4, Role::kAddress);
      flow = Flow::kExchange;
      break;
    case Opcode::k_vote_sync:
      switch (m.vote) {
        case ptx::VoteMode::kAll: kind(SyncKind::kVoteAll); break;
        case ptx::VoteMode::kAny: kind(SyncKind::kVoteAny); break;
        case ptx::VoteMode::kUni: kind(SyncKind::kVoteUni); break;
        default: kind(SyncKind::kVoteBallot); break;
      }
      results(operands[0]);
      if (op.dst == kNoSlot) op.dst = scratch(m.vote == ptx::VoteMode::kBallot ? 4 : 0);
      input(0, operands[1], 0);
      input(3, operands[2], 4, Role::kAddress);
      flow = Flow::kControl;
      break;
    case Opcode::k_match_sync:
      kind(m.vote == ptx::VoteMode::kAll ? SyncKind::kMatchAll : SyncKind::kMatchAny);
      op.width = static_cast<std::uint8_t>(ptx::size_of(m.type));
      results(operands[0]);
      input(0, operands[1], op.width);
      input(3, operands[2], 4, Role::kAddress);
      flow = Flow::kControl;
      break;
    case Opcode::k_redux_sync: {
      const bool s = m.type == Type::kS32;
      const bool f = m.type == Type::kF32;
      if (m.abs) op.immediate |= engine::kReduxAbs;
      if (m.nan) op.immediate |= engine::kReduxNaN;
      switch (m.atom != AtomOp::kNone ? m.atom : m.bool_op == ptx::BoolOp::kAnd ? AtomOp::kAnd : m.bool_op == ptx::BoolOp::kOr ? AtomOp::kOr : AtomOp::kXor) {
        case AtomOp::kAdd: kind(SyncKind::kReduxAdd); break;
        case AtomOp::kMin: kind(f ? SyncKind::kReduxMinF : s ? SyncKind::kReduxMinS : SyncKind::kReduxMinU); break;
        case AtomOp::kMax: kind(f ? SyncKind::kReduxMaxF : s ? SyncKind::kReduxMaxS : SyncKind::kReduxMaxU); break;
        case AtomOp::kAnd: kind(SyncKind::kReduxAnd); break;
        case AtomOp::kOr: kind(SyncKind::kReduxOr); break;
        case AtomOp::kXor: kind(SyncKind::kReduxXor); break;
        default: refuse(i, "is not implemented by the simulated GPU");
      }
      results(operands[0]);
      if (op.dst == kNoSlot) op.dst = scratch(4);
      input(0, operands[1], 4);
      input(3, operands[2], 4, Role::kAddress);
      flow = Flow::kControl;
      break;
    }
    case Opcode::k_elect_sync:
      kind(SyncKind::kElect);
      results(operands[0]);
      input(3, operands[1], 4, Role::kAddress);
      break;
    case Opcode::k_bar_warp_sync:
      kind(SyncKind::kWarpBarrier);
      input(3, operands[0], 4, Role::kAddress);
      flow = Flow::kControl;
      break;
    case Opcode::k_activemask:
      op.run = &engine::run_activemask;
      op.kind = OpKind::kCompute;
      op.dst = destination(i, operands[0], 4);
      uses.push_back({op.dst, Role::kWrite});
      flow = Flow::kFresh;
      break;
    case Opcode::k_bar: case Opcode::k_barrier: {
      op.run = &engine::run_bar;
      std::size_t n = 0;
      std::size_t last = operands.size();
      flow = Flow::kControl;
      if (m.bar == ptx::BarMode::kRed) {
        op.flags = m.bool_op == ptx::BoolOp::kAnd || m.atom == AtomOp::kAnd ? engine::kBarRedAnd
                   : m.bool_op == ptx::BoolOp::kOr || m.atom == AtomOp::kOr ? engine::kBarRedOr
                                                                           : engine::kBarRedPopc;
        op.dst = destination(i, operands[n++], m.type == Type::kPred ? 0 : 4);
        uses.push_back({op.dst, Role::kWrite});
        input(2, operands[--last], 0);
      } else {
        op.flags = m.bar == ptx::BarMode::kArrive ? engine::kBarArrive : engine::kBarSync;
      }
      if (m.aligned) op.flags |= engine::kBarAligned;
      input(0, operands[n++], 4);
      if (n < last) input(1, operands[n++], 4);
      break;
    }
    default: return false;
  }
  emit(i, op, flow, std::move(uses));
  return true;
}

}  // namespace lockstep::decode
