// The differences between generations of matrix units, on inputs whose sums can be computed by
// hand. //simulator/vectors:matrix_replay_test compares many more inputs with silicon.
#include "simulator/matrix/unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <utility>
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
  return sign | static_cast<std::uint64_t>(e + 14) << 10 |
         (static_cast<std::uint64_t>(m * 2048) & 0x3ff);
}
std::uint64_t single(float v) { return std::bit_cast<std::uint32_t>(v); }

// One element of D: a row of A times a column of B, both f16, plus c in f32. Missing factors are
// zero.
float dot(int compute_capability, const std::vector<double>& a, const std::vector<double>& b,
          float c = 0) {
  Operation o{Type::kF32, Type::kF16, Type::kF16, Type::kF32, {1, 1, 16}};
  o.compute_capability = compute_capability;
  std::vector<std::uint64_t> as(16), bs(16);
  for (std::size_t k = 0; k < a.size(); ++k) as[k] = half(a[k]), bs[k] = half(b[k]);
  const std::uint64_t addend = single(c);
  std::uint64_t d = 0;
  multiply(o, as.data(), bs.data(), &addend, nullptr, &d);
  return std::bit_cast<float>(static_cast<std::uint32_t>(d));
}

// The value of finite bits and the exponent of its term: that of the leading bit, for a subnormal
// number the smallest.
struct Number {
  double value;
  int exponent;
};
Number number(std::uint64_t bits, int fraction_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1,
            field = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction =
      std::ldexp(static_cast<double>(bits & ((1ull << fraction_bits) - 1)), -fraction_bits);
  const int exponent = field == 0 ? 1 - bias : field - bias;
  const double magnitude = std::ldexp((field == 0 ? 0 : 1) + fraction, exponent);
  return {(bits >> (fraction_bits + exponent_bits) & 1) != 0 ? -magnitude : magnitude, exponent};
}

struct Format {
  Type type;
  int fraction_bits, exponent_bits, shift;  // tf32 occupies the upper bits of its register
};

// One f32 element of D by the rules of unit.h, in doubles, which hold every term exactly.
float by_the_rules(const Unit& u, const Format& f, const std::vector<std::uint64_t>& a,
                   const std::vector<std::uint64_t>& b, float c) {
  for (std::size_t from = 0; from < a.size(); from += static_cast<std::size_t>(u.products)) {
    std::vector<Number> terms{number(std::bit_cast<std::uint32_t>(c), 23, 8)};
    for (std::size_t k = from; k < std::min(a.size(), from + static_cast<std::size_t>(u.products));
         ++k) {
      const Number x = number(a[k] >> f.shift, f.fraction_bits, f.exponent_bits),
                   y = number(b[k] >> f.shift, f.fraction_bits, f.exponent_bits);
      terms.push_back({x.value * y.value, x.exponent + y.exponent});
    }
    int largest = -10000;
    for (Number& t : terms) {
      if (t.value == 0) t.exponent = u.zero_exponent;
      largest = std::max(largest, t.exponent);
    }
    double sum = 0;  // in units of the last bit that is kept
    for (const Number& t : terms) sum += std::trunc(std::ldexp(t.value, u.fraction_bits - largest));
    if (sum == 0) {
      c = 0;
      continue;
    }
    const double exact = std::ldexp(sum, largest - u.fraction_bits);
    const int last = std::max(std::ilogb(exact), -126) - u.result_fraction_bits;
    c = static_cast<float>(std::ldexp(std::trunc(std::ldexp(exact, -last)), last));
    if (c == 0) c = 0;         // never -0
    if (std::isinf(c)) break;  // an infinity remains
  }
  return c;
}

