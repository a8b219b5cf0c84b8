#include "harness/property/values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "harness/property/element.h"

namespace lockstep {
namespace values_test {

constexpr ValueKind kAll[] = {ValueKind::kZero,          ValueKind::kOne,     ValueKind::kIndex,
                              ValueKind::kSmallIntegers, ValueKind::kUniform, ValueKind::kWide,
                              ValueKind::kSpecial,       ValueKind::kMixed};

std::uint64_t bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }
std::uint64_t bits_of(double v) { return std::bit_cast<std::uint64_t>(v); }
std::uint64_t bits_of(Half v) { return v.bits; }
template <std::integral T>
std::uint64_t bits_of(T v) {
  return static_cast<std::make_unsigned_t<T>>(v);
}

// The class of a floating-point value, by its bits, for any format.
struct Shape {
  int mantissa_bits, exponent_bits;
};
enum Class : unsigned {
  kPlusZero,
  kMinusZero,
  kPlusInf,
  kMinusInf,
  kQuietNaN,
  kSignallingNaN,
  kSubnormal,
  kMinSubnormal,
  kGreatestSubnormal,
  kMinNormal,
  kGreatest,
  kNormal,
  kClasses
};
void classify(std::uint64_t bits, Shape s, std::set<unsigned>& classes,
              std::set<std::uint64_t>& exponents) {
  const std::uint64_t one = 1;
  const std::uint64_t sign = bits >> (s.mantissa_bits + s.exponent_bits) & 1,
                      exponent = bits >> s.mantissa_bits & ((one << s.exponent_bits) - 1);
  const std::uint64_t mantissa = bits & ((one << s.mantissa_bits) - 1),
                      top = (one << s.exponent_bits) - 1;
  if (exponent == top) {
    classes.insert(mantissa == 0
                       ? (sign ? kMinusInf : kPlusInf)
                       : (mantissa >> (s.mantissa_bits - 1) ? kQuietNaN : kSignallingNaN));
  } else if (exponent == 0) {
    classes.insert(mantissa == 0 ? (sign ? kMinusZero : kPlusZero) : kSubnormal);
    if (mantissa == 1) classes.insert(kMinSubnormal);
    if (mantissa == (one << s.mantissa_bits) - 1) classes.insert(kGreatestSubnormal);
  } else {
    classes.insert(kNormal);
    exponents.insert(exponent);
    if (exponent == 1 && mantissa == 0) classes.insert(kMinNormal);
    if (exponent == top - 1 && mantissa == (one << s.mantissa_bits) - 1) classes.insert(kGreatest);
  }
}

template <class T>
void expect_reach(Shape s, std::size_t normal_exponents) {
  for (std::uint64_t seed : {0, 1, 2, 77}) {
    std::set<unsigned> classes;
    std::set<std::uint64_t> exponents, unused;
    for (T v : make_values<T>({ValueKind::kWide, seed}, 10000))
      classify(bits_of(v), s, classes, exponents);
    EXPECT_EQ(exponents.size(), normal_exponents) << "seed " << seed;
    EXPECT_EQ(classes, (std::set<unsigned>{kNormal})) << "kWide has normals only";
    for (ValueKind kind : {ValueKind::kSpecial, ValueKind::kMixed}) {
      classes.clear();
      for (T v : make_values<T>({kind, seed}, 10000)) classify(bits_of(v), s, classes, unused);
      EXPECT_EQ(classes.size(), kClasses) << "seed " << seed;
    }
  }
}

TEST(Reach, TenThousandFloatsMeetEveryNormalExponentAndEveryClass) {
  expect_reach<float>({23, 8}, 254);
}
TEST(Reach, TenThousandHalvesDo) { expect_reach<Half>({10, 5}, 30); }
TEST(Reach, DoublesMeetEveryClassAndNearlyEveryExponent) {
  std::set<unsigned> classes;
  std::set<std::uint64_t> exponents;
  // With 10,000 draws some fifteen of the 2046 exponents (2046 e^-4.9) are missing; with 40,000
  // draws none.
  for (double v : make_values<double>({ValueKind::kWide, 0}, 40000))
    classify(bits_of(v), {52, 11}, classes, exponents);
  EXPECT_EQ(exponents.size(), 2046u);
  for (double v : make_values<double>({ValueKind::kSpecial, 0}, 10000))
    classify(bits_of(v), {52, 11}, classes, exponents);
  EXPECT_EQ(classes.size(), kClasses);
}

template <class T>
void expect_distinct(std::size_t at_least) {
  std::set<std::uint64_t> seen;
  for (T v : special_values<T>()) EXPECT_TRUE(seen.insert(bits_of(v)).second);
  EXPECT_GE(seen.size(), at_least);
}

TEST(Specials, AreDistinctAndMany) {
  expect_distinct<float>(98);
  expect_distinct<double>(98);
  expect_distinct<Half>(98);
  expect_distinct<std::int8_t>(20);
  expect_distinct<std::uint8_t>(20);
  expect_distinct<std::int32_t>(98);
  expect_distinct<std::uint32_t>(90);
  expect_distinct<std::int64_t>(98);
  expect_distinct<std::uint64_t>(98);
}

TEST(Specials, NeverLookLikePoison) {
  for (float v : special_values<float>()) EXPECT_NE(bits_of(v), 0x7ffa5a5au);
  for (Half v : special_values<Half>()) EXPECT_NE(v.bits, 0x7e5a);
}

TEST(Specials, IntegersHaveTheirEnds) {
  const auto all = special_values<std::int32_t>();
  for (std::int32_t v :
       {0, 1, -1, INT32_MIN, INT32_MAX, 31, 32, 33, 65535, 65536, 65537, -32, 1 << 30})
    EXPECT_NE(std::find(all.begin(), all.end(), v), all.end()) << v;
}

template <class T>
void expect_stable() {
  for (ValueKind kind : kAll) {
    const std::vector<T> longer = make_values<T>({kind, 5}, 1000, 2);
    for (std::size_t n : {0u, 1u, 33u, 999u}) {
      const std::vector<T> shorter = make_values<T>({kind, 5}, n, 2);
      ASSERT_EQ(shorter.size(), n);
      EXPECT_TRUE(n == 0 || std::memcmp(shorter.data(), longer.data(), n * sizeof(T)) == 0);
    }
  }
}

TEST(Values, AnElementDoesNotDependOnHowManyThereAre) {
  expect_stable<float>();
  expect_stable<double>();
  expect_stable<Half>();
  expect_stable<std::uint8_t>();
  expect_stable<std::int16_t>();
  expect_stable<std::int64_t>();
}

TEST(Values, SeedAndStreamChangeThem) {
  for (ValueKind kind : {ValueKind::kSmallIntegers, ValueKind::kUniform, ValueKind::kWide}) {
    const std::vector<float> a = make_values<float>({kind, 1}, 100, 0);
    EXPECT_NE(a, make_values<float>({kind, 2}, 100, 0));
    EXPECT_NE(a, make_values<float>({kind, 1}, 100, 1));
    EXPECT_EQ(a, make_values<float>({kind, 1}, 100, 0));
  }
}

// Pinned values: a recorded case must always mean the same data.
TEST(Values, AreTheSameForEver) {
  std::string text;
  for (float v : make_values<float>({ValueKind::kSmallIntegers, 0}, 12))
    text += std::to_string(static_cast<int>(v)) + " ";
  EXPECT_EQ(text, "-2 2 -1 -4 3 -1 -2 2 3 -4 4 1 ");
  EXPECT_EQ(make_values<std::uint32_t>({ValueKind::kWide, 3}, 3, 1),
            (std::vector<std::uint32_t>{11164, 70294, 3681}));
  std::uint64_t digest = 0;
  for (ValueKind kind : kAll) {
    for (float v : make_values<float>({kind, 3}, 1000)) digest = mix(digest ^ bits_of(v));
    for (double v : make_values<double>({kind, 3}, 1000)) digest = mix(digest ^ bits_of(v));
    for (std::int16_t v : make_values<std::int16_t>({kind, 3}, 1000))
      digest = mix(digest ^ bits_of(v));
  }
  EXPECT_EQ(digest, 4175313977775505643u);
}

TEST(Values, PlainKindsAreWhatTheySay) {
  for (float v : make_values<float>({ValueKind::kZero, 9}, 50)) EXPECT_EQ(bits_of(v), 0u);
  for (Half v : make_values<Half>({ValueKind::kOne, 9}, 50)) EXPECT_EQ(v.bits, 0x3c00);
  const std::vector<float> index = make_values<float>({ValueKind::kIndex, 9}, 3000);
  for (std::size_t i = 0; i < index.size(); ++i) EXPECT_EQ(index[i], static_cast<float>(i % 1024));
  for (std::int8_t v : make_values<std::int8_t>({ValueKind::kIndex, 9}, 300)) EXPECT_GE(v, 0);
  std::set<double> met;
  for (double v : make_values<double>({ValueKind::kSmallIntegers, 9}, 500)) met.insert(v);
  EXPECT_EQ(met, (std::set<double>{-4, -3, -2, -1, 0, 1, 2, 3, 4}));
  std::set<unsigned> met_unsigned;
  for (std::uint8_t v : make_values<std::uint8_t>({ValueKind::kSmallIntegers, 9}, 500))
    met_unsigned.insert(v);
  EXPECT_EQ(met_unsigned, (std::set<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Values, UniformStaysInItsRangeAndFillsIt) {
  float lo = 9, hi = -9;
  double sum = 0;
  for (float v : make_values<float>({ValueKind::kUniform, 4}, 100000)) {
    lo = std::min(lo, v);
    hi = std::max(hi, v);
    sum += v;
  }
  EXPECT_TRUE(lo >= -1 && lo < -0.999f && hi <= 1 && hi > 0.999f) << lo << " " << hi;
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  for (std::int32_t v : make_values<std::int32_t>({ValueKind::kUniform, 4}, 10000))
    EXPECT_TRUE(v >= -1000 && v <= 1000);
  for (std::uint8_t v : make_values<std::uint8_t>({ValueKind::kUniform, 4}, 10000))
    EXPECT_LE(v, 255);
  std::set<int> signs;
  for (std::int8_t v : make_values<std::int8_t>({ValueKind::kUniform, 4}, 10000))
    signs.insert((v > 0) - (v < 0));
  EXPECT_EQ(signs.size(), 3u);
}

TEST(Values, WideIntegersHaveEveryWidthBothSignsAndBothParities) {
  std::set<int> widths;
  int negative = 0, odd = 0;
  for (std::int32_t v : make_values<std::int32_t>({ValueKind::kWide, 4}, 10000)) {
    widths.insert(std::bit_width(static_cast<std::uint32_t>(
        v < 0 ? 0u - static_cast<std::uint32_t>(v) : static_cast<std::uint32_t>(v))));
    negative += v < 0;
    odd += v & 1;
  }
  EXPECT_EQ(widths.size(), 32u);  // 0 ... 31: larger magnitudes wrap into these
  EXPECT_NEAR(negative, 5000, 700);
  EXPECT_NEAR(odd, 5000, 700);
  std::set<int> wide;
  for (std::uint64_t v : make_values<std::uint64_t>({ValueKind::kWide, 4}, 10000))
    wide.insert(std::bit_width(v));
  EXPECT_EQ(wide.size(), 65u);
}

TEST(Domain, PrintsParsesAndShrinksWithinItsKinds) {
  const Domain<Values> d = values_of({ValueKind::kSpecial, ValueKind::kUniform, ValueKind::kZero});
  EXPECT_EQ(d.print({ValueKind::kUniform, 17}), "uniform:17");
  EXPECT_EQ(d.print({ValueKind::kZero, 0}), "zero");
  EXPECT_EQ(d.describe(), "one of zero, uniform:SEED, special:SEED");
  Values v;
  EXPECT_TRUE(d.parse("special:18446744073709551615", v));
  EXPECT_EQ(v, (Values{ValueKind::kSpecial, ~std::uint64_t{0}}));
  EXPECT_TRUE(d.parse("zero", v));
  for (const char* bad : {"", "zero:1", "uniform", "uniform:", "uniform:-1", "uniform:x", "wide:1",
                          "unform:1", "integers:0"})
    EXPECT_FALSE(d.parse(bad, v)) << bad;
  EXPECT_THROW(values_of({}), std::invalid_argument);
}

TEST(Domain, ShrinksToTheKindsBeforeAndToSmallSeeds) {
  const Domain<Values> d = values_of({ValueKind::kSpecial, ValueKind::kUniform, ValueKind::kZero});
  rc::Random random(1);
  for (int i = 0; i < 100; ++i) {
    const rc::Shrinkable<Values> drawn = d.gen(random.split());
    std::vector<Values> simpler;
    for (auto shrinks = drawn.shrinks(); const auto shrink = shrinks.next();)
      simpler.push_back(shrink->value());
    if (drawn.value().kind == ValueKind::kZero) {
      EXPECT_TRUE(simpler.empty());
    } else if (drawn.value().kind == ValueKind::kSpecial && drawn.value().seed > 0) {
      ASSERT_GE(simpler.size(), 3u);
      EXPECT_EQ(simpler[0], (Values{ValueKind::kZero, 0}));
      EXPECT_EQ(simpler[1], (Values{ValueKind::kUniform, 0}));
      EXPECT_EQ(simpler[2], (Values{ValueKind::kSpecial, 0}));
    }
  }
}

TEST(Domain, DrawsEveryKind) {
  const Domain<Values> d = values_of({std::begin(kAll), std::end(kAll)});
  rc::Random random(1);
  std::set<ValueKind> met;
  for (int i = 0; i < 500; ++i) {
    const Values v = d.gen(random.split()).value();
    met.insert(v.kind);
    Values read;
    EXPECT_TRUE(d.parse(d.print(v), read) && read == v);
  }
  EXPECT_EQ(met.size(), std::size(kAll));
}

TEST(Half, GoesToDoubleAndBackForEveryPattern) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    const double x = to_double(h);
    if (std::isnan(x)) {
      EXPECT_TRUE((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff));
      EXPECT_TRUE(std::isnan(to_double(to_half(x))));
    } else {
      EXPECT_EQ(to_half(x).bits, bits);
    }
  }
}

TEST(Half, RoundsToNearestTiesToEven) {
  EXPECT_EQ(to_half(1 + 0x1p-11).bits, 0x3c00);      // a tie, to the even neighbour below
  EXPECT_EQ(to_half(1 + 3 * 0x1p-11).bits, 0x3c02);  // a tie, to the even neighbour above
  EXPECT_EQ(to_half(1 + 0x1p-11 + 0x1p-40).bits,
            0x3c01);  // above the tie by less than float resolves
  EXPECT_EQ(to_half(65519.999).bits, 0x7bff);
  EXPECT_EQ(to_half(65520).bits, 0x7c00);
  EXPECT_EQ(to_half(-1e300).bits, 0xfc00);
  EXPECT_EQ(to_half(0x1p-25).bits, 0);  // half the least subnormal, a tie
  EXPECT_EQ(to_half(0x1.8p-25).bits, 1);
  EXPECT_EQ(to_half(0x1.ffcp-15 + 0x1p-26).bits,
            0x0400);  // carries from the subnormals into the normals
}

TEST(Element, TextsOfNeighboursDiffer) {
  EXPECT_EQ(element_text(1.0f), "1 (0x3f800000)");
  EXPECT_NE(element_text(0.1f), element_text(std::nextafter(0.1f, 1.0f)));
  EXPECT_EQ(element_text(Half{0x3c00}), "1 (0x3c00)");
  EXPECT_EQ(element_text(std::int64_t{-7}), "-7");
  const std::uint32_t word = 0x01020304;
  EXPECT_EQ(element_text(&word, 4), "0x01020304");
}

}  // namespace values_test
}  // namespace lockstep
