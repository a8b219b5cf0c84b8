#include "simulator/proof/form.h"

#include <algorithm>
#include <set>

namespace lockstep::proof {
namespace {

constexpr int kMostSteps = 3;  // conditions that are applied one after another

Wide clamped(Wide value) { return std::clamp(value, -kNoBound, kNoBound); }

// A sum with numbers wider than a register's, used while conditions are subtracted from it. `base`
// has one number if all threads have the same.
struct Sum {
  std::vector<Wide> base;
  std::map<Symbol, Wide> factors;
};

// The greatest value of `sum` over all threads and the ranges of the symbols.
Wide greatest(const Sum& sum, std::span<const Range> symbols) {
  Wide most = -kNoBound;
  for (const Wide b : sum.base) most = std::max(most, b);
  for (const auto& [symbol, factor] : sum.factors) {
    if (factor == 0) continue;
    const Range& r = symbols[static_cast<std::size_t>(symbol)];
    const Wide end = factor > 0 ? r.high : r.low;
    // Products of larger numbers might overflow.
    constexpr Wide kMost = Wide{1} << 60;
    if (end > kMost || end < -kMost || factor > 4 * kMost || factor < -4 * kMost) return kNoBound;
    most = std::max(most + factor * end, -kNoBound);
    if (most >= kNoBound) return kNoBound;
  }
  return clamped(most);
}

// The same under `conditions`: subtracting a multiple of a form that is at most 0 can only increase
// the sum.
Wide greatest(const Sum& sum, const std::vector<Sum>& conditions, std::span<const Range> symbols,
              int steps) {
  Wide least = greatest(sum, symbols);
  if (steps == 0) return least;
  for (const Sum& c : conditions) {
    for (const auto& [symbol, factor] : c.factors) {
      const auto mine = sum.factors.find(symbol);
      if (factor == 0 || mine == sum.factors.end() || mine->second % factor != 0) continue;
      const Wide times = mine->second / factor;
      if (times <= 0 || times > Wide{1} << 40) continue;
      Sum rest = sum;
      rest.base.resize(std::max(rest.base.size(), c.base.size()), rest.base[0]);
      for (std::size_t t = 0; t < rest.base.size(); ++t)
        rest.base[t] -= times * c.base[c.base.size() == 1 ? 0 : t];
      for (const auto& [s, f] : c.factors) rest.factors[s] -= times * f;
      least = std::min(least, greatest(rest, conditions, symbols, steps - 1));
      break;
    }
  }
  return least;
}

Sum sum_of(const Form& form, const std::vector<bool>& threads, int sign) {
  Sum sum;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    if (!threads[t]) continue;
    sum.base.push_back(Wide{sign} * form.of(t));
    if (form.uniform()) break;
  }
  for (const auto& [s, f] : form.factors) sum.factors[s] = Wide{sign} * f;
  return sum;
}

}  // namespace

std::int64_t wrapped(std::uint64_t value, int bits) {
  if (bits >= 64) return static_cast<std::int64_t>(value);
  if (bits == 1) return value & 1;
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

Form constant(std::int64_t value, int bits) {
  return {bits, {wrapped(static_cast<std::uint64_t>(value), bits)}, {}};
}

Form combined(const Form& left, std::int64_t a, const Form& right, std::int64_t b, int bits) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  Form result = by_thread(left, right, bits, [&](std::int64_t l, std::int64_t r) {
    return static_cast<std::uint64_t>(l) * ua + static_cast<std::uint64_t>(r) * ub;
  });
  const auto add = [&](const Form& from, std::uint64_t times) {
    for (const auto& [s, f] : from.factors) {
      const std::uint64_t sum =
          static_cast<std::uint64_t>(result.factors[s]) + static_cast<std::uint64_t>(f) * times;
      result.factors[s] = wrapped(sum, bits);
      if (result.factors[s] == 0) result.factors.erase(s);
    }
  };
  add(left, ua);
  add(right, ub);
  return result;
}

Range range_of(const Form& form, const Conditions& conditions, std::span<const Range> symbols,
               std::span<const Form* const> more) {
  const Sum up = sum_of(form, conditions.threads, 1), down = sum_of(form, conditions.threads, -1);
  if (up.base.empty()) return {1, 0};
  std::vector<const Form*> left(more.begin(), more.end());
  for (const Form& c : conditions.not_above_0) left.push_back(&c);
  // Uses only conditions that share a symbol with the form, directly or through other such
  // conditions.
  std::vector<Sum> known;
  std::set<Symbol> symbols_of;
  for (const auto& factor : form.factors) symbols_of.insert(factor.first);
  for (bool found = true; found;) {
    found = false;
    for (const Form*& c : left) {
      if (c == nullptr || std::none_of(c->factors.begin(), c->factors.end(), [&](const auto& f) {
            return symbols_of.count(f.first) != 0;
          }))
        continue;
      known.push_back(sum_of(*c, conditions.threads, 1));
      for (const auto& factor : c->factors) symbols_of.insert(factor.first);
      c = nullptr;
      found = true;
    }
  }
  return {-greatest(down, known, symbols, kMostSteps), greatest(up, known, symbols, kMostSteps)};
}

}  // namespace lockstep::proof
