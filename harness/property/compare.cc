#include "harness/property/compare.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "harness/device/device.h"
#include "harness/property/half.h"

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kListed = 8;  // bad elements that a report describes
constexpr std::size_t kBlock =
    512;  // elements judged at once; a block with anything unusual is judged again one by one

template <class T>
double as_double(T v) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_double(v);
  } else {
    return static_cast<double>(v);
  }
}

template <class T>
inline bool same_bits(const T& a, const T& b) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

// Magnitudes from here on round to infinity in T: the greatest finite value plus half its ulp.
template <class T>
double overflow_threshold() {
  if constexpr (std::is_same_v<T, float>) return 0x1.ffffffp127;
  if constexpr (std::is_same_v<T, Half>) return 65520;
  return kInfinity;
}

// Rounds to nearest even; false when T is an integer type that does not hold x.
template <class T>
bool round_to(double x, T& out) {
  if constexpr (std::is_same_v<T, Half>) {
    out = to_half(x);
  } else if constexpr (std::is_floating_point_v<T>) {
    out = static_cast<T>(x);
  } else {
    // max() + 1 is a power of two, so exact in double, as min() is.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(x >= static_cast<double>(std::numeric_limits<T>::min()) && x < end) || x != std::trunc(x))
      return false;
    out = static_cast<T>(x);
  }
  return true;
}

struct Judgement {
  bool good;
  double ratio;  // error/bound; infinite when the bound is 0 or the classes differ
};

template <class T>
Judgement judge(T actual, double expected, double bound) {
  const double a = as_double(actual);
  constexpr Judgement kBad{false, kInfinity};
  if (!(bound >= 0)) return kBad;
  if (std::isnan(expected) || std::isnan(a))
    return std::isnan(expected) && std::isnan(a) ? Judgement{true, 0} : kBad;
  if (std::isinf(expected)) return a == expected ? Judgement{true, 0} : kBad;
  if (bound == 0) {
    T exact{};
    return round_to(expected, exact) && same_bits(actual, exact) ? Judgement{true, 0} : kBad;
  }
  if (std::isinf(a)) {
    const double toward =
        a < 0 ? -expected : expected;  // how far the value lies on the side of that infinity
    if (overflow_threshold<T>() == kInfinity)
      return toward + bound == kInfinity ? Judgement{true, 0} : kBad;
    const double ratio = std::max(0.0, (overflow_threshold<T>() - toward) / bound);
    return {ratio <= 1, ratio};
  }
  const double error = std::fabs(a - expected);
  return {error <= bound, error / bound};
}

// Checks a block on the fast path. True if every element is ordinary (finite, bound above 0) and
// within its bound; `worst` is then the largest ratio.
template <class T>
bool all_ordinary(const T* actual, const double* expected, const double* bound, std::size_t n,
                  double& worst) {
  if constexpr (std::is_same_v<T, Half>) {
    return false;
  } else {
    constexpr std::size_t kLanes = 8;
    double lanes[kLanes] = {};
    std::uint64_t unusual[kLanes] = {};
    const auto step = [&](std::size_t i, std::size_t lane) {
      const double error = std::fabs(static_cast<double>(actual[i]) - expected[i]);
      // A NaN or infinity anywhere makes the error NaN or infinite, and neither is at most a finite
      // bound.
      unusual[lane] |= static_cast<std::uint64_t>(!(error <= bound[i])) |
                       static_cast<std::uint64_t>(!(bound[i] > 0)) |
                       static_cast<std::uint64_t>(!(bound[i] < kInfinity));
      const double ratio = error / bound[i];
      lanes[lane] = ratio > lanes[lane] ? ratio : lanes[lane];
    };
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) step(i + lane, lane);
    }
    for (; i < n; ++i) step(i, 0);
    std::uint64_t any = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      any |= unusual[lane];
      worst = std::max(worst, lanes[lane]);
    }
    return any == 0;
  }
}

template <class T>
std::string text_of(const T& v) {
  return detail::text_of<T>(&v);
}

void add_bad(Comparison& c, std::size_t index, Comparison::Element element) {
  c.matches = false;
  ++c.bad;
  c.unwritten += element.unwritten;
  if (c.first_bad.size() == kListed) return;
  c.first_bad.push_back(index);
  c.elements.push_back(std::move(element));
}

std::string sizes_differ(std::size_t actual, std::size_t expected, std::size_t bound) {
  std::string text = "the result has " + std::to_string(actual) + " elements, the reference " +
                     std::to_string(expected);
  return bound == expected ? text : text + " and " + std::to_string(bound) + " bounds";
}

}  // namespace

template <class T>
Comparison compare_within_bound(std::span<const T> actual, std::span<const double> expected,
                                std::span<const double> bound, const IsPoison& poisoned,
                                bool poison_is_proof) {
  Comparison c;
  if (actual.size() != expected.size() || expected.size() != bound.size()) {
    c.matches = false;
    c.size_mismatch = sizes_differ(actual.size(), expected.size(), bound.size());
    return c;
  }
  c.compared = actual.size();
  for (std::size_t start = 0; start < actual.size(); start += kBlock) {
    const std::size_t n = std::min(kBlock, actual.size() - start);
    double worst = 0;
    const bool ordinary = all_ordinary(actual.data() + start, expected.data() + start,
                                       bound.data() + start, n, worst);
    if (ordinary && worst <= c.budget) continue;
    for (std::size_t i = start; i < start + n; ++i) {
      Judgement j = judge(actual[i], expected[i], bound[i]);
      const bool nan = j.good && std::isnan(expected[i]);
      if (nan && poison_is_proof && poisoned && poisoned(i)) j.good = false;
      if (!j.good) {
        // Formats only listed elements: a case may have a million bad ones.
        const bool listed = c.first_bad.size() < kListed;
        add_bad(c, i,
                {as_double(actual[i]), expected[i], bound[i], listed ? text_of(actual[i]) : "", "",
                 poisoned && poisoned(i)});
        continue;
      }
      c.nans += nan;
      if (j.ratio > c.budget) {
        c.budget = j.ratio;
        c.worst_index = i;
      }
    }
  }
  return c;
}

