#include "reference/tensor_matmul_scaled.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::reference {
namespace {

using Index = Eigen::Index;

constexpr int kStepBytes = 32, kResultBits = 23, kLeastOfFloat = -126;

struct Rules {
  int fraction_bits, zero_exponent, terms;  // terms: including the accumulator
};
Rules rules_of(Scaled type) {
  return type == Scaled::kMxf8 ? Rules{25, -133, 33} : Rules{35, -139, 5};
}

// A term of a step: its value, its exponent if it is not zero, and its size for the bound.
struct Term {
  double value = 0;
  int exponent = 0;
  bool zero = true;
  double size = 0;
};

// A scale: significand * 2^exponent.
struct Scale {
  double significand = 1;
  int exponent = 0;
  bool nan = false;
};
Scale scale_of(Scaled type, std::uint8_t bits) {
  if (type == Scaled::kMxf8) return {1, bits - 127, bits == 0xff};
  const int field = bits >> 3 & 15, fraction = bits & 7;
  return {(fraction + (field == 0 ? 0 : 8)) / 8.0, std::max(field, 1) - 7, (bits & 0x7f) == 0x7f};
}

double value_of_e2m1(int bits) {
  constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7];
}

// The sum over one row of A and one column of B.
class Pair {
 public:
  Pair(Scaled type, const ScaledRows& a, Index i, const ScaledRows& b, Index j)
      : type_(type), a_(a), b_(b), i_(i), j_(j) {}

  Index steps() const { return (a_.elements.cols() + kStepBytes - 1) / kStepBytes; }

  // Computes the terms of a step. False: one of them is a NaN.
  bool terms(Index step, std::vector<Term>& terms) const {
    terms.clear();
    const Index first = step * kStepBytes, end = std::min(first + kStepBytes, a_.elements.cols());
    const int each = type_ == Scaled::kMxf8 ? 32 : 8;
    bool numbers = true;
    for (Index from = first; from < end; from += each) {
      const Scale x = scale_of(type_, a_.scales(i_, from / each)),
                  y = scale_of(type_, b_.scales(j_, from / each));
      numbers &= !x.nan && !y.nan;
      const Index to = std::min(from + each, end);
      numbers &=
          type_ == Scaled::kMxf8 ? products(from, to, x, y, terms) : group(from, to, x, y, terms);
    }
    return numbers;
  }

 private:
  bool products(Index from, Index to, const Scale& x, const Scale& y,
                std::vector<Term>& terms) const {
    constexpr int kLeast = -6;
    bool numbers = true;
    for (Index p = from; p < to; ++p) {
      const double a = value_of(Factor::kE4m3, a_.elements(i_, p)),
                   b = value_of(Factor::kE4m3, b_.elements(j_, p));
      if (std::isnan(a) || std::isnan(b)) numbers = false;
      if (!numbers || a == 0 || b == 0) continue;
      const int scale = x.exponent + y.exponent;
      terms.push_back({std::ldexp(a * b, scale),
                       std::max(std::ilogb(a), kLeast) + std::max(std::ilogb(b), kLeast) + scale,
                       false,
                       std::ldexp(std::max(std::fabs(a), std::ldexp(1, kLeast)) *
                                      std::max(std::fabs(b), std::ldexp(1, kLeast)),
                                  scale)});
    }
    return numbers;
  }

  bool group(Index from, Index to, const Scale& x, const Scale& y, std::vector<Term>& terms) const {
    double sum = 0, magnitude = 0;
    for (Index p = from; p < to; ++p) {
      for (const int shift : {0, 4}) {
        const double product = value_of_e2m1(a_.elements(i_, p) >> shift & 15) *
                               value_of_e2m1(b_.elements(j_, p) >> shift & 15);
        sum += product, magnitude += std::fabs(product);
      }
    }
    const double scale = std::ldexp(x.significand * y.significand, x.exponent + y.exponent);
    if (magnitude == 0 || scale == 0) return true;
    terms.push_back({sum * scale, x.exponent + y.exponent, false,
                     std::max(magnitude * scale, std::ldexp(1, x.exponent + y.exponent))});
    return true;
  }

  const Scaled type_;
  const ScaledRows &a_, &b_;
  const Index i_, j_;
};

