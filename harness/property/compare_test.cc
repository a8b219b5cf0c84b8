// Two corpora for the comparison: results that it must accept, and results that it must reject.
#include "harness/property/compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "harness/property/values.h"

namespace lockstep {
namespace compare_test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
const float kOneUp = std::nextafter(1.0f, 2.0f);
constexpr double kUlp = 0x1p-23;

struct Entry {
  const char* what;
  float actual;
  double expected, bound;
};

Comparison compared(const Entry& e, std::size_t n, std::size_t at) {
  // One differing element among ordinary ones: the fast path must find it at every position.
  std::vector<float> actual(n, 1.5f);
  std::vector<double> expected(n, 1.5), bound(n, 0.25);
  actual[at] = e.actual;
  expected[at] = e.expected;
  bound[at] = e.bound;
  return compare_within_bound<float>(actual, expected, bound);
}

class MustAccept : public ::testing::TestWithParam<Entry> {};
TEST_P(MustAccept, AloneAndAmongOthers) {
  for (auto [n, at] : {std::pair<std::size_t, std::size_t>{1, 0},
                       {2, 1},
                       {9, 8},
                       {513, 511},
                       {513, 512},
                       {2000, 1000}}) {
    const Comparison c = compared(GetParam(), n, at);
    EXPECT_TRUE(c.matches) << GetParam().what << ": " << c.report();
    EXPECT_EQ(c.bad, 0u);
    EXPECT_EQ(c.compared, n);
    EXPECT_LE(c.budget, 1);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Corpus, MustAccept,
    ::testing::Values(
        Entry{"equal", 1, 1, 0}, Entry{"equal with a bound", 1, 1, 1e-9},
        Entry{"at the bound exactly", 1.25f, 1, 0.25},
        Entry{"below by the bound exactly", 0.75f, 1, 0.25},
        Entry{"one ulp off, the bound an ulp", kOneUp, 1, kUlp},
        Entry{"the reference rounded, bound 0", 0.1f, 0.1, 0},
        Entry{"halfway rounds to even, bound 0", 1, 1 + kUlp / 2, 0},
        Entry{"+0 exactly", 0.0f, 0.0, 0}, Entry{"-0 exactly", -0.0f, -0.0, 0},
        Entry{"-0 for +0 within a bound", -0.0f, 0.0, kTiny}, Entry{"NaN for NaN", kNaN, NAN, 0},
        Entry{"NaN for NaN with a bound", kNaN, NAN, 5},
        Entry{"a NaN of another sign and payload", std::bit_cast<float>(0xffc12345u), NAN, 0},
        Entry{"+inf", kInf, INFINITY, 0}, Entry{"-inf with a bound", -kInf, -INFINITY, 1},
        Entry{"+inf where the exact result overflows", kInf, 1e39, 0},
        Entry{"+inf where the bound reaches the overflow", kInf, kMax, 1e32},
        Entry{"-inf likewise", -kInf, -3.4028234e38, 1e33},
        Entry{"the least subnormal", kTiny, static_cast<double>(kTiny), 0},
        Entry{"zero for an underflow within half of it", 0.0f, kTiny / 2.0, kTiny / 2.0},
        Entry{"anything finite under an infinite bound", 3, -8, INFINITY},
        Entry{"the greatest", kMax, static_cast<double>(kMax), 0}));

class MustReject : public ::testing::TestWithParam<Entry> {};
TEST_P(MustReject, AloneAndAmongOthers) {
  for (auto [n, at] : {std::pair<std::size_t, std::size_t>{1, 0},
                       {2, 1},
                       {9, 8},
                       {513, 511},
                       {513, 512},
                       {2000, 1000}}) {
    const Comparison c = compared(GetParam(), n, at);
    EXPECT_FALSE(c.matches) << GetParam().what;
    EXPECT_EQ(c.bad, 1u);
    ASSERT_EQ(c.first_bad.size(), 1u);
    EXPECT_EQ(c.first_bad[0], at);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(c.elements[0].expected),
              std::bit_cast<std::uint64_t>(GetParam().expected));
  }
}
INSTANTIATE_TEST_SUITE_P(
    Corpus, MustReject,
    ::testing::Values(
        Entry{"one ulp above, bound 0", kOneUp, 1, 0},
        Entry{"one ulp below, bound 0", std::nextafter(1.0f, 0.0f), 1, 0},
        Entry{"one ulp off, the bound a hair less", kOneUp, 1, std::nextafter(kUlp, 0.0)},
        Entry{"just past the bound", std::nextafter(1.25f, 2.0f), 1, 0.25},
        Entry{"just past the bound, below", std::nextafter(0.75f, 0.0f), 1, 0.25},
        Entry{"-0 for +0, bound 0", -0.0f, 0.0, 0}, Entry{"+0 for -0, bound 0", 0.0f, -0.0, 0},
        Entry{"NaN for a number", kNaN, 1, 0.5},
        Entry{"NaN for a number, infinite bound", kNaN, 1, INFINITY},
        Entry{"NaN for +inf", kNaN, INFINITY, 1}, Entry{"a number for NaN", 1, NAN, 1},
        Entry{"a number for NaN, infinite bound", 1, NAN, INFINITY},
        Entry{"+inf for NaN", kInf, NAN, 1}, Entry{"+inf for -inf", kInf, -INFINITY, 1},
        Entry{"-inf for +inf", -kInf, INFINITY, INFINITY},
        Entry{"the greatest for +inf", kMax, INFINITY, 1e300},
        Entry{"+inf for a number", kInf, 1, 1e30},
        Entry{"+inf where the value stays below the overflow", kInf, kMax, 1e30},
        Entry{"-inf where +inf is legal", -kInf, kMax, 1e33},
        Entry{"the greatest where the exact result overflows", kMax, 1e39, 1},
        Entry{"a negative bound", 1, 1, -1}, Entry{"a NaN bound", 1, 1, NAN},
        Entry{"NaN for NaN, a negative bound", kNaN, NAN, -1},
        Entry{"infinity for infinity, a NaN bound", kInf, INFINITY, NAN},
        Entry{"a zero where a subnormal is exact", 0.0f, static_cast<double>(kTiny), 0},
        Entry{"a sign", -1, 1, 0.5}, Entry{"huge for small", 1e30f, 1, 1},
        Entry{"small for huge", 1, 1e30, 1e10},
        Entry{"relative closeness does not help", 1e30f, 1.0000001e30, 1}));

TEST(WithinBound, EmptyMatchesEmpty) {
  const Comparison c = compare_within_bound<float>({}, {}, {});
  EXPECT_TRUE(c.matches);
  EXPECT_EQ(c.compared, 0u);
}

TEST(WithinBound, DifferentSizesNeverMatch) {
  const std::vector<float> two(2, 1);
  const std::vector<double> one(1, 1), both(2, 1);
  EXPECT_FALSE(compare_within_bound<float>(two, one, one).matches);
  EXPECT_FALSE(compare_within_bound<float>(two, both, one).matches);
  EXPECT_FALSE(compare_within_bound<float>({}, one, one).matches);
  EXPECT_EQ(compare_within_bound<float>(two, one, one).report(),
            "the result has 2 elements, the reference 1");
  EXPECT_FALSE(compare_bitwise<float>(two, std::vector<float>(3, 1.0f)).matches);
}

TEST(WithinBound, TheBudgetIsTheLargestRatioAndItsPlace) {
  std::vector<float> actual(3000, 1);
  std::vector<double> expected(3000, 1), bound(3000, 1);
  actual[700] = 1.5f;
  actual[1800] = 1.75f;
  actual[2500] = 1.25f;
  const Comparison c = compare_within_bound<float>(actual, expected, bound);
  EXPECT_TRUE(c.matches);
  EXPECT_EQ(c.budget, 0.75);
  EXPECT_EQ(c.worst_index, 1800u);
}

TEST(WithinBound, ListsTheFirstEightAndCountsAll) {
  const std::vector<float> actual(100, 2);
  const std::vector<double> expected(100, 1), bound(100, 0.5);
  const Comparison c = compare_within_bound<float>(actual, expected, bound);
  EXPECT_EQ(c.bad, 100u);
  EXPECT_EQ(c.first_bad, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const std::string report = c.report(one_thread_per_element(5));
  EXPECT_NE(report.find("100 of 100 elements wrong"), std::string::npos) << report;
  EXPECT_NE(report.find("[7] is 2 (0x40000000), expected 1 within 0.5: error/bound 2; block 1, "
                        "thread 2 (warp 0, lane 2)"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("and 92 more"), std::string::npos) << report;
}

TEST(Origin, OfStridingBlocksIsByTiles) {
  // Three blocks of four threads with two elements each: tiles of eight.
  const WhereIs where = tiles_of_blocks(100, 4, 3, 2);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(where(i).block, i / 8 % 3) << i;
    EXPECT_EQ(where(i).thread, i % 4) << i;
  }
  const WhereIs few = tiles_of_blocks(9, 4, kUnlimited);
  EXPECT_EQ(few(8).block, 2u);
  EXPECT_EQ(few(3).block, 0u);
  EXPECT_EQ(tiles_of_blocks(8, 4, kUnlimited)(7).block, 1u) << "no more blocks than tiles";
}

TEST(WithinBound, PoisonIsNotReportedAsAWrongNumber) {
  const std::vector<float> actual = {1, 9, 9, 1};
  const std::vector<double> expected(4, 1), bound(4, 0.5);
  const Comparison c =
      compare_within_bound<float>(actual, expected, bound, [](std::size_t i) { return i >= 2; });
  EXPECT_EQ(c.bad, 2u);
  EXPECT_EQ(c.unwritten, 1u) << "an element that matches is not bad, whatever it looks like";
}

TEST(WithinBound, AnUnwrittenElementDoesNotPassForAnExpectedNaN) {
  const std::vector<float> actual = {kNaN, kNaN};
  const std::vector<double> expected(2, NAN), bound(2, 0);
  const IsPoison second = [](std::size_t i) { return i == 1; };
  EXPECT_TRUE(compare_within_bound<float>(actual, expected, bound, second, false).matches)
      << "poison that a kernel may compute";
  const Comparison c = compare_within_bound<float>(actual, expected, bound, second, true);
  EXPECT_FALSE(c.matches);
  EXPECT_EQ(c.unwritten, 1u);
  EXPECT_EQ(c.first_bad, (std::vector<std::size_t>{1}));
}

// The fast path must return the result of the comparison element by element, for data of every
// class and every alignment of blocks.
TEST(WithinBound, QuickAndSlowPathAgree) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::size_t n = 500 + 37 * seed;
    const std::vector<float> actual =
        make_values<float>({seed % 2 ? ValueKind::kMixed : ValueKind::kUniform, seed}, n, 0);
    const std::vector<double> noise = make_values<double>({ValueKind::kUniform, seed}, n, 1);
    std::vector<double> expected(n), bound(n);
    std::size_t bad = 0;
    double budget = 0;
    for (std::size_t i = 0; i < n; ++i) {
      expected[i] = actual[i] + 0.01 * noise[i];
      bound[i] = 0.0099 + (seed == 3 ? 1 : 0);
      const Comparison one = compare_within_bound<float>(std::span(actual).subspan(i, 1),
                                                         std::span(expected).subspan(i, 1),
                                                         std::span(bound).subspan(i, 1));
      bad += one.bad;
      budget = std::max(budget, one.budget);
    }
    const Comparison all = compare_within_bound<float>(actual, expected, bound);
    EXPECT_EQ(all.bad, bad) << seed;
    EXPECT_EQ(all.budget, budget) << seed;
  }
}

