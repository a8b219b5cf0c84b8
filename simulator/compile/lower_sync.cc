#include "simulator/compile/lower_sync.h"

#include "simulator/compile/memory_order.h"
#include "simulator/program/memory_access.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::compile {

using isa::AtomOp;
using isa::Opcode;
using isa::Type;
using program::SyncKind;

namespace {

// Builds an operation that lanes execute together.
struct Exchange {
  FunctionBuilder& b;
  const Instruction& i;
  Op op;
  std::vector<OperandUse> uses;

  void kind(SyncKind k) {
    b.set_action(op, Action::kSync);
    op.as<program::SyncFields>().set_kind(k);
  }

  // Sets the destinations: d, d|p or p.
  void results(const Operand& d) {
    const Operand& first = d.kind == Operand::Kind::kPair ? d.elements[0] : d;
    op.dst = b.optional_destination(first);
    if (d.kind == Operand::Kind::kPair) op.dst2 = b.optional_destination(d.elements[1]);
    uses.push_back({op.dst, Role::kWrite});
    uses.push_back({op.dst2, Role::kWrite});
  }
  // Like results(), but uses a scratch slot of `bytes` bytes (0: a predicate) for d if it is a
  // sink.
  void placed_results(const Operand& d, int bytes) {
    results(d);
    if (op.dst == kNoSlot) op.dst = b.scratch(bytes);
  }

  void input(int n, const Operand& o, int bytes, Role role = Role::kValue) {
    op.src[n] = bytes == 0 ? predicate(o) : b.source(i, o, bytes);
    uses.push_back({op.src[n], role});
  }
  void members(const Operand& o) { input(3, o, 4, Role::kAddress); }

  void emit(ValidityTransfer transfer) { b.emit(i, op, transfer, std::move(uses)); }

 private:
  // A negation becomes its own operation, so that the value of a waiting lane can be read later.
  Slot predicate(const Operand& o) {
    Slot s = kNoSlot;
    if (!b.predicate_source(i, o, s)) return s;
    program::AluKey key;
    key.opcode = Opcode::k_not;
    key.modifiers.type = Type::kPred;
    key.operand_count = 2;
    Op negate;
    negate.run = b.handlers().compute(key);
    if (negate.run == nullptr) b.refuse(i, "is not implemented by the simulated GPU");
    negate.src[0] = s;
    negate.dst = b.scratch(0);
    b.emit(i, negate, ValidityTransfer::kCompute,
           {{negate.src[0], Role::kValue}, {negate.dst, Role::kWrite}});
    return negate.dst;
  }
};

SyncKind shuffle(isa::ShflMode mode) {
  switch (mode) {
    case isa::ShflMode::kUp: return SyncKind::kShflUp;
    case isa::ShflMode::kDown: return SyncKind::kShflDown;
    case isa::ShflMode::kBfly: return SyncKind::kShflBfly;
    default: return SyncKind::kShflIdx;
  }
}

SyncKind vote(isa::VoteMode mode) {
  switch (mode) {
    case isa::VoteMode::kAll: return SyncKind::kVoteAll;
    case isa::VoteMode::kAny: return SyncKind::kVoteAny;
    case isa::VoteMode::kUni: return SyncKind::kVoteUni;
    default: return SyncKind::kVoteBallot;
  }
}

// The operation of redux and of a barrier's .red. The modifiers of and, or and xor are those of
// atomics or those of predicates.
AtomOp reduction_of(const isa::Modifiers& m) {
  if (m.atom != AtomOp::kNone) return m.atom;
  return m.bool_op == isa::BoolOp::kAnd  ? AtomOp::kAnd
         : m.bool_op == isa::BoolOp::kOr ? AtomOp::kOr
                                         : AtomOp::kXor;
}

SyncKind reduction(const FunctionBuilder& b, const Instruction& i) {
  const bool is_signed = i.modifiers.type == Type::kS32, is_float = i.modifiers.type == Type::kF32;
  switch (reduction_of(i.modifiers)) {
    case AtomOp::kAdd: return SyncKind::kReduxAdd;
    case AtomOp::kMin:
      return is_float    ? SyncKind::kReduxMinF
             : is_signed ? SyncKind::kReduxMinS
                         : SyncKind::kReduxMinU;
    case AtomOp::kMax:
      return is_float    ? SyncKind::kReduxMaxF
             : is_signed ? SyncKind::kReduxMaxS
                         : SyncKind::kReduxMaxU;
    case AtomOp::kAnd: return SyncKind::kReduxAnd;
    case AtomOp::kOr: return SyncKind::kReduxOr;
    case AtomOp::kXor: return SyncKind::kReduxXor;
    default: b.refuse(i, "is not implemented by the simulated GPU");
  }
}

}  // namespace

