// One value for several alternatives: of paths that meet, of selp, and of a predicated write.
#include <algorithm>
#include <numeric>

#include "simulator/proof/integers.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

using isa::Opcode;
using program::Action;
using program::Meaning;
using program::Op;

namespace {

constexpr int kMostSelections = 4;  // nested selections that are examined

bool have_same_factors(const std::vector<Form>& forms) {
  return std::all_of(forms.begin(), forms.end(),
                     [&](const Form& f) { return f.factors == forms.front().factors; });
}

}  // namespace

Symbol Values::new_data(Wide most, int block) {
  symbols_.push_back({0, most});
  data_blocks_.push_back(block);
  return static_cast<Symbol>(symbols_.size()) - 1;
}

std::optional<Form> Values::data_within(const Range& range, int bits, int block,
                                        std::int64_t unit) {
  constexpr Wide kMost = Wide{1} << 60;
  if (range.low > range.high || range.low < -kMost || range.high > kMost) return std::nullopt;
  Form form = constant(0, 64);
  form.bits = bits;
  form.base[0] = static_cast<std::int64_t>(range.low);
  if (range.low != range.high)
    form.factors[new_data((range.high - range.low) / unit, block)] = unit;
  return form;
}

// A single form for all ways. If the ways differ only by a number for each thread, the result is
// the smallest such number plus an unknown excess. Otherwise only a range and a common divisor are
// known.
std::optional<Form> Values::merged(std::vector<Way> ways, int block) {
  std::erase_if(ways, [](const Way& w) {
    return std::none_of(w.where.threads.begin(), w.where.threads.end(), [](bool t) { return t; });
  });
  if (ways.empty()) return std::nullopt;
  std::vector<Form> forms;
  for (Way& w : ways) {
    if (!w.form || w.form->bits != ways.front().form->bits || !is_moderate(*w.form))
      return std::nullopt;
    std::erase_if(w.form->factors, [](const auto& f) { return f.second == 0; });
    forms.push_back(*w.form);
  }
  if (forms.size() == 1) return forms.front();
  const int bits = forms.front().bits;
  if (have_same_factors(forms)) {
    Form least = forms.front(), greatest = least;
    least.base.resize(threads_);
    greatest.base.resize(threads_);
    std::int64_t unit = 0, most = 0;
    for (std::size_t t = 0; t < threads_; ++t) {
      std::int64_t low = 0, high = 0;
      bool any = false;
      for (std::size_t w = 0; w < ways.size(); ++w) {
        if (!ways[w].where.threads[t]) continue;
        const std::int64_t v = forms[w].of(t);
        low = any ? std::min(low, v) : v;
        high = any ? std::max(high, v) : v;
        any = true;
      }
      least.base[t] = any ? low : forms.front().of(t);
      greatest.base[t] = any ? high : least.base[t];
      most = std::max(most, high - low);
      for (std::size_t w = 0; w < ways.size(); ++w) {
        if (ways[w].where.threads[t]) unit = std::gcd(unit, forms[w].of(t) - low);
      }
    }
    if (most == 0) return least;
    if (bits == 1) return std::nullopt;
    const Symbol more = new_data(most / unit, block);
    least.factors[more] = unit;
    always_[more].push_back(combined(least, 1, greatest, -1, 64));
    return least;
  }
  if (bits == 1) return std::nullopt;
  Range all{kNoBound, -kNoBound};
  std::int64_t unit = 0;
  const std::int64_t any = forms.front().base[0];
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const Range r = ways[w].range ? *ways[w].range : range(forms[w], ways[w].where);
    if (r.low > r.high) continue;
    all.low = std::min(all.low, r.low);
    all.high = std::max(all.high, r.high);
    for (const std::int64_t b : forms[w].base) unit = std::gcd(unit, b - any);
    for (const auto& [s, f] : forms[w].factors) unit = std::gcd(unit, f);
  }
  if (unit == 0) return std::nullopt;
  // Extends the range down to a multiple of the divisor.
  const Wide beyond = ((all.low - any) % unit + unit) % unit;
  all.low -= beyond;
  return data_within(all, bits, block, unit);
}

Range Values::range_where(program::Slot slot, std::uint32_t pc, int bits, const Conditions& where,
                          int depth) {
  const auto form = source(slot, pc, bits);
  const Range all = form && is_moderate(*form) ? range(*form, where) : Range{};
  if (program::is_constant(slot) || depth > kMostSelections) return all;
  const Node n = graph_.node(graph_.origin(graph_.read(slot, pc)));
  if (n.kind != Node::Kind::kOperation) return all;
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (op.action != Action::kNone || !m.plain || !is_integer(m.type) ||
      register_bits(m.type) != bits)
    return all;
  const auto within_both = [&](const Range& other) {
    return Range{std::max(all.low, other.low), std::min(all.high, other.high)};
  };
  if (m.opcode == Opcode::k_cvt && is_integer(m.source_type)) {
    // The integer stays the same if it fits the narrower register.
    const int from = register_bits(m.source_type);
    const Range whole = range_where(op.src[0], n.pc, from, where, depth + 1);
    const bool is_signed = isa::is_signed(m.source_type);
    return within(whole, integers_of(std::min(from, bits), bits <= from || is_signed))
               ? within_both(whole)
               : all;
  }
  if (m.opcode != Opcode::k_selp) return all;
  Range either{kNoBound, -kNoBound};
  for (int i = 0; i < 2; ++i) {
    Conditions arm = where;
    assume({op.src[2], n.pc, (i == 0) != op.as<program::ComputeFields>().negates(2)}, arm);
    const Range r = range_where(op.src[i], n.pc, bits, arm, depth + 1);
    if (r.low > r.high) continue;
    either = {std::min(either.low, r.low), std::max(either.high, r.high)};
  }
  return either.low > either.high ? either : within_both(either);
}

std::optional<Form> Values::selected(const Node& n) {
  const Op& op = graph_.program().ops[n.pc];
  std::vector<Way> ways(2);
  // The old value, for threads with a false predicate.
  ways[0].form = op.dst == n.slot ? compute(n) : std::nullopt;
  if (!ways[0].form) ways[0].form = bounded(n);
  if (!ways[0].form) return std::nullopt;
  ways[1].form = evaluate(graph_.read(n.slot, n.pc));
  for (int i = 0; i < 2; ++i) {
    ways[static_cast<std::size_t>(i)].where = of_block(n.block);
    assume({op.guard, n.pc, (i == 0) != op.guard_negated}, ways[static_cast<std::size_t>(i)].where);
  }
  return merged(std::move(ways), n.block);
}

std::optional<Form> Values::chosen(const Node& n) {
  const Op& op = graph_.program().ops[n.pc];
  const Meaning& m = graph_.program().meanings[n.pc];
  if (!is_integer(m.type)) return std::nullopt;
  std::vector<Way> ways(2);
  const int bits = register_bits(m.type);
  const bool negated = op.as<program::ComputeFields>().negates(2);
  for (int i = 0; i < 2; ++i) {
    Way& way = ways[static_cast<std::size_t>(i)];
    way.where = conditions(n.pc);
    assume({op.src[2], n.pc, (i == 0) != negated}, way.where);
    way.form = source(op.src[i], n.pc, bits);
    if (!way.form) way.form = data_within(integers_of(bits, true), bits, n.block);
    if (way.form && !way.form->known()) way.range = range_where(op.src[i], n.pc, bits, way.where);
  }
  return merged(std::move(ways), n.block);
}

}  // namespace lockstep::proof