template <class T>
void expect_integers_exact() {
  const T top = std::numeric_limits<T>::max();
  const std::vector<T> actual = {top, 0, 5};
  const double edge =
      static_cast<double>(top);  // rounds up to a power of two for 64 bits: not a value of T
  const std::vector<double> bound(3, 0);
  EXPECT_EQ(compare_within_bound<T>(actual, std::vector<double>{edge, 0, 5}, bound).matches,
            sizeof(T) < 8);
  EXPECT_FALSE(compare_within_bound<T>(actual, std::vector<double>{edge, 0, 5.5}, bound).matches);
  EXPECT_FALSE(compare_within_bound<T>(actual, std::vector<double>{edge, 1, 5}, bound).matches);
  EXPECT_FALSE(compare_within_bound<T>(actual, std::vector<double>{edge + 1, 0, 5}, bound).matches);
  // The value to which the first value past the range may wrap.
  const std::vector<T> least = {std::numeric_limits<T>::min()};
  const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
  EXPECT_FALSE(
      compare_within_bound<T>(least, std::vector<double>{past}, std::vector<double>{0}).matches);
  EXPECT_TRUE(compare_within_bound<T>(std::vector<T>{4, 0, 5}, std::vector<double>{4.5, 1, 5},
                                      std::vector<double>{0.5, 1, 1})
                  .matches);
  EXPECT_FALSE(compare_within_bound<T>(std::vector<T>{4, 0, 5}, std::vector<double>{4.5, 1, 5},
                                       std::vector<double>{0.25, 1, 1})
                   .matches);
}

