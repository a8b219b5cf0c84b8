// Reference of the radius-4 stencil, y[i] = sum over k = 1..4 of c[k] * (x[i + k] - x[i - k]): the
// value and the bound of every element.
//
// Declared chain of the kernels: sum = +0; for k = 1..4: sum = fma(c[k], fl(x[i + k] - x[i - k]),
// sum), in float with subnormals.
//
// Bound. Write t_k = c[k] * (x[i + k] - x[i - k]) for the exact terms and S = sum |t_k|. Each
// operation returns exact * (1 + delta) + eta with |delta| <= u = 2^-24 and |eta| <= 2^-150. At
// most one of them is nonzero, and eta = 0 for additions and subtractions (Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd ed., sections 2.2 and 2.8, (2.4) and (2.8)). Term 1 has
// the most roundings: one subtraction and four fma, the first of which multiplies it. It has five
// factors (1 + delta); the other terms have fewer. By Higham's lemma 3.1 their product differs from
// 1 by at most gamma(5). Four results can underflow, and each eta passes through at most three more
// roundings. So
//
//   |y[i] - exact| <= gamma(5) * S + 4 * 2^-150 * (1 + gamma(3)).
//
// d = 5 covers every summation order, fused or not: a subtraction, a product and at most three
// inexact additions. IEEE operations are correctly rounded, so operations add no further ulp. The
// double arithmetic here adds gamma_double(6) * S: two conversions are exact, and a term passes
// through at most a subtraction, a product and four additions.
//
// If every term is exactly 0, the bound is 0 and the value is +0: no order of summation from +0
// results in -0.
//
// Special values: if an operand or an intermediate result is not finite, or could overflow, the
// declared chain in float determines the class of the result (NaN, infinity, finite). A finite
// result keeps the value and the bound above.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "reference/bounded.h"

namespace lockstep::reference {

inline constexpr int kStencilRadius = 4;

// The value of x[i] for i outside [0, n): the caller's, 0, the nearest element, or x[i mod n].
enum class Boundary : std::uint8_t { kPadded, kZero, kClamp, kPeriodic };

// x has n elements; with kPadded n + 8, of which the first and last four are the halo.
Bounded stencil_1d(std::span<const float> x,
                   std::span<const float, kStencilRadius + 1> coefficients, Boundary boundary);

// Executes the declared chain, operation by operation in float. Returns the bits of every element,
// also for special values.
Eigen::ArrayXf stencil_chain(std::span<const float> x,
                             std::span<const float, kStencilRadius + 1> coefficients,
                             Boundary boundary);

// The derivative of a polynomial of degree at most 8, by the central difference with coefficients
// (4/5, -1/5, 4/105, -1/280) / h. It has no truncation error, because its error expansion starts at
// the ninth derivative (Fornberg, Mathematics of Computation 51 (1988), table 1).
struct PolynomialDerivative {
  Eigen::ArrayXf x;  // n + 8 samples, with a halo of four on each side, rounded to float
  std::array<float, kStencilRadius + 1>
      coefficients;    // rounded to float; element 0 is NaN, which a kernel must not use
  Bounded derivative;  // n elements; the bound includes the rounding of samples and coefficients
};

// Samples sum a[m] t^m at n + 8 points t with power-of-two spacing h, all in [-1, 1].
PolynomialDerivative differentiate_polynomial(std::span<const double, 9> a, std::int64_t n);

}  // namespace lockstep::reference
