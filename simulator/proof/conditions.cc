// The conditions that hold at an operation, from branches and predicates on the paths to it.
#include <algorithm>

#include "simulator/proof/integers.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

using isa::Opcode;
using isa::Type;
using program::Action;
using program::Meaning;
using program::Op;
using program::Slot;

std::optional<Values::Fact> Values::fact_of_edge(int from, int to) const {
  const Block& before = graph_.blocks()[static_cast<std::size_t>(from)];
  const Op& last = graph_.program().ops[before.end - 1];
  if (last.guard == program::kNoSlot) return std::nullopt;
  const bool leaves = last.action == Action::kExit || last.action == Action::kReturn;
  if (!leaves && (last.action != Action::kBranch || before.after.size() != 2)) return std::nullopt;
  const bool jumps = !leaves && last.as<program::BranchFields>().target() ==
                                    graph_.blocks()[static_cast<std::size_t>(to)].begin;
  return Fact{last.guard, before.end - 1, jumps != last.guard_negated};
}

std::vector<Values::Fact> Values::facts_of(int block) const {
  std::vector<Fact> facts;
  const auto& blocks = graph_.blocks();
  for (int b = block;; b = blocks[static_cast<std::size_t>(b)].dominator) {
    const Block& at = blocks[static_cast<std::size_t>(b)];
    // The only way into `b` is a branch, or the way past a branch.
    if (at.before.size() == 1) {
      if (const auto fact = fact_of_edge(at.before[0], b)) facts.push_back(*fact);
    }
    if (at.dominator == b || at.dominator < 0) return facts;
  }
}

Conditions Values::of_block(int block) {
  const auto b = static_cast<std::size_t>(block);
  if (block_states_[b] == State::kDone) return blocks_[b];
  Conditions c;
  c.threads.assign(threads_, graph_.is_reached(block));
  if (block_states_[b] == State::kOpen)
    return c;  // requested while being computed: nothing is known
  block_states_[b] = State::kOpen;
  for (const Fact& fact : facts_of(block)) assume(fact, c);
  // A loop's conditions hold after the loop was entered.
  for (std::size_t l = 0; l < of_loop_.size(); ++l) {
    if (graph_.dominates(graph_.loops()[l].header, block))
      c.not_above_0.insert(c.not_above_0.end(), of_loop_[l].begin(), of_loop_[l].end());
  }
  block_states_[b] = State::kDone;
  return blocks_[b] = std::move(c);
}

Conditions Values::conditions(std::uint32_t pc) {
  Conditions c = of_block(graph_.block_of(pc));
  const Op& op = graph_.program().ops[pc];
  if (op.guard != program::kNoSlot && op.action != Action::kBranch)
    assume({op.guard, pc, !op.guard_negated}, c);
  return c;
}

void Values::assume(const Fact& fact, Conditions& c, int depth) {
  if (const auto known = source(fact.slot, fact.pc, 1); known && known->known()) {
    for (std::size_t t = 0; t < threads_; ++t)
      c.threads[t] = c.threads[t] && (known->of(t) != 0) == fact.holds;
    return;
  }
  if (program::is_constant(fact.slot) || depth > kMostDepth) return;
  const Node n = graph_.node(graph_.origin(graph_.read(fact.slot, fact.pc)));
  if (n.kind != Node::Kind::kOperation) return;
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action != Action::kNone || !m.plain) return;
  const auto operand = [&](int i, bool is) {
    assume({op.src[i], n.pc, is != op.as<program::ComputeFields>().negates(i)}, c, depth + 1);
  };
  switch (m.opcode) {
    case Opcode::k_setp:
      if (m.bool_op == isa::BoolOp::kNone) {
        compare(op, n.pc, fact.holds, c);
      } else if ((m.bool_op == isa::BoolOp::kAnd && fact.holds) ||
                 (m.bool_op == isa::BoolOp::kOr && !fact.holds)) {
        compare(op, n.pc, fact.holds, c);
        operand(2, fact.holds);
      }
      return;
    case Opcode::k_and:
    case Opcode::k_or:
      if (m.type != Type::kPred || (m.opcode == Opcode::k_and) != fact.holds) return;
      operand(0, fact.holds);
      operand(1, fact.holds);
      return;
    case Opcode::k_not:
      if (m.type == Type::kPred) operand(0, !fact.holds);
      return;
    default: return;
  }
}

