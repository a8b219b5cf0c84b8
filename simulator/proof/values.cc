#include "simulator/proof/values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "simulator/program/memory_access.h"
#include "simulator/proof/integers.h"

namespace lockstep::proof {

using isa::Opcode;
using isa::Type;
using program::Action;
using program::Meaning;
using program::Op;
using program::Slot;

namespace {

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
  // Visits outer loops first, then all again once inner loops are known. A value that was evaluated
  // before a loop's bound was known may become more precise.
  const int loops = static_cast<int>(graph.loops().size());
  for (int l = 0; l < (loops > 1 ? 2 * loops : loops); ++l) {
    forget();
    of_loop_[static_cast<std::size_t>(l % loops)].clear();
    bound_loop(l % loops);
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

Range Values::range(const Form& form, const Conditions& where) const {
  // Conditions on data hold only where something depends on the data.
  std::vector<const Form*> more;
  std::set<Symbol> seen;
  const auto add = [&](const Form& f) {
    for (const auto& [s, factor] : f.factors) {
      const auto known = is_data(s) ? always_.find(s) : always_.end();
      if (known == always_.end() || !seen.insert(s).second) continue;
      for (const Form& a : known->second) more.push_back(&a);
    }
  };
  add(form);
  for (const Form& c : where.not_above_0) add(c);
  return range_of(form, where, symbols_, more);
}

std::optional<Form> Values::evaluate(int node) {
  const auto n = static_cast<std::size_t>(node);
  if (states_.size() < graph_.nodes()) {
    states_.resize(graph_.nodes(), State::kNew);
    values_.resize(graph_.nodes());
  }
  if (states_[n] == State::kDone) return values_[n];
  if (states_[n] == State::kOpen) return std::nullopt;  // the value depends on itself
  if (depth_ == kDeepest) return std::nullopt;
  ++depth_;
  states_[n] = State::kOpen;
  const Node what = graph_.node(node);
  std::optional<Form> form;
  if (what.kind == Node::Kind::kOperation) form = compute(what);
  if (what.kind == Node::Kind::kSelect) form = selected(what);
  if (what.kind == Node::Kind::kJoin) form = join(node);
  // A predicated operation may leave the old value, which may be any number.
  if (!form && what.kind != Node::Kind::kSelect) form = bounded(what);
  if (form) {
    std::erase_if(form->factors, [](const auto& f) { return f.second == 0; });
    if (form->known()) {
      for (std::int64_t& b : form->base) b = wrapped(static_cast<std::uint64_t>(b), form->bits);
    }
    if (std::all_of(form->base.begin(), form->base.end(),
                    [&](std::int64_t b) { return b == form->base[0]; }))
      form->base.resize(1);
  }
  --depth_;
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

// Extends a register to at least as many bits. Valid if the form equals the integer in the
// register.
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
  if (!within(range(*form, here), integers_of(form->bits, is_signed))) return std::nullopt;
  return wide;
}

std::optional<Form> Values::compute_predicate(const Node& n) {
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  const auto predicate = [&](int i) -> std::optional<Form> {
    auto p = source(op.src[i], n.pc, 1);
    if (!p || !p->known()) return std::nullopt;
    if (op.as<program::ComputeFields>().negates(i)) {
      for (std::int64_t& b : p->base) b ^= 1;
    }
    return p;
  };
  using B = isa::BoolOp;
  // Combines predicates thread by thread, if both are known or one of them decides the result.
  const auto both = [&](std::optional<Form> a, std::optional<Form> b,
                        B how) -> std::optional<Form> {
    const auto decides = [&](const std::optional<Form>& x) {
      const std::int64_t alone = how == B::kAnd ? 0 : 1;
      return x && how != B::kXor &&
             std::all_of(x->base.begin(), x->base.end(),
                         [&](std::int64_t v) { return v == alone; });
    };
    if (decides(a)) return a;
    if (decides(b)) return b;
    if (!a || !b) return std::nullopt;
    return by_thread(*a, *b, 1, [&](std::int64_t l, std::int64_t r) {
      return how == B::kAnd ? l & r : how == B::kOr ? l | r : l ^ r;
    });
  };
  if (m.opcode == Opcode::k_setp) {
    if (!is_integer(m.type) || !is_known_compare(m.compare)) return std::nullopt;
    const int bits = register_bits(m.type);
    const auto a = source(op.src[0], n.pc, bits), b = source(op.src[1], n.pc, bits);
    std::optional<Form> compared;
    if (a && b && a->known() && b->known()) {
      compared = by_thread(*a, *b, 1, [&](std::int64_t l, std::int64_t r) -> std::int64_t {
        return is_unsigned_compare(m)
                   ? holds(m.compare, low_bits(l, bits), low_bits(r, bits))
                   : holds(m.compare, wrapped(static_cast<std::uint64_t>(l), bits),
                           wrapped(static_cast<std::uint64_t>(r), bits));
      });
    } else if (a && b) {
      compared = compared_by_range(*a, *b, n.pc, bits);
    }
    return m.bool_op == B::kNone ? compared : both(compared, predicate(2), m.bool_op);
  }
  switch (m.opcode) {
    case Opcode::k_mov: return predicate(0);
    case Opcode::k_not: {
      auto p = predicate(0);
      if (p) {
        for (std::int64_t& b : p->base) b ^= 1;
      }
      return p;
    }
    case Opcode::k_and: return both(predicate(0), predicate(1), B::kAnd);
    case Opcode::k_or: return both(predicate(0), predicate(1), B::kOr);
    case Opcode::k_xor: return both(predicate(0), predicate(1), B::kXor);
    default: return std::nullopt;
  }
}

// The result of setp, if the ranges of its operands decide it.
std::optional<Form> Values::compared_by_range(const Form& a, const Form& b, std::uint32_t pc,
                                              int bits) {
  const Meaning& m = graph_.program().meanings[pc];
  if (!is_moderate(a) || !is_moderate(b)) return std::nullopt;
  const Range all = integers_of(bits, !is_unsigned_compare(m));
  const Conditions here = conditions(pc);
  const Range of_a = range(a, here), of_b = range(b, here);
  if (!within(of_a, all) || !within(of_b, all)) return std::nullopt;
  const Range less = range(combined(a, 1, b, -1, 64), here);
  if (less.low > less.high) return std::nullopt;
  const auto decided = [](bool value) { return constant(value ? 1 : 0, 1); };
  using C = isa::Compare;
  switch (m.compare) {
    case C::kEq:
    case C::kNe:
      if (less.low > 0 || less.high < 0) return decided(m.compare == C::kNe);
      return std::nullopt;
    case C::kLt:
    case C::kLo:
      if (less.high < 0) return decided(true);
      return less.low >= 0 ? std::optional(decided(false)) : std::nullopt;
    case C::kLe:
    case C::kLs:
      if (less.high <= 0) return decided(true);
      return less.low > 0 ? std::optional(decided(false)) : std::nullopt;
    case C::kGt:
    case C::kHi:
      if (less.low > 0) return decided(true);
      return less.high <= 0 ? std::optional(decided(false)) : std::nullopt;
    default:
      if (less.low >= 0) return decided(true);
      return less.high < 0 ? std::optional(decided(false)) : std::nullopt;
  }
}

std::optional<Form> Values::shifted(const Node& n, int bits) {
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  const bool left = m.opcode == Opcode::k_shl, is_signed = isa::is_signed(m.type);
  const auto a = source(op.src[0], n.pc, bits), by = source(op.src[1], n.pc, 32);
  if (!a || !by || !by->known()) return std::nullopt;
  if (a->known()) {
    // Shift amounts above the register's width count as the width (9.7.8.7 and 9.7.8.8).
    return by_thread(*a, *by, bits, [&](std::int64_t value, std::int64_t amount) -> std::int64_t {
      const std::uint64_t places = low_bits(amount, 32);
      if (places >= static_cast<std::uint64_t>(bits))
        return left || !is_signed || wrapped(static_cast<std::uint64_t>(value), bits) >= 0 ? 0 : -1;
      if (left) return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << places);
      return is_signed ? wrapped(static_cast<std::uint64_t>(value), bits) >> places
                       : static_cast<std::int64_t>(low_bits(value, bits) >> places);
    });
  }
  if (!by->uniform() || by->base[0] < 0 || by->base[0] >= bits) return std::nullopt;
  if (left)
    return combined(*a, static_cast<std::int64_t>(std::uint64_t{1} << by->base[0]),
                    constant(0, bits), 0, bits);
  if (by->base[0] > 40) return std::nullopt;
  const std::int64_t unit = std::int64_t{1} << by->base[0];
  if (!all_divisible(*a, unit)) return std::nullopt;
  // A right shift rounds down, so it may be applied to each part of the sum if only the first part
  // is inexact.
  std::optional<Form> exact = extended(a, n.pc, is_signed, bits);
  if (!exact) return std::nullopt;
  for (std::int64_t& b : exact->base) b >>= by->base[0];
  for (auto& [s, f] : exact->factors) f /= unit;
  return exact;
}

std::optional<Form> Values::compute(const Node& n) {
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action == Action::kSpecialRegister) return special(op);
  if (op.action == Action::kLoadKernelParameter) {
    if (op.elements != 1 || op.width > 8 || op.immediate < 0 ||
        static_cast<std::uint64_t>(op.immediate) + op.width > shape_.parameters.size())
      return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, shape_.parameters.data() + op.immediate, op.width);
    const bool is_signed = op.as<program::MemoryFields>().has(program::kSignExtend);
    return constant(is_signed ? wrapped(value, 8 * op.width) : static_cast<std::int64_t>(value),
                    8 * op.register_bytes);
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
  if (m.opcode == Opcode::k_setp || m.type == Type::kPred) return compute_predicate(n);
  if (m.opcode == Opcode::k_selp) return chosen(n);
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
    case Opcode::k_neg:
    case Opcode::k_not: {
      const auto a = in(0, bits);
      if (!a) return std::nullopt;
      return combined(*a, -1, constant(m.opcode == Opcode::k_neg ? 0 : -1, bits), 1, bits);
    }
    case Opcode::k_shl:
    case Opcode::k_shr: return shifted(n, bits);
    case Opcode::k_and: {
      auto a = in(0, bits), b = in(1, bits);
      if (!a || !b) return std::nullopt;
      if (!a->known()) std::swap(a, b);
      if (!b->known()) {
        // A mask of the low bits: multiples of the mask's power of two do not change them.
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
  const auto a = in(0, bits), b = in(1, bits);
  if (!a || !b) return std::nullopt;
  if ((m.opcode == Opcode::k_div || m.opcode == Opcode::k_rem) && !a->known()) {
    // A sum of multiples of the divisor and a non-negative number for each thread.
    if (!b->known() || !b->uniform() || b->base[0] <= 0 || !all_divisible(*a, b->base[0]))
      return std::nullopt;
    const Range all = integers_of(bits, is_signed), r = range(*a, conditions(n.pc));
    if (!within(r, {0, all.high})) return std::nullopt;
    const std::int64_t by = b->base[0];
    const auto rest = [&](std::int64_t v) { return (v % by + by) % by; };
    Form result = *a;
    for (std::int64_t& v : result.base)
      v = m.opcode == Opcode::k_rem ? rest(v) : (v - rest(v)) / by;
    for (auto& [symbol, factor] : result.factors)
      factor = m.opcode == Opcode::k_rem ? 0 : factor / by;
    return result;
  }
  // Computed thread by thread if everything is known.
  if (!a->known() || !b->known()) return std::nullopt;
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
      for (const std::int64_t r : b->base) {
        if (r == 0 || r == -1) return std::nullopt;  // dividing the smallest number by -1 overflows
      }
      return by_thread(*a, *b, bits, [&](std::int64_t l, std::int64_t r) -> std::int64_t {
        if (is_signed) return m.opcode == Opcode::k_div ? l / r : l % r;
        const std::uint64_t ul = low_bits(l, bits), ur = low_bits(r, bits);
        return static_cast<std::int64_t>(m.opcode == Opcode::k_div ? ul / ur : ul % ur);
      });
    }
    default: return std::nullopt;
  }
}

}  // namespace lockstep::proof
