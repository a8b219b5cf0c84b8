// Comparison with a reference, and the assertions of a property's body.
//
// There is no epsilon: a reference returns a value and a bound for each element, and the verdict is
// error/bound.
//
// - NaN matches only NaN. An infinity matches an infinity of its sign.
// - If the bound is 0, the result must have the bits of the reference rounded to the element type.
//   The sign of zero counts.
// - An infinite result also matches a finite reference if, within the bound, some number rounds to
//   that infinity in the element type.
// - A bound that is negative or NaN matches nothing.
//
// A report lists the first bad elements with index, actual, expected, bound and error/bound. If the
// case maps elements to threads, it also names block, warp and thread.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/ledger/verdict.h"
#include "harness/property/case.h"
#include "harness/property/schedule.h"

namespace lockstep {

// Which thread wrote element i, for messages.
struct Origin {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;  // linear index in the block
};
using WhereIs = std::function<Origin(std::size_t index)>;

// The usual mapping: element i belongs to thread i % block_size of block i / block_size.
inline WhereIs one_thread_per_element(std::uint32_t block_size) {
  return [block_size](std::size_t i) {
    return Origin{i / block_size, static_cast<std::uint32_t>(i % block_size)};
  };
}

// A value for max_blocks: the grid has one block for each tile.
inline constexpr int kUnlimited = 0x7fffffff;

// The mapping for a grid of at most `max_blocks` blocks that strides over n elements in tiles of
// items * block_size. In a tile, thread t has the elements t, t + block_size, ...
inline WhereIs tiles_of_blocks(std::int64_t n, int block_size, int max_blocks, int items = 1) {
  const std::uint64_t block = block_size, tile = block * items,
                      tiles = n <= 0 ? 1 : (n - 1) / tile + 1,
                      grid = std::min<std::uint64_t>(tiles, max_blocks);
  return [=](std::size_t i) {
    return Origin{i / tile % grid, static_cast<std::uint32_t>(i % block)};
  };
}

struct Comparison {
  bool matches = true;
  std::size_t compared = 0, bad = 0;
  std::size_t unwritten = 0;    // bad elements that still hold the output's poison
  std::size_t nans = 0;         // elements with NaN in both
  double budget = 0;            // the largest error/bound of the elements that match; at most 1
  std::size_t worst_index = 0;  // the element with that budget
  std::string size_mismatch;    // a sentence if the sizes differ; nothing is compared then
  std::vector<std::size_t> first_bad;  // up to 8
  struct Element {
    double actual, expected, bound;
    std::string actual_text, expected_text;
    bool unwritten;
  };
  std::vector<Element> elements;  // details of first_bad, in its order
  std::string report(const WhereIs& where = {}) const;
};

// Whether element `index` still holds its poison. Empty: unknown.
using IsPoison = std::function<bool(std::size_t index)>;

// Compares host data. Supports the element types of values.h. `poisoned` marks bad elements as
// unwritten. `poison_is_proof`: the poison is a NaN that no kernel computes, so an element that
// holds it is bad even if the reference expects a NaN.
template <class T>
Comparison compare_within_bound(std::span<const T> actual, std::span<const double> expected,
                                std::span<const double> bound, const IsPoison& poisoned = {},
                                bool poison_is_proof = false);
template <class T>
Comparison compare_bitwise(std::span<const T> actual, std::span<const T> expected,
                           const IsPoison& poisoned = {});

// The source position of an assertion.
struct Site {
  const char* file;
  int line;
  const char* what;  // its first argument as written
};

namespace detail {

// A vector, a span or an Eigen array as a span; its size() may be signed.
template <class T, class Range>
std::span<const T> as_span(const Range& range) {
  return {range.data(), static_cast<std::size_t>(range.size())};
}

// Fails the case unless the comparison matches; records the budget.
void conclude(const Comparison& c, const Site& site, const WhereIs& where, bool poison_is_proof);
[[noreturn]] void fail_at(const Site& site, Reason reason, const std::string& message);
void require_cuda(const Site& site, int error, const std::string& message = "");  // a cudaError_t

// The result of a CUDA call or of a launcher: a type with members `error` and `message`.
template <class Status>
void require_success(const Site& site, const Status& status) {
  if constexpr (requires { status.error, status.message; }) {
    require_cuda(site, static_cast<int>(status.error), status.message);
  } else {
    require_cuda(site, static_cast<int>(status));
  }
}

}  // namespace detail

// Returns the elements of the array.
template <class T, class Reference>
std::vector<T> require_within_bound(const Site& site, const DeviceArray<T>& array,
                                    const Reference& reference, const WhereIs& where = {}) {
  std::vector<T> actual = array.fetch();
  const auto poisoned = [&](std::size_t i) { return array.holds_poison(i, actual[i]); };
  const Comparison c = compare_within_bound<T>(actual, detail::as_span<double>(reference.value),
                                               detail::as_span<double>(reference.bound), poisoned,
                                               array.poison_is_proof());
  detail::conclude(c, site, where, array.poison_is_proof());
  return actual;
}

// As above, for a result that is already on the host.
template <class T, class Reference>
void require_within_bound(const Site& site, const std::vector<T>& actual,
                          const Reference& reference, const WhereIs& where = {}) {
  const Comparison c = compare_within_bound<T>(actual, detail::as_span<double>(reference.value),
                                               detail::as_span<double>(reference.bound));
  detail::conclude(c, site, where, false);
}

template <class T, class Expected>
void require_bitwise_equal(const Site& site, const DeviceArray<T>& array, const Expected& expected,
                           const WhereIs& where = {}) {
  const std::vector<T> actual = array.fetch();
  const auto poisoned = [&](std::size_t i) { return array.holds_poison(i, actual[i]); };
  const Comparison c = compare_bitwise<T>(actual, detail::as_span<T>(expected), poisoned);
  detail::conclude(c, site, where, array.poison_is_proof());
}

template <class T, class Expected>
void require_bitwise_equal(const Site& site, const std::vector<T>& actual, const Expected& expected,
                           const WhereIs& where = {}) {
  detail::conclude(compare_bitwise<T>(actual, detail::as_span<T>(expected)), site, where, false);
}

// Runs `run`, which returns a vector of elements, under the current schedule and then under
// `schedules` others. On silicon it repeats `run` as often. Every result must equal the first bit
// for bit.
template <class Run>
void require_deterministic(const Site& site, int schedules, Run&& run) {
  const auto first = run();
  for (int s = 1; s <= schedules; ++s) {
    const ScheduleScope schedule(static_cast<std::uint64_t>(s));
    const auto again = run();
    using T = typename std::decay_t<decltype(first)>::value_type;
    const Comparison c = compare_bitwise<T>(std::span<const T>(again), std::span<const T>(first));
    if (c.matches) continue;
    detail::fail_at(site, Reason::kNondeterminism,
                    fmt::format("{} {} gives other bits than the first: {}",
                                is_simulator() ? "schedule" : "run", s, c.report()));
  }
}

}  // namespace lockstep

