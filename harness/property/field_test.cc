#include "harness/property/field.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <set>

namespace lockstep {
namespace field_test {

enum class Edge { kZero, kClamp };

struct Sample {
  std::int64_t n = 0;
  int block = 32;
  Edge edge = Edge::kZero;
  int shift = 0;
  std::uint64_t seed = 0;
  bool reversed = false;
  static void fields(Sample& c, FieldVisitor& field) {
    field("n", c.n, sizes(0, 1 << 20));
    field("block", c.block, one_of({32, 64, 1024}));
    field("edge", c.edge, choice<Edge>({{"zero", Edge::kZero}, {"clamp", Edge::kClamp}}));
    field("shift", c.shift, range(-20, 31));
    field("seed", c.seed, seeds());
    field("reversed", c.reversed, booleans());
  }
  // An empty array cannot be reversed.
  void normalise() {
    if (n == 0) reversed = false;
  }
};

// Draws cases until one fails, and shrinks it greedily, with the property runner's memory of cases
// already tried.
template <class Case, class Fails>
Case shrunk(const Fails& fails, int* runs = nullptr, std::uint64_t seed = 1) {
  rc::Random random(seed);
  rc::Shrinkable<Case> failing = cases<Case>()(random.split());
  while (!fails(failing.value())) failing = cases<Case>()(random.split());
  std::set<std::string> tried;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (auto shrinks = failing.shrinks(); const auto candidate = shrinks.next();) {
      const Case c = candidate->value();
      if (!tried.insert(print_case(c)).second) continue;
      if (runs) ++*runs;
      if (!fails(c)) continue;
      failing = *candidate;
      smaller = true;
      break;
    }
  }
  return failing.value();
}

// Draws a value of a domain.
template <class T>
T draw(const Domain<T>& domain, Bits& bits) {
  return gen_of(domain)(rc::Random(bits.next())).value();
}

TEST(Bits, BelowStaysBelowAndMeetsEveryValue) {
  Bits bits(1);
  std::array<int, 7> met{};
  for (int i = 0; i < 7000; ++i) ++met.at(bits.below(7));
  for (int count : met) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(bits.below(1), 0u);
}

TEST(Turns, EveryOptionComesBeforeOneComesAgain) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  std::set<std::uint64_t> round_of_five, round_of_three;
  Turns turns(7);
  for (std::uint64_t turn = 0; turn < 30; ++turn) {
    turns.next_case();
    const std::uint64_t five = turns.pick(5), again = turns.pick(5), three = turns.pick(3);
    EXPECT_LT(five, 5u);
    EXPECT_TRUE(round_of_five.insert(five).second) << turn;
    EXPECT_TRUE(round_of_three.insert(three).second) << turn;
    if (round_of_five.size() == 5) round_of_five.clear();
    if (round_of_three.size() == 3) round_of_three.clear();
    pairs.emplace(five, again);
  }
  EXPECT_EQ(pairs.size(), 25u) << "two choices are not tied to each other";
}

// The choices of a tensor copy: 9 elements, im2col or not, 3 interleaves, 4 swizzles, 2 fills.
// Twenty cases can contain all pairs except those with an element.
TEST(Turns, ChoicesOfSeveralSizesMeetInAllPairs) {
  constexpr std::array<std::uint64_t, 5> kCounts = {9, 2, 3, 4, 2};
  for (const std::uint64_t seed : {1u, 2u, 3u, 7u, 99u}) {
    Turns turns(seed);
    std::set<std::array<std::uint64_t, 4>> pairs;  // choice, its option, another choice, its option
    for (int turn = 0; turn < 20; ++turn) {
      turns.next_case();
      std::array<std::uint64_t, 5> picked;
      for (std::size_t i = 0; i < kCounts.size(); ++i) picked[i] = turns.pick(kCounts[i]);
      for (std::size_t i = 1; i < kCounts.size(); ++i) {
        for (std::size_t j = i + 1; j < kCounts.size(); ++j)
          pairs.insert({i, picked[i], j, picked[j]});
      }
    }
    EXPECT_EQ(pairs.size(), 2u * 3 + 2 * 4 + 2 * 2 + 3 * 4 + 3 * 2 + 4 * 2) << seed;
  }
}

TEST(Turns, AreTakenByTheChoicesOfACase) {
  std::set<int> blocks;
  std::set<Edge> edges;
  const auto make = [] { return std::make_unique<detail::BoxedCase<Sample>>(); };
  rc::Random random(1);
  Turns turns(7);
  for (std::uint64_t turn = 0; turn < 12; ++turn) {
    turns.next_case();
    const auto drawn = detail::draw_case(make, random.split(), rc::kNominalSize, &turns);
    const auto& c = static_cast<const detail::BoxedCase<Sample>&>(*drawn.value()).value;
    EXPECT_TRUE(blocks.insert(c.block).second) << turn;
    EXPECT_TRUE(edges.insert(c.edge).second) << turn;
    if (blocks.size() == 3) blocks.clear();
    if (edges.size() == 2) edges.clear();
  }
}

