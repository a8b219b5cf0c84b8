// The probe on artificial units: it finds the parameters of each, or reports that it did not.
#include "harness/matrix_unit/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <sstream>

#include "harness/matrix_unit/random_numbers.h"

namespace lockstep::matrix_unit {
namespace {

using Certainty = Finding::Certainty;
using enum Property;
using Random = std::mt19937_64;

template <class T>
T one_of(Random& random, std::initializer_list<T> list) {
  return list.begin()[random() % list.size()];
}

struct MadeUp {
  Formats formats;
  UnitArithmetic unit;

  Multiplier multiplier() const {
    return [this](const std::vector<Dot>& dots) {
      std::vector<std::uint64_t> out;
      for (const Dot& d : dots) out.push_back(element_of(unit, formats, d));
      return out;
    };
  }
  std::string text() const {
    std::ostringstream out;
    out << "fractions of " << formats.a.fraction_bits << " and " << formats.b.fraction_bits
        << " bits to " << formats.d.fraction_bits << ", k " << formats.k << ", "
        << unit.steps.size() << " steps, C " << (unit.adds_c_last ? "last" : "first") << ", "
        << unit.fraction_bits << " bits, cut " << text_of(unit.cut) << ", zero at "
        << unit.zero_exponent << ", result of " << unit.result_fraction_bits << " bits "
        << text_of(unit.rounding) << ", normalises " << unit.normalises_products
        << unit.normalises_subnormals << ", subnormal " << unit.subnormal_factors
        << unit.subnormal_c << unit.subnormal_results;
    return out.str();
  }
};

std::vector<std::vector<int>> random_steps(Random& random, int k) {
  std::vector<int> order(static_cast<std::size_t>(k));
  for (int i = 0; i < k; ++i) order[static_cast<std::size_t>(i)] = i;
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  const int size = std::min(k, one_of(random, {4, 8, 16, 32}));
  std::vector<std::vector<int>> steps;
  for (int from = 0; from < k; from += size) {
    steps.emplace_back(order.begin() + from, order.begin() + from + size);
    std::sort(steps.back().begin(), steps.back().end());
  }
  return steps;
}

MadeUp random_unit(Random& random) {
  MadeUp m;
  const bool half = random() % 3 == 0;
  m.formats.d = half ? kF16 : kF32;
  m.formats.a = m.formats.b = half ? one_of(random, {kF16, kE4M3, kE5M2})
                                   : one_of(random, {kF16, kBF16, kTF32, kE4M3, kE5M2});
  const bool bytes = m.formats.a.fraction_bits <= 3;
  if (bytes) m.formats.b = one_of(random, {kE4M3, kE5M2});
  m.formats.k = one_of(random, {4, 8, 16, 32});
  UnitArithmetic& u = m.unit;
  u.steps = random_steps(random, m.formats.k);
  u.adds_c_last = random() % 4 == 0;
  u.c_rounding = one_of(random, {Direction::kNearestEven, Direction::kZero});
  u.fraction_bits = static_cast<int>(10 + random() % 17);  // fewer than fp8 with f16 can show
  u.cut = one_of(random, {Direction::kZero, Direction::kZero, Direction::kNearestEven,
                          Direction::kDown, Direction::kUp});
  u.normalises_products = random() % 4 == 0;
  u.subnormal_factors = random() % 4 != 0;
  u.normalises_subnormals = random() % 4 == 0;
  u.subnormal_c = random() % 4 != 0;
  u.subnormal_results = random() % 4 != 0;
  u.zero_exponent = static_cast<int>(half ? -24 + static_cast<int>(random() % 6)
                                          : -140 + static_cast<int>(random() % 16));
  u.result_fraction_bits = half ? 10 : one_of(random, {23, 23, 13});
  u.rounding = one_of(random, {Direction::kZero, Direction::kNearestEven, Direction::kDown,
                               Direction::kUp, Direction::kNearestAway});
  u.keeps_minus_zero = random() % 2 == 0;
  u.underflows_to_minus_zero = random() % 2 == 0;
  u.overflows_to_infinity = random() % 2 == 0;
  u.nan = half ? one_of<std::uint64_t>(random, {0x7fff, 0x7e00, 0xffff})
               : one_of<std::uint64_t>(random, {0x7fffffff, 0x7fc00000});
  return m;
}

// The measured parameters are those of the unit.
void expect_true(const MadeUp& m, const Measurement& found) {
  const UnitArithmetic &is = m.unit, &u = found.unit;
  const auto measured = [&](Property p) {
    return found.findings.at(p).certainty == Certainty::kMeasured;
  };
#define EXPECT_FOUND(property, member)                                         \
  if (measured(property)) {                                                    \
    EXPECT_EQ(u.member, is.member) << name_of(property) << " of " << m.text(); \
  }
  EXPECT_FOUND(kSteps, steps);
  EXPECT_FOUND(kC, adds_c_last);
  EXPECT_FOUND(kFractionBits, fraction_bits);
  EXPECT_FOUND(kCut, cut);
  EXPECT_FOUND(kProductExponent, normalises_products);
  EXPECT_FOUND(kSubnormalExponent, normalises_subnormals);
  EXPECT_FOUND(kZeroExponent, zero_exponent);
  EXPECT_FOUND(kResultBits, result_fraction_bits);
  EXPECT_FOUND(kRounding, rounding);
  EXPECT_FOUND(kSubnormalFactors, subnormal_factors);
  EXPECT_FOUND(kSubnormalC, subnormal_c);
  EXPECT_FOUND(kSubnormalResults, subnormal_results);
  EXPECT_FOUND(kOverflow, overflows_to_infinity);
  EXPECT_FOUND(kUnderflow, underflows_to_minus_zero);
  EXPECT_FOUND(kNaN, nan);
#undef EXPECT_FOUND
  if (measured(kC) && is.adds_c_last) {
    EXPECT_EQ(u.c_rounding, is.c_rounding) << m.text();
  }
}

// A dot product of numbers in a range.
Dot random_dot(Random& random, const Formats& f, NumberRange range) {
  Dot d;
  for (int k = 0; k < f.k; ++k) {
    d.a.push_back(random_number(f.a, range, random()));
    d.b.push_back(random_number(f.b, range, random()));
  }
  d.c = random() % 4 == 0 ? 0 : random_number(f.d, range, random());
  return d;
}

constexpr NumberRange kRanges[] = {
    NumberRange::kNearOne, NumberRange::kAll,  NumberRange::kSpread, NumberRange::kCancelling,
    NumberRange::kTiny,    NumberRange::kHuge, NumberRange::kSpecial};

// The measured parameters predict the unit's result for any input.
void expect_explained(const MadeUp& m, const Measurement& found, Random& random, int dots) {
  for (int i = 0; i < dots; ++i) {
    const auto range = kRanges[static_cast<std::size_t>(i) % std::size(kRanges)];
    const Dot d = random_dot(random, m.formats, range);
    ASSERT_EQ(element_of(found.unit, m.formats, d), element_of(m.unit, m.formats, d))
        << "range " << static_cast<int>(range) << " of " << m.text();
  }
}

TEST(Probe, WhatItMeasuresOfAnyUnitIsSo) {
  Random random(20261122);
  int explained = 0;
  for (int i = 0; i < 250 && !HasFailure(); ++i) {
    const MadeUp m = random_unit(random);
    const Measurement found = measure(m.formats, m.multiplier());
    expect_true(m, found);
    for (const Property p : {kSteps, kC, kFractionBits, kCut, kSubnormalFactors, kNaN, kMinusZero})
      EXPECT_TRUE(found.determined(p)) << name_of(p) << " of " << m.text();
    explained += found.explains_all();
  }
  EXPECT_GT(explained, 150) << "of 250; the others hide from each other what C and the result are";
}

// Plausible units, for which every parameter can be measured.
MadeUp likely_unit(Random& random) {
  MadeUp m = random_unit(random);
  m.formats.a = m.formats.b = one_of(random, {kF16, kBF16, kTF32});
  const bool half = m.formats.a.exponent_bits == 5;
  m.formats.d = half ? kF16 : kF32;
  m.formats.k = one_of(random, {8, 16, 32});
  UnitArithmetic& u = m.unit;
  u.steps = random_steps(random, m.formats.k);
  while (u.steps.front().size() < 8) u.steps = random_steps(random, m.formats.k);
  u.fraction_bits = static_cast<int>(23 + random() % 5);
  u.cut = one_of(random, {Direction::kZero, Direction::kNearestEven});
  u.rounding =
      one_of(random, {Direction::kZero, Direction::kNearestEven, Direction::kDown, Direction::kUp});
  u.result_fraction_bits = m.formats.d.fraction_bits;
  u.zero_exponent =
      half ? -18 - static_cast<int>(random() % 3) : -128 - static_cast<int>(random() % 12);
  u.subnormal_factors = u.subnormal_c = u.subnormal_results = true;
  u.nan = half ? 0x7fff : 0x7fffffff;
  return m;
}

TEST(Probe, EveryParameterOfALikelyUnitComesOut) {
  Random random(7);
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    const MadeUp m = likely_unit(random);
    const Measurement found = measure(m.formats, m.multiplier());
    expect_true(m, found);
    for (const auto& [p, f] : found.findings) {
      const bool may_hide = p == kBetweenSteps || p == kUnderflow;
      EXPECT_TRUE(f.certainty == Certainty::kMeasured ||
                  (may_hide && f.certainty == Certainty::kNoEffect))
          << name_of(p) << ": " << f.text << ", of " << m.text();
    }
    expect_explained(m, found, random, 70);
  }
}

// Units as described in the literature.
MadeUp published(const NumberFormat& factor, const NumberFormat& result, int k, int at_once,
                 int bits, int zero) {
  MadeUp m;
  m.formats = {factor, factor, result, k};
  for (int i = 0; i < k; ++i) {
    if (i % at_once == 0) m.unit.steps.emplace_back();
    m.unit.steps.back().push_back(i);
  }
  m.unit.fraction_bits = bits;
  m.unit.zero_exponent = zero;
  m.unit.result_fraction_bits =
      bits == 13 ? std::min(13, result.fraction_bits) : result.fraction_bits;
  m.unit.rounding = result.fraction_bits == 10 ? Direction::kNearestEven : Direction::kZero;
  m.unit.nan = result.fraction_bits == 10 ? 0x7fff : 0x7fffffff;
  return m;
}

TEST(Probe, KnowsPublishedUnits) {
  Random random(3);
  const MadeUp units[] = {
      published(kF16, kF32, 4, 4, 23, -131),    published(kF16, kF32, 16, 8, 24, -132),
      published(kBF16, kF32, 16, 8, 24, -132),  published(kTF32, kF32, 8, 4, 24, -132),
      published(kF16, kF32, 16, 16, 25, -133),  published(kTF32, kF32, 8, 8, 25, -133),
      published(kF16, kF16, 16, 8, 24, -20),    published(kF16, kF16, 16, 16, 25, -21),
      published(kE4M3, kF32, 32, 32, 13, -133), published(kE5M2, kF32, 32, 16, 13, -132),
      published(kE4M3, kF16, 32, 32, 13, -21),  published(kE4M3, kF32, 32, 32, 25, -133),
  };
  for (const MadeUp& m : units) {
    const Measurement found = measure(m.formats, m.multiplier());
    expect_true(m, found);
    EXPECT_TRUE(found.explains_all()) << m.text();
    for (const Property p : {kSteps, kFractionBits, kCut, kProductExponent, kResultBits, kRounding})
      EXPECT_EQ(found.findings.at(p).certainty, Certainty::kMeasured)
          << name_of(p) << " of " << m.text();
    expect_explained(m, found, random, 500);
  }
  EXPECT_EQ(measure(units[2].formats, units[2].multiplier()).findings.at(kSteps).text,
            "8, in order of k");
  EXPECT_EQ(measure(units[5].formats, units[5].multiplier()).findings.at(kZeroExponent).text,
            "-133");
}

// fp8 on Hopper's unit of f16: the k of a step are not consecutive, and C is added after them.
TEST(Probe, FindsStepsOutOfOrderAndALateC) {
  MadeUp m = published(kE4M3, kF32, 32, 16, 25, -133);
  for (int i = 0; i < 32; ++i) {
    if (i == 0) m.unit.steps = {{}, {}};
    m.unit.steps[i % 4 < 2 ? 0 : 1].push_back(i);
  }
  m.unit.adds_c_last = true;
  const Measurement found = measure(m.formats, m.multiplier());
  expect_true(m, found);
  EXPECT_EQ(found.findings.at(kSteps).text,
            "16: 0-1 4-5 8-9 12-13 16-17 20-21 24-25 28-29; then 2-3 6-7 10-11 14-15 18-19 22-23 "
            "26-27 30-31");
  EXPECT_EQ(found.findings.at(kC).text,
            "is added at the end, rounded to the nearest, ties to even");
  Random random(4);
  expect_explained(m, found, random, 500);
}

TEST(Probe, KnowsAChainOfFusedMultiplyAdds) {
  MadeUp m = published(kF64, kF64, 8, 1, kExactBits, -100000);
  m.unit.rounding = Direction::kNearestEven;
  m.unit.nan = 0x7ff8000000000000;
  const Measurement found = measure(m.formats, m.multiplier());
  expect_true(m, found);
  EXPECT_TRUE(found.explains_all());
  EXPECT_EQ(found.findings.at(kSteps).text, "1, in order of k");
  EXPECT_EQ(found.findings.at(kFractionBits).certainty, Certainty::kAtLeast);
  EXPECT_EQ(found.findings.at(kRounding).text, "to the nearest, ties to even");
}

// A result that contradicts the model is reported under the property that it concerns.
TEST(Probe, GuessesNothing) {
  const MadeUp honest = published(kBF16, kF32, 16, 8, 24, -132);
  const auto judged = [&](Property p, const std::function<std::uint64_t(const Dot&)>& element) {
    const Measurement found = measure(honest.formats, [&](const std::vector<Dot>& dots) {
      std::vector<std::uint64_t> out;
      for (const Dot& d : dots) out.push_back(element(d));
      return out;
    });
    EXPECT_FALSE(found.determined(p)) << name_of(p) << ": " << found.findings.at(p).text;
    EXPECT_FALSE(found.explains_all());
  };
  const auto with = [&](const auto& change, const Dot& d) {
    UnitArithmetic unit = honest.unit;
    change(unit);
    return element_of(unit, honest.formats, d);
  };
  // Keeps more bits if C is not zero.
  judged(kFractionBits, [&](const Dot& d) {
    return with([&](UnitArithmetic& u) { u.fraction_bits += d.c << 1 != 0; }, d);
  });
  // Rounds some sums up, others down.
  judged(kRounding, [&](const Dot& d) {
    return with(
        [&](UnitArithmetic& u) {
          u.rounding = d.a[8] >> 15 != 0 ? Direction::kNearestEven : Direction::kDown;
        },
        d);
  });
  // A step begins no later than its first product.
  judged(kSteps, [&](const Dot& d) {
    return with(
        [&](UnitArithmetic& u) {
          if (d.b[3] != 0) std::swap(u.steps[0], u.steps[1]);
        },
        d);
  });
  judged(kNaN, [&](const Dot& d) {
    return with([&](UnitArithmetic& u) { u.nan = d.c != 0 ? 0x7fc00000 : 0x7fffffff; }, d);
  });
  judged(kBetweenSteps, [&](const Dot& d) {
    return with(
        [&](UnitArithmetic& u) {
          if (d.a[0] != 0 && d.a[8] != 0 && d.a[2] != 0)
            u.steps = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
        },
        d);
  });
}

TEST(NumberFormat, TakesApartAndPutsTogether) {
  std::uint64_t bits = 0;
  for (const NumberFormat& f : {kF16, kBF16, kTF32, kE4M3, kE5M2}) {
    for (std::uint64_t n = 0; n < std::uint64_t{1} << (f.fraction_bits + f.exponent_bits + 1);
         ++n) {
      const std::uint64_t number = n << f.ignored_bits;
      if (take_apart(number, f).kind != Parts::Kind::kFinite) continue;
      ASSERT_TRUE(encode(value_of(number, f), f, true, bits));
      ASSERT_EQ(bits, number);
    }
    EXPECT_EQ(take_apart(f.nan(), f).kind, Parts::Kind::kNaN);
    EXPECT_FALSE(encode(std::ldexp(1.0, f.greatest_exponent() + 1), f, true, bits));
    EXPECT_FALSE(encode(1 + std::ldexp(1.0, -f.fraction_bits - 1), f, true, bits));
    EXPECT_FALSE(encode(std::ldexp(1.0, f.least_exponent() - 1), f, false, bits));
  }
  EXPECT_EQ(value_of(0x7e, kE4M3), 448);
  EXPECT_FALSE(encode(480, kE4M3, true, bits)) << "its bits are NaN's";
  EXPECT_EQ(value_of(0x3c00, kF16), 1);
}

}  // namespace
}  // namespace lockstep::matrix_unit