template <class T>
Comparison compare_bitwise(std::span<const T> actual, std::span<const T> expected,
                           const IsPoison& poisoned) {
  Comparison c;
  if (actual.size() != expected.size()) {
    c.matches = false;
    c.size_mismatch = sizes_differ(actual.size(), expected.size(), expected.size());
    return c;
  }
  c.compared = actual.size();
  if (actual.empty() || std::memcmp(actual.data(), expected.data(), actual.size_bytes()) == 0)
    return c;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (same_bits(actual[i], expected[i])) continue;
    const bool listed = c.first_bad.size() < kListed;
    add_bad(c, i,
            {as_double(actual[i]), as_double(expected[i]), 0, listed ? text_of(actual[i]) : "",
             listed ? text_of(expected[i]) : "", poisoned && poisoned(i)});
  }
  return c;
}

std::string Comparison::report(const WhereIs& where) const {
  if (!size_mismatch.empty()) return size_mismatch;
  if (matches) return fmt::format("{} elements match, budget used {:.3g}", compared, budget);
  std::string text = fmt::format("{} of {} elements wrong", bad, compared);
  if (unwritten)
    text += fmt::format(", {} of them still holding the poison (never written)", unwritten);
  for (std::size_t k = 0; k < first_bad.size(); ++k) {
    const Element& e = elements[k];
    text += fmt::format("\n  [{}] is {}", first_bad[k], e.actual_text);
    if (!e.expected_text.empty()) {
      text += fmt::format(", expected {}", e.expected_text);
    } else if (e.bound == 0) {
      text += fmt::format(", expected exactly {:.17g}", e.expected);
    } else {
      const double error = std::fabs(e.actual - e.expected);
      text += fmt::format(", expected {:.9g} within {:.3g}", e.expected, e.bound);
      if (std::isfinite(error) && e.bound > 0)
        text += fmt::format(": error/bound {:.4g}", error / e.bound);
    }
    if (e.unwritten) text += ", poison";
    if (where) {
      const Origin o = where(first_bad[k]);
      text += fmt::format("; block {}, thread {} (warp {}, lane {})", o.block, o.thread,
                          o.thread / 32, o.thread % 32);
    }
  }
  if (bad > first_bad.size()) text += fmt::format("\n  and {} more", bad - first_bad.size());
  return text;
}

void detail::conclude(const Comparison& c, const Site& site, const WhereIs& where,
                      bool poison_is_proof) {
  note_budget(c.budget);
  if (c.matches) return;
  // Poison that a kernel may compute by chance, such as zeros, proves nothing. That is a mismatch,
  // and its text mentions the poison.
  const bool unwritten = poison_is_proof && c.unwritten > 0 && c.unwritten == c.bad;
  fail_at(site, unwritten ? Reason::kUnwritten : Reason::kMismatch, c.report(where));
}

void detail::fail_at(const Site& site, Reason reason, const std::string& message) {
  fail_case({reason, "", fmt::format("{}:{}: {}: {}", site.file, site.line, site.what, message)});
}

void detail::require_cuda(const Site& site, int code, const std::string& message) {
  const cudaError_t error = static_cast<cudaError_t>(code);
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    not_run(fmt::format("{}:{}: {}: out of device memory", site.file, site.line, site.what));
  }
  fail_at(site, Reason::kCudaError,
          message.empty()
              ? fmt::format("{} ({})", cudaGetErrorName(error), cudaGetErrorString(error))
              : message);
}

#define LOCKSTEP_COMPARE_OF(T)                                                                 \
  template Comparison compare_within_bound<T>(std::span<const T>, std::span<const double>,     \
                                              std::span<const double>, const IsPoison&, bool); \
  template Comparison compare_bitwise<T>(std::span<const T>, std::span<const T>, const IsPoison&);
LOCKSTEP_COMPARE_OF(float)
LOCKSTEP_COMPARE_OF(double)
LOCKSTEP_COMPARE_OF(Half)
LOCKSTEP_COMPARE_OF(std::int8_t)
LOCKSTEP_COMPARE_OF(std::uint8_t)
LOCKSTEP_COMPARE_OF(std::int16_t)
LOCKSTEP_COMPARE_OF(std::uint16_t)
LOCKSTEP_COMPARE_OF(std::int32_t)
LOCKSTEP_COMPARE_OF(std::uint32_t)
LOCKSTEP_COMPARE_OF(std::int64_t)
LOCKSTEP_COMPARE_OF(std::uint64_t)
LOCKSTEP_COMPARE_OF(long long)
LOCKSTEP_COMPARE_OF(unsigned long long)
#undef LOCKSTEP_COMPARE_OF

}  // namespace lockstep
