// Values of which only the range is known: loaded data, and results computed from it.
#include <algorithm>
#include <bit>

#include "simulator/program/memory_access.h"
#include "simulator/proof/integers.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

using isa::Opcode;
using program::Action;
using program::Meaning;
using program::Op;

Range Values::operand_range(const Node& n, int i, int bits, bool is_signed) {
  const Range all = integers_of(bits, is_signed);
  const auto form = source(graph_.program().ops[n.pc].src[i], n.pc, bits);
  if (!form || !is_moderate(*form)) return all;
  const Range r = range(*form, conditions(n.pc));
  return within(r, all) && r.low <= r.high ? r : all;
}

// The possible results of the operation.
std::optional<Range> Values::result_range(const Node& n, int bits) {
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  const bool is_signed = isa::is_signed(m.type);
  const auto operand = [&](int i) { return operand_range(n, i, bits, is_signed); };
  const auto plain = [&](int i) { return operand_range(n, i, bits, false); };
  switch (m.opcode) {
    case Opcode::k_and: {
      // At most the smaller operand, if one operand has no sign bit.
      const Wide a = plain(0).high, b = plain(1).high;
      if (std::min(a, b) > integers_of(bits, true).high) return std::nullopt;
      return Range{0, std::min(a, b)};
    }
    case Opcode::k_or:
    case Opcode::k_xor: {
      const Wide most = std::max(plain(0).high, plain(1).high);
      if (most > integers_of(bits, true).high) return std::nullopt;
      return Range{0, (Wide{1} << std::bit_width(static_cast<std::uint64_t>(most))) - 1};
    }
    case Opcode::k_min:
    case Opcode::k_max: {
      const Range a = operand(0), b = operand(1);
      if (m.opcode == Opcode::k_min) return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
      return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Opcode::k_div:
    case Opcode::k_rem: {
      const Range a = operand(0), b = operand(1);
      if (b.low <= 0) return std::nullopt;
      if (m.opcode == Opcode::k_rem)
        return Range{a.low >= 0 ? 0 : std::max(a.low, 1 - b.high),
                     std::min(std::max(a.high, Wide{0}), b.high - 1)};
      return Range{std::min(a.low / b.low, a.low / b.high),
                   std::max(a.high / b.low, a.high / b.high)};
    }
    case Opcode::k_shr: {
      const auto by = source(op.src[1], n.pc, 32);
      if (!by || !by->known() || !by->uniform() || by->base[0] < 0 || by->base[0] >= bits)
        return std::nullopt;
      const Range a = operand(0);
      return Range{a.low >> by->base[0], a.high >> by->base[0]};
    }
    case Opcode::k_mul: {
      if (m.half != isa::Half::kHi) return std::nullopt;
      const Range a = operand(0), b = operand(1);
      if (a.low < 0 || b.low < 0 || bits > 32) return std::nullopt;
      return Range{(a.low * b.low) >> bits, (a.high * b.high) >> bits};
    }
    default: return std::nullopt;
  }
}

// Adds the conditions for a quotient q = a / c, with c above 0 and a not below 0: c q <= a <= c q +
// c - 1.
void Values::relate_quotient(const Node& n, const Form& q, int bits) {
  const Op& op = graph_.program().ops[n.pc];
  const auto a = source(op.src[0], n.pc, bits), c = source(op.src[1], n.pc, bits);
  if (q.known() || !a || !c || !is_moderate(*a) || !c->known() || !c->uniform() ||
      c->base[0] <= 0 || c->base[0] > std::int64_t{1} << 31)
    return;
  const bool is_signed = isa::is_signed(graph_.program().meanings[n.pc].type);
  if (!within(range(*a, conditions(n.pc)), {0, integers_of(bits, is_signed).high})) return;
  const Form over = combined(*a, 1, q, -c->base[0], 64);  // the remainder
  std::vector<Form>& always = always_[q.factors.begin()->first];
  always.push_back(combined(constant(0, 64), 1, over, -1, 64));
  always.push_back(combined(over, 1, constant(1 - c->base[0], 64), 1, 64));
}

std::optional<Form> Values::bounded(const Node& n) {
  if (n.kind == Node::Kind::kJoin) return std::nullopt;
  if (n.kind == Node::Kind::kUnknown && n.pc == 0) return std::nullopt;  // the value is undefined
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action == Action::kLoad) {
    // The number in a whole register may be read as signed or unsigned.
    const bool is_signed =
        op.as<program::MemoryFields>().has(program::kSignExtend) || op.width == op.register_bytes;
    if (op.width > 4 || op.register_bytes > 8) return std::nullopt;
    return data_within(integers_of(8 * op.width, is_signed), 8 * op.register_bytes, n.block);
  }
  if (op.action == Action::kAtomic && op.elements == 1 && op.width == 4 && op.register_bytes == 4 &&
      n.slot == op.dst)
    return data_within(integers_of(32, true), 32, n.block);
  if (op.action != Action::kNone || n.slot != op.dst || !m.plain || !is_integer(m.type))
    return std::nullopt;
  switch (m.opcode) {
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor:
    case Opcode::k_min:
    case Opcode::k_max:
    case Opcode::k_div:
    case Opcode::k_rem:
    case Opcode::k_shr:
    case Opcode::k_mul: {
      const int bits = register_bits(m.type);
      if (m.opcode == Opcode::k_mul && m.half == isa::Half::kWide) return std::nullopt;
      const auto range = result_range(n, bits);
      if (range) {
        if (auto form = data_within(*range, bits, n.block)) {
          if (m.opcode == Opcode::k_div) relate_quotient(n, *form, bits);
          return form;
        }
      }
      return bits <= 32 ? data_within(integers_of(bits, true), bits, n.block) : std::nullopt;
    }
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mad:
    case Opcode::k_shl:
    case Opcode::k_not:
    case Opcode::k_neg: {
      const int bits = register_bits(m.type);
      if (m.half == isa::Half::kWide || bits > 32) return std::nullopt;
      return data_within(integers_of(bits, true), bits, n.block);
    }
    case Opcode::k_cvt: {
      // Any integer with fewer bits.
      const int bits = register_bits(m.type);
      if (is_integer(m.source_type) && register_bits(m.source_type) < bits &&
          register_bits(m.source_type) <= 32)
        return data_within(integers_of(register_bits(m.source_type), isa::is_signed(m.source_type)),
                           bits, n.block);
      return bits <= 32 ? data_within(integers_of(bits, true), bits, n.block) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

}  // namespace lockstep::proof
