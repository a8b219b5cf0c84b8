// The product's reference, compared with sums in extended precision, and with results that it must
// reject.
#include "reference/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace lockstep::reference {
namespace matmul_test {

RowMajorF random_matrix(int rows, int columns, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  RowMajorF m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = values(random);
  }
  return m;
}

RowMajorF integers(int rows, int columns) {
  RowMajorF m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = static_cast<float>((3 * i + 5 * j) % 9 - 4);
  }
  return m;
}

float chain(const RowMajorF& a, const RowMajorF& b, int i, int j, bool fused) {
  float sum = 0;
  for (int p = 0; p < a.cols(); ++p) {
    const volatile float product = a(i, p) * b(p, j);
    sum = fused ? std::fma(a(i, p), b(p, j), sum) : sum + product;
  }
  return sum;
}

TEST(MatmulReference, AgreesWithExtendedPrecision) {
  const RowMajorF a = random_matrix(7, 33, 1), b = random_matrix(33, 5, 2);
  const Bounded c = matmul(a, b);
  ASSERT_EQ(c.value.size(), 35);
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 5; ++j) {
      long double sum = 0, magnitude = 0;
      for (int p = 0; p < 33; ++p) {
        sum += static_cast<long double>(a(i, p)) * b(p, j);
        magnitude += std::fabs(static_cast<long double>(a(i, p)) * b(p, j));
      }
      EXPECT_NEAR(c.value(5 * i + j), static_cast<double>(sum),
                  1e-15 * static_cast<double>(magnitude));
      EXPECT_LE(c.bound(5 * i + j), 34 * 0x1p-24 * static_cast<double>(magnitude));
      EXPECT_GE(c.bound(5 * i + j), 33 * 0x1p-24 * static_cast<double>(magnitude));
    }
  }
}

TEST(MatmulReference, AcceptsTheChainFusedAndNotFused) {
  const RowMajorF a = random_matrix(9, 120, 3), b = random_matrix(120, 9, 4);
  const Bounded c = matmul(a, b);
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) {
      for (const bool fused : {true, false})
        EXPECT_LE(std::abs(chain(a, b, i, j, fused) - c.value(9 * i + j)), c.bound(9 * i + j));
    }
  }
}

TEST(MatmulReference, RejectsAForgottenTerm) {
  const RowMajorF a = random_matrix(4, 60, 5), b = random_matrix(60, 4, 6);
  const Bounded whole = matmul(a, b), short_of_one = matmul(a.leftCols(59), b.topRows(59));
  for (int e = 0; e < 16; ++e)
    EXPECT_GT(std::abs(whole.value(e) - short_of_one.value(e)), whole.bound(e));
}

TEST(MatmulReference, DemandsExactnessOfSmallIntegers) {
  const Bounded c = matmul(integers(6, 50), integers(50, 6));
  EXPECT_TRUE((c.bound == 0).all());
  EXPECT_TRUE((c.value == c.value.round()).all());
}

// Float holds every integer up to 2^24 and no further. One factor of integers does not make
// products exact.
TEST(MatmulReference, DemandsExactnessOfNothingElse) {
  RowMajorF a(1, 2), b(2, 1);
  a << 4096, 4095;
  b << 4095, 1;
  EXPECT_EQ(matmul(a, b).bound(0), 0) << "2^24 - 1";
  b << 4096, 1;
  EXPECT_GT(matmul(a, b).bound(0), 0) << "above 2^24";
  EXPECT_GT(matmul(integers(2, 9), random_matrix(9, 2, 9)).bound.minCoeff(), 0);
  EXPECT_GT(matmul(random_matrix(2, 9, 9), integers(9, 2)).bound.minCoeff(), 0);
}

