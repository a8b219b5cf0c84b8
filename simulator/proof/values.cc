#include "simulator/proof/values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/program/memory_access.h"

namespace lockstep::proof {

using isa::Opcode;
using isa::Type;
using program::Action;
using program::Meaning;
using program::Op;
using program::Slot;

namespace {

constexpr int kMostDepth = 64;

int register_bits(Type t) { return t == Type::kPred ? 1 : 8 * isa::size_of(t); }
bool is_integer(Type t) {
  switch (t) {
    case Type::kB8:
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
    case Type::kS8:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64: return true;
    default: return false;
  }
}
// The integers that a register of the type may hold.
Range integers_of(int bits, bool is_signed) {
  return is_signed ? Range{-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1}
                   : Range{0, (Wide{1} << bits) - 1};
}
bool within(const Range& r, const Range& all) { return r.low >= all.low && r.high <= all.high; }
bool all_divisible(const Form& f, std::int64_t by) {
  return std::all_of(f.factors.begin(), f.factors.end(),
                     [&](const auto& factor) { return factor.second % by == 0; });
}
std::uint64_t low_bits(std::int64_t value, int bits) {
  return bits >= 64 ? static_cast<std::uint64_t>(value)
                    : static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}
template <class T>
bool holds(isa::Compare compare, T a, T b) {
  switch (compare) {
    case isa::Compare::kEq: return a == b;
    case isa::Compare::kNe: return a != b;
    case isa::Compare::kLt:
    case isa::Compare::kLo: return a < b;
    case isa::Compare::kLe:
    case isa::Compare::kLs: return a <= b;
    case isa::Compare::kGt:
    case isa::Compare::kHi: return a > b;
    default: return a >= b;
  }
}
// Sums and differences of a few such forms need no more than 64 bits.
bool is_moderate(const Form& f) {
  const auto fits = [](std::int64_t v) { return v > -(1ll << 60) && v < 1ll << 60; };
  return std::all_of(f.base.begin(), f.base.end(), fits) &&
         std::all_of(f.factors.begin(), f.factors.end(),
                     [&](const auto& factor) { return fits(factor.second); });
}
bool is_known_compare(isa::Compare c) { return c >= isa::Compare::kEq && c <= isa::Compare::kHs; }
bool is_unsigned_compare(const Meaning& m) {
  return m.compare >= isa::Compare::kLo || !isa::is_signed(m.type);
}

}  // namespace

Values::Values(Graph& graph, const Shape& shape)
    : graph_(graph), shape_(shape), threads_(shape.threads()) {
  for (const std::uint32_t n : shape.grid) symbols_.push_back({0, Wide{n} - 1});
  symbols_.resize(symbols_.size() + graph.loops().size(), {0, kNoBound});
  of_loop_.resize(graph.loops().size());
  blocks_.resize(graph.blocks().size());
  const auto forget = [&] {
    states_.clear();
    values_.clear();
    block_states_.assign(graph.blocks().size(), State::kNew);
  };
  // Outer loops first. What was evaluated before a loop's bound was known may be known better.
  for (int l = 0; l < static_cast<int>(graph.loops().size()); ++l) {
    forget();
    bound_loop(l);
  }
  forget();
}

std::optional<Form> Values::source(Slot slot, std::uint32_t pc, int bits) {
  if (slot == program::kNoSlot) return std::nullopt;
  if (program::is_constant(slot)) {
    std::uint64_t value = 0;
    const program::Program& p = graph_.program();
    const std::size_t at = slot & ~Slot{1},
                      bytes = bits == 1 ? 4 : static_cast<std::size_t>(bits / 8);
    if (at + bytes > p.constant_bytes) return std::nullopt;
    std::memcpy(&value, p.constants.get() + at, bytes);
    return constant(static_cast<std::int64_t>(bits == 1 ? value & 1 : value), bits);
  }
  std::optional<Form> form = evaluate(graph_.read(slot, pc));
  if (form && form->bits != bits) return std::nullopt;
  return form;
}

std::optional<Form> Values::evaluate(int node) {
  const auto n = static_cast<std::size_t>(node);
  if (states_.size() < graph_.nodes()) {
    states_.resize(graph_.nodes(), State::kNew);
    values_.resize(graph_.nodes());
  }
  if (states_[n] == State::kDone) return values_[n];
  if (states_[n] == State::kOpen) return std::nullopt;  // it depends on itself
  states_[n] = State::kOpen;
  const Node what = graph_.node(node);
  std::optional<Form> form;
  if (what.kind == Node::Kind::kOperation) form = compute(what);
  if (what.kind == Node::Kind::kJoin) form = join(node);
  if (form) {
    std::erase_if(form->factors, [](const auto& f) { return f.second == 0; });
    if (form->known()) {
      for (std::int64_t& b : form->base) b = wrapped(static_cast<std::uint64_t>(b), form->bits);
    }
    if (std::all_of(form->base.begin(), form->base.end(),
                    [&](std::int64_t b) { return b == form->base[0]; }))
      form->base.resize(1);
  }
  states_[n] = State::kDone;
  return values_[n] = std::move(form);
}

std::optional<Form> Values::special(const Op& op) const {
  using S = isa::SpecialRegister;
  if (op.width != 4) return std::nullopt;
  Form form{32, {}, {}};
  const auto x = shape_.block[0], y = shape_.block[1], z = shape_.block[2];
  const auto by_thread_number = [&](auto number) {
    for (std::size_t t = 0; t < threads_; ++t)
      form.base.push_back(static_cast<std::int64_t>(number(t)));
    return form;
  };
  const auto block = [&](Symbol s) {
    form = constant(0, 32);
    form.factors[s] = 1;
    return form;
  };
  switch (op.as<program::SpecialRegisterFields>().which()) {
    case S::kTidX: return by_thread_number([&](std::size_t t) { return t % x; });
    case S::kTidY: return by_thread_number([&](std::size_t t) { return t / x % y; });
    case S::kTidZ: return by_thread_number([&](std::size_t t) { return t / x / y; });
    case S::kLaneid: return by_thread_number([&](std::size_t t) { return t % 32; });
    case S::kNtidX: return constant(x, 32);
    case S::kNtidY: return constant(y, 32);
    case S::kNtidZ: return constant(z, 32);
    case S::kCtaidX: return block(kBlockX);
    case S::kCtaidY: return block(kBlockY);
    case S::kCtaidZ: return block(kBlockZ);
    case S::kNctaidX: return constant(shape_.grid[0], 32);
    case S::kNctaidY: return constant(shape_.grid[1], 32);
    case S::kNctaidZ: return constant(shape_.grid[2], 32);
    default: return std::nullopt;
  }
}

// A register of fewer bits in one of more, or of `bits` alike: right where the form is the integer
// that the register holds.
std::optional<Form> Values::extended(const std::optional<Form>& form, std::uint32_t pc,
                                     bool is_signed, int bits) {
  if (!form) return std::nullopt;
  Form wide = *form;
  wide.bits = bits;
  if (form->known()) {
    for (std::int64_t& b : wide.base) {
      b = is_signed ? wrapped(static_cast<std::uint64_t>(b), form->bits)
                    : static_cast<std::int64_t>(low_bits(b, form->bits));
    }
    return wide;
  }
  const Conditions here = conditions(pc);
  if (!within(range_of(*form, here, symbols_), integers_of(form->bits, is_signed)))
    return std::nullopt;
  return wide;
}

std::optional<Form> Values::compute(const Node& n) {
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action == Action::kSpecialRegister) return special(op);
  if (op.action == Action::kLoadKernelParameter) {
    if (op.elements != 1 || op.width != op.register_bytes || (op.width != 4 && op.width != 8) ||
        op.immediate < 0 ||
        static_cast<std::uint64_t>(op.immediate) + op.width > shape_.parameters.size())
      return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, shape_.parameters.data() + op.immediate, op.width);
    return constant(static_cast<std::int64_t>(value), 8 * op.width);
  }
  if (op.action == Action::kConvertAddress) {
    using C = program::AddressConversion;
    const C which = op.as<program::AddressConversionFields>().which();
    if (op.width != 8 || (op.register_bytes != 8 && op.register_bytes != 0) ||
        (which != C::kFromShared && which != C::kToShared))
      return std::nullopt;
    const auto from = source(op.src[0], n.pc, 64);
    if (!from) return std::nullopt;
    return combined(*from, 1, constant(static_cast<std::int64_t>(shape_.shared_window), 64),
                    which == C::kFromShared ? 1 : -1, 64);
  }
  if (op.action != Action::kNone || !m.plain) return std::nullopt;
  if (m.opcode == Opcode::k_setp) {
    if (!is_integer(m.type) || m.bool_op != isa::BoolOp::kNone || !is_known_compare(m.compare))
      return std::nullopt;
    const int bits = register_bits(m.type);
    const auto a = source(op.src[0], n.pc, bits), b = source(op.src[1], n.pc, bits);
    if (!a || !b || !a->known() || !b->known()) return std::nullopt;
    return by_thread(*a, *b, 1, [&](std::int64_t l, std::int64_t r) -> std::int64_t {
      return is_unsigned_compare(m) ? holds(m.compare, low_bits(l, bits), low_bits(r, bits))
                                    : holds(m.compare, wrapped(static_cast<std::uint64_t>(l), bits),
                                            wrapped(static_cast<std::uint64_t>(r), bits));
    });
  }
  if (!is_integer(m.type)) return std::nullopt;
  const int bits = register_bits(m.type);
  const bool is_signed = isa::is_signed(m.type);
  const auto in = [&](int i, int of) { return source(op.src[i], n.pc, of); };
  switch (m.opcode) {
    case Opcode::k_mov:
    case Opcode::k_cvta: return in(0, bits);
    case Opcode::k_cvt: {
      if (!is_integer(m.source_type)) return std::nullopt;
      const int from = register_bits(m.source_type);
      std::optional<Form> a = in(0, from);
      if (!a) return std::nullopt;
      if (bits > from) return extended(a, n.pc, isa::is_signed(m.source_type), bits);
      return combined(*a, 1, constant(0, bits), 0, bits);
    }
    case Opcode::k_add:
    case Opcode::k_sub: {
      const auto a = in(0, bits), b = in(1, bits);
      if (!a || !b) return std::nullopt;
      return combined(*a, 1, *b, m.opcode == Opcode::k_add ? 1 : -1, bits);
    }
    case Opcode::k_mul:
    case Opcode::k_mad: {
      if (m.half != isa::Half::kLo && m.half != isa::Half::kWide) return std::nullopt;
      const int out = m.half == isa::Half::kWide ? 2 * bits : bits;
      std::optional<Form> a = in(0, bits), b = in(1, bits);
      if (out != bits) {
        a = extended(a, n.pc, is_signed, out);
        b = extended(b, n.pc, is_signed, out);
      }
      if (!a || !b) return std::nullopt;
      if (!a->known()) std::swap(a, b);
      std::optional<Form> product;
      if (b->known()) {
        product = by_thread(*a, *b, out, [](std::int64_t l, std::int64_t r) {
          return static_cast<std::uint64_t>(l) * static_cast<std::uint64_t>(r);
        });
      } else if (a->known() && a->uniform()) {
        product = combined(*b, a->base[0], constant(0, out), 0, out);
      }
      if (!product || m.opcode == Opcode::k_mul) return product;
      const auto c = in(2, out);
      if (!c) return std::nullopt;
      return combined(*product, 1, *c, 1, out);
    }
    case Opcode::k_shl: {
      const auto a = in(0, bits), by = in(1, 32);
      if (!a || !by || !by->known() || !by->uniform() || by->base[0] < 0 || by->base[0] >= bits)
        return std::nullopt;
      return combined(*a, static_cast<std::int64_t>(std::uint64_t{1} << by->base[0]),
                      constant(0, bits), 0, bits);
    }
    case Opcode::k_shr: {
      const auto a = in(0, bits), by = in(1, 32);
      if (!a || !by || !by->known() || !by->uniform() || by->base[0] < 0 || by->base[0] >= bits ||
          by->base[0] > 40)
        return std::nullopt;
      const std::int64_t unit = std::int64_t{1} << by->base[0];
      if (!all_divisible(*a, unit)) return std::nullopt;
      // Shifting right rounds down, and so does each part of an exact sum but its first.
      std::optional<Form> exact = extended(a, n.pc, is_signed, bits);
      if (!exact) return std::nullopt;
      for (std::int64_t& b : exact->base) b >>= by->base[0];
      for (auto& [s, f] : exact->factors) f /= unit;
      return exact;
    }
    case Opcode::k_and: {
      auto a = in(0, bits), b = in(1, bits);
      if (!a || !b) return std::nullopt;
      if (!a->known()) std::swap(a, b);
      if (!b->known()) {
        // The low bits alone, which the multiples of their number do not change.
        if (!a->known() || !a->uniform()) return std::nullopt;
        const std::uint64_t mask = low_bits(a->base[0], bits);
        if (mask >= std::uint64_t{1} << 40 || !std::has_single_bit(mask + 1) ||
            !all_divisible(*b, static_cast<std::int64_t>(mask + 1)))
          return std::nullopt;
        b->factors.clear();
      }
      return by_thread(*a, *b, bits, [](std::int64_t l, std::int64_t r) { return l & r; });
    }
    default: break;
  }
  // What is computed thread by thread, where all is known.
  const auto a = in(0, bits), b = in(1, bits);
  if (!a || !b || !a->known() || !b->known()) return std::nullopt;
  switch (m.opcode) {
    case Opcode::k_or:
      return by_thread(*a, *b, bits, [](std::int64_t l, std::int64_t r) { return l | r; });
    case Opcode::k_xor:
      return by_thread(*a, *b, bits, [](std::int64_t l, std::int64_t r) { return l ^ r; });
    case Opcode::k_min:
    case Opcode::k_max:
      return by_thread(*a, *b, bits, [&](std::int64_t l, std::int64_t r) {
        const bool less = is_signed ? l < r : low_bits(l, bits) < low_bits(r, bits);
        return less == (m.opcode == Opcode::k_min) ? l : r;
      });
    case Opcode::k_div:
    case Opcode::k_rem: {
      if (bits > 32) return std::nullopt;
      for (const std::int64_t r : b->base) {
        if (r == 0) return std::nullopt;
      }
      return by_thread(*a, *b, bits, [&](std::int64_t l, std::int64_t r) {
        if (!is_signed) {
          l = static_cast<std::int64_t>(low_bits(l, bits));
          r = static_cast<std::int64_t>(low_bits(r, bits));
        }
        return m.opcode == Opcode::k_div ? l / r : l % r;
      });
    }
    default: return std::nullopt;
  }
}

