// Loop counters: registers that change by a constant step each round, and bounds for the number of
// rounds.
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

// The value of a join. A register that has its initial value before a loop and changes by a step at
// each jump back has the form init + step * counter. Otherwise the paths' values are merged.
std::optional<Form> Values::join(int node) {
  const Node n = graph_.node(node);
  if (n.from.empty()) return std::nullopt;
  if (const int only = graph_.origin(node); only != node) return evaluate(only);
  const Block& block = graph_.blocks()[static_cast<std::size_t>(n.block)];
  const Loop* const loop =
      block.loop < 0 || graph_.loops()[static_cast<std::size_t>(block.loop)].header != n.block
          ? nullptr
          : &graph_.loops()[static_cast<std::size_t>(block.loop)];
  const auto meet = [&]() -> std::optional<Form> {
    std::vector<Way> ways;
    for (std::size_t i = 0; i < n.from.size(); ++i) {
      const int before = block.before[i];
      Way way;
      way.where = of_block(before);
      if (const auto fact = fact_of_edge(before, n.block)) assume(*fact, way.where);
      if (std::any_of(way.where.threads.begin(), way.where.threads.end(), [](bool t) { return t; }))
        way.form = evaluate(n.from[i]);
      // A value that changes in the loop had another value when the loop jumped back.
      if (loop != nullptr && way.form && !is_fixed_in(*way.form, *loop))
        way.form = data_within(range(*way.form, way.where), way.form->bits, n.block);
      ways.push_back(std::move(way));
    }
    return merged(std::move(ways), n.block);
  };
  if (loop == nullptr) return meet();
  if (loop->latch < 0 || block.before.size() != 2) return meet();
  const std::size_t back = block.before[0] == loop->latch ? 0 : 1;
  const std::optional<Form> first = evaluate(n.from[1 - back]);
  if (!first || first->bits == 1) return std::nullopt;
  const auto by = step(n.from[back], node, first->bits, 0);
  const Symbol counter = kFirstLoop + block.loop;
  if (!by || !is_fixed_in(*first, *loop)) return meet();
  Form form = *first;
  if (*by != 0) form.factors[counter] = wrapped(static_cast<std::uint64_t>(*by), form.bits);
  return form;
}

// The amount added to the value of node `joined` on the way to `node`.
std::optional<std::int64_t> Values::step(int node, int joined, int bits, int depth) {
  node = graph_.origin(node);
  if (node == joined) return 0;
  if (depth > kMostDepth) return std::nullopt;
  const Node n = graph_.node(node);
  if (n.kind != Node::Kind::kOperation) return std::nullopt;
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action != Action::kNone || !m.plain || !is_integer(m.type) ||
      register_bits(m.type) != bits)
    return std::nullopt;
  const auto operand = [&](int i) {
    return program::is_constant(op.src[i]) ? -1 : graph_.read(op.src[i], n.pc);
  };
  if (m.opcode == Opcode::k_mov)
    return operand(0) < 0 ? std::nullopt : step(operand(0), joined, bits, depth + 1);
  if (m.opcode != Opcode::k_add && m.opcode != Opcode::k_sub) return std::nullopt;
  for (int i = 0; i < (m.opcode == Opcode::k_add ? 2 : 1); ++i) {
    if (operand(i) < 0) continue;
    const auto rest = step(operand(i), joined, bits, depth + 1);
    if (!rest) continue;
    const auto by = source(op.src[1 - i], n.pc, bits);
    if (!by || !by->known() || !by->uniform()) return std::nullopt;
    const auto sum =
        static_cast<std::uint64_t>(*rest) +
        (m.opcode == Opcode::k_add ? 1 : -1ull) * static_cast<std::uint64_t>(by->base[0]);
    return wrapped(sum, bits);
  }
  return std::nullopt;
}

bool Values::is_fixed_in(const Form& form, const Loop& loop) const {
  return std::all_of(form.factors.begin(), form.factors.end(), [&](const auto& factor) {
    const Symbol s = factor.first;
    if (s < kFirstLoop) return true;
    const int block = is_data(s)
                          ? data_blocks_[static_cast<std::size_t>(s) - kFirstLoop - of_loop_.size()]
                          : graph_.loops()[static_cast<std::size_t>(s - kFirstLoop)].header;
    return !loop.holds[static_cast<std::size_t>(block)];
  });
}

