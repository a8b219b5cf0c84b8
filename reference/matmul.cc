#include "reference/matmul.h"

#include <cmath>
#include <cstdint>

namespace lockstep::reference {
namespace {

using RowMajorD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kExactIntegers = 1 << 24;  // float holds every integer up to this

bool all_integers(const Eigen::Ref<const RowMajorF>& m) {
  return m.size() == 0 || (m.array().isFinite() && m.array() == m.array().round()).all();
}

// One element of the declared chain in float.
float declared_chain(const Eigen::Ref<const RowMajorF>& a, const Eigen::Ref<const RowMajorF>& b,
                     Eigen::Index i, Eigen::Index j) {
  float sum = 0;
  for (Eigen::Index p = 0; p < a.cols(); ++p) sum = std::fma(a(i, p), b(p, j), sum);
  return sum;
}

// sum[j] = fma(factor, terms[j], sum[j]). Uses the processor's instruction if there is one: a
// function call for each would dominate the reference's time.
[[gnu::target_clones("default", "fma")]] void add_fused(float factor, const float* terms,
                                                        float* sum, Eigen::Index n) {
  for (Eigen::Index j = 0; j < n; ++j) sum[j] = std::fma(factor, terms[j], sum[j]);
}

double relative_bound(Eigen::Index k) {
  const auto d = static_cast<double>(k);
  return gamma<float>(d) + gamma<double>(d);
}

double underflow_bound(Eigen::Index k) {
  const auto d = static_cast<double>(k);
  return d * underflow_unit<float>() * (1 + gamma<float>(d));
}

}  // namespace

Bounded matmul(const Eigen::Ref<const RowMajorF>& a, const Eigen::Ref<const RowMajorF>& b) {
  eigen_assert(a.cols() == b.rows());
  const RowMajorD wide_a = a.cast<double>(), wide_b = b.cast<double>();
  RowMajorD value = RowMajorD::Zero(a.rows(), b.cols()), magnitude = value;
  value.noalias() += wide_a * wide_b;
  magnitude.noalias() += wide_a.cwiseAbs() * wide_b.cwiseAbs();
  const double relative = relative_bound(a.cols()), underflow = underflow_bound(a.cols());
  const bool integers = all_integers(a) && all_integers(b);

  Bounded result;
  result.value = Eigen::Map<const Eigen::ArrayXd>(value.data(), value.size());
  result.bound =
      relative * Eigen::Map<const Eigen::ArrayXd>(magnitude.data(), magnitude.size()) + underflow;
  for (Eigen::Index e = 0; e < result.value.size(); ++e) {
    const double s = magnitude.data()[e];
    if (s == 0 || (integers && s < kExactIntegers)) {
      result.value(e) += 0.0;  // no chain from +0 results in -0
      result.bound(e) = 0;
    } else if (!(s + result.bound(e) < overflow_threshold<float>())) {
      const float outcome = declared_chain(a, b, e / b.cols(), e % b.cols());
      if (!std::isfinite(outcome)) {
        result.value(e) = outcome;
        result.bound(e) = 0;
      }
    }
  }
  return result;
}

Eigen::ArrayXf matmul_chain(const Eigen::Ref<const RowMajorF>& a,
                            const Eigen::Ref<const RowMajorF>& b) {
  eigen_assert(a.cols() == b.rows());
  RowMajorF c = RowMajorF::Zero(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index p = 0; p < a.cols(); ++p)
      add_fused(a(i, p), b.data() + p * b.outerStride(), c.data() + i * c.cols(), c.cols());
  }
  return Eigen::Map<const Eigen::ArrayXf>(c.data(), c.size());
}

Bounded freivalds_residual(const Eigen::Ref<const RowMajorF>& a,
                           const Eigen::Ref<const RowMajorF>& b,
                           const Eigen::Ref<const RowMajorF>& c, std::uint64_t seed) {
  eigen_assert(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
  Eigen::VectorXd r(b.cols());
  for (Eigen::Index j = 0; j < r.size(); ++j) {
    seed = seed * 6364136223846793005u +
           1442695040888963407u;  // Knuth's MMIX generator; its top bit is the most random
    r(j) = seed >> 63 ? 1 : -1;
  }
  const RowMajorD wide_a = a.cast<double>(), wide_b = b.cast<double>(), wide_c = c.cast<double>();
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(r.size());
  const Eigen::VectorXd magnitude =
      wide_a.cwiseAbs() * (wide_b.cwiseAbs() * ones);  // row sums of |A| |B|
  const Eigen::VectorXd size = wide_c.cwiseAbs() * ones;

  const auto chain = static_cast<double>(a.cols() + b.cols());
  Bounded result;
  result.value = (wide_c * r - wide_a * (wide_b * r)).array();
  result.bound = (relative_bound(a.cols()) + gamma<double>(chain + 2)) * magnitude.array() +
                 static_cast<double>(b.cols()) * underflow_bound(a.cols()) +
                 gamma<double>(static_cast<double>(b.cols()) + 1) * size.array();
  return result;
}

}  // namespace lockstep::reference
