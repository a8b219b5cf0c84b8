// The reference of the product on matrix units, compared with sums in another form: three loops,
// significands as integers, exact sums in long double.
#include "reference/tensor_matmul.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace lockstep::reference {
namespace tensor_matmul_test {

using Words = std::vector<std::uint64_t>;

struct Layout {
  Factor type;
  int exponent_bits, fraction_bits, low_bits;  // low_bits: ignored
  bool has_infinity;
};
constexpr Layout kF16{Factor::kF16, 5, 10, 0, true}, kBf16{Factor::kBf16, 8, 7, 0, true},
    kTf32{Factor::kTf32, 8, 10, 13, true}, kE4m3{Factor::kE4m3, 4, 3, 0, false};

// sign * significand * 2^(exponent - fraction_bits), not normalised: 0 is a significand as well.
struct Term {
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0, fraction_bits = 0;
};

Term term_of(std::uint64_t bits, int exponent_bits, int fraction_bits) {
  const int field = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const std::uint64_t fraction = bits & ((1u << fraction_bits) - 1);
  return {(bits >> (exponent_bits + fraction_bits) & 1) != 0,
          fraction | std::uint64_t{field != 0} << fraction_bits,
          std::max(field, 1) - ((1 << (exponent_bits - 1)) - 1), fraction_bits};
}
Term term_of(const Layout& l, std::uint64_t bits) {
  return term_of(bits >> l.low_bits, l.exponent_bits, l.fraction_bits);
}
Term term_of(float v) { return term_of(std::bit_cast<std::uint32_t>(v), 8, 23); }
Term product(const Term& a, const Term& b) {
  return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent,
          a.fraction_bits + b.fraction_bits};
}

// Applies rules 2 to 4 of docs/reference/matrix.md to the terms of one step.
float one_step(const std::vector<Term>& terms, const MatrixUnit& unit) {
  int largest = unit.zero_exponent;
  bool any = false;
  for (const Term& t : terms) {
    if (t.significand == 0) continue;
    largest = any ? std::max(largest, t.exponent) : std::max(unit.zero_exponent, t.exponent);
    any = true;
  }
  const int unit_in_last_place = largest - unit.fraction_bits;
  std::int64_t sum = 0;
  for (const Term& t : terms) {
    const int shift = t.exponent - t.fraction_bits - unit_in_last_place;
    const std::uint64_t kept = t.significand == 0 || shift <= -64 ? 0
                               : shift < 0                        ? t.significand >> -shift
                                                                  : t.significand << shift;
    sum += t.negative ? -static_cast<std::int64_t>(kept) : static_cast<std::int64_t>(kept);
  }
  std::uint64_t magnitude =
      sum < 0 ? -static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  if (magnitude == 0) return 0;
  const int exponent = 63 - std::countl_zero(magnitude) + unit_in_last_place;
  const int drop = std::max(exponent, -126) - unit.result_bits - unit_in_last_place;
  if (drop > 0) magnitude = drop < 64 ? magnitude >> drop << drop : 0;
  const auto value =
      static_cast<float>(std::ldexp(static_cast<long double>(magnitude), unit_in_last_place));
  return sum < 0 && value != 0 ? -value : value;
}

// One element; all factors are finite. An infinite sum stays infinite.
float one_element(const Layout& l, const std::uint64_t* a, const std::uint64_t* b, int k, float c,
                  const MatrixUnit& unit) {
  float sum = c;
  for (int p = 0; p < k && std::isfinite(sum);) {
    if (unit.in_halves) {
      std::vector<Term> early, late;
      for (int end = std::min(k, p + 32); p < end; ++p)
        (p % 4 < 2 ? early : late).push_back(product(term_of(l, a[p]), term_of(l, b[p])));
      early.push_back(term_of(0.0f));
      late.push_back(term_of(one_step(early, unit)));
      sum = sum + one_step(late, unit);
    } else {
      std::vector<Term> terms{term_of(sum)};
      for (int end = std::min(k, p + unit.products); p < end; ++p)
        terms.push_back(product(term_of(l, a[p]), term_of(l, b[p])));
      sum = one_step(terms, unit);
    }
  }
  return sum;
}

struct Problem {
  int m, n, k;
  Words a, b;  // a: m x k, b: n x k
  std::vector<float> c;
  RowMajorD left, right, addend;
};