TEST(WithinBound, IntegersAreExactWhereTheBoundIsZero) {
  expect_integers_exact<std::int8_t>();
  expect_integers_exact<std::uint8_t>();
  expect_integers_exact<std::int16_t>();
  expect_integers_exact<std::uint16_t>();
  expect_integers_exact<std::int32_t>();
  expect_integers_exact<std::uint32_t>();
  expect_integers_exact<std::int64_t>();
  expect_integers_exact<std::uint64_t>();
}

TEST(WithinBound, HalfAndDouble) {
  EXPECT_TRUE(compare_within_bound<Half>(std::vector<Half>{{0x3c00}, {0x7c00}, {0x7e00}},
                                         std::vector<double>{1, 65520, NAN},
                                         std::vector<double>{0, 0, 0})
                  .matches);
  EXPECT_FALSE(compare_within_bound<Half>(std::vector<Half>{{0x3c01}}, std::vector<double>{1},
                                          std::vector<double>{0})
                   .matches);
  EXPECT_FALSE(compare_within_bound<Half>(std::vector<Half>{{0x7c00}}, std::vector<double>{65000},
                                          std::vector<double>{100})
                   .matches);
  // 65504 is the largest half; values from 16 above it round to infinity.
  for (const bool minus : {false, true}) {
    const std::vector<Half> infinite = {{static_cast<std::uint16_t>(minus ? 0xfc00 : 0x7c00)}};
    const std::vector<double> greatest = {minus ? -65504.0 : 65504.0};
    EXPECT_FALSE(
        compare_within_bound<Half>(infinite, greatest, std::vector<double>{15.75}).matches);
    EXPECT_TRUE(compare_within_bound<Half>(infinite, greatest, std::vector<double>{16}).matches);
  }
  EXPECT_TRUE(compare_within_bound<double>(std::vector<double>{0.1, INFINITY},
                                           std::vector<double>{0.1, 1.7e308},
                                           std::vector<double>{0, 1e308})
                  .matches);
  EXPECT_FALSE(compare_within_bound<double>(std::vector<double>{std::nextafter(0.1, 1.0)},
                                            std::vector<double>{0.1}, std::vector<double>{0})
                   .matches);
  EXPECT_FALSE(compare_within_bound<double>(std::vector<double>{INFINITY},
                                            std::vector<double>{1.7e308},
                                            std::vector<double>{1e306})
                   .matches);
}

TEST(Bitwise, IsOfBits) {
  const std::vector<float> zero = {0.0f}, minus = {-0.0f}, nan = {kNaN},
                           other_nan = {std::bit_cast<float>(0x7fc00001u)};
  EXPECT_TRUE(compare_bitwise<float>(zero, zero).matches);
  EXPECT_FALSE(compare_bitwise<float>(zero, minus).matches);
  EXPECT_TRUE(compare_bitwise<float>(nan, nan).matches);
  EXPECT_FALSE(compare_bitwise<float>(nan, other_nan).matches);
  EXPECT_TRUE(compare_bitwise<float>({}, {}).matches);
  std::vector<std::uint8_t> a(1000, 7), b = a;
  b[999] = 8;
  const Comparison c = compare_bitwise<std::uint8_t>(a, b);
  EXPECT_EQ(c.first_bad, (std::vector<std::size_t>{999}));
  EXPECT_NE(c.report().find("[999] is 7, expected 8"), std::string::npos) << c.report();
}

}  // namespace compare_test
}  // namespace lockstep
