#include "properties/shuffle_roundings.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "harness/property/rounded.h"

namespace lockstep::properties {
namespace {

using reference::SegmentSum;
using enum Rounding;

// Sums of two halves are exact in double.
Half half_sum(Half a, Half b, Rounding mode) {
  const double exact = to_double(a) + to_double(b);
  Half h = to_half(exact);
  const double rounded = to_double(h);
  const bool up = mode == kUp || (mode == kZero && exact < 0),
             down = mode == kDown || (mode == kZero && exact > 0);
  // The bits of the next larger magnitude are one more.
  if (up && rounded < exact) h.bits += h.bits & 0x8000 ? -1 : 1;
  if (down && rounded > exact) h.bits += h.bits & 0x8000 ? 1 : -1;
  return h;
}

template <class T>
T sum(T a, T b, Rounding mode) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_sum(a, b, mode);
  } else {
    return rounded_add(a, b, mode);
  }
}

template <class T>
T without_subnormals(T x) {
  if constexpr (std::is_same_v<T, Half>) {
    return std::fabs(to_double(x)) < 0x1p-14 ? Half{static_cast<std::uint16_t>(x.bits & 0x8000)}
                                             : x;
  } else {
    return flushed(x);
  }
}

// A format with more precision than T, for sums that are too precise.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, double>, long double, double>;
template <class T>
Wider<T> widened(T x) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_double(x);
  } else {
    return x;
  }
}
template <class T>
T narrowed(Wider<T> x) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(x);
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
using Segment = std::vector<T>;

template <class T, class Add>
auto chain(SegmentSum kind, Add add) {
  return [=](const Segment<T>& x) {
    const auto y = reference::segment_chain<T>(kind, x, static_cast<int>(x.size()), add);
    return kind == SegmentSum::kInclusive ? y.back() : y.front();
  };
}

template <class T>
std::vector<typename SegmentRoundings<T>::Neighbour> neighbours(SegmentSum kind) {
  const auto with = [kind](Rounding mode) {
    return chain<T>(kind, [mode](T a, T b) { return sum(a, b, mode); });
  };
  const auto one_after_another = [](const Segment<T>& x) {
    T s = x[0];
    for (std::size_t j = 1; j < x.size(); ++j) s = device_sum(s, x[j]);
    return s;
  };
  // A scan's last lane, and a sum with growing distances, add the same partial sums: neighbours
  // first.
  const auto neighbours_first = [](Segment<T> x) {
    for (; x.size() > 1; x.resize(x.size() / 2)) {
      for (std::size_t j = 0; j < x.size() / 2; ++j) x[j] = device_sum(x[2 * j], x[2 * j + 1]);
    }
    return x[0];
  };
  const auto halves_first = chain<T>(SegmentSum::kAll, [](T a, T b) { return device_sum(a, b); });
  typename SegmentRoundings<T>::Neighbour other_order{"distances that grow", neighbours_first};
  if (kind == SegmentSum::kInclusive) other_order = {"distances that shrink", halves_first};
  return {
      {"sums rounded to zero", with(kZero)},
      {"sums rounded up", with(kUp)},
      {"sums rounded down", with(kDown)},
      other_order,
      {"one after another", one_after_another},
      {"a sum in a wider format",
       [](const Segment<T>& x) {
         Wider<T> s = 0;
         for (const T& v : x) s += widened(v);
         return narrowed<T>(s);
       }},
      {"subnormal sums flushed",
       chain<T>(kind, [](T a, T b) { return without_subnormals(device_sum(a, b)); })},
      {"subnormal terms flushed",
       chain<T>(kind,
                [](T a, T b) { return device_sum(without_subnormals(a), without_subnormals(b)); })},
  };
}

}  // namespace

float device_sum(float a, float b) { return rounded_add(a, b); }
double device_sum(double a, double b) { return rounded_add(a, b); }
Half device_sum(Half a, Half b) { return half_sum(a, b, kNearest); }

template <class T>
const SegmentRoundings<T>& segment_roundings(SegmentSum kind) {
  const auto made = [](SegmentSum k) {
    return SegmentRoundings<T>(chain<T>(k, [](T a, T b) { return device_sum(a, b); }),
                               neighbours<T>(k));
  };
  static const SegmentRoundings<T> sums = made(SegmentSum::kAll),
                                   scans = made(SegmentSum::kInclusive);
  return kind == SegmentSum::kInclusive ? scans : sums;
}

template <class T>
std::vector<T> any_segment(int width, Bits& bits) {
  constexpr int kLeast = std::is_same_v<T, Half>    ? -14
                         : std::is_same_v<T, float> ? -126
                                                    : -1022;  // normal exponent
  constexpr int kBits = std::is_same_v<T, Half> ? 11 : std::is_same_v<T, float> ? 24 : 53;
  const bool tiny = bits.chance(30);
  std::vector<T> x;
  for (int j = 0; j < width; ++j) {
    const auto significand = static_cast<double>(bits.below(std::uint64_t{1} << kBits));
    const int exponent = (tiny ? kLeast : 3) - kBits - static_cast<int>(bits.below(4));
    const double v = std::ldexp(bits.chance(50) ? significand : -significand, exponent);
    x.push_back(narrowed<T>(v));
  }
  return x;
}

#define LOCKSTEP_ROUNDINGS_OF(T)                                                   \
  template const SegmentRoundings<T>& segment_roundings<T>(reference::SegmentSum); \
  template std::vector<T> any_segment<T>(int, Bits&);
LOCKSTEP_ROUNDINGS_OF(float)
LOCKSTEP_ROUNDINGS_OF(double)
LOCKSTEP_ROUNDINGS_OF(Half)
#undef LOCKSTEP_ROUNDINGS_OF

}  // namespace lockstep::properties
