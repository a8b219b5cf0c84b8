#include "reference/tensor_matmul.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::reference {
namespace {

using Index = Eigen::Index;

constexpr int kLeastOfFloat = -126;  // exponent of its least normal number, and of its subnormals
constexpr Index kStepInHalves = 32;

// A power of two, which must be a normal number. Every sum needs one, so this constructs the bits.
inline double powers_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// Decodes a number in IEEE 754's layout: sign, exponent, fraction. e4m3 has no infinity, and its
// only NaN has all bits set.
double decoded(std::uint64_t bits, int exponent_bits, int fraction_bits, bool has_infinity) {
  const auto fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
  const auto field = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const int top = (1 << exponent_bits) - 1, bias = top >> 1;
  double magnitude;
  if (field == top && (has_infinity || fraction == (1 << fraction_bits) - 1)) {
    magnitude = has_infinity && fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  } else {
    magnitude = (fraction + (field == 0 ? 0 : 1 << fraction_bits)) *
                powers_of_two(std::max(field, 1) - bias - fraction_bits);
  }
  return bits >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}

// Factors as the unit reads them: a value and an exponent, which is the least one for subnormals.
struct Factors {
  RowMajorD values;
  Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> exponents;
  std::vector<bool> finite;  // per row

  Factors(const RowMajorD& m, const MatrixUnit& unit)
      : values(m), exponents(m.rows(), m.cols()), finite(m.rows()) {
    for (Index i = 0; i < m.rows(); ++i) {
      finite[i] = m.row(i).allFinite();
      for (Index p = 0; p < m.cols(); ++p) {
        const double v = m(i, p);
        exponents(i, p) =
            v == 0 || !std::isfinite(v) ? 0 : std::max(std::ilogb(v), unit.least_exponent);
      }
    }
  }
};

// Rounds sum toward zero to `bits` fraction bits; float represents the result exactly.
float cut_to_float(double sum, int bits) {
  if (sum == 0) return 0;
  if (std::fabs(sum) >= 0x1p128) return std::copysign(HUGE_VALF, static_cast<float>(sum));
  const double last = powers_of_two(std::max(std::ilogb(sum), kLeastOfFloat) - bits);
  return static_cast<float>(std::trunc(sum / last) * last) + 0.0f;
}

// The sum over one row of A and one column of B.
class Sum {
 public:
  Sum(const MatrixUnit& unit, const Factors& a, Index i, const Factors& b, Index j)
      : unit_(unit),
        a_(a.values.data() + i * a.values.cols()),
        b_(b.values.data() + j * b.values.cols()),
        ea_(a.exponents.data() + i * a.values.cols()),
        eb_(b.exponents.data() + j * b.values.cols()),
        k_(a.values.cols()),
        finite_(a.finite[i] && b.finite[j]) {}

  float of(float c) const {
    if (k_ == 0) return c;
    float accumulator = c;
    if (!unit_.in_halves) {
      for (Index p = 0; p < k_; p += unit_.products)
        accumulator = chunk(accumulator, p, unit_.products, all);
      return accumulator;
    }
    for (Index p = 0; p < k_; p += kStepInHalves) {
      const float first = chunk(0, p, kStepInHalves, [](Index q) { return (q & 2) == 0; });
      accumulator += chunk(first, p, kStepInHalves, [](Index q) { return (q & 2) != 0; });
    }
    return accumulator;
  }

 private:
  static bool all(Index) { return true; }

  template <class Takes>
  float chunk(float accumulator, Index from, Index count, Takes takes) const {
    const Index end = std::min(k_, from + count);
    if (!finite_ || !std::isfinite(accumulator)) {
      // As in IEEE 754: the class of the sum of the terms that are not finite. Finite terms do not
      // overflow here.
      double special = std::isfinite(accumulator) ? 0 : accumulator;
      for (Index p = from; p < end; ++p) {
        if (takes(p) && (!std::isfinite(a_[p]) || !std::isfinite(b_[p]))) special += a_[p] * b_[p];
      }
      if (!std::isfinite(special)) return static_cast<float>(special);
    }
    int largest =
        accumulator == 0 ? unit_.zero_exponent : std::max(std::ilogb(accumulator), kLeastOfFloat);
    for (Index p = from; p < end; ++p) {
      if (takes(p) && a_[p] != 0 && b_[p] != 0) largest = std::max(largest, ea_[p] + eb_[p]);
    }
    const int last = largest - unit_.fraction_bits;
    const double scale = powers_of_two(-last);
    auto sum = static_cast<std::int64_t>(accumulator * scale);
    for (Index p = from; p < end; ++p) {
      if (takes(p)) sum += static_cast<std::int64_t>(a_[p] * b_[p] * scale);
    }
    return cut_to_float(static_cast<double>(sum) * powers_of_two(last), unit_.result_bits);
  }