float cut_to_float(double sum) {
  if (sum == 0) return 0;
  if (std::fabs(sum) >= 0x1p128) return std::copysign(HUGE_VALF, static_cast<float>(sum));
  const int last = std::max(std::ilogb(sum), kLeastOfFloat) - kResultBits;
  return static_cast<float>(std::ldexp(std::trunc(std::ldexp(sum, -last)), last)) + 0.0f;
}

float one_sum(Scaled type, const Pair& pair, float c) {
  const Rules rules = rules_of(type);
  std::vector<Term> terms;
  float accumulator = c;
  for (Index step = 0; step < pair.steps(); ++step) {
    if (!pair.terms(step, terms)) accumulator = std::numeric_limits<float>::quiet_NaN();
    if (!std::isfinite(accumulator)) continue;
    int largest =
        accumulator == 0 ? rules.zero_exponent : std::max(std::ilogb(accumulator), kLeastOfFloat);
    for (const Term& t : terms) largest = std::max(largest, t.exponent);
    const int last = largest - rules.fraction_bits;
    double sum = std::trunc(std::ldexp(static_cast<double>(accumulator), -last));
    for (const Term& t : terms) sum += std::trunc(std::ldexp(t.value, -last));
    accumulator = cut_to_float(std::ldexp(sum, last));
  }
  return accumulator;
}

void require_shapes(Scaled type, const ScaledRows& a, const ScaledRows& b, const RowMajorD& c) {
  const Index each = type == Scaled::kMxf8 ? 32 : 8;
  const Index scales = (a.elements.cols() + each - 1) / each;
  eigen_assert(a.elements.cols() == b.elements.cols() && a.scales.cols() == scales &&
               b.scales.cols() == scales && a.scales.rows() == a.elements.rows() &&
               b.scales.rows() == b.elements.rows() && c.rows() == a.elements.rows() &&
               c.cols() == b.elements.rows());
  static_cast<void>(scales), static_cast<void>(b), static_cast<void>(c);
}

}  // namespace

Eigen::ArrayXf tensor_matmul_scaled_model(Scaled type, const ScaledRows& a, const ScaledRows& b,
                                          const RowMajorD& c) {
  require_shapes(type, a, b, c);
  Eigen::ArrayXf d(c.size());
  for (Index e = 0; e < c.size(); ++e) {
    d(e) = one_sum(type, Pair(type, a, e / c.cols(), b, e % c.cols()),
                   static_cast<float>(c.data()[e]));
  }
  return d;
}

Bounded tensor_matmul_scaled(Scaled type, const ScaledRows& a, const ScaledRows& b,
                             const RowMajorD& c) {
  require_shapes(type, a, b, c);
  const Rules rules = rules_of(type);
  const double cut = rules.terms * std::ldexp(1, -rules.fraction_bits),
               rounded = std::ldexp(1, -kResultBits), of_step = cut * (1 + rounded) + rounded,
               floor = 2 * (cut + rounded) * std::ldexp(1, kLeastOfFloat);
  const auto steps = static_cast<double>((a.elements.cols() + kStepBytes - 1) / kStepBytes);
  const double grown = std::pow(1 + of_step, steps);
  Bounded result{Eigen::ArrayXd(c.size()), Eigen::ArrayXd(c.size())};
  std::vector<Term> terms;
  for (Index e = 0; e < c.size(); ++e) {
    const Pair pair(type, a, e / c.cols(), b, e % c.cols());
    long double value = c.data()[e];
    double size = std::fabs(c.data()[e]);
    bool finite = std::isfinite(c.data()[e]);
    for (Index step = 0; step < pair.steps(); ++step) {
      finite &= pair.terms(step, terms);
      for (const Term& t : terms) value += static_cast<long double>(t.value), size += t.size;
    }
    result.value(e) = static_cast<double>(value);
    // Two roundings of the value and the size themselves.
    result.bound(e) =
        (grown - 1 + gamma<double>(steps * rules.terms + 2)) * size + steps * floor * grown;
    if (steps == 0 || (size == 0 && finite)) {
      result.value(e) = steps == 0 ? c.data()[e] : 0.0;
      result.bound(e) = 0;
    } else if (!finite || !(size + result.bound(e) < 0x1p128)) {
      const float outcome = one_sum(type, pair, static_cast<float>(c.data()[e]));
      if (!std::isfinite(outcome)) result.value(e) = outcome, result.bound(e) = 0;
    }
  }
  return result;
}

}  // namespace lockstep::reference
