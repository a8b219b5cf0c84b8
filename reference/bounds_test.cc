// Every bound is exactly as wide as its header derives it, to the last rounding. The derivations
// are repeated here in long double, term by term.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "reference/matmul.h"
#include "reference/shuffle.h"
#include "reference/stencil.h"
#include "reference/tensor_matmul.h"

namespace lockstep::reference {
namespace bounds_test {

using Wide = long double;

// u and gamma(d) of float and double, and half the smallest subnormal.
constexpr Wide kFloat = 0x1p-24L, kDouble = 0x1p-53L, kTinyFloat = 0x1p-150L,
               kTinyDouble = 0x1p-1075L;
Wide of(Wide u, Wide d) { return d * u / (1 - d * u); }

// One rounding changes a bound by far more than this.
constexpr Wide kNear = 1e-10L;
void expect_bound(double bound, Wide derived, const char* what) {
  EXPECT_LE(std::fabs(bound - derived), kNear * derived)
      << what << ": " << bound << ", not " << static_cast<double>(derived);
}

class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : random_(seed) {}
  double next() { return uniform_(random_); }
  template <class Matrix>
  Matrix matrix(Eigen::Index rows, Eigen::Index columns, double scale = 1) {
    Matrix m(rows, columns);
    for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = static_cast<float>(scale * next());
    return m;
  }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

TEST(Bounds, OfTheStencilAreThoseOfFiveRoundings) {
  Numbers numbers(1);
  // At the second scale, products underflow.
  for (const double scale : {1.0, 0x1p-75}) {
    std::vector<float> x(30);
    for (float& v : x) v = static_cast<float>(scale * numbers.next());
    std::array<float, 5> c = {NAN};
    for (int k = 1; k <= 4; ++k) c[k] = static_cast<float>(scale * numbers.next());
    const Bounded y = stencil_1d(x, c, Boundary::kPadded);
    for (int i = 0; i < 22; ++i) {
      Wide s = 0;
      for (int k = 1; k <= 4; ++k)
        s += std::fabs(Wide{c[k]} * (Wide{x[i + 4 + k]} - Wide{x[i + 4 - k]}));
      expect_bound(y.bound(i),
                   (of(kFloat, 5) + of(kDouble, 6)) * s + 4 * kTinyFloat * (1 + of(kFloat, 3)),
                   "stencil");
    }
  }
}

TEST(Bounds, OfAMatrixProductAreThoseOfARoundingATerm) {
  Numbers numbers(2);
  for (const int k : {1, 2, 33, 500}) {
    for (const double scale : {1.0, 0x1p-75}) {
      const auto a = numbers.matrix<RowMajorF>(3, k, scale),
                 b = numbers.matrix<RowMajorF>(k, 2, scale);
      const Bounded c = matmul(a, b);
      for (int e = 0; e < 6; ++e) {
        Wide s = 0;
        for (int p = 0; p < k; ++p) s += std::fabs(Wide{a(e / 2, p)} * Wide{b(p, e % 2)});
        expect_bound(c.bound(e),
                     (of(kFloat, k) + of(kDouble, k)) * s + k * kTinyFloat * (1 + of(kFloat, k)),
                     "product");
      }
    }
  }
}

// The residual of a row: the bounds of its elements, and the roundings of the check's own three
// sums.
TEST(Bounds, OfFreivaldsCheckAreTheSumsOfTheElementsBounds) {
  Numbers numbers(3);
  for (const double scale : {1.0, 0x1p-75}) {
    constexpr int kM = 4, kN = 21, kK = 13;
    const auto a = numbers.matrix<RowMajorF>(kM, kK, scale),
               b = numbers.matrix<RowMajorF>(kK, kN, scale);
    const auto c = numbers.matrix<RowMajorF>(kM, kN, scale * scale);
    const Bounded residual = freivalds_residual(a, b, c, 5);
    for (int i = 0; i < kM; ++i) {
      Wide s = 0, size = 0;
      for (int j = 0; j < kN; ++j) {
        size += std::fabs(Wide{c(i, j)});
        for (int p = 0; p < kK; ++p) s += std::fabs(Wide{a(i, p)} * Wide{b(p, j)});
      }
      // A term of A (B r) passes through the additions of n terms and of k terms, and two products.
      expect_bound(residual.bound(i),
                   (of(kFloat, kK) + of(kDouble, kK) + of(kDouble, kK + kN + 2)) * s +
                       kN * kK * kTinyFloat * (1 + of(kFloat, kK)) + of(kDouble, kN + 1) * size,
                   "residual");
    }
  }
}

TEST(Bounds, OfSumsOverSegmentsAreThoseOfTheTreesDepth) {
  Numbers numbers(4);
  Eigen::ArrayXd x(64);
  for (double& v : x) v = static_cast<float>(numbers.next());
  for (const Wide u : {kFloat, kDouble, Wide{0x1p-11L}}) {
    for (int depth = 1; depth <= 5; ++depth) {
      const int width = 1 << depth;
      for (const SegmentSum kind :
           {SegmentSum::kAll, SegmentSum::kFirst, SegmentSum::kInclusive, SegmentSum::kExclusive}) {
        const Bounded sums = segment_sums(kind, x, width, static_cast<double>(u));
        for (int i = 0; i < 64; ++i) {
          const int first = i / width * width;
          int count = width;
          if (kind == SegmentSum::kFirst && i != first) count = 0;
          if (kind == SegmentSum::kInclusive) count = i - first + 1;
          if (kind == SegmentSum::kExclusive) count = i - first;
          Wide s = 0;
          for (int j = first; j < first + count; ++j) s += std::fabs(Wide{x(j)});
          expect_bound(sums.bound(i), (of(u, depth) + of(kDouble, width - 1)) * s, "segment");
        }
      }
    }
  }
}

TEST(Bounds, OfTheMatrixUnitsAreThoseOfTheirChunks) {
  struct OnUnit {
    Factor type;
    int capability;
    bool warpgroup;
  };
  Numbers numbers(5);
  for (const OnUnit& on : {OnUnit{Factor::kF16, 75, false}, OnUnit{Factor::kF16, 80, false},
                           OnUnit{Factor::kBf16, 90, false}, OnUnit{Factor::kTf32, 90, false},
                           OnUnit{Factor::kE4m3, 89, false}, OnUnit{Factor::kE4m3, 90, false},
                           OnUnit{Factor::kE4m3, 90, true}, OnUnit{Factor::kF16, 90, true}}) {
    const MatrixUnit unit = matrix_unit(on.type, on.capability, on.warpgroup);
    for (const int k : {1, 16, 17, 64, 65}) {
      // Halves of small integers are exact in each type, and no sum of them counts as a sum of
      // integers. All are normal numbers.
      RowMajorD a(2, k), b(2, k), c(2, 2);
      const auto half = [&] { return std::floor(7 * numbers.next()) + 0.5; };
      for (double& v : a.reshaped()) v = half();
      for (double& v : b.reshaped()) v = half();
      for (double& v : c.reshaped()) v = half() + 0.25;
      const Bounded d = tensor_matmul(a, b, c, unit);
      for (int e = 0; e < 4; ++e) {
        Wide s = std::fabs(Wide{c(e / 2, e % 2)});
        for (int p = 0; p < k; ++p) s += std::fabs(Wide{a(e / 2, p)} * Wide{b(e % 2, p)});
        const Wide terms = unit.products + 1, cut = std::ldexp(terms, -unit.fraction_bits),
                   rounded = std::ldexp(Wide{1}, -unit.result_bits);
        Wide r = cut * (1 + rounded) + rounded, f = 2 * (cut + rounded) * 0x1p-126L;
        int length = unit.products;
        if (unit.in_halves) r = 2 * r + kFloat, f *= 2, length = 32;
        const Wide chunks = (k + length - 1) / length, grown = std::pow(1 + r, chunks);
        expect_bound(d.bound(e), (grown - 1 + of(kDouble, k + 1)) * s + chunks * f * grown,
                     "matrix unit");
      }
    }
  }
}

TEST(Bounds, OfAProductOfDoublesAreThoseOfARoundingATerm) {
  Numbers numbers(6);
  for (const int k : {1, 4, 21}) {
    for (const double scale : {1.0, 0x1p-537}) {
      RowMajorD a(3, k), b(2, k), c(3, 2);
      for (double& v : a.reshaped()) v = scale * numbers.next();
      for (double& v : b.reshaped()) v = scale * numbers.next();
      for (double& v : c.reshaped()) v = scale * scale * numbers.next();
      const Bounded d = tensor_matmul_f64(a, b, c);
      for (int e = 0; e < 6; ++e) {
        Wide s = std::fabs(Wide{c(e / 2, e % 2)});
        for (int p = 0; p < k; ++p) s += std::fabs(Wide{a(e / 2, p)} * Wide{b(e % 2, p)});
        const Wide derived = of(kDouble, k + 2) * s + k * kTinyDouble * (1 + of(kDouble, k));
        // Below the normal numbers, double has less than ten digits.
        EXPECT_LE(std::fabs(d.bound(e) - derived), kNear * derived + 0x1p-1073L) << k;
      }
    }
  }
}

}  // namespace bounds_test
}  // namespace lockstep::reference
