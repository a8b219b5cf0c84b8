// The value of a register in each thread of a block, as a sum: a number for each thread, plus
// multiples of symbols that are common to all threads of the block, such as the block's index and
// loop counters.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace lockstep::proof {

// 0 to 2: %ctaid.x, .y, .z. Then loop counters: how often a loop has jumped back since it was
// entered. Then data: values of which only the range is known, counted from its lower end.
using Symbol = int;
inline constexpr Symbol kBlockX = 0, kBlockY = 1, kBlockZ = 2, kFirstLoop = 3;

// base[thread] + sum of factors[s] * s, modulo 2^bits. `base` has one number if all threads have
// the same. bits 1: a predicate whose value is known for each thread.
struct Form {
  int bits = 64;
  std::vector<std::int64_t> base{0};
  std::map<Symbol, std::int64_t> factors;

  bool uniform() const { return base.size() == 1; }
  bool known() const { return factors.empty(); }
  std::int64_t of(std::size_t thread) const { return base[uniform() ? 0 : thread]; }
};

// The value of a register with `bits` bits as a signed number.
std::int64_t wrapped(std::uint64_t value, int bits);

Form constant(std::int64_t value, int bits);
// a * left + b * right, modulo 2^bits.
Form combined(const Form& left, std::int64_t a, const Form& right, std::int64_t b, int bits);
// Applies combine(left, right) to each thread's numbers. The result has no factors.
template <class Combine>
Form by_thread(const Form& left, const Form& right, int bits, Combine combine) {
  Form result{bits, {}, {}};
  const std::size_t count =
      left.base.size() > right.base.size() ? left.base.size() : right.base.size();
  result.base.resize(count);
  for (std::size_t t = 0; t < count; ++t)
    result.base[t] = wrapped(static_cast<std::uint64_t>(combine(left.of(t), right.of(t))), bits);
  return result;
}

// Numbers far outside of any register's range mean "no bound".
using Wide = __int128;
inline constexpr Wide kNoBound = Wide{1} << 100;

// The threads that may reach an operation, and relations between symbols there.
struct Conditions {
  std::vector<bool> threads;      // by thread: whether the thread may get here
  std::vector<Form> not_above_0;  // forms whose integer value is at most 0 in these threads
};
struct Range {
  Wide low = -kNoBound, high = kNoBound;
};

// The smallest and greatest integer value of the form, at most kNoBound away from 0. `symbols`: the
// range of each symbol. `more`: further forms that are at most 0. If there are no threads, low is
// above high.
Range range_of(const Form& form, const Conditions& conditions, std::span<const Range> symbols,
               std::span<const Form* const> more = {});

}  // namespace lockstep::proof