void Values::bound_loop(int index) {
  const Loop& loop = graph_.loops()[static_cast<std::size_t>(index)];
  if (loop.latch < 0) return;
  const Block& latch = graph_.blocks()[static_cast<std::size_t>(loop.latch)];
  const Symbol counter = kFirstLoop + index;
  // The conditions at the loop's entry.
  const Block& header = graph_.blocks()[static_cast<std::size_t>(loop.header)];
  if (header.before.size() != 2) return;
  const int entry = header.before[header.before[0] == loop.latch ? 1 : 0];
  std::vector<Fact> facts;
  for (const Fact& f : facts_of(loop.latch)) {
    if (loop.holds[static_cast<std::size_t>(graph_.block_of(f.pc))]) take_apart(f, facts);
  }
  const Op& last = graph_.program().ops[latch.end - 1];
  if (last.action == Action::kBranch && last.guard != program::kNoSlot) {
    const std::uint32_t target = last.as<program::BranchFields>().target();
    if (latch.after.size() == 2) {
      take_apart({last.guard, latch.end - 1, (target == header.begin) != last.guard_negated},
                 facts);
    }
  }
  for (const Fact& fact : facts) {
    if (program::is_constant(fact.slot)) continue;
    const Node n = graph_.node(graph_.origin(graph_.read(fact.slot, fact.pc)));
    if (n.kind != Node::Kind::kOperation) continue;
    const Op& op = graph_.program().ops[n.pc];
    const Meaning& m = graph_.program().meanings[n.pc];
    if (op.action != Action::kNone || !m.plain || m.opcode != Opcode::k_setp ||
        m.bool_op != isa::BoolOp::kNone || !is_integer(m.type) || !is_known_compare(m.compare) ||
        !loop.holds[static_cast<std::size_t>(graph_.block_of(n.pc))])
      continue;
    const int bits = register_bits(m.type);
    if (bits != 32 && bits != 64) continue;
    auto a = source(op.src[0], n.pc, bits), b = source(op.src[1], n.pc, bits);
    if (!a || !b || !is_moderate(*a) || !is_moderate(*b)) continue;
    const bool left = a->factors.count(counter) != 0;
    if (left == (b->factors.count(counter) != 0)) continue;
    if (!left) std::swap(a, b);
    const std::int64_t by = a->factors.at(counter);
    Form first = *a;
    first.factors.erase(counter);
    if (!is_fixed_in(first, loop)) continue;
    const bool end_is_fixed = is_fixed_in(*b, loop);
    using C = isa::Compare;
    const bool goes_on_equal = (m.compare == C::kEq) == fact.holds;
    if (m.compare == C::kEq || m.compare == C::kNe) {
      // The loop runs until the two values are equal. They must become equal after whole steps
      // without an overflow of the register.
      if (goes_on_equal || !first.known() || !b->known() || !first.uniform() || !b->uniform())
        continue;
      const Wide way = Wide{b->base[0]} - first.base[0];
      if (by == 0 || way % by != 0 || way / by < 0) continue;
      Range& r = symbols_[static_cast<std::size_t>(counter)];
      r.high = std::min(r.high, way / by);
      continue;
    }
    // Normalises the condition for continuing to "a is below b", where a changes with the counter.
    C how = m.compare == C::kLo   ? C::kLt
            : m.compare == C::kLs ? C::kLe
            : m.compare == C::kHi ? C::kGt
            : m.compare == C::kHs ? C::kGe
                                  : m.compare;
    if (!fact.holds)
      how = how == C::kLt ? C::kGe : how == C::kLe ? C::kGt : how == C::kGt ? C::kLe : C::kLt;
    if (!left)
      how = how == C::kLt ? C::kGt : how == C::kLe ? C::kGe : how == C::kGt ? C::kLt : C::kLe;
    const bool up = how == C::kLt || how == C::kLe;
    if (up != (by > 0)) continue;
    const std::int64_t strict = how == C::kLt || how == C::kGt ? 1 : 0;
    const Conditions before = of_block(entry);
    const Range all = bits == 64 ? Range{-(Wide{1} << 61), Wide{1} << 61}
                                 : integers_of(bits, !is_unsigned_compare(m));
    Conditions anywhere;
    anywhere.threads = before.threads;
    const Range of_first = range(first, before), of_b = range(*b, end_is_fixed ? before : anywhere);
    if (!within(of_first, all) || !within(of_b, all)) continue;
    if (bits == 64 && is_unsigned_compare(m) && (of_first.low < 0 || of_b.low < 0)) continue;
    // The value exceeds the greatest value with which the loop continues by at most one step, so it
    // never overflows the register.
    const Wide steps = by > 0 ? by : -Wide{by};
    const Wide end = by > 0 ? of_b.high - strict + steps : of_b.low + strict - steps;
    if (by > 0 ? end > all.high : end < all.low) continue;
    const Wide way = by > 0 ? of_b.high - strict - of_first.low : of_first.high - of_b.low - strict;
    Range& r = symbols_[static_cast<std::size_t>(counter)];
    r.high = std::min(r.high, way < 0 ? Wide{0} : way / steps + 1);
    if (!end_is_fixed) continue;
    // After the first jump back, the value of the previous round was below b. This is a condition
    // of the whole loop if it also holds on entry.
    Form was = combined(*a, 1, constant(by, 64), -1, 64);
    Form condition = by > 0 ? combined(was, 1, *b, -1, 64) : combined(*b, 1, was, -1, 64);
    condition = combined(condition, 1, constant(strict, 64), 1, 64);
    Form at_entry = condition;
    at_entry.factors.erase(counter);
    if (range(at_entry, before).high <= 0)
      of_loop_[static_cast<std::size_t>(index)].push_back(condition);
  }
}

}  // namespace lockstep::proof