  const MatrixUnit& unit_;
  const double *a_, *b_;
  const int *ea_, *eb_;
  const Index k_;
  const bool finite_;
};

bool all_integers(const RowMajorD& m) {
  return m.size() == 0 || (m.array().isFinite() && m.array() == m.array().round()).all();
}

// |x|' as in the header.
RowMajorD magnitudes(const RowMajorD& m, int least_exponent) {
  const double least = powers_of_two(least_exponent);
  return m.unaryExpr([least](double x) { return x == 0 ? 0.0 : std::max(std::fabs(x), least); });
}

void require_shapes(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c) {
  eigen_assert(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
  static_cast<void>(a), static_cast<void>(b), static_cast<void>(c);
}

}  // namespace

double value_of(Factor type, std::uint64_t bits) {
  switch (type) {
    case Factor::kF16: return decoded(bits, 5, 10, true);
    case Factor::kBf16: return decoded(bits, 8, 7, true);
    case Factor::kTf32: return decoded(bits >> 13, 8, 10, true);
    case Factor::kS8: return static_cast<std::int8_t>(bits);
    case Factor::kE4m3: return decoded(bits, 4, 3, false);
    case Factor::kF64: break;
  }
  double value;
  static_assert(sizeof value == sizeof bits);
  std::copy_n(reinterpret_cast<const char*>(&bits), sizeof value, reinterpret_cast<char*>(&value));
  return value;
}

MatrixUnit matrix_unit(Factor type, int compute_capability, bool warpgroup) {
  // Hopper, and the Blackwell GPUs with tensor memory: their mma has no unit for e4m3.
  const bool two_steps = compute_capability >= 90 && compute_capability < 120 && !warpgroup;
  MatrixUnit unit;
  // By generation: the bytes of one factor in a chunk, the kept bits, and the exponent of zero.
  const int chunk = compute_capability >= 90 ? 32 : 16;
  unit.fraction_bits = compute_capability >= 90 ? 25 : 24;
  unit.zero_exponent = compute_capability >= 90 ? -133 : -132;
  switch (type) {
    case Factor::kTf32: unit.products = chunk / 4, unit.least_exponent = -126; break;
    case Factor::kE4m3:
      unit.products = chunk, unit.least_exponent = -6;
      if (two_steps) {
        // Converted to f16, in which every e4m3 is a normal number.
        unit.products = chunk / 2, unit.least_exponent = -14, unit.in_halves = true;
      } else if (compute_capability < 100) {
        unit.fraction_bits = unit.result_bits = 13;
        unit.zero_exponent = -133;
      }
      break;
    case Factor::kBf16: unit.products = chunk / 2, unit.least_exponent = -126; break;
    case Factor::kF16:
    case Factor::kF64:
    case Factor::kS8: unit.products = chunk / 2, unit.least_exponent = -14; break;
  }
  return unit;
}

Eigen::ArrayXf tensor_matmul_model(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c,
                                   const MatrixUnit& unit) {
  require_shapes(a, b, c);
  const Factors rows(a, unit), columns(b, unit);
  Eigen::ArrayXf d(c.size());
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.cols(); ++j)
      d(i * c.cols() + j) = Sum(unit, rows, i, columns, j).of(static_cast<float>(c(i, j)));
  }
  return d;
}

