// Comparison with a reference, and the assertions of a property's body.
//
// No epsilon: a reference gives value and bound of every element, and the verdict is error/bound. NaN matches NaN only, infinities match by sign,
// and where the bound is 0 the result must be bit-equal to the reference rounded to the element type, the sign of zero included.
// The first bad elements are listed with index, actual, expected, bound, error/bound and, when the case can tell, block, warp and thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/device_array.h"
#include "harness/verdict.h"

namespace lockstep {

// Which thread wrote element i, for messages.
struct Origin {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;
};
using WhereIs = std::function<Origin(std::size_t index)>;

struct Comparison {
  bool matches = true;
  std::size_t compared = 0, bad = 0, unwritten = 0;
  double budget = 0;                 // max error/bound over the elements that match; what passes has <= 1
  std::size_t worst_index = 0;
  std::vector<std::size_t> first_bad;  // up to 8
  std::string report(const WhereIs& where = {}) const;
  // details of first_bad, same order
  struct Element { double actual, expected, bound; std::string actual_text; };
  std::vector<Element> elements;
};

// Pure comparison on host data: the part with must-accept and must-reject sets of its own.
template <class T>
Comparison compare_within_bound(std::span<const T> actual, std::span<const double> expected, std::span<const double> bound);
template <class T>
Comparison compare_bitwise(std::span<const T> actual, std::span<const T> expected);

// Ends the running case as failed; RapidCheck sees it and shrinks.
[[noreturn]] void fail_case(Failure failure);

}  // namespace lockstep

// reference: anything with members `value` and `bound` that have data() and size() of double (reference/bounded.h).
//   REQUIRE_WITHIN_BOUND(array, reference [, where])     REQUIRE_BITWISE_EQUAL(array, span_or_vector [, where])
//   REQUIRE_CUDA(call)      a cudaError_t that must be cudaSuccess; synchronous errors and findings are told apart
//   REQUIRE_LAW(condition, "format", ...)                a metamorphic law, in words (fmt syntax)
//   REQUIRE_DETERMINISTIC(schedules, [&] { return run(); })   the same bits under that many schedules (simulator), or runs (silicon)