TEST(Bits, SameSeedSameWords) {
  Bits a(7), b(7), c(8);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
  EXPECT_NE(first, a.next());
}

TEST(Range, DrawsEveryValueAboutAsOften) {
  Bits bits(3);
  const Domain<int> domain = range(-3, 1);
  std::array<int, 5> met{};
  for (int i = 0; i < 5000; ++i) ++met.at(static_cast<std::size_t>(draw(domain, bits) + 3));
  for (int count : met) EXPECT_GE(count, 750);
}

TEST(Sizes, StayInTheirRange) {
  for (auto [lo, hi] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                        {0, 1},
                        {1, 1},
                        {5, 9},
                        {0, 40},
                        {33, 35},
                        {1, 70000},
                        {100000, 100001},
                        {1 << 20, 1 << 21},
                        {0, std::int64_t{1} << 33}}) {
    Bits bits(3);
    const Domain<std::int64_t> d = sizes(lo, hi);
    bool met_lo = false, met_hi = false;
    for (int i = 0; i < 20000; ++i) {
      const std::int64_t n = draw(d, bits);
      ASSERT_GE(n, lo);
      ASSERT_LE(n, hi);
      met_lo |= n == lo;
      met_hi |= n == hi;
    }
    EXPECT_TRUE(met_lo && met_hi) << lo << " ... " << hi;
  }
}

TEST(Sizes, TenThousandDrawsMeetEveryBoundaryAndStayCheap) {
  Bits bits(11);
  const Domain<std::int64_t> d = sizes(0, 1 << 20);
  std::set<std::int64_t> met;
  double sum = 0;
  int large = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t n = draw(d, bits);
    met.insert(n);
    sum += static_cast<double>(n);
    large += n > 65535;
  }
  for (std::int64_t centre : {1, 8, 16, 32, 64, 96, 128, 256, 512, 1024, 2048, 4096, 8192}) {
    for (std::int64_t n : {centre - 1, centre, centre + 1}) EXPECT_TRUE(met.contains(n)) << n;
  }
  EXPECT_TRUE(met.contains(1 << 20));
  EXPECT_GE(large, 20);
  EXPECT_LT(sum, 4e7) << "elements of ten thousand cases";
}

TEST(Sizes, RefusesWhatIsNoSize) {
  EXPECT_THROW(sizes(-1, 4), std::invalid_argument);
  EXPECT_THROW(sizes(4, 3), std::invalid_argument);
  EXPECT_THROW(range(4, 3), std::invalid_argument);
  EXPECT_THROW(choice<int>({}), std::invalid_argument);
}

TEST(Shrinking, CandidatesAreInTheDomainDistinctAndNeverTheValueItself) {
  for (auto [lo, hi] : {std::pair<std::int64_t, std::int64_t>{0, 1000},
                        {0, 2},
                        {-2, 0},
                        {-1000, 1000},
                        {-1000, -3},
                        {17, 100000},
                        {INT64_MIN, INT64_MAX}}) {
    Bits bits(5);
    const Domain<std::int64_t> d = range(lo, hi);
    for (int i = 0; i < 300; ++i) {
      const rc::Shrinkable<std::int64_t> drawn = gen_of(d)(rc::Random(bits.next()));
      const std::int64_t v = drawn.value();
      std::set<std::int64_t> seen{v};
      for (auto shrinks = drawn.shrinks(); const auto shrink = shrinks.next();) {
        const std::int64_t s = shrink->value();
        EXPECT_TRUE(s >= lo && s <= hi) << s;
        EXPECT_TRUE(seen.insert(s).second) << s << " from " << v;
      }
      EXPECT_EQ(seen.size() == 1, v == std::clamp<std::int64_t>(0, lo, hi)) << v;
    }
  }
}

struct Size {
  std::int64_t n = 0;
  static void fields(Size& c, FieldVisitor& field) { field("n", c.n, sizes(0, 1 << 20)); }
};

TEST(Shrinking, FindsTheLeastFailingSizeForEveryThreshold) {
  for (std::int64_t threshold : {0, 1, 2, 5, 31, 32, 33, 37, 100, 255, 256, 257, 1000, 1025, 5000,
                                 65536, 65537, 70001, 1000000}) {
    int runs = 0;
    const Size least = shrunk<Size>([&](const Size& s) { return s.n >= threshold; }, &runs);
    EXPECT_EQ(least.n, threshold);
    EXPECT_LT(runs, 250) << threshold;
  }
}