void lower_collective(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const auto& operands = i.operands;
  Exchange x{b, i, {}, {}};
  x.op.kind = OpKind::kControl;
  switch (i.opcode) {
    case Opcode::k_shfl_sync:
      x.kind(shuffle(m.shfl));
      x.placed_results(operands[0], 4);
      x.input(0, operands[1], 4);
      x.input(1, operands[2], 4, Role::kAddress);
      x.input(2, operands[3], 4, Role::kAddress);
      x.members(operands[4]);
      return x.emit(ValidityTransfer::kExchange);
    case Opcode::k_vote_sync:
      x.kind(vote(m.vote));
      x.placed_results(operands[0], m.vote == isa::VoteMode::kBallot ? 4 : 0);
      x.input(0, operands[1], 0);
      x.members(operands[2]);
      return x.emit(ValidityTransfer::kControl);
    case Opcode::k_match_sync:
      x.kind(m.vote == isa::VoteMode::kAll ? SyncKind::kMatchAll : SyncKind::kMatchAny);
      x.op.width = static_cast<std::uint8_t>(isa::size_of(m.type));
      x.results(operands[0]);
      x.input(0, operands[1], x.op.width);
      x.members(operands[2]);
      return x.emit(ValidityTransfer::kControl);
    case Opcode::k_redux_sync:
      if (m.abs) x.op.immediate |= program::kReduxAbs;
      if (m.nan) x.op.immediate |= program::kReduxNaN;
      x.kind(reduction(b, i));
      x.placed_results(operands[0], 4);
      x.input(0, operands[1], 4);
      x.members(operands[2]);
      return x.emit(ValidityTransfer::kControl);
    case Opcode::k_elect_sync:
      x.kind(SyncKind::kElect);
      x.results(operands[0]);
      x.members(operands[1]);
      return x.emit(ValidityTransfer::kCompute);
    case Opcode::k_bar_warp_sync:
      x.kind(SyncKind::kWarpBarrier);
      x.members(operands[0]);
      return x.emit(ValidityTransfer::kControl);
    case Opcode::k_activemask:
      b.set_action(x.op, Action::kActiveMask);
      x.op.kind = OpKind::kControl;  // lanes may diverge there
      x.op.dst = b.destination(i, operands[0], 4);
      x.uses.push_back({x.op.dst, Role::kWrite});
      return x.emit(ValidityTransfer::kFresh);
    default: b.refuse(i, "is not implemented by the simulated GPU");
  }
}

void lower_barrier(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const auto& operands = i.operands;
  Exchange x{b, i, {}, {}};
  x.op.kind = OpKind::kControl;
  b.set_action(x.op, Action::kBarrier);
  std::size_t n = 0, last = operands.size();
  if (m.bar == isa::BarMode::kRed) {
    const AtomOp what = reduction_of(m);
    x.op.as<program::BarrierFields>().set_kind(what == AtomOp::kAnd  ? program::kBarRedAnd
                                               : what == AtomOp::kOr ? program::kBarRedOr
                                                                     : program::kBarRedPopc);
    x.op.dst = b.destination(i, operands[n++], m.type == Type::kPred ? 0 : 4);
    x.uses.push_back({x.op.dst, Role::kWrite});
    x.input(2, operands[--last], 0);
  } else {
    x.op.as<program::BarrierFields>().set_kind(m.bar == isa::BarMode::kArrive ? program::kBarArrive
                                                                              : program::kBarSync);
  }
  if (m.aligned) x.op.as<program::BarrierFields>().set_aligned();
  x.input(0, operands[n++], 4);
  if (n < last) x.input(1, operands[n++], 4);
  x.emit(ValidityTransfer::kControl);
}

// The effect of a fence on other threads: kAcquire, kRelease, both, or neither. A proxy fence
// without semantics orders only its own thread's accesses (PTX ISA 9.7.13.4).
std::uint8_t sides_of_fence(const Instruction& i) {
  switch (i.modifiers.semantics) {
    case isa::Semantics::kAcquire: return program::kAcquire;
    case isa::Semantics::kRelease: return program::kRelease;
    default: return i.opcode == Opcode::k_fence_proxy ? 0 : program::kAcquire | program::kRelease;
  }
}

// The simulated GPU has a single memory for all proxies.
void lower_fence(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kFence);
  op.scope = scope_of(i.modifiers);
  op.as<program::MemoryFields>().add(sides_of_fence(i));
  if (i.opcode == Opcode::k_griddepcontrol)
    b.set_action(op, i.modifiers.variant == 1 ? Action::kStartDependents : Action::kWaitForGrids);
  std::vector<OperandUse> uses;
  // A fence between proxies: for asynchronous copies of shared memory, or for one tensor map.
  const bool asynchronous =
      i.modifiers.variant == 2 || i.modifiers.variant == 4 || i.modifiers.variant == 5;
  if (i.opcode == Opcode::k_fence_proxy && asynchronous && i.modifiers.space != isa::Space::kGlobal)
    b.set_action(op, Action::kProxyFence);
  if (i.opcode == Opcode::k_fence_proxy && !i.operands.empty()) {
    b.set_action(op, Action::kTensorMapFence);
    b.address(i, i.operands[0], isa::Space::kGeneric, op);
    if (i.operands[1].bits != 128) b.refuse(i, "is for a number of bytes other than 128");
    uses.push_back({op.src[0], Role::kAddress});
  }
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

void lower_cluster_barrier(FunctionBuilder& b, const Instruction& i) {
  b.program().cluster_barriers = true;
  Op op;
  op.kind = OpKind::kControl;
  b.set_action(op, i.opcode == Opcode::k_barrier_cluster_arrive ? Action::kClusterArrive
                                                                : Action::kClusterWait);
  if (i.modifiers.semantics != isa::Semantics::kRelaxed)
    op.as<program::MemoryFields>().add(program::kRelease);
  b.emit(i, op, ValidityTransfer::kControl, {});
}

}  // namespace lockstep::compile