// As unsigned numbers, negative ones are large: a number below one without a sign bit has none
// either.
void Values::below_without_sign(const Form& a, const Range& of_a, const Form& b, const Range& of_b,
                                const Meaning& m, bool is, Conditions& c) {
  using C = isa::Compare;
  C how = m.compare;
  if (how == C::kLo) how = C::kLt;
  if (how == C::kLs) how = C::kLe;
  if (how == C::kHi) how = C::kGt;
  if (how == C::kHs) how = C::kGe;
  if (!is)
    how = how == C::kLt   ? C::kGe
          : how == C::kLe ? C::kGt
          : how == C::kGt ? C::kLe
          : how == C::kGe ? C::kLt
                          : C::kNone;
  const bool a_is_less = how == C::kLt || how == C::kLe;
  if (!a_is_less && how != C::kGt && how != C::kGe) return;
  const Form &less = a_is_less ? a : b, &more = a_is_less ? b : a;
  const Range &of_less = a_is_less ? of_a : of_b, &of_more = a_is_less ? of_b : of_a;
  const Range all = integers_of(less.bits, true);
  if (of_less.low >= 0 || !within(of_less, all) || !within(of_more, {0, all.high})) return;
  const std::int64_t strict = how == C::kLt || how == C::kGt ? 1 : 0;
  c.not_above_0.push_back(combined(constant(0, 64), 1, less, -1, 64));
  c.not_above_0.push_back(
      combined(combined(less, 1, more, -1, 64), 1, constant(strict, 64), 1, 64));
}

// Adds the facts that follow from a comparison by setp with a known result. Requires that both
// forms equal the integers in the registers.
void Values::compare(const Op& op, std::uint32_t pc, bool is, Conditions& c) {
  const Meaning& m = graph_.program().meanings[pc];
  if (!is_integer(m.type) || !is_known_compare(m.compare)) return;
  const int bits = register_bits(m.type);
  const auto a = source(op.src[0], pc, bits), b = source(op.src[1], pc, bits);
  if (!a || !b || !is_moderate(*a) || !is_moderate(*b)) return;
  const Range all = bits == 64 ? Range{-(Wide{1} << 61), Wide{1} << 61}
                               : integers_of(bits, !is_unsigned_compare(m));
  // Known conditions also hold at the comparison or after it.
  const Range of_a = range(*a, c), of_b = range(*b, c);
  if (bits <= 32 && is_unsigned_compare(m)) below_without_sign(*a, of_a, *b, of_b, m, is, c);
  if (!within(of_a, all) || !within(of_b, all)) return;
  if (bits == 64 && is_unsigned_compare(m) && (of_a.low < 0 || of_b.low < 0)) return;
  using C = isa::Compare;
  C how = m.compare;
  if (how == C::kLo) how = C::kLt;
  if (how == C::kLs) how = C::kLe;
  if (how == C::kHi) how = C::kGt;
  if (how == C::kHs) how = C::kGe;
  if (!is) {
    how = how == C::kEq   ? C::kNe
          : how == C::kNe ? C::kEq
          : how == C::kLt ? C::kGe
          : how == C::kLe ? C::kGt
          : how == C::kGt ? C::kLe
                          : C::kLt;
  }
  // left - right + more <= 0.
  const auto add = [&](const Form& left, const Form& right, std::int64_t more) {
    c.not_above_0.push_back(
        combined(combined(left, 1, right, -1, 64), 1, constant(more, 64), 1, 64));
  };
  switch (how) {
    case C::kLt: return add(*a, *b, 1);
    case C::kLe: return add(*a, *b, 0);
    case C::kGt: return add(*b, *a, 1);
    case C::kGe: return add(*b, *a, 0);
    case C::kEq: add(*a, *b, 0); return add(*b, *a, 0);
    default: return;
  }
}

