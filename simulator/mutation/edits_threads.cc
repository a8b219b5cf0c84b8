#include <array>
#include <string>
#include <utility>

#include "simulator/isa/category.h"
#include "simulator/isa/names.h"
#include "simulator/mutation/edits.h"

namespace lockstep::mutation {
namespace {

using isa::AtomOp;
using isa::Category;
using isa::Opcode;
using isa::Type;
using ptx::Operand;

void add_barrier_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  switch (isa::category_of(i.opcode)) {
    case Category::kBarrier: {
      if (i.modifiers.bar != isa::BarMode::kRed)
        add_removal(edits, Operator::kBarrierRemoved, "the barrier is left out");
      const std::size_t number = i.modifiers.bar == isa::BarMode::kRed ? 1 : 0;
      // At a barrier of all threads of a block, as in __syncthreads(), the barrier's number does
      // not matter.
      if (is_integer(i, number) && i.operands.size() > (number == 0 ? 1 : 3)) {
        const std::uint64_t other = i.operands[number].bits == 15 ? 0 : i.operands[number].bits + 1;
        add(edits, Operator::kBarrierChanged,
            "barrier " + std::to_string(i.operands[number].bits) + " became barrier " +
                std::to_string(other),
            with_integer(site, number, other));
      }
      if (is_integer(i, number + 1) && i.operands[number + 1].bits >= 64) {
        add(edits, Operator::kBarrierChanged, "the barrier is for 32 threads fewer",
            with_integer(site, number + 1, i.operands[number + 1].bits - 32));
      }
      break;
    }
    case Category::kClusterBarrier:
      // An arrival without its wait, or a wait without its arrival, would deadlock. Only the wait
      // is removed.
      if (i.opcode == Opcode::k_barrier_cluster_wait)
        add_removal(edits, Operator::kBarrierRemoved,
                    "the wait at the cluster's barrier is left out");
      break;
    case Category::kFence:
      add_removal(edits, Operator::kFenceRemoved, "the fence is left out");
      break;
    default: break;
  }
  if (i.opcode == Opcode::k_wgmma_fence)
    add_removal(edits, Operator::kFenceRemoved, "the fence is left out");
  if (i.opcode == Opcode::k_bar_warp_sync)
    add_removal(edits, Operator::kBarrierRemoved, "the warp's barrier is left out");
}

void add_wait_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  switch (i.opcode) {
    case Opcode::k_cp_async_wait_all:
    case Opcode::k_cp_async_bulk_wait_group:
    case Opcode::k_cp_async_wait_group:
      add_removal(edits, Operator::kWaitRemoved, "the wait for copies is left out");
      if (is_integer(i, 0))
        add(edits, Operator::kWaitRemoved, "the wait lets one more group of copies be under way",
            with_integer(site, 0, i.operands[0].bits + 1));
      if (i.opcode == Opcode::k_cp_async_bulk_wait_group && !i.modifiers.read)
        add(edits, Operator::kWaitRemoved, "the wait is over when the copies have read",
            with_opcode(site, i.text + ".read"));
      break;
    case Opcode::k_wgmma_wait_group:
      add_removal(edits, Operator::kWaitRemoved, "the wait for products is left out");
      add(edits, Operator::kWaitRemoved, "the wait lets one more group of products be under way",
          with_integer(site, 0, i.operands[0].bits + 1));
      break;
    case Opcode::k_cp_async_commit_group:
    case Opcode::k_cp_async_bulk_commit_group:
    case Opcode::k_wgmma_commit_group:
      add_removal(edits, Operator::kCommitRemoved, "what was begun becomes no group");
      break;
    case Opcode::k_mbarrier_test_wait:
    case Opcode::k_mbarrier_try_wait: {
      // The predicate says that the phase is complete.
      add(edits, Operator::kWaitRemoved, "the wait is over at once",
          with_opcode(site, "setp.eq.u32",
                      {i.operands[0], integer_operand(0), integer_operand(0)}));
      if (!i.modifiers.parity || i.operands.size() < 3) break;
      if (is_integer(i, 2)) {
        add(edits, Operator::kParityFlipped, "the wait is for the other parity",
            with_integer(site, 2, i.operands[2].bits ^ 1));
        break;
      }
      Sequence flips(site, Operator::kParityFlipped, "the wait is for the other parity");
      const Operand flipped = flips.fresh("%flipped", Type::kB32);
      flips.emit("xor.b32", {flipped, i.operands[2], integer_operand(1)});
      std::vector<Operand> operands = i.operands;
      operands[2] = flipped;
      flips.emit(i.text, std::move(operands));
      flips.add_to(edits);
      break;
    }
    default: break;
  }
}

