// The reference, compared with an independent loop in long double. Its bound in both directions:
// legal chains stay within it, illegal chains exceed it.
#include "reference/stencil.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace lockstep::reference {
namespace stencil_test {

constexpr Boundary kBoundaries[] = {Boundary::kPadded, Boundary::kZero, Boundary::kClamp,
                                    Boundary::kPeriodic};
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
using Coefficients = std::array<float, 5>;

// x[i] by the definition of the boundary policies, with a search instead of arithmetic.
float at(const std::vector<float>& x, std::int64_t n, std::int64_t i, Boundary boundary) {
  if (boundary == Boundary::kPadded) return x[i + 4];
  if (boundary == Boundary::kZero) return i < 0 || i >= n ? 0 : x[i];
  if (boundary == Boundary::kClamp) return x[std::min(std::max<std::int64_t>(i, 0), n - 1)];
  while (i < 0) i += n;
  while (i >= n) i -= n;
  return x[i];
}

// One element by a chain of operations on the four (coefficient, right, left).
using Chain = std::function<float(const Coefficients& c, const float* right, const float* left)>;

float declared(const Coefficients& c, const float* right, const float* left) {
  float sum = 0;
  for (int k = 1; k <= 4; ++k) sum = std::fma(c[k], right[k] - left[k], sum);
  return sum;
}
float unfused_backwards(const Coefficients& c, const float* right, const float* left) {
  volatile float sum = 0;  // volatile: no contraction
  for (int k = 4; k >= 1; --k) {
    volatile float term = c[k] * (right[k] - left[k]);
    sum = sum + term;
  }
  return sum;
}
float distributed(const Coefficients& c, const float* right,
                  const float* left) {  // c*right - c*left: not the declared algorithm
  float sum = 0;
  for (int k = 1; k <= 4; ++k) sum = std::fma(-c[k], left[k], std::fma(c[k], right[k], sum));
  return sum;
}
float plus(const Coefficients& c, const float* right, const float* left) {
  float sum = 0;
  for (int k = 1; k <= 4; ++k) sum = std::fma(c[k], right[k] + left[k], sum);
  return sum;
}
float three_terms(const Coefficients& c, const float* right, const float* left) {
  float sum = 0;
  for (int k = 1; k <= 3; ++k) sum = std::fma(c[k], right[k] - left[k], sum);
  return sum;
}

// The largest error/bound of a chain on random data; equal values count as 0.
double budget(const Chain& chain, double offset, int exponents, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<int> exponent(-exponents, exponents);
  auto draw = [&] {
    return static_cast<float>(offset + std::ldexp(uniform(random), exponent(random)));
  };
  double most = 0;
  for (int round = 0; round < 200; ++round) {
    const std::int64_t n = 1 + round % 40;
    const Boundary boundary = kBoundaries[round % 4];
    std::vector<float> x(n + (boundary == Boundary::kPadded ? 8 : 0));
    for (float& v : x) v = draw();
    const Coefficients c = {kNaN, draw(), draw(), draw(), draw()};
    const Bounded expected = stencil_1d(x, c, boundary);
    for (std::int64_t i = 0; i < n; ++i) {
      float right[5], left[5];
      for (int k = 1; k <= 4; ++k)
        right[k] = at(x, n, i + k, boundary), left[k] = at(x, n, i - k, boundary);
      const double error = std::abs(chain(c, right, left) - expected.value(i));
      if (error > 0) most = std::max(most, error / expected.bound(i));
    }
  }
  return most;
}

TEST(StencilReference, AgreesWithALongDoubleLoopForEveryBoundaryAndTinySize) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const Boundary boundary : kBoundaries) {
    for (std::int64_t n = 0; n <= 20; ++n) {
      std::vector<float> x(n + (boundary == Boundary::kPadded ? 8 : 0));
      for (float& v : x) v = uniform(random);
      const Coefficients c = {kNaN, uniform(random), uniform(random), uniform(random),
                              uniform(random)};
      const Bounded result = stencil_1d(x, c, boundary);
      ASSERT_EQ(result.value.size(), n);
      ASSERT_EQ(result.bound.size(), n);
      for (std::int64_t i = 0; i < n; ++i) {
        long double exact = 0, magnitude = 0;
        for (int k = 1; k <= 4; ++k) {
          const long double term = (long double){c[k]} * ((long double){at(x, n, i + k, boundary)} -
                                                          at(x, n, i - k, boundary));
          exact += term;
          magnitude += std::fabs(term);
        }
        EXPECT_LE(std::abs(result.value(i) - exact), gamma<double>(6) * magnitude)
            << "n=" << n << " i=" << i;
        EXPECT_LE(result.bound(i),
                  1.0001L * gamma<float>(5) * magnitude + 5 * underflow_unit<float>());
        if (magnitude > 0) {
          EXPECT_GE(result.bound(i), gamma<float>(5) * magnitude + 4 * underflow_unit<float>());
        }
      }
    }
  }
}