TEST(MatrixUnit, EveryGenerationFollowsTheRules) {
  const Format formats[] = {{Type::kF16, 10, 5, 0},
                            {Type::kBF16, 7, 8, 0},
                            {Type::kTF32, 10, 8, 13},
                            {Type::kE4M3, 3, 4, 0},
                            {Type::kE5M2, 2, 5, 0}};
  std::mt19937_64 random(1);
  int compared = 0;
  for (const int compute_capability : {75, 80, 86, 89, 90, 100}) {
    for (const Format& f : formats) {
      const bool byte = isa::bits_of(f.type) == 8;
      if (byte && compute_capability < 89) continue;
      const std::uint16_t depth = byte ? 32 : f.type == Type::kTF32 ? 8 : 16;
      Operation o{Type::kF32, f.type, f.type, Type::kF32, {1, 1, depth}};
      o.compute_capability = compute_capability;
      o.warpgroup = byte;  // on Hopper, a warp's product uses no unit of its own
      for (int round = 0; round < 3000; ++round) {
        // All exponents below that of infinity, or a few around one; sometimes zero.
        const auto draw = [&]() -> std::uint64_t {
          const std::uint64_t top = (1ull << f.exponent_bits) - 1, bits = random();
          const std::uint64_t exponent = round % 2 == 0 ? bits % top : top / 2 + bits % 5 - 2;
          if ((bits >> 40 & 7) == 0) return 0;
          return ((bits >> 63) << (f.fraction_bits + f.exponent_bits) |
                  exponent << f.fraction_bits | (bits >> 20 & ((1ull << f.fraction_bits) - 1)))
                 << f.shift;
        };
        std::vector<std::uint64_t> a(depth), b(depth);
        for (int k = 0; k < depth; ++k)
          a[static_cast<std::size_t>(k)] = draw(), b[static_cast<std::size_t>(k)] = draw();
        const float c = round % 3 == 0
                            ? 0.0f
                            : std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                                         static_cast<int>(random() % 40) - 40);
        const std::uint64_t addend = single(c);
        std::uint64_t d = 0;
        multiply(o, a.data(), b.data(), &addend, nullptr, &d);
        ASSERT_EQ(d,
                  single(by_the_rules(unit_of(compute_capability, f.type, Type::kF32), f, a, b, c)))
            << "compute capability " << compute_capability << ", " << isa::bits_of(f.type)
            << " bits, round " << round;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 3000 * (3 * 3 + 3 * 5));
}

// Turing behaves like Volta and keeps 23 bits. Since Ampere the instruction is fused multiply-adds,
// each rounded to nearest.
TEST(MatrixUnit, AQuarterWarpsMultiplication) {
  Operation o{Type::kF32, Type::kF16, Type::kF16, Type::kF32, {8, 8, 4}};
  const auto first = [&](int compute_capability, double tiny, float c) {
    std::vector<std::uint64_t> a(32), b(32), cs(64, single(c)), d(64);
    a[0] = b[0] = half(1);
    a[1] = half(tiny), b[1] = half(std::ldexp(1, -12));
    o.compute_capability = compute_capability;
    multiply(o, a.data(), b.data(), cs.data(), nullptr, d.data());
    return std::bit_cast<float>(static_cast<std::uint32_t>(d[0]));
  };
  EXPECT_EQ(first(75, std::ldexp(1, -12), -1), 0.0f);
  EXPECT_EQ(first(75, std::ldexp(1.5, -12), 0), 1.0f);
  EXPECT_EQ(first(80, std::ldexp(1.5, -12), 0), 1 + std::ldexp(1.0f, -23));
}

TEST(MatrixUnit, HopperKeepsOneBitMoreThanAmpere) {
  const double tiny = std::ldexp(1, -12), small = std::ldexp(1, -13);
  // 1 - 1 + 2^-25: below the last of 24 bits, and the last of 25.
  EXPECT_EQ(dot(90, {1, tiny}, {1, small}, -1), std::ldexp(1.0f, -25));
  EXPECT_EQ(dot(80, {1, tiny}, {1, small}, -1), 0.0f);
  EXPECT_EQ(dot(80, {1, tiny}, {1, tiny}, -1), std::ldexp(1.0f, -24));
  EXPECT_EQ(dot(70, {1, tiny}, {1, tiny}, -1), 0.0f);
  EXPECT_EQ(dot(90, {1, small}, {1, small}, -1), 0.0f);
}

TEST(MatrixUnit, ChunksAreSixteenProductsSinceHopper) {
  // The large terms of the first eight products cancel. They truncate the following terms if all
  // belong to one sum.
  std::vector<double> a(16), b(16);
  a[0] = b[0] = a[1] = 1024, b[1] = -1024;
  a[8] = std::ldexp(1, -5), b[8] = std::ldexp(1, -5);
  EXPECT_EQ(dot(90, a, b), 0.0f);
  EXPECT_EQ(dot(80, a, b), std::ldexp(1.0f, -10));
  // The same with four products on Volta.
  std::swap(a[8], a[4]);
  std::swap(b[8], b[4]);
  EXPECT_EQ(dot(80, a, b), 0.0f);
  EXPECT_EQ(dot(70, a, b), std::ldexp(1.0f, -10));
}

// An element of D depends only on its row and column. The sum is the same for every k, whether or
// not k is a multiple of eight products.
TEST(MatrixUnit, AnElementIsOfItsRowAndItsColumn) {
  std::mt19937_64 random(2);
  struct Case {
    Type type, result;
    int compute_capability;
    std::uint16_t depth;
    bool sparse;
  };
  for (const Case& c :
       {Case{Type::kF16, Type::kF16, 90, 16, false}, Case{Type::kF16, Type::kF32, 80, 24, false},
        Case{Type::kBF16, Type::kF32, 90, 20, false}, Case{Type::kE4M3, Type::kF16, 90, 32, false},
        Case{Type::kE5M2, Type::kF32, 89, 32, false}, Case{Type::kF16, Type::kF16, 90, 32, true},
        Case{Type::kTF32, Type::kF32, 80, 8, true}}) {
    Operation o{c.result, c.type, c.type, c.result, {3, 5, c.depth}};
    o.compute_capability = c.compute_capability;
    o.sparse = c.sparse;
    const std::size_t stored = c.sparse ? c.depth / 2 : c.depth;
    for (int round = 0; round < 100; ++round) {
      const auto draw = [&](int bits) { return random() % 3 == 0 ? 0 : random() >> (64 - bits); };
      std::vector<std::uint64_t> a(3 * stored), b(5u * c.depth), addends(15), d(15);
      std::vector<std::uint8_t> columns(3 * stored);
      for (auto& v : a) v = draw(isa::bits_of(c.type));
      for (auto& v : b) v = draw(isa::bits_of(c.type));
      for (auto& v : addends) v = draw(isa::bits_of(c.result));
      for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i] = static_cast<std::uint8_t>(i % stored / 2 * 4 + (i % 2) * 2 + random() % 2);
      multiply(o, a.data(), b.data(), addends.data(), columns.data(), d.data());
      Operation one = o;
      one.shape.m = one.shape.n = 1;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 5; ++j) {
          std::uint64_t alone = 0;
          multiply(one, a.data() + i * stored, b.data() + j * c.depth, addends.data() + 5 * i + j,
                   columns.data() + i * stored, &alone);
          ASSERT_EQ(d[5 * i + j], alone) << "case of depth " << c.depth << ", round " << round;
        }
      }
    }
  }
}

