// What tells one generation of matrix units from the next, on inputs whose sums can be followed by hand; numbers in bulk are held against silicon by
// //simulator/vectors:matrix_replay_test.
#include "simulator/matrix/unit.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace lockstep::matrix {
namespace unit_test {

using isa::Type;

std::uint64_t half(double v) {
  if (v == 0) return std::signbit(v) ? 0x8000 : 0;
  int e = 0;
  const double m = std::frexp(std::fabs(v), &e);  // in [0.5, 1)
  const std::uint64_t sign = v < 0 ? 0x8000 : 0;
  if (e - 1 < -14) return sign | static_cast<std::uint64_t>(std::ldexp(std::fabs(v), 24));
  return sign | static_cast<std::uint64_t>(e + 14) << 10 | (static_cast<std::uint64_t>(m * 2048) & 0x3ff);
}
std::uint64_t single(float v) { return std::bit_cast<std::uint32_t>(v); }

// One element of D: a row of A times a column of B, of f16, plus c in f32. Factors that are not given are zero.
float dot(int compute_capability, const std::vector<double>& a, const std::vector<double>& b, float c = 0) {
  Operation o{Type::kF32, Type::kF16, Type::kF16, Type::kF32, {1, 1, 16}};
  o.compute_capability = compute_capability;
  std::vector<std::uint64_t> as(16), bs(16);
  for (std::size_t k = 0; k < a.size(); ++k) as[k] = half(a[k]), bs[k] = half(b[k]);
  const std::uint64_t addend = single(c);
  std::uint64_t d = 0;
  multiply(o, as.data(), bs.data(), &addend, nullptr, &d);
  return std::bit_cast<float>(static_cast<std::uint32_t>(d));
}

TEST(MatrixUnit, HopperKeepsOneBitMoreThanAmpere) {
  const double tiny = std::ldexp(1, -12), small = std::ldexp(1, -13);
  // 1 - 1 + 2^-25: below the last bit of 24, and the last of 25.
  EXPECT_EQ(dot(90, {1, tiny}, {1, small}, -1), std::ldexp(1.0f, -25));
  EXPECT_EQ(dot(80, {1, tiny}, {1, small}, -1), 0.0f);
  EXPECT_EQ(dot(80, {1, tiny}, {1, tiny}, -1), std::ldexp(1.0f, -24));
  EXPECT_EQ(dot(70, {1, tiny}, {1, tiny}, -1), 0.0f);
  EXPECT_EQ(dot(90, {1, small}, {1, small}, -1), 0.0f);
}

TEST(MatrixUnit, ChunksAreSixteenProductsSinceHopper) {
  // The large terms of the first eight cancel. What follows is cut by them where all are one sum.
  std::vector<double> a(16), b(16);
  a[0] = b[0] = a[1] = 1024, b[1] = -1024;
  a[8] = std::ldexp(1, -5), b[8] = std::ldexp(1, -5);
  EXPECT_EQ(dot(90, a, b), 0.0f);
  EXPECT_EQ(dot(80, a, b), std::ldexp(1.0f, -10));
  // Four on Volta.
  std::swap(a[8], a[4]);
  std::swap(b[8], b[4]);
  EXPECT_EQ(dot(80, a, b), 0.0f);
  EXPECT_EQ(dot(70, a, b), std::ldexp(1.0f, -10));
}

TEST(MatrixUnit, SumsAreCutTowardZero) {
  // 1 + 2^-24 + 2^-24 is 1 + 2^-23; 1 + 2^-24 alone is 1, and so is it below zero.
  const double tiny = std::ldexp(1, -12);
  EXPECT_EQ(dot(90, {1, tiny, tiny}, {1, tiny, tiny}), 1 + std::ldexp(1.0f, -23));
  EXPECT_EQ(dot(90, {1, tiny}, {1, tiny}), 1.0f);
  EXPECT_EQ(dot(90, {-1, -tiny}, {1, tiny}), -1.0f);
}

TEST(MatrixUnit, SpecialValues) {
  Operation o{Type::kF32, Type::kF16, Type::kF16, Type::kF32, {1, 1, 1}};
  const auto product = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t d = 0;
    multiply(o, &a, &b, &c, nullptr, &d);
    return d;
  };
  EXPECT_EQ(product(0x7c00, 0x3c00, 0), 0x7f800000u);
  EXPECT_EQ(product(0xfc00, 0x3c00, 0), 0xff800000u);
  EXPECT_EQ(product(0x7c00, 0, 0), 0x7fffffffu) << "infinity times zero";
  EXPECT_EQ(product(0x7c00, 0x3c00, 0xff800000), 0x7fffffffu) << "infinity minus infinity";
  EXPECT_EQ(product(0x7e01, 0x3c00, 0), 0x7fffffffu) << "every NaN is one";
  EXPECT_EQ(product(0x8000, 0x3c00, 0x80000000), 0u) << "zero is positive";
  EXPECT_EQ(product(0x0001, 0x0001, 0), single(std::ldexp(1.0f, -48))) << "subnormal factors count";
}

TEST(MatrixUnit, IntegersWrapOrSaturate) {
  Operation o{Type::kS32, Type::kS8, Type::kU8, Type::kS32, {1, 1, 2}};
  const std::uint64_t a[] = {0x80, 0x7f}, b[] = {0xff, 0xff}, c = 0x80000000;
  std::uint64_t d = 0;
  multiply(o, a, b, &c, nullptr, &d);
  EXPECT_EQ(d, 0x7fffff01u);  // -2^31 - 128 * 255 + 127 * 255
  o.saturates = true;
  multiply(o, a, b, &c, nullptr, &d);
  EXPECT_EQ(d, 0x80000000u);
}

TEST(MatrixUnit, ASparseMatrixTakesTheColumnsThatItNames) {
  Operation o{Type::kF32, Type::kF16, Type::kF16, Type::kF32, {1, 1, 4}};
  o.sparse = true;
  const std::uint64_t a[] = {half(2), half(3)}, b[] = {half(100), half(5), 0x7c00, half(7)}, c = 0;
  const std::uint8_t columns[] = {1, 3};
  std::uint64_t d = 0;
  multiply(o, a, b, &c, columns, &d);
  EXPECT_EQ(d, single(31)) << "what is not named does not count, not even an infinity";
}

}  // namespace unit_test
}  // namespace lockstep::matrix