TEST(MatmulReference, GivesPositiveZeroWithoutTerms) {
  const Bounded empty = matmul(RowMajorF(2, 0), RowMajorF(0, 3));
  ASSERT_EQ(empty.value.size(), 6);
  const Bounded zeros = matmul(RowMajorF::Constant(2, 4, -0.0f), RowMajorF::Constant(4, 2, 1.0f));
  for (const Bounded& c : {empty, zeros}) {
    EXPECT_TRUE((c.value == 0).all() && (c.bound == 0).all());
    for (double v : c.value) EXPECT_FALSE(std::signbit(v));
  }
}

TEST(MatmulReference, GivesTheClassOfWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity(),
              huge = std::numeric_limits<float>::max();
  RowMajorF a(3, 2), b(2, 1);
  a << infinity, 1, huge, huge, infinity, -infinity;
  b << 1, 1;
  const Bounded c = matmul(a, b);
  EXPECT_EQ(c.value(0), infinity);
  EXPECT_EQ(c.value(1), infinity);
  EXPECT_TRUE(std::isnan(c.value(2)));
  EXPECT_TRUE((c.bound == 0).all());
}

TEST(MatmulReference, FreivaldsAcceptsTheChainAndRejectsOneWrongElement) {
  const RowMajorF a = random_matrix(40, 70, 7), b = random_matrix(70, 30, 8);
  RowMajorF c(40, 30);
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 30; ++j) c(i, j) = chain(a, b, i, j, true);
  }
  const Bounded right = freivalds_residual(a, b, c, 1);
  EXPECT_TRUE((right.value.abs() <= right.bound).all());
  c(17, 11) += 0.01f;
  const Bounded wrong = freivalds_residual(a, b, c, 1);
  EXPECT_FALSE((wrong.value.abs() <= wrong.bound).all());
  // Two errors of a row that cancel in its sum: half of all sign vectors detect them.
  c(17, 12) -= 0.01f;
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Bounded two = freivalds_residual(a, b, c, seed);
    seen += !(two.value.abs() <= two.bound).all();
  }
  EXPECT_GE(seen, 8);
  EXPECT_LE(seen, 32);
}

TEST(MatmulReference, FreivaldsBoundsTheRoundingOfItsOwnSums) {
  const RowMajorF nothing = RowMajorF::Zero(1, 1), none = RowMajorF::Zero(1, 9),
                  ones = RowMajorF::Constant(1, 9, 1.0f);
  EXPECT_GE(freivalds_residual(nothing, none, ones, 1).bound(0), 9 * 9 * 0x1p-53);
  EXPECT_LE(freivalds_residual(nothing, none, ones, 1).bound(0), 1e-12);
}

TEST(MatmulReference, TheDeclaredChainRoundsOnceATermInOrder) {
  const float up = 1 + 0x1p-23f;  // up * up = 1 + 2^-22 + 2^-46
  RowMajorF a(2, 3), b(3, 1);
  a << up, 1, 0x1p-24f,  // the last term is lost, one by one
      -0x1p-100f, -0x1p-100f, 0;
  b << up, 0x1p-24f, 1;
  const Eigen::ArrayXf c = matmul_chain(a, b);
  ASSERT_EQ(c.size(), 2);
  EXPECT_EQ(c(0), std::fma(0x1p-24f, 1.0f, std::fma(1.0f, 0x1p-24f, std::fma(up, up, 0.0f))));
  EXPECT_EQ(c(1), std::fma(-0x1p-100f, 0x1p-24f, std::fma(-0x1p-100f, up, 0.0f)));
  // Terms that underflow give a sum of -0; further zeros would change its sign.
  RowMajorF tiny(1, 2), other(2, 1);
  tiny << -0x1p-100f, -0x1p-100f;
  other << 0x1p-100f, 0x1p-100f;
  EXPECT_TRUE(std::signbit(matmul_chain(tiny, other)(0)));
  EXPECT_FALSE(std::signbit(matmul_chain(RowMajorF(1, 0), RowMajorF(0, 1))(0)));
}

}  // namespace matmul_test
}  // namespace lockstep::reference