TEST(MatrixUnit, SumsAreCutTowardZero) {
  // 1 + 2^-24 + 2^-24 is 1 + 2^-23. 1 + 2^-24 alone is 1; the same for negative numbers.
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

// Factors and addends of products with several rows and columns.
struct ManyColumns {
  static constexpr std::size_t kRows = 2, kColumns = 16;
  std::uint16_t depth;
  std::vector<std::uint64_t> a, b, c;

  explicit ManyColumns(std::uint16_t of)
      : depth(of), a(kRows * depth), b(kColumns * depth), c(kRows * kColumns) {}
};
// The product, and that of each column by itself.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> together_and_alone(
    const ManyColumns& f, Type type, int capability) {
  Operation o{
      Type::kF32, type, type, Type::kF32, {ManyColumns::kRows, ManyColumns::kColumns, f.depth}};
  o.compute_capability = capability;
  std::vector<std::uint64_t> together(f.c.size()), alone(f.c.size());
  multiply(o, f.a.data(), f.b.data(), f.c.data(), nullptr, together.data());
  o.shape.n = 1;
  for (std::size_t j = 0; j < f.kColumns; ++j) {
    std::uint64_t addends[ManyColumns::kRows], sums[ManyColumns::kRows];
    for (std::size_t i = 0; i < f.kRows; ++i) addends[i] = f.c[i * f.kColumns + j];
    multiply(o, f.a.data(), f.b.data() + j * f.depth, addends, nullptr, sums);
    for (std::size_t i = 0; i < f.kRows; ++i) alone[i * f.kColumns + j] = sums[i];
  }
  return {together, alone};
}