// init + step * counter, where a register is what it was before the loop, and a step further each
// time the loop jumps back; or one value that comes by every path.
std::optional<Form> Values::join(int node) {
  const Node n = graph_.node(node);
  if (n.from.empty()) return std::nullopt;
  if (const int only = graph_.origin(node); only != node) return evaluate(only);
  const Block& block = graph_.blocks()[static_cast<std::size_t>(n.block)];
  if (block.loop < 0) return std::nullopt;
  const Loop& loop = graph_.loops()[static_cast<std::size_t>(block.loop)];
  if (loop.header != n.block || loop.latch < 0 || block.before.size() != 2) return std::nullopt;
  const std::size_t back = block.before[0] == loop.latch ? 0 : 1;
  const std::optional<Form> first = evaluate(n.from[1 - back]);
  if (!first || first->bits == 1) return std::nullopt;
  const auto by = step(n.from[back], node, first->bits, 0);
  if (!by) return std::nullopt;
  Form form = *first;
  if (*by != 0) {
    const Symbol counter = kFirstLoop + block.loop;
    if (form.factors.count(counter) != 0) return std::nullopt;
    form.factors[counter] = wrapped(static_cast<std::uint64_t>(*by), form.bits);
  }
  return form;
}

// What is added to the value of the node `joined` on the way to `node`.
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

