#include "simulator/libraries/cufft/transform.h"

#include <bit>
#include <cmath>
#include <utility>

namespace lockstep::cufft {
namespace {

constexpr std::size_t kLargestFactor = 61;

// exp(-2 pi i k / n) for k < n. Exact on the four axes, so that ones cancel.
Transform::Value root(std::size_t k, std::size_t n) {
  constexpr long double kQuarterTurn = 1.570796326794896619231321691639751442L;
  const std::size_t quadrant = 4 * k / n, rest = 4 * k % n;
  // Measures the angle from the nearer axis: less than an eighth of a turn.
  const bool is_far = 2 * rest > n;
  const long double angle = kQuarterTurn * static_cast<long double>(is_far ? n - rest : rest) /
                            static_cast<long double>(n);
  double c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
  if (is_far) std::swap(c, s);
  switch (quadrant) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

// The prime factors in ascending order; empty if one exceeds the largest supported factor.
std::vector<std::size_t> factorize(std::size_t n) {
  std::vector<std::size_t> factors;
  for (std::size_t p = 2; p <= kLargestFactor && n > 1; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.clear();
  return factors;
}

}  // namespace

Transform::Transform(std::size_t n) : n_(n), factors_(factorize(n)) {
  if (n <= 1) return;
  if (!factors_.empty()) {
    roots_.reserve(n);
    for (std::size_t k = 0; k < n; ++k) roots_.push_back(root(k, n));
    return;
  }
  const std::size_t m = std::bit_ceil(2 * n - 1);
  spectrum_.assign(m, {});
  for (std::size_t k = 0; k < n; ++k) {
    // Computes k^2 mod 2n exactly.
    chirp_.push_back(
        root(static_cast<std::size_t>(static_cast<unsigned __int128>(k) * k % (2 * n)), 2 * n));
    spectrum_[k] = std::conj(chirp_[k]);
    if (k != 0) spectrum_[m - k] = spectrum_[k];
  }
  Transform(m).forward(spectrum_.data());
}

void Transform::forward(Value* x) const {
  if (n_ <= 1) return;
  if (factors_.empty()) return by_convolution(x);
  const std::vector<Value> from(x, x + n_);
  by_factors(x, from.data(), n_, 1, 0);
}

void Transform::inverse(Value* x) const {
  for (std::size_t i = 0; i < n_; ++i) x[i] = std::conj(x[i]);
  forward(x);
  for (std::size_t i = 0; i < n_; ++i) x[i] = std::conj(x[i]);
}

// Transforms the n values of `from`, which are `step` apart.
void Transform::by_factors(Value* to, const Value* from, std::size_t n, std::size_t step,
                           std::size_t factor) const {
  if (n == 1) {
    *to = *from;
    return;
  }
  const std::size_t p = factors_[factor], m = n / p;
  for (std::size_t r = 0; r < p; ++r)
    by_factors(to + r * m, from + r * step, m, step * p, factor + 1);
  Value terms[kLargestFactor];
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t r = 0; r < p; ++r) terms[r] = to[r * m + k] * roots_[r * k * step];
    for (std::size_t q = 0; q < p; ++q) {
      Value sum = terms[0];
      for (std::size_t r = 1; r < p; ++r) sum += terms[r] * roots_[r * q % p * m * step];
      to[q * m + k] = sum;
    }
  }
}

void Transform::by_convolution(Value* x) const {
  const std::size_t m = spectrum_.size();
  const Transform of_power(m);
  std::vector<Value> work(m);
  for (std::size_t k = 0; k < n_; ++k) work[k] = x[k] * chirp_[k];
  of_power.forward(work.data());
  for (std::size_t k = 0; k < m; ++k) work[k] *= spectrum_[k];
  of_power.inverse(work.data());
  for (std::size_t k = 0; k < n_; ++k) x[k] = work[k] * chirp_[k] / static_cast<double>(m);
}

}  // namespace lockstep::cufft