Bounded tensor_matmul(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c,
                      const MatrixUnit& unit) {
  require_shapes(a, b, c);
  RowMajorD value = c, size = c.cwiseAbs();
  value.noalias() += a * b.transpose();
  size.noalias() +=
      magnitudes(a, unit.least_exponent) * magnitudes(b, unit.least_exponent).transpose();

  const auto k = static_cast<double>(a.cols());
  const double terms = unit.products + 1, cut = terms * powers_of_two(-unit.fraction_bits),
               rounded = powers_of_two(-unit.result_bits);
  double of_chunk = cut * (1 + rounded) + rounded,
         floor = 2 * (cut + rounded) * powers_of_two(kLeastOfFloat);
  double chunks = std::ceil(k / unit.products);
  if (unit.in_halves) {
    of_chunk = 2 * of_chunk + unit_roundoff<float>(), floor *= 2;
    chunks = std::ceil(k / static_cast<double>(kStepInHalves));
  }
  const double grown = std::pow(1 + of_chunk, chunks);
  const bool integers = all_integers(a) && all_integers(b) && all_integers(c);
  Bounded result;
  result.value = Eigen::Map<const Eigen::ArrayXd>(value.data(), value.size());
  result.bound = (grown - 1 + gamma<double>(k + 1)) *
                     Eigen::Map<const Eigen::ArrayXd>(size.data(), size.size()) +
                 chunks * floor * grown;
  if (a.cols() == 0) return {result.value, Eigen::ArrayXd::Zero(value.size())};
  const Factors rows(a, unit), columns(b, unit);
  for (Index e = 0; e < result.value.size(); ++e) {
    const double s = size.data()[e];
    if (s == 0 || (integers && s < 1 / rounded)) {
      result.value(e) += 0.0;  // no unit results in -0
      result.bound(e) = 0;
    } else if (!(s + result.bound(e) < 0x1p128)) {
      const float outcome =
          Sum(unit, rows, e / c.cols(), columns, e % c.cols()).of(static_cast<float>(c.data()[e]));
      if (!std::isfinite(outcome)) result.value(e) = outcome, result.bound(e) = 0;
    }
  }
  return result;
}

Eigen::ArrayXd tensor_matmul_f64_chain(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c) {
  require_shapes(a, b, c);
  Eigen::ArrayXd d(c.size());
  for (Index e = 0; e < c.size(); ++e) {
    const double *row = a.data() + e / c.cols() * a.cols(),
                 *column = b.data() + e % c.cols() * b.cols();
    double sum = c.data()[e];
    for (Index p = 0; p < a.cols(); ++p) sum = std::fma(row[p], column[p], sum);
    d(e) = a.cols() % 4 == 0 ? sum : sum + 0.0;
  }
  return d;
}

Bounded tensor_matmul_f64(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c) {
  require_shapes(a, b, c);
  using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr double kExactIntegers = 0x1p53;
  Wide value = c.cast<long double>();
  RowMajorD size = c.cwiseAbs();
  value.noalias() += a.cast<long double>() * b.cast<long double>().transpose();
  size.noalias() += a.cwiseAbs() * b.cwiseAbs().transpose();
  const Eigen::ArrayXd chain = tensor_matmul_f64_chain(a, b, c);
  const bool integers = all_integers(a) && all_integers(b) && all_integers(c);
  const auto k = static_cast<double>(a.cols());
  Bounded result;
  result.value =
      Eigen::Map<const Eigen::Array<long double, Eigen::Dynamic, 1>>(value.data(), value.size())
          .cast<double>();
  // Multiples of half the smallest subnormal, rounded to whole ones, which double represents.
  const double underflow =
      std::ceil(k / 2 * (1 + gamma<double>(k))) * std::numeric_limits<double>::denorm_min();
  result.bound =
      gamma<double>(k + 2) * Eigen::Map<const Eigen::ArrayXd>(size.data(), size.size()) + underflow;
  for (Index e = 0; e < chain.size(); ++e) {
    const double s = size.data()[e];
    if (a.cols() == 0 || s == 0 || (integers && s < kExactIntegers) || !std::isfinite(chain(e))) {
      result.value(e) = chain(e), result.bound(e) = 0;
    } else if (!std::isfinite(s)) {
      // S or the exact value overflows, but the chain's roundings stay at the largest number.
      constexpr double kLargest = std::numeric_limits<double>::max();
      const Index i = e / c.cols(), j = e % c.cols();
      long double wide = std::fabs(static_cast<long double>(c.data()[e]));
      for (Index p = 0; p < a.cols(); ++p)
        wide += std::fabs(static_cast<long double>(a(i, p)) * static_cast<long double>(b(j, p)));
      result.value(e) = std::clamp(result.value(e), -kLargest, kLargest);
      result.bound(e) = static_cast<double>(gamma<double>(k + 2) * wide) + underflow;
    }
  }
  return result;
}

Eigen::Array<std::int32_t, Eigen::Dynamic, 1> tensor_matmul_s8(const RowMajorD& a,
                                                               const RowMajorD& b,
                                                               const RowMajorD& c) {
  require_shapes(a, b, c);
  const RowMajorD d = c + a * b.transpose();  // exact: below 2^53
  Eigen::Array<std::int32_t, Eigen::Dynamic, 1> result(d.size());
  for (Index e = 0; e < d.size(); ++e)
    result(e) = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(static_cast<std::int64_t>(d.data()[e])));
  return result;
}

}  // namespace lockstep::reference