std::vector<Values::Fact> Values::facts_of(int block) const {
  std::vector<Fact> facts;
  const auto& blocks = graph_.blocks();
  for (int b = block;; b = blocks[static_cast<std::size_t>(b)].dominator) {
    const Block& at = blocks[static_cast<std::size_t>(b)];
    // The one way into `b` is a branch, or the way past one.
    if (at.before.size() == 1) {
      const Block& from = blocks[static_cast<std::size_t>(at.before[0])];
      const Op& last = graph_.program().ops[from.end - 1];
      const bool leaves = last.action == Action::kExit || last.action == Action::kReturn;
      if (last.guard != program::kNoSlot && (leaves || from.after.size() == 2) &&
          (leaves || last.action == Action::kBranch)) {
        const bool jumps = !leaves && last.as<program::BranchFields>().target() == at.begin;
        facts.push_back({last.guard, from.end - 1, jumps != last.guard_negated});
      }
    }
    if (at.dominator == b || at.dominator < 0) return facts;
  }
}

Conditions Values::of_block(int block) {
  const auto b = static_cast<std::size_t>(block);
  if (block_states_[b] == State::kDone) return blocks_[b];
  Conditions c;
  c.threads.assign(threads_, true);
  if (block_states_[b] == State::kOpen) return c;  // asked for on the way: nothing is known
  block_states_[b] = State::kOpen;
  for (const Fact& fact : facts_of(block)) assume(fact, c);
  // A loop's conditions hold where it has been entered.
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
  const Node n = graph_.node(graph_.read(fact.slot, fact.pc));
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

// The comparison of setp is known to be true, or false: what that says of its operands, where both
// forms are the integers that the registers hold.
void Values::compare(const Op& op, std::uint32_t pc, bool is, Conditions& c) {
  const Meaning& m = graph_.program().meanings[pc];
  if (!is_integer(m.type) || !is_known_compare(m.compare)) return;
  const int bits = register_bits(m.type);
  const auto a = source(op.src[0], pc, bits), b = source(op.src[1], pc, bits);
  if (!a || !b || !is_moderate(*a) || !is_moderate(*b)) return;
  const Range all = bits == 64 ? Range{-(Wide{1} << 61), Wide{1} << 61}
                               : integers_of(bits, !is_unsigned_compare(m));
  // Conditions that are known already hold where the comparison is made, too, or later.
  const Range of_a = range_of(*a, c, symbols_), of_b = range_of(*b, c, symbols_);
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
  // left - right + more <= 0
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

void Values::bound_loop(int index) {
  const Loop& loop = graph_.loops()[static_cast<std::size_t>(index)];
  if (loop.latch < 0) return;
  const Block& latch = graph_.blocks()[static_cast<std::size_t>(loop.latch)];
  const Symbol counter = kFirstLoop + index;
  // Before the loop: of its entry.
  const Block& header = graph_.blocks()[static_cast<std::size_t>(loop.header)];
  if (header.before.size() != 2) return;
  const int entry = header.before[header.before[0] == loop.latch ? 1 : 0];
  std::vector<Fact> facts;
  for (const Fact& f : facts_of(loop.latch)) {
    if (loop.holds[static_cast<std::size_t>(graph_.block_of(f.pc))]) facts.push_back(f);
  }
  const Op& last = graph_.program().ops[latch.end - 1];
  if (last.action == Action::kBranch && last.guard != program::kNoSlot) {
    const std::uint32_t target = last.as<program::BranchFields>().target();
    if (latch.after.size() == 2)
      facts.push_back({last.guard, latch.end - 1, (target == header.begin) != last.guard_negated});
  }
  for (const Fact& fact : facts) {
    if (program::is_constant(fact.slot)) continue;
    const Node n = graph_.node(graph_.read(fact.slot, fact.pc));
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
    using C = isa::Compare;
    const bool goes_on_equal = (m.compare == C::kEq) == fact.holds;
    if (m.compare == C::kEq || m.compare == C::kNe) {
      // It goes on until the two are equal: by whole steps, without a turn of the register.
      if (goes_on_equal || !first.known() || !b->known() || !first.uniform() || !b->uniform())
        continue;
      const Wide way = Wide{b->base[0]} - first.base[0];
      if (by == 0 || way % by != 0 || way / by < 0) continue;
      Range& r = symbols_[static_cast<std::size_t>(counter)];
      r.high = std::min(r.high, way / by);
      continue;
    }
    // "a is below b" wherever it goes on, a being what grows.
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
    const Range of_first = range_of(first, before, symbols_), of_b = range_of(*b, before, symbols_);
    if (!within(of_first, all) || !within(of_b, all)) continue;
    if (bits == 64 && is_unsigned_compare(m) && (of_first.low < 0 || of_b.low < 0)) continue;
    // It grows by no more than a step past the greatest value with which it goes on, and so never
    // past the register's end.
    const Wide steps = by > 0 ? by : -Wide{by};
    const Wide end = by > 0 ? of_b.high - strict + steps : of_b.low + strict - steps;
    if (by > 0 ? end > all.high : end < all.low) continue;
    const Wide way = by > 0 ? of_b.high - strict - of_first.low : of_first.high - of_b.low - strict;
    Range& r = symbols_[static_cast<std::size_t>(counter)];
    r.high = std::min(r.high, way < 0 ? Wide{0} : way / steps + 1);
    // Behind the first jump back, a value of one step before was below b. It is a condition of the
    // whole loop where it also holds on its entry.
    Form was = combined(*a, 1, constant(by, 64), -1, 64);
    Form condition = by > 0 ? combined(was, 1, *b, -1, 64) : combined(*b, 1, was, -1, 64);
    condition = combined(condition, 1, constant(strict, 64), 1, 64);
    Form at_entry = condition;
    at_entry.factors.erase(counter);
    if (range_of(at_entry, before, symbols_).high <= 0)
      of_loop_[static_cast<std::size_t>(index)].push_back(condition);
  }
}

bool Values::is_uniform(Slot slot, std::uint32_t pc, int block, int depth) {
  if (program::is_constant(slot)) return true;
  const auto same = [&](const std::optional<Form>& form) {
    if (!form || !form->uniform()) return false;
    for (const auto& [s, f] : form->factors) {
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
