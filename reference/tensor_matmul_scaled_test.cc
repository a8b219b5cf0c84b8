// The reference of products with block scale, compared with sums in another form: every term an
// integer times a power of two, the exact sum in long double.
#include "reference/tensor_matmul_scaled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace lockstep::reference {
namespace tensor_matmul_scaled_test {

// magnitude * 2^exponent; `top`: the exponent that counts for the term.
struct Number {
  std::int64_t magnitude = 0;
  int exponent = 0, top = 0;
  long double value() const { return std::ldexp(static_cast<long double>(magnitude), exponent); }
};

Number e4m3(int bits) {
  const int field = bits >> 3 & 15, fraction = bits & 7;
  const std::int64_t m = field == 0 ? fraction : 8 + fraction;
  const int exponent = (field == 0 ? 1 : field) - 7;
  return {(bits & 0x80) != 0 ? -m : m, exponent - 3, exponent};
}
Number e2m1(int bits) {
  const int field = bits >> 1 & 3, fraction = bits & 1;
  const std::int64_t m = field == 0 ? fraction : 2 + fraction;
  const int exponent = (field == 0 ? 1 : field) - 1;
  return {(bits & 8) != 0 ? -m : m, exponent - 1, exponent};
}
Number times(const Number& a, const Number& b) {
  return {a.magnitude * b.magnitude, a.exponent + b.exponent, a.top + b.top};
}

// The nonzero terms of each step.
std::vector<std::vector<Number>> steps_of(Scaled type, const ScaledRows& a, int i,
                                          const ScaledRows& b, int j) {
  std::vector<std::vector<Number>> steps;
  for (int p = 0; p < a.elements.cols(); ++p) {
    if (p % 32 == 0) steps.emplace_back();
    const int x = a.elements(i, p), y = b.elements(j, p);
    if (type == Scaled::kMxf8) {
      Number t = times(e4m3(x), e4m3(y));
      const int scale = a.scales(i, p / 32) + b.scales(j, p / 32) - 254;
      t.exponent += scale, t.top += scale;
      if (t.magnitude != 0) steps.back().push_back(t);
      continue;
    }
    // A group of 8 bytes is complete.
    if (p % 8 != 7 && p + 1 != a.elements.cols()) continue;
    std::int64_t quarters = 0;
    bool any = false;
    for (int q = p / 8 * 8; q <= p; ++q) {
      for (int shift = 0; shift < 8; shift += 4) {
        const std::int64_t product =
            times(e2m1(a.elements(i, q) >> shift & 15), e2m1(b.elements(j, q) >> shift & 15))
                .magnitude;
        const Number left = e2m1(a.elements(i, q) >> shift & 15),
                     right = e2m1(b.elements(j, q) >> shift & 15);
        quarters += product << (left.exponent + right.exponent + 2);
        any |= product != 0;
      }
    }
    const Number s = times(e4m3(a.scales(i, p / 8) & 0x7f), e4m3(b.scales(j, p / 8) & 0x7f));
    if (any && s.magnitude != 0)
      steps.back().push_back({quarters * s.magnitude, s.exponent - 2, s.top});
  }
  return steps;
}

float one_element(Scaled type, const std::vector<std::vector<Number>>& steps, float c) {
  const int kept = type == Scaled::kMxf8 ? 25 : 35, zero = type == Scaled::kMxf8 ? -133 : -139;
  for (const auto& terms : steps) {
    if (!std::isfinite(c)) return c;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(c);
    const int field = static_cast<int>(bits >> 23 & 255);
    const std::int64_t m = (bits & 0x7fffff) | (field != 0 ? 0x800000 : 0);
    const int exponent = (field == 0 ? 1 : field) - 127;
    std::vector<Number> all = terms;
    all.push_back({c < 0 ? -m : m, exponent - 23, m == 0 ? zero : exponent});
    int largest = zero;
    for (const Number& t : all) largest = t.top > largest ? t.top : largest;
    std::int64_t sum = 0;
    for (const Number& t : all) {
      const int up = t.exponent - (largest - kept);
      const std::int64_t magnitude = std::abs(t.magnitude), cut = up >= 0    ? magnitude << up
                                                                  : up < -62 ? 0
                                                                             : magnitude >> -up;
      sum += t.magnitude < 0 ? -cut : cut;
    }
    const auto magnitude = static_cast<std::uint64_t>(std::abs(sum));
    if (magnitude == 0) {
      c = 0;
      continue;
    }
    const int top = 63 - std::countl_zero(magnitude) + largest - kept;
    const int drop = std::max(top, -126) - 23 - (largest - kept);
    const std::uint64_t rest = drop <= 0 ? magnitude : drop > 62 ? 0 : magnitude >> drop << drop;
    const long double value = std::ldexp(static_cast<long double>(rest), largest - kept);
    c = value >= 0x1p128L ? HUGE_VALF : static_cast<float>(value);
    if (sum < 0 && c != 0) c = -c;
  }
  return c;
}

struct Problem {
  ScaledRows a, b;
  RowMajorD c;
};
// wide: scales of all magnitudes.
Problem random_problem(Scaled type, int m, int n, int k, bool wide, std::uint32_t seed) {
  std::mt19937 random(seed);
  const int each = type == Scaled::kMxf8 ? 32 : 8, scales = (k + each - 1) / each;
  Problem p{{RowMajorBytes(m, k), RowMajorBytes(m, scales)},
            {RowMajorBytes(n, k), RowMajorBytes(n, scales)},
            RowMajorD(m, n)};
  for (ScaledRows* rows : {&p.a, &p.b}) {
    for (Eigen::Index e = 0; e < rows->elements.size(); ++e) {
      auto bits = static_cast<std::uint8_t>(random());
      if (type == Scaled::kMxf8 && (bits & 0x7f) == 0x7f) bits ^= 0x11;  // no NaN
      if (random() % 6 == 0) bits = 0;
      rows->elements.data()[e] = bits;
    }
    for (Eigen::Index e = 0; e < rows->scales.size(); ++e) {
      std::uint8_t bits = static_cast<std::uint8_t>(random() % 0x7f | (random() & 0x80));
      if (type == Scaled::kMxf8)
        bits = static_cast<std::uint8_t>(127 + static_cast<int>(random() % (wide ? 141 : 7)) -
                                         (wide ? 90 : 3));
      rows->scales.data()[e] = bits;
    }
  }
  for (Eigen::Index e = 0; e < p.c.size(); ++e) {
    const double v = std::ldexp(static_cast<double>(random() % 4096) - 2048,
                                static_cast<int>(random() % 24) - 12);
    p.c.data()[e] = random() % 4 == 0 ? 0 : v;
  }
  return p;
}

const int kShapes[][3] = {{1, 1, 1}, {3, 5, 17}, {2, 3, 32}, {4, 4, 100}, {2, 2, 129}};

TEST(TensorMatmulScaledReference, TheModelIsTheSumOfIntegersAndLiesInTheBound) {
  std::uint32_t seed = 0;
  int finite = 0;
  for (const Scaled type : {Scaled::kMxf8, Scaled::kNvf4}) {
    for (const auto& [m, n, k] : kShapes) {
      for (int round = 0; round < 40; ++round) {
        const Problem p = random_problem(type, m, n, k, round % 2 != 0, ++seed);
        const Eigen::ArrayXf model = tensor_matmul_scaled_model(type, p.a, p.b, p.c);
        const Bounded d = tensor_matmul_scaled(type, p.a, p.b, p.c);
        for (int e = 0; e < m * n; ++e) {
          const auto steps = steps_of(type, p.a, e / n, p.b, e % n);
          const float expected = one_element(type, steps, static_cast<float>(p.c.data()[e]));
          ASSERT_EQ(std::bit_cast<std::uint32_t>(model(e)), std::bit_cast<std::uint32_t>(expected))
              << static_cast<int>(type) << ": " << model(e) << ", not " << expected;
          if (!std::isfinite(d.value(e))) {
            EXPECT_EQ(model(e), d.value(e));
            continue;
          }
          long double exact = p.c.data()[e], magnitude = std::fabs(exact), largest = 0;
          for (const auto& terms : steps) {
            for (const Number& t : terms) {
              exact += t.value(), magnitude += std::fabs(t.value());
              largest = std::max(largest, std::fabs(t.value()));
            }
          }
          EXPECT_LE(std::fabs(exact - d.value(e)), 0x1p-50L * magnitude);
          EXPECT_LE(std::fabs(model(e) - d.value(e)), d.bound(e));
          // The bound must reject a sum without its largest term.
          EXPECT_TRUE(largest == 0 || largest > 2 * d.bound(e) || magnitude < 0x1p-100L ||
                      largest < 0x1p-12L * std::fabs(p.c.data()[e]))
              << largest << ", " << d.bound(e);
          ++finite;
        }
      }
    }
  }
  EXPECT_GT(finite, 2000);
}

// One row of bytes with one scale on each side, and C.
float model_of(Scaled type, std::vector<std::uint8_t> a, std::vector<std::uint8_t> b,
               std::uint8_t a_scale, std::uint8_t b_scale, float c) {
  const auto rows = [](const std::vector<std::uint8_t>& bytes, std::uint8_t scale) {
    ScaledRows r{RowMajorBytes(1, static_cast<Eigen::Index>(bytes.size())), RowMajorBytes(1, 1)};
    std::copy(bytes.begin(), bytes.end(), r.elements.data());
    r.scales(0, 0) = scale;
    return r;
  };
  const ScaledRows x = rows(a, a_scale), y = rows(b, b_scale);
  const RowMajorD addend = RowMajorD::Constant(1, 1, c);
  const float d = tensor_matmul_scaled_model(type, x, y, addend)(0);
  const Bounded bounded = tensor_matmul_scaled(type, x, y, addend);
  EXPECT_LE(std::fabs(d - bounded.value(0)), bounded.bound(0));
  return d;
}

// A term just within the kept bits subtracts a last place from C; a smaller term has no effect.
TEST(TensorMatmulScaledReference, WhatIsCut) {
  using enum Scaled;
  constexpr std::uint8_t kOne = 0x38, kMinusOne = 0xb8, kLeast = 0x01, kMinusLeast = 0x81;
  EXPECT_EQ(model_of(kMxf8, {kMinusOne}, {kOne}, 127, 127 - 25, 1), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(model_of(kMxf8, {kMinusOne}, {kOne}, 127, 127 - 26, 1), 1);
  // Below the exponent of zero, -133: 2^-149 less 2^-158, and less 2^-159.
  EXPECT_EQ(model_of(kMxf8, {kOne, kMinusLeast}, {kOne, kOne}, 0, 127 - 22, 0), 0);
  EXPECT_EQ(model_of(kMxf8, {kOne, kMinusLeast}, {kOne, 0x30}, 0, 127 - 22, 0), 0x1p-149f);
  // The largest possible cut: the bound holds.
  EXPECT_EQ(model_of(kMxf8, std::vector<std::uint8_t>(32, kMinusOne),
                     std::vector<std::uint8_t>(32, kOne), 127, 127 - 26, 1),
            1);
  // -1/2 * 1/2 times two scales of 2^-9, whose exponents count as -6.
  EXPECT_EQ(model_of(kNvf4, {0x09}, {0x01}, kLeast, kLeast, 0x1p15f),
            std::nextafter(0x1p15f, 0.0f));
  EXPECT_EQ(model_of(kNvf4, {0x09}, {0x01}, kLeast, kLeast, 0x1p16f), 0x1p16f);
}

TEST(TensorMatmulScaledReference, NothingLeavesCAndNaNsSpread) {
  for (const Scaled type : {Scaled::kMxf8, Scaled::kNvf4}) {
    Problem p = random_problem(type, 2, 2, 0, false, 7);
    EXPECT_TRUE((tensor_matmul_scaled(type, p.a, p.b, p.c).bound == 0).all());
    for (int e = 0; e < 4; ++e)
      EXPECT_EQ(tensor_matmul_scaled_model(type, p.a, p.b, p.c)(e), p.c.data()[e]);
    p = random_problem(type, 2, 2, 40, false, 8);
    p.a.scales(1, 1) = 0xff;
    const Eigen::ArrayXf model = tensor_matmul_scaled_model(type, p.a, p.b, p.c);
    const Bounded d = tensor_matmul_scaled(type, p.a, p.b, p.c);
    for (int e = 0; e < 4; ++e) {
      EXPECT_EQ(std::isnan(model(e)), e >= 2);
      EXPECT_EQ(std::isnan(d.value(e)), e >= 2);
    }
    // Also if all else is zero.
    p.a.elements.setZero(), p.c.setZero();
    const Bounded zeros = tensor_matmul_scaled(type, p.a, p.b, p.c);
    for (int e = 0; e < 4; ++e) EXPECT_EQ(std::isnan(zeros.value(e)), e >= 2);
  }
}

}  // namespace tensor_matmul_scaled_test
}  // namespace lockstep::reference
