// Compares products of scaled four-bit factors with the rules of group_scaled.h in doubles, which
// hold every term exactly.
#include "simulator/matrix/group_scaled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace lockstep::matrix {
namespace group_scaled_test {

struct Number {
  double significand;
  int exponent;
};

// A ue8m0 or ue4m3 scale; its significand is in [1, 2) unless it is subnormal.
Number scale(std::uint8_t bits, bool ue4m3) {
  if (!ue4m3) return {1, bits - 127};
  const int field = (bits & 0x7f) >> 3;
  const double fraction = (bits & 7) / 8.0;
  return field == 0 ? Number{fraction, -6} : Number{1 + fraction, field - 7};
}

double four(std::uint64_t bits) {
  constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7];
}

float element(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, float c,
              const std::vector<std::uint8_t>& x, const std::vector<std::uint8_t>& y, bool ue4m3) {
  std::vector<Number> terms;
  int exponent = c == 0 ? -139 : std::max(std::ilogb(c), -126);
  terms.push_back({std::ldexp(double{c}, -exponent), exponent});
  if (c == 0) terms[0].significand = 0;
  const std::size_t groups = a.size() / 16;
  for (std::size_t g = 0; g < groups; ++g) {
    const Number p = scale(x[g * x.size() / groups], ue4m3),
                 q = scale(y[g * y.size() / groups], ue4m3);
    double sum = 0;
    bool zeros = true;
    for (std::size_t e = 16 * g; e < 16 * g + 16; ++e) {
      sum += four(a[e]) * four(b[e]);
      zeros = zeros && four(a[e]) * four(b[e]) == 0;
    }
    const double both = p.significand * q.significand;
    terms.push_back({sum * both, zeros || both == 0 ? -139 : p.exponent + q.exponent});
  }
  int largest = -10000;
  for (const Number& t : terms) largest = std::max(largest, t.exponent);
  double total = 0;
  for (const Number& t : terms)
    total += std::trunc(std::ldexp(t.significand, 35 + t.exponent - largest));
  if (total == 0) return 0;
  const double exact = std::ldexp(total, largest - 35);
  const int last = std::max(std::ilogb(exact), -126) - 23;
  const double cut = std::ldexp(std::trunc(std::ldexp(exact, -last)), last);
  if (std::fabs(cut) > 3.5e38) return static_cast<float>(std::copysign(INFINITY, cut));
  return static_cast<float>(cut) == 0 ? 0 : static_cast<float>(cut);
}

TEST(GroupScaled, FollowsTheRules) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 120000; ++round) {
    const bool ue4m3 = round % 3 == 0;
    const std::size_t k = round % 4 == 3 ? 96 : 64;
    const std::size_t lines = k / (ue4m3 || round % 3 == 1 ? 16 : 32);
    std::vector<std::uint64_t> a(k), b(k);
    std::vector<std::uint8_t> x(lines), y(lines);
    for (auto& v : a) v = random() & 15;
    for (auto& v : b) v = random() & 15;
    for (std::size_t e = 0; e < k; ++e) {
      if (random() % 8 == 0) a[e] = random() & 8;
      if (round % 5 == 0 && e / 16 == static_cast<std::size_t>(round / 5) % (k / 16)) b[e] = 0;
    }
    // Scales of every size, or all of a similar size.
    for (auto* s : {&x, &y}) {
      for (auto& v : *s) {
        v = static_cast<std::uint8_t>(ue4m3            ? random() % 255
                                      : round % 2 == 0 ? random() % 255
                                                       : 120 + random() % 16);
        if (ue4m3 && (v & 0x7f) == 0x7f) v = 0;
      }
    }
    const float c = round % 4 == 0
                        ? 0.0f
                        : std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                                     static_cast<int>(random() % 80) - 60);
    const std::uint64_t addend = std::bit_cast<std::uint32_t>(c);
    std::uint64_t d = 0;
    multiply_group_scaled({1, 1, static_cast<std::uint16_t>(k)}, a.data(), b.data(), &addend,
                          nullptr, {x.data(), y.data(), static_cast<int>(lines), ue4m3}, &d);
    ASSERT_EQ(d, std::bit_cast<std::uint32_t>(element(a, b, c, x, y, ue4m3))) << "round " << round;
  }
}

TEST(GroupScaled, NaNsAndInfinities) {
  const std::vector<std::uint64_t> ones(64, 2);
  std::uint8_t x[] = {127, 127}, y[] = {127, 255};
  std::uint64_t c = 0, d = 0;
  multiply_group_scaled({1, 1, 64}, ones.data(), ones.data(), &c, nullptr, {x, y, 2, false}, &d);
  EXPECT_EQ(d, 0x7fffffffu) << "a scale that is no number";
  y[1] = 127;
  c = 0xff800000;
  multiply_group_scaled({1, 1, 64}, ones.data(), ones.data(), &c, nullptr, {x, y, 2, false}, &d);
  EXPECT_EQ(d, 0xff800000u);
  x[0] = x[1] = 254;
  c = 0;
  multiply_group_scaled({1, 1, 64}, ones.data(), ones.data(), &c, nullptr, {x, x, 2, false}, &d);
  EXPECT_EQ(d, 0x7f800000u) << "too large";
}

TEST(GroupScaled, ASparseMatrixTakesTheColumnsThatItNames) {
  std::vector<std::uint64_t> a(64, 2), b(128);
  std::vector<std::uint8_t> columns(64);
  for (std::size_t e = 0; e < 64; ++e) columns[e] = static_cast<std::uint8_t>(2 * e + e % 2);
  for (std::size_t k = 0; k < 128; ++k) b[k] = k % 4 == 0 ? 4 : k % 4 == 3 ? 2 : 7;
  const std::uint8_t x[] = {127, 128};
  const std::uint64_t c = 0;
  std::uint64_t d = 0;
  multiply_group_scaled({1, 1, 128}, a.data(), b.data(), &c, columns.data(), {x, x, 2, false}, &d);
  // Each half has 16 products of 2 and 16 of 1; those of the second half count four times.
  EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(d)), 48.0f + 4 * 48.0f);
}

}  // namespace group_scaled_test
}  // namespace lockstep::matrix