// Adds the fact and the facts from which it is composed.
void Values::take_apart(const Fact& fact, std::vector<Fact>& facts, int depth) {
  facts.push_back(fact);
  if (program::is_constant(fact.slot) || depth > kMostDepth) return;
  const Node n = graph_.node(graph_.origin(graph_.read(fact.slot, fact.pc)));
  if (n.kind != Node::Kind::kOperation) return;
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action != Action::kNone || !m.plain || m.type != Type::kPred) return;
  const auto operand = [&](int i, bool is) {
    take_apart({op.src[i], n.pc, is != op.as<program::ComputeFields>().negates(i)}, facts,
               depth + 1);
  };
  if (m.opcode == Opcode::k_not) operand(0, !fact.holds);
  if (m.opcode != (fact.holds ? Opcode::k_and : Opcode::k_or)) return;
  operand(0, fact.holds);
  operand(1, fact.holds);
}

Decided Values::decided() {
  Decided result;
  for (std::size_t b = 0; b < graph_.blocks().size(); ++b) {
    if (!graph_.is_reached(static_cast<int>(b))) continue;
    const std::uint32_t pc = graph_.blocks()[b].end - 1;
    const Op& last = graph_.program().ops[pc];
    if (last.guard == program::kNoSlot ||
        (last.action != Action::kBranch && last.action != Action::kExit &&
         last.action != Action::kReturn))
      continue;
    const auto known = source(last.guard, pc, 1);
    if (!known || !known->known()) continue;
    const Conditions here = of_block(static_cast<int>(b));
    bool some = false, others = false;
    for (std::size_t t = 0; t < threads_; ++t) {
      if (here.threads[t]) ((known->of(t) != 0) != last.guard_negated ? some : others) = true;
    }
    if (some != others) result[pc] = some;
  }
  return result;
}

bool Values::is_uniform(Slot slot, std::uint32_t pc, int block, int depth) {
  if (program::is_constant(slot)) return true;
  const auto same = [&](const std::optional<Form>& form) {
    if (!form || !form->uniform()) return false;
    for (const auto& [s, f] : form->factors) {
      if (is_data(s)) return false;
      // Threads leave a loop after different numbers of rounds.
      if (s >= kFirstLoop && !graph_.loops()[static_cast<std::size_t>(s - kFirstLoop)]
                                  .holds[static_cast<std::size_t>(block)])
        return false;
    }
    return true;
  };
  if (same(source(slot, pc, 1))) return true;
  const Node n = graph_.node(graph_.read(slot, pc));
  if (n.kind != Node::Kind::kOperation || depth > kMostDepth) return false;
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action != Action::kNone || !m.plain) return false;
  if (m.opcode == Opcode::k_setp && is_integer(m.type)) {
    const int bits = register_bits(m.type);
    return same(source(op.src[0], n.pc, bits)) && same(source(op.src[1], n.pc, bits)) &&
           (m.bool_op == isa::BoolOp::kNone || is_uniform(op.src[2], n.pc, block, depth + 1));
  }
  if (m.type != Type::kPred) return false;
  if (m.opcode == Opcode::k_not) return is_uniform(op.src[0], n.pc, block, depth + 1);
  return (m.opcode == Opcode::k_and || m.opcode == Opcode::k_or) &&
         is_uniform(op.src[0], n.pc, block, depth + 1) &&
         is_uniform(op.src[1], n.pc, block, depth + 1);
}

bool Values::branches_together(int block) {
  const Block& b = graph_.blocks()[static_cast<std::size_t>(block)];
  const Op& last = graph_.program().ops[b.end - 1];
  return last.guard == program::kNoSlot || is_uniform(last.guard, b.end - 1, block);
}

}  // namespace lockstep::proof