// Finite factors, with zeros and pairs that cancel. kAll: all exponents. kNearOne: near one. kTiny:
// the least numbers in A and C, including subnormals. kSmall: numbers of B up to one.
enum class Numbers { kAll, kNearOne, kTiny, kSmall };
constexpr Numbers kNumbers[] = {Numbers::kAll, Numbers::kNearOne, Numbers::kTiny};

Problem random_problem(const Layout& l, int m, int n, int k, Numbers numbers, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  Problem p{m, n, k, {}, {}, {}, RowMajorD(m, k), RowMajorD(n, k), RowMajorD(m, n)};
  const int bias = (1 << (l.exponent_bits - 1)) - 1;
  const auto draw = [&](Numbers which) -> std::uint64_t {
    if (random() % 8 == 0) return 0;
    const std::uint64_t fraction = random() & ((1u << l.fraction_bits) - 1);
    // Excludes the largest exponent, which contains e4m3's NaN and the other types' infinities.
    const std::uint64_t field =
        which == Numbers::kNearOne ? static_cast<std::uint64_t>(bias) + random() % 3 - 1
        : which == Numbers::kTiny  ? random() % 3
        : which == Numbers::kSmall
            ? static_cast<std::uint64_t>(bias) - random() % std::min<std::uint64_t>(bias, 24)
            : random() % (2 * static_cast<std::uint64_t>(bias) + 1);
    const std::uint64_t ignored = random() & ((1u << l.low_bits) - 1);
    return ((random() % 2 << l.exponent_bits | field) << l.fraction_bits | fraction) << l.low_bits |
           ignored;
  };
  const auto fill = [&](Words& words, RowMajorD& values, Numbers which) {
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (Eigen::Index j = 0; j < values.cols(); ++j) {
        const bool again = j > 0 && random() % 6 == 0;
        const std::uint64_t sign = std::uint64_t{1}
                                   << (l.exponent_bits + l.fraction_bits + l.low_bits);
        words.push_back(again ? words.back() ^ sign : draw(which));
        values(i, j) = value_of(l.type, words.back());
      }
    }
  };
  fill(p.a, p.left, numbers),
      fill(p.b, p.right, numbers == Numbers::kTiny ? Numbers::kSmall : numbers);
  for (int e = 0; e < m * n; ++e) {
    const int exponent = numbers == Numbers::kAll    ? static_cast<int>(random() % 60) - 40
                         : numbers == Numbers::kTiny ? -bias - static_cast<int>(random() % 12)
                                                     : 0;
    const float magnitude =
        std::ldexp(1.0f + static_cast<float>(random() % 4096) / 4096.0f, exponent);
    p.c.push_back(random() % 5 == 0 ? 0.0f : random() % 2 == 0 ? -magnitude : magnitude);
    p.addend(e / n, e % n) = p.c.back();
  }
  return p;
}

struct OnUnit {
  Layout layout;
  int compute_capability;
  bool warpgroup;
};
const OnUnit kUnits[] = {{kF16, 75, false},  {kF16, 80, false},  {kBf16, 80, false},
                         {kTf32, 80, false}, {kE4m3, 89, false}, {kF16, 90, false},
                         {kBf16, 90, false}, {kTf32, 90, true},  {kE4m3, 90, false},
                         {kE4m3, 90, true},  {kF16, 100, false}, {kE4m3, 100, false},
                         {kE4m3, 120, false}};
const int kShapes[][3] = {{1, 1, 1}, {3, 5, 17}, {5, 2, 33}, {2, 3, 7}, {4, 4, 64}, {2, 2, 100}};

TEST(TensorMatmulReference, FactorsAreDecoded) {
  EXPECT_EQ(value_of(Factor::kF16, 0x3c00), 1);
  EXPECT_EQ(value_of(Factor::kF16, 0x8001), -0x1p-24);
  EXPECT_EQ(value_of(Factor::kF16, 0x7bff), 65504);
  EXPECT_EQ(value_of(Factor::kF16, 0xfc00), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(value_of(Factor::kF16, 0x7c01)));
  EXPECT_EQ(value_of(Factor::kBf16, 0x3fc0), 1.5);
  EXPECT_EQ(value_of(Factor::kBf16, 0x0001), 0x1p-133);
  EXPECT_EQ(value_of(Factor::kTf32, 0x3f801fff), 1) << "the low 13 bits do not count";
  EXPECT_EQ(value_of(Factor::kTf32, 0x00002000), 0x1p-136);
  EXPECT_EQ(value_of(Factor::kE4m3, 0x7e), 448);
  EXPECT_EQ(value_of(Factor::kE4m3, 0x81), -0x1p-9);
  EXPECT_TRUE(std::isnan(value_of(Factor::kE4m3, 0xff)));
  EXPECT_EQ(value_of(Factor::kS8, 0x80), -128);
  EXPECT_EQ(value_of(Factor::kF64, 0xc000000000000000), -2);
}

