// What a register holds in each thread of a block, as a sum: a number for each thread, and
// multiples of what all threads of the block have in common: the block's place in the grid and the
// counters of loops.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace lockstep::proof {

// %ctaid.x, .y, .z; then a loop's counter: how often its last entry has jumped back so far; then
// values that are known by a range alone, counted from its begin.
using Symbol = int;
inline constexpr Symbol kBlockX = 0, kBlockY = 1, kBlockZ = 2, kFirstLoop = 3;

// base[thread] + sum of factors[s] * s, modulo 2^bits. One number where all threads have the same.
// bits 1: a predicate, with each thread's value known.
struct Form {
  int bits = 64;
  std::vector<std::int64_t> base{0};
  std::map<Symbol, std::int64_t> factors;

  bool uniform() const { return base.size() == 1; }
  bool known() const { return factors.empty(); }
  std::int64_t of(std::size_t thread) const { return base[uniform() ? 0 : thread]; }
};

// A number as a register of `bits` bits holds it, its top bit the sign.
std::int64_t wrapped(std::uint64_t value, int bits);

Form constant(std::int64_t value, int bits);
// a * left + b * right, modulo 2^bits.
Form combined(const Form& left, std::int64_t a, const Form& right, std::int64_t b, int bits);
// combine(left, right) of each thread's numbers; factors of neither.
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

// Numbers far outside of every register stand for "no bound".
using Wide = __int128;
inline constexpr Wide kNoBound = Wide{1} << 100;

// Where the symbols lie, and what is known between them.
struct Conditions {
  std::vector<bool> threads;      // by thread: those that may come here
  std::vector<Form> not_above_0;  // forms that, as integers, are at most 0 in these threads
};
struct Range {
  Wide low = -kNoBound, high = kNoBound;
};

// The least and the greatest integer that the form may be: at most kNoBound away from 0.
// `symbols`: the range of each symbol. `more`: further forms that are at most 0. No thread at all:
// low is above high.
Range range_of(const Form& form, const Conditions& conditions, std::span<const Range> symbols,
               std::span<const Form* const> more = {});

}  // namespace lockstep::proof