TEST(StencilReference, LegalChainsStayInsideTheBound) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    for (const int exponents : {0, 3, 20, 60}) {
      EXPECT_LE(budget(declared, 0, exponents, seed), 1);
      EXPECT_LE(budget(unfused_backwards, 0, exponents, seed), 1);
    }
    EXPECT_LE(budget(declared, 1000, 0, seed), 1);
  }
  EXPECT_GT(budget(declared, 0, 0, 0), 0.05) << "a bound that is nowhere near used proves little";
}

TEST(StencilReference, WrongChainsLeaveTheBound) {
  EXPECT_GT(budget(plus, 0, 3, 0), 1000);
  EXPECT_GT(budget(three_terms, 0, 3, 0), 1000);
  // Late cancellation loses digits that early cancellation keeps. Only data with a common offset
  // show this.
  EXPECT_GT(budget(distributed, 1000, 0, 0), 10);
}

TEST(StencilReference, SubnormalResultsAreCoveredByTheUnderflowTerm) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  double most = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> x(9);
    for (float& v : x) v = std::ldexp(uniform(random), -75);
    const Coefficients c = {kNaN, std::ldexp(uniform(random), -74),
                            std::ldexp(uniform(random), -74), std::ldexp(uniform(random), -74),
                            std::ldexp(uniform(random), -74)};
    const Bounded expected = stencil_1d(x, c, Boundary::kPadded);
    float right[5], left[5];
    for (int k = 1; k <= 4; ++k) right[k] = x[4 + k], left[k] = x[4 - k];
    for (const Chain& chain : {Chain(declared), Chain(unfused_backwards)}) {
      most =
          std::max(most, std::abs(chain(c, right, left) - expected.value(0)) / expected.bound(0));
    }
  }
  EXPECT_LE(most, 1);
  EXPECT_GT(most, 0.25);
}

TEST(StencilReference, AllZeroTermsDemandPositiveZeroExactly) {
  for (const float value : {0.0f, -0.0f, 3.0f, -kMax}) {
    const std::vector<float> x(6, value);
    const Bounded r = stencil_1d(x, Coefficients{kNaN, -1, 2, -3, 4}, Boundary::kPeriodic);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(r.value(i), 0);
      EXPECT_FALSE(std::signbit(r.value(i)));
      EXPECT_EQ(r.bound(i), 0);
    }
  }
}

struct Special {
  const char* what;
  float right, left, coefficient;  // of k = 2; every other element is 1, every other coefficient 1
  float expected;                  // class of the result; 0: finite
};

TEST(StencilReference, SpecialValuesHaveTheClassThatTheChainGives) {
  const Special table[] = {
      {"a NaN stays", kNaN, 1, 1, kNaN},
      {"a NaN stays under coefficient 0", kNaN, 1, 0, kNaN},
      {"a NaN coefficient on a zero difference", 1, 1, kNaN, kNaN},
      {"infinity to the right", kInf, 1, 1, kInf},
      {"infinity to the left", 1, kInf, 1, -kInf},
      {"infinity minus infinity", kInf, kInf, 1, kNaN},
      {"infinities of opposite sign", kInf, -kInf, 1, kInf},
      {"0 times infinity", kInf, 1, 0, kNaN},
      {"an infinite coefficient on a zero difference", 1, 1, -kInf, kNaN},
      {"a difference that overflows", kMax, -kMax, 0.25f, kInf},
      {"a difference that overflows, times 0", kMax, -kMax, 0, kNaN},
      {"a product that overflows", kMax, 0, -4, -kInf},
      {"the largest finite result", kMax, 0, 1, 0},
  };
  for (const Special& s : table) {
    std::vector<float> x(9, 1);
    x[4 + 2] = s.right;
    x[4 - 2] = s.left;
    const Bounded r = stencil_1d(x, Coefficients{kNaN, 1, s.coefficient, 1, 1}, Boundary::kPadded);
    if (std::isnan(s.expected)) {
      EXPECT_TRUE(std::isnan(r.value(0))) << s.what;
    } else if (std::isinf(s.expected)) {
      EXPECT_EQ(r.value(0), s.expected) << s.what;
    } else {
      EXPECT_TRUE(std::isfinite(r.value(0)) && r.bound(0) > 0) << s.what;
    }
  }
}