constexpr std::array<Words, 4> kScopes = {
    {{".sys", ".gpu"}, {".gpu", ".cta"}, {".cluster", ".cta"}, {".gl", ".cta"}}};
constexpr std::array<Words, 5> kOrders = {{{".acq_rel", ".relaxed"},
                                           {".acquire", ".relaxed"},
                                           {".release", ".relaxed"},
                                           {".sc", ".acq_rel"},
                                           {".volatile", ""}}};

void add_order_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const Category category = isa::category_of(i.opcode);
  const bool strong =
      category == Category::kAtomic || category == Category::kFence ||
      category == Category::kMbarrier ||
      (category == Category::kLoadStore && i.modifiers.semantics != isa::Semantics::kNone &&
       i.modifiers.semantics != isa::Semantics::kWeak);
  if (!strong) return;
  for (const Words& w : kScopes) {
    if (!has_word(i.text, w.from)) continue;
    add(edits, Operator::kScopeNarrowed,
        "the scope " + std::string(w.from.substr(1)) + " became " + std::string(w.to.substr(1)),
        with_opcode(site, *replace_word(i.text, w.from, w.to)));
    break;
  }
  for (const Words& w : kOrders) {
    if (!has_word(i.text, w.from)) continue;
    add(edits, Operator::kOrderWeakened,
        std::string(w.from.substr(1)) +
            (w.to.empty() ? " is left out" : " became " + std::string(w.to.substr(1))),
        with_opcode(site, *replace_word(i.text, w.from, w.to)));
    break;
  }
  // Turns a relaxed access into a weak one.
  if (category == Category::kLoadStore && i.modifiers.semantics == isa::Semantics::kRelaxed) {
    std::string weak = *replace_word(i.text, ".relaxed", ".weak");
    for (const char* scope : {".sys", ".gpu", ".cta", ".cluster"})
      if (const auto without = replace_word(weak, scope, "")) weak = *without;
    add(edits, Operator::kOrderWeakened, "the relaxed access became an ordinary one",
        with_opcode(site, weak));
  }
}

const char* operation_of(AtomOp op) {
  switch (op) {
    case AtomOp::kAnd: return "and";
    case AtomOp::kOr: return "or";
    case AtomOp::kXor: return "xor";
    case AtomOp::kAdd: return "add";
    case AtomOp::kMin: return "min";
    case AtomOp::kMax: return "max";
    default: return nullptr;
  }
}

// Splits an atomic operation d = op([a], b) into a load, the operation and a store.
void add_atomic_split(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (isa::category_of(i.opcode) != Category::kAtomic || i.modifiers.vector != 1) return;
  const bool returns = i.opcode == Opcode::k_atom;
  const std::size_t address = returns ? 1 : 0;
  if (i.operands.size() < address + 2) return;
  const AtomOp op = i.modifiers.atom;
  const std::string type = "." + std::string(isa::type_name(i.modifiers.type)),
                    bits = ".b" + std::to_string(8 * isa::size_of(i.modifiers.type));
  std::string space(isa::space_name(i.modifiers.space));
  if (!space.empty()) space = "." + space;

  Edit edit;
  edit.op = Operator::kAtomicSplit;
  edit.change = "the atomic operation became a load, the operation and a store";
  std::vector<ptx::Register> registers = site.function.registers;
  const auto fresh = [&](Type t) {
    edit.registers.push_back({"%split" + std::to_string(edit.registers.size()), t});
    registers.push_back(edit.registers.back());
    return register_operand(static_cast<std::uint32_t>(registers.size() - 1));
  };
  const Type held = isa::size_of(i.modifiers.type) == 8   ? Type::kB64
                    : isa::size_of(i.modifiers.type) == 4 ? Type::kB32
                                                          : Type::kB16;
  const Operand old = fresh(held), made = fresh(held);
  const Site at{site.module, site.function, site.index, &registers};
  const Operand& value = i.operands[address + 1];
  bool whole = true;
  const auto emit = [&](const std::string& opcode, std::vector<Operand> operands) {
    auto instruction = with_opcode(at, opcode, std::move(operands));
    whole &= instruction.has_value();
    if (instruction) edit.instead.push_back(std::move(*instruction));
  };
  emit("ld" + space + bits, {old, i.operands[address]});
  if (const char* operation = operation_of(op)) {
    emit(operation + type, {made, old, value});
  } else if (op == AtomOp::kExch) {
    emit("mov" + bits, {made, value});
  } else if (op == AtomOp::kCas && i.operands.size() > address + 2) {
    const Operand equal = fresh(Type::kPred);
    emit("setp.eq" + bits, {equal, old, value});
    emit("selp" + bits, {made, i.operands[address + 2], old, equal});
  } else {
    return;
  }
  emit("st" + space + bits, {i.operands[address], made});
  if (returns && i.operands[0].kind == Operand::Kind::kRegister)
    emit("mov" + bits, {i.operands[0], old});
  if (whole) edits.push_back(std::move(edit));
}

