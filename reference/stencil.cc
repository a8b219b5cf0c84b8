#include "reference/stencil.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::reference {
namespace {

constexpr int kChain = 5;        // roundings of a term in the kernel
constexpr int kDoubleChain = 6;  // roundings of a term here

// x with a halo of four elements on each side, in double (exact).
Eigen::ArrayXd with_halo(std::span<const float> x, Boundary boundary) {
  const auto given = Eigen::Map<const Eigen::ArrayXf>(x.data(), static_cast<Eigen::Index>(x.size()))
                         .cast<double>();
  if (boundary == Boundary::kPadded) return given;
  const Eigen::Index n = given.size();
  Eigen::ArrayXd wide = Eigen::ArrayXd::Zero(n + 2 * kStencilRadius);
  wide.segment(kStencilRadius, n) = given;
  if (boundary == Boundary::kZero || n == 0) return wide;
  for (Eigen::Index j = 1; j <= kStencilRadius; ++j) {
    const bool clamp = boundary == Boundary::kClamp;
    wide(kStencilRadius - j) = given(clamp ? 0 : (n - j % n) % n);
    wide(kStencilRadius + n - 1 + j) = given(clamp ? n - 1 : (j - 1) % n);
  }
  return wide;
}

// sum[i] = fma(factor, plus[i] - minus[i], sum[i]). Uses the processor's instruction if there is
// one: a function call for each would dominate the reference's time.
[[gnu::target_clones("default", "fma")]] void add_fused(float factor, const float* plus,
                                                        const float* minus, float* sum,
                                                        Eigen::Index n) {
  for (Eigen::Index i = 0; i < n; ++i) sum[i] = std::fma(factor, plus[i] - minus[i], sum[i]);
}

// The declared chain of each element in float.
Eigen::ArrayXf declared_chains(const Eigen::ArrayXd& wide,
                               std::span<const float, kStencilRadius + 1> c) {
  const Eigen::ArrayXf x = wide.cast<float>();
  const Eigen::Index n = wide.size() - 2 * kStencilRadius;
  Eigen::ArrayXf sums = Eigen::ArrayXf::Zero(n);
  const float* const centre = x.data() + kStencilRadius;
  for (int k = 1; k <= kStencilRadius; ++k) add_fused(c[k], centre + k, centre - k, sums.data(), n);
  return sums;
}

}  // namespace

Bounded stencil_1d(std::span<const float> x,
                   std::span<const float, kStencilRadius + 1> coefficients, Boundary boundary) {
  const Eigen::ArrayXd wide = with_halo(x, boundary);
  const Eigen::Index n = wide.size() - 2 * kStencilRadius;
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(n), magnitude = sum, largest = sum;
  for (int k = 1; k <= kStencilRadius; ++k) {
    const Eigen::ArrayXd difference =
        wide.segment(kStencilRadius + k, n) - wide.segment(kStencilRadius - k, n);
    const Eigen::ArrayXd term = difference * double{coefficients[k]};
    sum += term;
    magnitude += term.abs();
    // A sum keeps a NaN; Eigen's max() may drop it.
    largest += difference.abs();
  }
  const double underflow = 4 * underflow_unit<float>() * (1 + gamma<float>(3));
  Bounded result;
  result.value = sum;
  result.bound = (gamma<float>(kChain) + gamma<double>(kDoubleChain)) * magnitude + underflow;
  Eigen::ArrayXf chains;  // made for the first element that needs one
  for (Eigen::Index i = 0; i < n; ++i) {
    if (magnitude(i) == 0 && largest(i) < overflow_threshold<float>()) {
      result.value(i) = 0;
      result.bound(i) = 0;
    } else if (!(magnitude(i) + result.bound(i) < overflow_threshold<float>() &&
                 largest(i) < overflow_threshold<float>())) {
      if (chains.size() == 0) chains = declared_chains(wide, coefficients);
      const float outcome = chains(i);
      if (!std::isfinite(outcome)) {
        result.value(i) = outcome;
        result.bound(i) = 0;
      }
    }
  }
  return result;
}

Eigen::ArrayXf stencil_chain(std::span<const float> x,
                             std::span<const float, kStencilRadius + 1> coefficients,
                             Boundary boundary) {
  return declared_chains(with_halo(x, boundary), coefficients);
}

PolynomialDerivative differentiate_polynomial(std::span<const double, 9> a, std::int64_t n) {
  // Points -n/2 - 4 ... n/2 + 3, with the smallest power of two as spacing that keeps them in [-1,
  // 1]. Every t is then exact.
  const std::int64_t points = n + 2 * kStencilRadius;
  double h = 1;
  while (h * static_cast<double>(points) > 2) h /= 2;

  PolynomialDerivative result;
  const double quotients[] = {std::numeric_limits<double>::quiet_NaN(), 4.0 / 5, -1.0 / 5,
                              4.0 / 105, -1.0 / 280};
  for (int k = 0; k <= kStencilRadius; ++k)
    result.coefficients[k] = static_cast<float>(quotients[k] / h);

  // Horner's rule for p and p', and for their condition sums |a[m]| |t|^m.
  const Eigen::ArrayXd t =
      (Eigen::ArrayXd::LinSpaced(points, 0, static_cast<double>(points - 1)) - double(points / 2)) *
      h;
  Eigen::ArrayXd p = Eigen::ArrayXd::Zero(points), slope = p, size = p, slope_size = p;
  for (int m = 8; m >= 0; --m) {
    slope = slope * t + p;
    slope_size = slope_size * t.abs() + size;
    p = p * t + a[m];
    size = size * t.abs() + std::abs(a[m]);
  }
  result.x = p.cast<float>();
  result.derivative.value = slope.segment(kStencilRadius, n);

  // |y - p'| <= sum |c[k]| ((gamma(5) of the kernel + gamma(2) of the rounding of c and x) (|x+| +
  // |x-|)) + double's own error in p and p'.
  Eigen::ArrayXd samples = Eigen::ArrayXd::Zero(n), sizes = samples;
  double weights = 0;
  for (int k = 1; k <= kStencilRadius; ++k) {
    const double weight = std::abs(quotients[k] / h);
    weights += weight;
    samples +=
        weight * (p.segment(kStencilRadius + k, n).abs() + p.segment(kStencilRadius - k, n).abs());
    sizes += weight * (size.segment(kStencilRadius + k, n) + size.segment(kStencilRadius - k, n));
  }
  const double underflow =
      underflow_unit<float>() * (4 * (1 + gamma<float>(3)) + 2 * weights * (1 + gamma<float>(6)));
  result.derivative.bound = gamma<float>(kChain + 2) * samples + gamma<double>(32) * sizes +
                            gamma<double>(32) * slope_size.segment(kStencilRadius, n) + underflow;
  return result;
}

}  // namespace lockstep::reference