TEST(Shrinking, IsQuickAtBoundaries) {
  for (auto [threshold, most] : {std::pair{33, 25}, {257, 50}, {1025, 75}}) {
    int runs = 0;
    const auto fails = [&](const Size& s) { return s.n >= threshold; };
    EXPECT_EQ(shrunk<Size>(fails, &runs).n, threshold);
    EXPECT_LT(runs, most) << threshold;
  }
}

TEST(Shrinking, GoesToTheNearestOfBothSignsAndPrefersPositive) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto shift = [seed](auto fails) {
      return shrunk<Sample>([&](const Sample& s) { return fails(s.shift); }, nullptr, seed).shift;
    };
    EXPECT_EQ(shift([](int s) { return s <= -7; }), -7);
    EXPECT_EQ(shift([](int s) { return s * s >= 49; }), 7);
    EXPECT_EQ(shift([](int) { return true; }), 0);
  }
}

TEST(Shrinking, ShapeComesBeforeTheRest) {
  const auto large = [](const Sample& s) { return s.n > 500 && s.reversed && s.seed > 9; };
  rc::Random random(1);
  rc::Shrinkable<Sample> drawn = cases<Sample>()(random.split());
  while (!large(drawn.value())) drawn = cases<Sample>()(random.split());
  std::vector<Sample> candidates;
  for (auto shrinks = drawn.shrinks(); const auto shrink = shrinks.next();)
    candidates.push_back(shrink->value());
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front().n, 0);
  EXPECT_FALSE(candidates.front().reversed) << "normalise() mends a candidate";
  EXPECT_EQ(candidates.back().n, drawn.value().n);
  EXPECT_EQ(print_case(
                shrunk<Sample>([](const Sample& s) { return s.n > 40 && s.edge == Edge::kClamp; })),
            "n=41 block=32 edge=clamp shift=0 seed=0 reversed=false");
}

TEST(Shrinking, EndsForEveryCaseWhateverFails) {
  for (std::uint64_t coin = 1; coin <= 50; ++coin) {
    int runs = 0;
    shrunk<Sample>(
        [&](const Sample& s) {
          return (mix(coin ^ static_cast<std::uint64_t>(s.n) ^ s.seed) & 3) == 0;
        },
        &runs, coin);
    EXPECT_LT(runs, 2000);
  }
}

// RapidCheck's own combinators compose with a case: inside it, and around it.
struct Threes {
  int n = 0;
  static void fields(Threes& c, FieldVisitor& field) {
    const auto times_three = [](int k) { return 3 * k; };
    field("n", c.n, drawn_by(rc::gen::map(rc::gen::inRange(0, 100), times_three), range(0, 300)));
  }
};

TEST(Generators, OfTheUsersDrawAndShrinkAField) {
  rc::Random random(1);
  std::set<int> met;
  for (int i = 0; i < 500; ++i) met.insert(cases<Threes>()(random.split()).value().n);
  EXPECT_GT(met.size(), 50u);
  for (int n : met) EXPECT_EQ(n % 3, 0) << n;
  const Threes least = shrunk<Threes>([](const Threes& c) { return c.n >= 100; });
  EXPECT_EQ(least.n % 3, 0);
  EXPECT_LT(least.n, 200);
  Threes read;
  EXPECT_EQ(parse_case("n=7", read), "") << "the texts are the domain's";
  EXPECT_EQ(parse_case("n=301", read), "field 'n' cannot be '301': it takes 0 ... 300");
}

TEST(Generators, MustStayInTheirDomain) {
  const rc::Gen<int> gen = gen_of(drawn_by(rc::gen::just(7), range(0, 5)));
  try {
    gen(rc::Random(1)).value();
    FAIL() << "7 was drawn";
  } catch (const std::logic_error& e) {
    EXPECT_STREQ(e.what(), "a generator drew '7', which is not in its domain: 0 ... 5");
  }
}

TEST(Generators, OfCasesCompose) {
  const auto pairs = rc::gen::pair(cases<Sample>(), gen_of(sizes(0, 9)));
  rc::Random random(1);
  std::set<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.insert(print_case(pairs(random.split()).value().first));
  EXPECT_GT(texts.size(), 95u);
}

TEST(Text, PrintsReadsAndPrintsTheSame) {
  Bits bits(23);
  for (int i = 0; i < 2000; ++i) {
    const Sample c = draw_case<Sample>(bits);
    EXPECT_FALSE(c.n == 0 && c.reversed) << "normalise() after sampling";
    Sample read;
    ASSERT_EQ(parse_case(print_case(c), read), "");
    EXPECT_EQ(print_case(read), print_case(c));
    EXPECT_EQ(read.n, c.n);
    EXPECT_EQ(read.edge, c.edge);
    EXPECT_EQ(read.seed, c.seed);
  }
}