// If partial sums overflow, the result depends on the declared order and fusing.
TEST(StencilReference, TheClassIsThatOfTheDeclaredChainAndOfNoOther) {
  std::vector<float> x(9, 0);
  x[4 + 1] = x[4 + 2] = x[4 - 3] = x[4 - 4] = kMax;  // two terms up, then two down
  const Bounded order = stencil_1d(x, Coefficients{kNaN, 1, 1, 1, 1}, Boundary::kPadded);
  EXPECT_EQ(order.value(0), kInf);
  EXPECT_EQ(order.bound(0), 0);
  // -max, then twice 3/4 of max added: the product alone would overflow.
  std::fill(x.begin(), x.end(), 0.0f);
  x[4 - 1] = kMax, x[4 + 2] = 0.75f * kMax;
  const Bounded fused = stencil_1d(x, Coefficients{kNaN, 1, 2, 1, 1}, Boundary::kPadded);
  EXPECT_EQ(fused.value(0), 2.0 * (0.75f * kMax) - kMax);
  EXPECT_GT(fused.bound(0), 0);
}

TEST(StencilReference, ASpecialValueReachesItsEightNeighboursAndNotItself) {
  std::vector<float> x(33, 1);
  x[16] = kNaN;
  const Bounded r = stencil_1d(x, Coefficients{kNaN, 1, 1, 1, 1}, Boundary::kZero);
  for (int i = 0; i < 33; ++i) {
    const int distance = std::abs(i - 16);
    EXPECT_EQ(std::isnan(r.value(i)), distance >= 1 && distance <= 4)
        << i;  // the point itself is not used
  }
}

TEST(PolynomialDerivative, IsTheTruthForDegreesUpToEight) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  double most = 0;
  for (const std::int64_t n : {0, 1, 2, 9, 100, 1000}) {
    for (int degree = 0; degree <= 8; ++degree) {
      std::array<double, 9> a{};
      for (int m = 0; m <= degree; ++m) a[m] = uniform(random);
      const PolynomialDerivative d = differentiate_polynomial(a, n);
      ASSERT_EQ(d.x.size(), n + 8);
      ASSERT_EQ(d.derivative.value.size(), n);
      for (std::int64_t i = 0; i < n; ++i) {
        float right[5], left[5];
        for (int k = 1; k <= 4; ++k) right[k] = d.x(i + 4 + k), left[k] = d.x(i + 4 - k);
        most =
            std::max(most, std::abs(declared(d.coefficients, right, left) - d.derivative.value(i)) /
                               d.derivative.bound(i));
      }
    }
  }
  EXPECT_LE(most, 1);
  EXPECT_GT(most, 0.01);
}

TEST(PolynomialDerivative, KnowsTheDerivativeOfAMonomial) {
  std::array<double, 9> a{};
  a[3] = 2;
  const PolynomialDerivative d = differentiate_polynomial(a, 8);  // t = (i - 4) / 8, and 6 t^2
  for (int i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(d.derivative.value(i), 6 * (i - 4) * (i - 4) / 64.0);
  EXPECT_EQ(d.coefficients[1], 6.4f);
}

TEST(PolynomialDerivative, ASwappedCoefficientLeavesTheBound) {
  std::array<double, 9> a{0, 3, 1};
  const PolynomialDerivative d = differentiate_polynomial(a, 16);
  float right[5], left[5];
  for (int k = 1; k <= 4; ++k) right[k] = d.x(4 + k), left[k] = d.x(4 - k);
  Coefficients c = d.coefficients;
  std::swap(c[3], c[4]);
  EXPECT_GT(std::abs(declared(c, right, left) - d.derivative.value(0)),
            100 * d.derivative.bound(0));
}

TEST(StencilReference, TheDeclaredChainRoundsDifferencesAndSums) {
  const std::array<float, 9> x = {0, 0, 0, 0x1p-24f, 0,
                                  1, 0, 0, 0};  // x[1] - x[-1] = 1 - 2^-24, which is a float
  const std::array<float, 5> c = {NAN, 3, 0, 0, 0};
  EXPECT_EQ(stencil_chain(x, c, Boundary::kPadded)(0), std::fma(3.0f, 1.0f - 0x1p-24f, 0.0f));
  // Zeros of either sign, added to +0.
  const std::array<float, 9> flat = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::array<float, 5> negative = {NAN, -1, -1, -1, -1};
  EXPECT_FALSE(std::signbit(stencil_chain(flat, negative, Boundary::kPadded)(0)));
  EXPECT_TRUE(std::isnan(stencil_chain(flat, {{0, INFINITY, 0, 0, 0}}, Boundary::kPadded)(0)));
}

}  // namespace stencil_test
}  // namespace lockstep::reference
