// The result of a reference: for every element the value in double, and the largest error of a
// correct kernel.
//
// Rounding-error terms follow N. Higham, Accuracy and Stability of Numerical Algorithms (2nd ed.),
// chapters 2 and 3: with unit roundoff u and a longest chain of d roundings, |computed - exact| <=
// gamma(d) * sum |terms|, gamma(d) = d u / (1 - d u).
#pragma once

#include <Eigen/Core>
#include <limits>

namespace lockstep::reference {

struct Bounded {
  Eigen::ArrayXd value;
  Eigen::ArrayXd bound;  // >= 0; 0 requires bit equality with `value` rounded to the element type
};

// The result of a declared chain of roundings, with bounds of 0. NaN stands for any NaN.
template <class Array>
Bounded exactly(const Array& values) {
  return {values.template cast<double>(), Eigen::ArrayXd::Zero(values.size())};
}

// Half the distance from 1 to the next value of T: 2^-24 for float, 2^-53 for double.
template <class T>
constexpr double unit_roundoff() {
  return std::numeric_limits<T>::epsilon() / 2;
}

// gamma(d) for element type T; d * u must be below 1.
template <class T>
constexpr double gamma(double d) {
  return d * unit_roundoff<T>() / (1 - d * unit_roundoff<T>());
}

// The most that underflow adds to a rounded product or sum: half the smallest subnormal of T. T
// must not be double, which cannot represent its own.
template <class T>
constexpr double underflow_unit() {
  static_assert(std::numeric_limits<T>::min_exponent > std::numeric_limits<double>::min_exponent);
  return static_cast<double>(std::numeric_limits<T>::denorm_min()) / 2;
}

// The least magnitude that rounds to infinity: half an ulp past the largest finite T. Exact in
// double for float and half.
template <class T>
constexpr double overflow_threshold() {
  static_assert(std::numeric_limits<T>::digits < std::numeric_limits<double>::digits);
  return static_cast<double>(std::numeric_limits<T>::max()) *
         (1 + unit_roundoff<T>() / (2 - 2 * unit_roundoff<T>()));
}

}  // namespace lockstep::reference
