// The value of a register in each thread of a block, as a sum: a number for each thread, plus
// multiples of values that all threads of the block share (the block's position in the grid and
// loop counters).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace lockstep::proof {

// %ctaid.x, .y, .z; then loop counters: how often the loop has jumped back since it was last
// entered; then values of which only a range is known, counted from the start of the range.
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

// `value` as a signed integer of `bits` bits.
std::int64_t wrapped(std::uint64_t value, int bits);

Form constant(std::int64_t value, int bits);
// a * left + b * right, modulo 2^bits.
Form combined(const Form& left, std::int64_t a, const Form& right, std::int64_t b, int bits);
// combine(left, right) of each thread's numbers. Neither form may have factors.
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

// A number far outside every register's range means "no bound".
using Wide = __int128;
inline constexpr Wide kNoBound = Wide{1} << 100;

// The threads that may be at a place, and the known relations between symbols there.
struct Conditions {
  std::vector<bool> threads;      // by thread: whether it may reach the place
  std::vector<Form> not_above_0;  // forms that, as integers, are at most 0 in these threads
};
struct Range {
  Wide low = -kNoBound, high = kNoBound;
};

// The least and the greatest integer that the form may have, at most kNoBound from 0. `symbols`:
// the range of each symbol. `more`: further forms that are at most 0. If no thread reaches the
// place, low is above high.
Range range_of(const Form& form, const Conditions& conditions, std::span<const Range> symbols,
               std::span<const Form* const> more = {});

}  // namespace lockstep::proof