// `array` is a DeviceArray, or a std::vector that came from one. `reference` is anything with
// members `value` and `bound` that have data() and size() of double (reference/bounded.h).
//
//   REQUIRE_WITHIN_BOUND(array, reference [, where])
//   REQUIRE_BITWISE_EQUAL(array, span or vector [, where])
//   REQUIRE_CUDA(call)                      a cudaError_t, or a launcher's answer with members
//                                           `error` and `message`
//   REQUIRE_LAW(condition, "format", ...)   a metamorphic law, in words (fmt syntax)
//   REQUIRE_DETERMINISTIC(schedules, [&] { return run(); })
//                                           the same bits under that many schedules (simulator), or
//                                             runs (silicon)
#define LOCKSTEP_SITE_(what) \
  ::lockstep::Site { __FILE__, __LINE__, what }
#define REQUIRE_WITHIN_BOUND(array, ...) \
  ::lockstep::require_within_bound(LOCKSTEP_SITE_(#array), array, __VA_ARGS__)
#define REQUIRE_BITWISE_EQUAL(array, ...) \
  ::lockstep::require_bitwise_equal(LOCKSTEP_SITE_(#array), array, __VA_ARGS__)
#define REQUIRE_CUDA(...) \
  ::lockstep::detail::require_success(LOCKSTEP_SITE_(#__VA_ARGS__), __VA_ARGS__)
#define REQUIRE_LAW(condition, ...)                                                     \
  do {                                                                                  \
    if (!(condition))                                                                   \
      ::lockstep::detail::fail_at(LOCKSTEP_SITE_(#condition), ::lockstep::Reason::kLaw, \
                                  ::fmt::format(__VA_ARGS__));                          \
  } while (false)
#define REQUIRE_DETERMINISTIC(schedules, ...) \
  ::lockstep::require_deterministic(LOCKSTEP_SITE_("REQUIRE_DETERMINISTIC"), schedules, __VA_ARGS__)
