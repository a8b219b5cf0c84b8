// The probe of integers, on artificial units.
#include "harness/matrix_unit/integer_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace lockstep::matrix_unit {
namespace {

Multiplier each(const std::function<std::uint64_t(const Dot&)>& element) {
  return [element](const std::vector<Dot>& dots) {
    std::vector<std::uint64_t> out;
    std::transform(dots.begin(), dots.end(), std::back_inserter(out), element);
    return out;
  };
}

TEST(IntegerProbe, FindsEveryUnitAgain) {
  std::mt19937_64 random(5);
  for (const IntegerFormats f : {IntegerFormats{8, 16}, IntegerFormats{8, 32},
                                 IntegerFormats{4, 64}, IntegerFormats{1, 128}}) {
    for (int choice = 0; choice < 4; ++choice) {
      const IntegerUnit unit{f.factor_bits > 1 && (choice & 1) != 0, (choice & 2) != 0,
                             f.factor_bits == 1 && (choice & 1) != 0};
      const IntegerMeasurement found =
          measure(f, each([&](const Dot& d) { return element_of(unit, f, d); }));
      EXPECT_TRUE(found.explains_all());
      EXPECT_EQ(found.unit.has_sign, unit.has_sign);
      EXPECT_EQ(found.unit.saturates, unit.saturates);
      EXPECT_EQ(found.unit.counts_differing, unit.counts_differing);
      for (int i = 0; i < 50; ++i) {
        Dot d;
        for (int k = 0; k < f.k; ++k) {
          d.a.push_back(random() >> (64 - f.factor_bits));
          d.b.push_back(random() >> (64 - f.factor_bits));
        }
        d.c = i % 2 == 0 ? 0x7fffff00 + random() % 512 : random() >> 32;
        EXPECT_EQ(element_of(found.unit, f, d), element_of(unit, f, d));
      }
    }
  }
}

TEST(IntegerProbe, ComputesWhatCanBeFollowedByHand) {
  const Dot d{{0xff, 2}, {3, 0x80}, 0x7fffffff};
  EXPECT_EQ(element_of({.has_sign = true}, {8, 2}, d), 0x7fffffffu - 3 - 256);
  EXPECT_EQ(element_of(IntegerUnit{}, {8, 2}, d), 0x7fffffffu + 255 * 3 + 256) << "wraps";
  EXPECT_EQ(element_of({.saturates = true}, {8, 2}, d), 0x7fffffffu);
  EXPECT_EQ(element_of({.counts_differing = true}, {1, 3}, {{1, 0, 1}, {1, 1, 0}, 5}), 7u);
  EXPECT_EQ(element_of(IntegerUnit{}, {1, 3}, {{1, 0, 1}, {1, 1, 0}, 5}), 6u);
}

TEST(IntegerProbe, GuessesNothing) {
  const IntegerFormats f{8, 16};
  // Limited after each product, and neither signed nor unsigned.
  const auto on_the_way = each([&](const Dot& d) {
    Dot one{{0}, {0}, d.c};
    for (std::size_t k = 0; k < d.a.size(); ++k) {
      one.a[0] = d.a[k], one.b[0] = d.b[k];
      one.c = element_of({.has_sign = true, .saturates = true}, {8, 1}, one);
    }
    return one.c;
  });
  EXPECT_FALSE(measure(f, on_the_way).explains_all());
  EXPECT_FALSE(
      measure(f, each([](const Dot& d) { return d.a[0] * d.b[0] & 0x7f; })).explains_all());
}

}  // namespace
}  // namespace lockstep::matrix_unit