TEST(TensorMatmulReference, UnitsAreAsMeasuredAndPublished) {
  struct Published {
    OnUnit on;
    int fraction_bits, products, zero_exponent, result_bits;
    bool in_halves;
  };
  for (const auto& [on, fraction_bits, products, zero_exponent, result_bits, in_halves] :
       std::vector<Published>{{{kF16, 75, false}, 24, 8, -132, 23, false},
                              {{kBf16, 80, false}, 24, 8, -132, 23, false},
                              {{kTf32, 86, false}, 24, 4, -132, 23, false},
                              {{kE4m3, 89, false}, 13, 16, -133, 13, false},
                              {{kF16, 90, false}, 25, 16, -133, 23, false},
                              {{kTf32, 90, true}, 25, 8, -133, 23, false},
                              {{kE4m3, 90, true}, 13, 32, -133, 13, false},
                              {{kE4m3, 90, false}, 25, 16, -133, 23, true},
                              {{kBf16, 120, false}, 25, 16, -133, 23, false},
                              {{kE4m3, 100, false}, 25, 16, -133, 23, true},
                              {{kE4m3, 120, false}, 25, 32, -133, 23, false}}) {
    const MatrixUnit unit = matrix_unit(on.layout.type, on.compute_capability, on.warpgroup);
    SCOPED_TRACE(static_cast<int>(on.layout.type) * 1000 + on.compute_capability);
    EXPECT_EQ(unit.fraction_bits, fraction_bits);
    EXPECT_EQ(unit.products, products);
    EXPECT_EQ(unit.zero_exponent, zero_exponent);
    EXPECT_EQ(unit.result_bits, result_bits);
    EXPECT_EQ(unit.in_halves, in_halves);
  }
}

TEST(TensorMatmulReference, TheModelIsTheSumOfIntegersBitForBit) {
  std::uint32_t seed = 0;
  for (const OnUnit& u : kUnits) {
    const MatrixUnit unit = matrix_unit(u.layout.type, u.compute_capability, u.warpgroup);
    for (const auto& [m, n, k] : kShapes) {
      for (const Numbers numbers : kNumbers) {
        const Problem p = random_problem(u.layout, m, n, k, numbers, ++seed);
        const Eigen::ArrayXf d = tensor_matmul_model(p.left, p.right, p.addend, unit);
        ASSERT_EQ(d.size(), m * n);
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j) {
            const float expected =
                one_element(u.layout, &p.a[i * k], &p.b[j * k], k, p.c[i * n + j], unit);
            ASSERT_EQ(std::bit_cast<std::uint32_t>(d(i * n + j)),
                      std::bit_cast<std::uint32_t>(expected))
                << static_cast<int>(u.layout.type) << " on sm_" << u.compute_capability << ", " << m
                << " x " << n << " x " << k << " at " << i << ", " << j;
          }
        }
      }
    }
  }
}

TEST(TensorMatmulReference, TheBoundHoldsForTheModelAndNotForASumThatLacksATerm) {
  std::uint32_t seed = 100;
  for (const OnUnit& u : kUnits) {
    const MatrixUnit unit = matrix_unit(u.layout.type, u.compute_capability, u.warpgroup);
    for (const auto& [m, n, k] : kShapes) {
      for (const Numbers numbers : kNumbers) {
        const Problem p = random_problem(u.layout, m, n, k, numbers, ++seed);
        const Bounded d = tensor_matmul(p.left, p.right, p.addend, unit);
        int lacking = 0;
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j) {
            long double exact = p.c[i * n + j], magnitude = std::fabs(exact), largest = 0;
            for (int q = 0; q < k; ++q) {
              const long double term = static_cast<long double>(p.left(i, q)) * p.right(j, q);
              exact += term, magnitude += std::fabs(term),
                  largest = std::max(largest, std::fabs(term));
            }
            const int e = i * n + j;
            const float model = one_element(u.layout, &p.a[i * k], &p.b[j * k], k, p.c[e], unit);
            if (std::isfinite(d.value(e))) {
              EXPECT_LE(std::fabs(exact - static_cast<long double>(d.value(e))),
                        static_cast<long double>(k + 1) * 0x1p-53L * magnitude);
              EXPECT_LE(std::fabs(model - d.value(e)), d.bound(e))
                  << static_cast<int>(u.layout.type) << " sm_" << u.compute_capability;
            } else {
              EXPECT_EQ(model, d.value(e));
              EXPECT_GE(magnitude, 0x1p127L) << "nothing overflows here";
            }
            lacking += largest == 0 || largest > 2 * static_cast<long double>(d.bound(e));
          }
        }
        if (numbers == Numbers::kNearOne && k >= 7) {
          EXPECT_EQ(lacking, m * n) << "the bound would take a sum without its largest term";
        }
      }
    }
  }
}

