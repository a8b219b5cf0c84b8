// Rounding by hand: every mode on both sides of zero, and exact results, which are not rounded.
#include "harness/property/rounded.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "harness/property/values.h"

namespace lockstep {
namespace {

using enum Rounding;
constexpr float kUlp = 0x1p-23f;  // of 1
constexpr float kTiny = 0x1p-149f;

TEST(Rounded, SumsGoWhereTheModeSays) {
  // 1 + 2^-24 and 1 + 3 * 2^-24 are halfway between floats.
  EXPECT_EQ(rounded_add(1.f, kUlp / 2), 1);
  EXPECT_EQ(rounded_add(1.f, kUlp / 2, kZero), 1);
  EXPECT_EQ(rounded_add(1.f, kUlp / 2, kDown), 1);
  EXPECT_EQ(rounded_add(1.f, kUlp / 2, kUp), 1 + kUlp);
  EXPECT_EQ(rounded_add(1 + kUlp, kUlp / 2), 1 + 2 * kUlp) << "to even";
  EXPECT_EQ(rounded_add(1 + kUlp, kUlp / 2, kZero), 1 + kUlp);
  EXPECT_EQ(rounded_add(-1.f, -kUlp / 2, kZero), -1);
  EXPECT_EQ(rounded_add(-1.f, -kUlp / 2, kDown), -1 - kUlp);
  EXPECT_EQ(rounded_add(-1.f, -kUlp / 2, kUp), -1);
  EXPECT_EQ(rounded_sub(1.f, -kUlp / 2, kUp), 1 + kUlp);
  EXPECT_EQ(rounded_add(1.0, 0x1p-53, kUp), 1 + 0x1p-52);
  EXPECT_EQ(rounded_add(1.0, 0x1p-53), 1);
}

TEST(Rounded, ProductsQuotientsAndRoots) {
  EXPECT_LT(rounded_mul(1.1f, 1.1f, kDown), rounded_mul(1.1f, 1.1f, kUp));
  EXPECT_LT(rounded_div(1.f, 3.f, kDown), rounded_div(1.f, 3.f, kUp));
  EXPECT_LT(rounded_sqrt(2.f, kZero), rounded_sqrt(2.f, kUp));
  EXPECT_EQ(rounded_sqrt(4.f, kUp), 2);
  EXPECT_EQ(rounded_mul(kTiny, 0.5f), 0);
  EXPECT_EQ(rounded_mul(kTiny, 0.5f, kUp), kTiny);
  EXPECT_EQ(rounded_mul(3e38f, 2.f, kZero), std::numeric_limits<float>::max());
  EXPECT_EQ(rounded_mul(3e38f, 2.f), INFINITY);
}

TEST(Rounded, AFusedMultiplyAddRoundsOnce) {
  const float a = 1 + kUlp;  // a * a = 1 + 2 ulp + ulp^2
  EXPECT_EQ(rounded_add(rounded_mul(a, a), -(1 + 2 * kUlp)), 0);
  EXPECT_EQ(rounded_fma(a, a, -(1 + 2 * kUlp)), kUlp * kUlp);
  EXPECT_EQ(rounded_fma(a, a, 0.f, kUp), 1 + 3 * kUlp);
}

// The nearest value is one of the values of the directed modes, also for special values.
TEST(Rounded, DirectedModesEncloseTheNearest) {
  for (const float a : special_values<float>()) {
    for (const float b : special_values<float>()) {
      const float down = rounded_add(a, b, kDown), nearest = rounded_add(a, b),
                  up = rounded_add(a, b, kUp), zero = rounded_add(a, b, kZero);
      if (std::isnan(nearest)) {
        EXPECT_TRUE(std::isnan(down) && std::isnan(up) && std::isnan(zero));
        continue;
      }
      ASSERT_TRUE(down <= nearest && nearest <= up) << a << " + " << b;
      ASSERT_TRUE(nearest == down || nearest == up) << a << " + " << b;
      ASSERT_EQ(zero, nearest < 0 ? up : down) << a << " + " << b;
    }
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Rounded, FlushesSubnormalsAlone) {
  EXPECT_EQ(flushed(kTiny), 0);
  EXPECT_TRUE(std::signbit(flushed(-0x0.fffffep-126f)));
  EXPECT_EQ(flushed(-0x0.fffffep-126f), 0);
  EXPECT_EQ(flushed(0x1p-126f), 0x1p-126f);
  EXPECT_EQ(flushed(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(flushed(NAN)));
}

}  // namespace
}  // namespace lockstep