// Fields of every width keep their range and their sign.
TEST(Text, ReadsEveryWidth) {
  enum class Narrow : std::int8_t { kLow = -7, kHigh = 5 };
  struct Widths {
    std::int8_t a = 0;
    std::uint8_t b = 0, after_b = 0x5a;
    std::int16_t c = 0;
    std::int64_t d = 0;
    Narrow e = Narrow::kHigh;
    static void fields(Widths& w, FieldVisitor& field) {
      field("a", w.a, range(-128, 127));
      field("b", w.b, range(0, 255));
      field("c", w.c, one_of({3, -32768}));
      field("d", w.d, range(INT64_MIN, INT64_MAX));
      field("e", w.e, choice<Narrow>({{"high", Narrow::kHigh}, {"low", Narrow::kLow}}));
    }
  };
  const char* text = "a=-128 b=255 c=-32768 d=-9223372036854775808 e=low";
  Widths w;
  ASSERT_EQ(parse_case(text, w), "");
  EXPECT_EQ(w.a, -128);
  EXPECT_EQ(w.b, 255);
  EXPECT_EQ(w.after_b, 0x5a);
  EXPECT_EQ(w.c, -32768);
  EXPECT_EQ(w.d, INT64_MIN);
  EXPECT_EQ(w.e, Narrow::kLow);
  EXPECT_EQ(print_case(w), text);
  EXPECT_NE(parse_case("a=-129 b=255 c=3 d=0 e=low", w), "");
  EXPECT_NE(parse_case("a=0 b=255 c=4 d=0 e=low", w), "");
}

TEST(Text, TheOrderOfTheFieldsIsFreeWhenRead) {
  Sample c;
  EXPECT_EQ(
      parse_case("reversed=true   seed=18446744073709551615 shift=-3 edge=clamp block=64 n=7 ", c),
      "");
  EXPECT_EQ(print_case(c),
            "n=7 block=64 edge=clamp shift=-3 seed=18446744073709551615 reversed=true");
}

struct Bad {
  const char* text;
  const char* error;
};
class BadText : public ::testing::TestWithParam<Bad> {};
TEST_P(BadText, SaysWhatIsWrongAndWhatIsAccepted) {
  Sample c;
  EXPECT_EQ(parse_case(GetParam().text, c), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Each, BadText,
    ::testing::Values(
        Bad{"", "field 'n' is missing (0 ... 1048576)"},
        Bad{"block=32 edge=zero shift=0 seed=0 reversed=false",
            "field 'n' is missing (0 ... 1048576)"},
        Bad{"n=1 block=33 edge=zero shift=0 seed=0 reversed=false",
            "field 'block' cannot be '33': it takes one of 32, 64, 1024"},
        Bad{"n=-1 block=32 edge=zero shift=0 seed=0 reversed=false",
            "field 'n' cannot be '-1': it takes 0 ... 1048576"},
        Bad{"n=1048577 block=32 edge=zero shift=0 seed=0 reversed=false",
            "field 'n' cannot be '1048577': it takes 0 ... 1048576"},
        Bad{"n=1x block=32 edge=zero shift=0 seed=0 reversed=false",
            "field 'n' cannot be '1x': it takes 0 ... 1048576"},
        Bad{"n= block=32 edge=zero shift=0 seed=0 reversed=false",
            "field 'n' cannot be '': it takes 0 ... 1048576"},
        Bad{"n=99999999999999999999 block=32 edge=zero shift=0 seed=0 reversed=false",
            "field 'n' cannot be '99999999999999999999': it takes 0 ... 1048576"},
        Bad{"n=1 block=32 edge=wrap shift=0 seed=0 reversed=false",
            "field 'edge' cannot be 'wrap': it takes one of zero, clamp"},
        Bad{"n=1 block=32 edge=zero shift=0 seed=0 reversed=1",
            "field 'reversed' cannot be '1': it takes one of false, true"},
        Bad{"n=1 blok=32 edge=zero shift=0 seed=0 reversed=false",
            "there is no field 'blok'; the fields are n, block, edge, shift, seed, reversed"},
        Bad{"n=1 n=1 block=32 edge=zero shift=0 seed=0 reversed=false", "field 'n' is given twice"},
        Bad{"33", "'33' is not of the form name=value"},
        Bad{"n=0 block=32 edge=zero shift=0 seed=0 reversed=true",
            "these fields do not go together; the nearest case is 'n=0 block=32 edge=zero shift=0 "
            "seed=0 reversed=false'"}));

}  // namespace field_test
}  // namespace lockstep