TEST(TensorMatmulReference, SmallIntegersAreExactAndNothingLeavesC) {
  const MatrixUnit unit = matrix_unit(Factor::kF16, 80, false);
  RowMajorD a(3, 19), b(4, 19), c(3, 4);
  for (int i = 0; i < 3; ++i) {
    for (int q = 0; q < 19; ++q) a(i, q) = (3 * i + 5 * q) % 9 - 4;
  }
  for (int j = 0; j < 4; ++j) {
    for (int q = 0; q < 19; ++q) b(j, q) = (7 * j + 2 * q) % 11 - 5;
  }
  for (int e = 0; e < 12; ++e) c(e / 4, e % 4) = 10 * e - 50;
  const Bounded d = tensor_matmul(a, b, c, unit);
  const Eigen::ArrayXf model = tensor_matmul_model(a, b, c, unit);
  for (int e = 0; e < 12; ++e) {
    int sum = 10 * e - 50;
    for (int q = 0; q < 19; ++q)
      sum += ((3 * (e / 4) + 5 * q) % 9 - 4) * ((7 * (e % 4) + 2 * q) % 11 - 5);
    EXPECT_EQ(d.value(e), sum);
    EXPECT_EQ(d.bound(e), 0);
    EXPECT_EQ(model(e), static_cast<float>(sum));
  }
  const Bounded nothing = tensor_matmul(RowMajorD(3, 0), RowMajorD(4, 0), c, unit);
  EXPECT_TRUE((nothing.bound == 0).all());
  for (int e = 0; e < 12; ++e) EXPECT_EQ(nothing.value(e), 10 * e - 50);
  // A zero sum of products is +0, whatever their signs.
  const Bounded zero = tensor_matmul(RowMajorD::Constant(1, 5, -0.0), RowMajorD::Constant(1, 5, 1),
                                     RowMajorD::Constant(1, 1, -0.0), unit);
  EXPECT_FALSE(std::signbit(zero.value(0)));
  EXPECT_EQ(zero.bound(0), 0);
}

TEST(TensorMatmulReference, SpecialValuesHaveTheirClass) {
  const double inf = HUGE_VAL, nan = std::numeric_limits<double>::quiet_NaN();
  for (const OnUnit& u : kUnits) {
    const MatrixUnit unit = matrix_unit(u.layout.type, u.compute_capability, u.warpgroup);
    // One of 35 products is special, in each step in turn.
    for (const int at : {0, 3, 18, 34}) {
      const auto of = [&](double x, double y, double c, double other = 1) {
        RowMajorD a = RowMajorD::Constant(1, 35, 1), b = RowMajorD::Constant(1, 35, 1);
        a(0, at) = x, b(0, at) = y, a(0, (at + 1) % 35) = other;
        const Bounded d = tensor_matmul(a, b, RowMajorD::Constant(1, 1, c), unit);
        const float model = tensor_matmul_model(a, b, RowMajorD::Constant(1, 1, c), unit)(0);
        EXPECT_EQ(d.bound(0), 0);
        EXPECT_TRUE(std::isnan(model) ? std::isnan(d.value(0)) : d.value(0) == model);
        return model;
      };
      EXPECT_EQ(of(inf, 2, 0), HUGE_VALF);
      EXPECT_EQ(of(inf, -2, 5), -HUGE_VALF);
      EXPECT_TRUE(std::isnan(of(inf, 0, 0)));
      EXPECT_TRUE(std::isnan(of(nan, 1, 0)));
      EXPECT_TRUE(std::isnan(of(inf, 1, 0, -inf)));
      EXPECT_TRUE(std::isnan(of(-inf, 1, inf)));
      EXPECT_EQ(of(1, 1, -inf), -HUGE_VALF);
      EXPECT_TRUE(std::isnan(of(1, 1, nan)));
    }
  }
  // Finite factors with a sum too large for f32.
  const MatrixUnit bf16 = matrix_unit(Factor::kBf16, 90, false);
  const RowMajorD large = RowMajorD::Constant(1, 17, 0x1p64);
  const Bounded d = tensor_matmul(large, large, RowMajorD::Zero(1, 1), bf16);
  EXPECT_EQ(d.value(0), HUGE_VAL);
  EXPECT_EQ(d.bound(0), 0);
}