void add_shuffle_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (i.opcode != Opcode::k_shfl_sync || i.operands.size() < 5) return;
  constexpr std::array<Words, 4> kModes = {
      {{".up", ".down"}, {".down", ".up"}, {".bfly", ".down"}, {".idx", ".bfly"}}};
  for (const Words& w : kModes) {
    if (!has_word(i.text, w.from)) continue;
    add(edits, Operator::kShuffleChanged,
        std::string(w.from.substr(1)) + " became " + std::string(w.to.substr(1)),
        with_opcode(site, *replace_word(i.text, w.from, w.to)));
    break;
  }
  if (is_integer(i, 2)) {
    add(edits, Operator::kShuffleChanged, "the offset is one more",
        with_integer(site, 2, i.operands[2].bits + 1));
    if (i.operands[2].bits > 0)
      add(edits, Operator::kShuffleChanged, "the offset is one less",
          with_integer(site, 2, i.operands[2].bits - 1));
  }
  // The third source: bits 0 to 4 are the clamp, bits 8 to 12 the segment mask (PTX ISA 9.7.9.6).
  if (is_integer(i, 3)) {
    add(edits, Operator::kShuffleChanged, "the clamp is another",
        with_integer(site, 3, i.operands[3].bits ^ 1));
    add(edits, Operator::kShuffleChanged, "the width is half",
        with_integer(site, 3, i.operands[3].bits ^ 0x1000));
  }
  if (is_integer(i, 4))
    add(edits, Operator::kShuffleChanged, "lanes 16 to 31 are no members",
        with_integer(site, 4, i.operands[4].bits & 0xffff));
}

void add_vote_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const bool vote = i.opcode == Opcode::k_vote_sync, match = i.opcode == Opcode::k_match_sync,
             reduces = i.opcode == Opcode::k_redux_sync;
  if (!vote && !match && !reduces) return;
  constexpr std::array<Words, 8> kModes = {{{".all", ".any"},
                                            {".any", ".all"},
                                            {".uni", ".all"},
                                            {".add", ".max"},
                                            {".min", ".max"},
                                            {".max", ".min"},
                                            {".and", ".or"},
                                            {".or", ".and"}}};
  for (const Words& w : kModes) {
    if (!has_word(i.text, w.from)) continue;
    add(edits, Operator::kVoteChanged,
        std::string(w.from.substr(1)) + " became " + std::string(w.to.substr(1)),
        with_opcode(site, *replace_word(i.text, w.from, w.to)));
    break;
  }
  if (vote) {
    std::vector<Operand> operands = i.operands;
    Operand& predicate = operands[1];
    if (predicate.kind == Operand::Kind::kRegister ||
        predicate.kind == Operand::Kind::kNegatedPredicate) {
      predicate.kind = predicate.kind == Operand::Kind::kRegister ? Operand::Kind::kNegatedPredicate
                                                                  : Operand::Kind::kRegister;
      add(edits, Operator::kVoteChanged, "the condition is the opposite",
          with_opcode(site, i.text, std::move(operands)));
    }
  }
  if (is_integer(i, i.operands.size() - 1)) {
    add(edits, Operator::kVoteChanged, "lanes 16 to 31 are no members",
        with_integer(site, i.operands.size() - 1, i.operands.back().bits & 0xffff));
  }
}

}  // namespace

void add_thread_edits(const Site& site, std::vector<Edit>& edits) {
  add_barrier_edits(site, edits);
  add_wait_edits(site, edits);
  add_order_edits(site, edits);
  add_atomic_split(site, edits);
  add_shuffle_edits(site, edits);
  add_vote_edits(site, edits);
}

}  // namespace lockstep::mutation