// Eight neighbouring columns are summed at once, a single one by itself.
TEST(MatrixUnit, ManyColumnsGiveWhatEachGivesAlone) {
  std::mt19937_64 random(20261128);
  struct Case {
    Type type;
    int bits;
    std::uint64_t near_one;  // exponents of about one, which leave the signs and fractions random
  };
  const Case cases[] = {{Type::kF16, 16, 0x3000},
                        {Type::kBF16, 16, 0x3e00},
                        {Type::kTF32, 32, 0x3e000000},
                        {Type::kE4M3, 8, 0x20},
                        {Type::kE5M2, 8, 0x20}};
  for (const auto& [type, bits, near_one] : cases) {
    const std::uint64_t all = (std::uint64_t{1} << bits) - 1,
                        kept = all & ~(near_one | near_one << 1);
    for (const int capability : {70, 75, 80, 90, 100}) {
      for (int round = 0; round < 200; ++round) {
        // Bits of all kinds; magnitudes of about one; many zeros; subnormal numbers and tiny ones.
        const auto element = [&](int width, std::uint64_t near, std::uint64_t keep) {
          const std::uint64_t v = random() & ((std::uint64_t{1} << width) - 1);
          const std::uint64_t sign = v >> (width - 1) << (width - 1);
          switch (round % 4) {
            case 0: return v;
            case 1: return (v & keep) | near;
            case 2: return random() % 3 == 0 ? (v & keep) | near : sign;
            default: return random() % 8 == 0 ? (v & keep) | near : sign | (v & (all >> 6));
          }
        };
        ManyColumns f(64);
        for (std::uint64_t& v : f.a) v = element(bits, near_one, kept);
        for (std::uint64_t& v : f.b) v = element(bits, near_one, kept);
        for (std::uint64_t& v : f.c) v = element(32, 0x3e000000, 0x81ffffff);
        if (round % 4 == 3) {
          for (std::uint64_t& v : f.c) v = random() % 2 == 0 ? 0 : random() & 0x80ffffff;
        }
        const auto [together, alone] = together_and_alone(f, type, capability);
        ASSERT_EQ(together, alone) << static_cast<int>(type) << " " << capability << " " << round;
      }
    }
  }
}

// Results next to the smallest normal number, above and below it, and accumulators of zero.
TEST(MatrixUnit, ManyColumnsGiveTinySumsThatEachGivesAlone) {
  std::mt19937_64 random(20261128);
  for (const auto& [type, fraction_bits] :
       {std::pair{Type::kBF16, 7}, std::pair{Type::kTF32, 23}}) {
    // An element of random sign and fraction, with an exponent field of `lowest` to 7 more.
    const auto element = [&, fraction_bits = fraction_bits](std::uint64_t lowest) {
      const std::uint64_t sign = random() & 1, field = lowest + random() % 8,
                          fraction = random() & ((std::uint64_t{1} << fraction_bits) - 1);
      return (sign << 8 | field) << fraction_bits | fraction;
    };
    for (const int capability : {80, 90, 100}) {
      for (int round = 0; round < 2000; ++round) {
        ManyColumns f(16);
        for (std::uint64_t& v : f.a) v = round % 2 == 0 || random() % 4 != 0 ? element(1) : 0;
        for (std::uint64_t& v : f.b) v = element(100 + static_cast<std::uint64_t>(round % 24));
        for (std::uint64_t& v : f.c) v = random() % 2 == 0 ? 0 : random() & 0x80ffffff;
        const auto [together, alone] = together_and_alone(f, type, capability);
        ASSERT_EQ(together, alone) << static_cast<int>(type) << " " << capability << " " << round;
      }
    }
  }
}

}  // namespace unit_test
}  // namespace lockstep::matrix