TEST(TensorMatmulReference, OfDoublesIsAChain) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> values(-1, 1);
  for (const int k : {0, 1, 3, 4, 21}) {
    RowMajorD a(3, k), b(2, k), c(3, 2);
    for (RowMajorD* matrix : {&a, &b, &c}) {
      for (Eigen::Index e = 0; e < matrix->size(); ++e) matrix->data()[e] = values(random);
    }
    const Eigen::ArrayXd chain = tensor_matmul_f64_chain(a, b, c);
    const Bounded d = tensor_matmul_f64(a, b, c);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 2; ++j) {
        double sum = c(i, j);
        long double exact = sum, magnitude = std::fabs(exact);
        for (int q = 0; q < k; ++q) {
          sum = std::fma(a(i, q), b(j, q), sum);
          exact += static_cast<long double>(a(i, q)) * b(j, q),
              magnitude += std::fabs(static_cast<long double>(a(i, q)) * b(j, q));
        }
        EXPECT_EQ(chain(2 * i + j), sum);
        EXPECT_LE(std::fabs(static_cast<long double>(d.value(2 * i + j)) - exact),
                  0x1p-52L * magnitude);
        EXPECT_LE(std::fabs(sum - d.value(2 * i + j)), d.bound(2 * i + j));
        EXPECT_LE(static_cast<long double>(d.bound(2 * i + j)),
                  (k + 3) * 0x1p-53L * magnitude * 1.01L);
      }
    }
  }
  // Products of +0 fill k up to a multiple of 4 and change -0 to +0.
  const auto zero_of = [](int k) {
    return tensor_matmul_f64_chain(RowMajorD::Constant(1, k, -0.0), RowMajorD::Constant(1, k, 1),
                                   RowMajorD::Constant(1, 1, -0.0))(0);
  };
  EXPECT_TRUE(std::signbit(zero_of(4)));
  EXPECT_FALSE(std::signbit(zero_of(3)));
  const Bounded special = tensor_matmul_f64(RowMajorD::Constant(1, 2, HUGE_VAL),
                                            RowMajorD::Constant(1, 2, 0), RowMajorD::Zero(1, 1));
  EXPECT_TRUE(std::isnan(special.value(0)));
}

// Each product is below half an ulp of the largest number, so the chain's roundings drop it. Their
// exact sum with C rounds to infinity.
TEST(TensorMatmulReference, F64KeepsTheLargestNumberThatTheChainKeeps) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const std::int64_t k = 8;
  for (const double sign : {1.0, -1.0}) {
    const RowMajorD a = RowMajorD::Constant(1, k, sign), b = RowMajorD::Constant(1, k, 0x1p968),
                    c = RowMajorD::Constant(1, 1, sign * kLargest);
    ASSERT_EQ(tensor_matmul_f64_chain(a, b, c)(0), sign * kLargest);
    const Bounded d = tensor_matmul_f64(a, b, c);
    EXPECT_EQ(d.value(0), sign * kLargest);
    EXPECT_GE(d.bound(0), k * 0x1p968);
    EXPECT_LE(d.bound(0), 1e-13 * kLargest);
  }
}

TEST(TensorMatmulReference, OfBytesWrapsAround) {
  RowMajorD a(2, 37), b(3, 37), c(2, 3);
  const auto byte = [](int e) { return static_cast<int>(static_cast<std::int8_t>(91 * e + 128)); };
  for (int e = 0; e < 74; ++e) a.data()[e] = byte(e);
  for (int e = 0; e < 111; ++e) b.data()[e] = byte(3 * e);
  for (int e = 0; e < 6; ++e) c.data()[e] = e % 2 == 0 ? 2147483647.0 - e : -2147483648.0 + e;
  const auto d = tensor_matmul_s8(a, b, c);
  for (int e = 0; e < 6; ++e) {
    auto sum = static_cast<std::uint32_t>(static_cast<std::int64_t>(c.data()[e]));
    for (int q = 0; q < 37; ++q)
      sum += static_cast<std::uint32_t>(byte(e / 3 * 37 + q) * byte(3 * (e % 3 * 37 + q)));
    EXPECT_EQ(d(e), static_cast<std::int32_t>(sum));
  }
}

}  // namespace tensor_matmul_test
}  // namespace lockstep::reference
