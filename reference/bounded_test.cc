// The terms of all bounds, compared with numbers derived by hand.
#include "reference/bounded.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::reference {
namespace {

TEST(Bounded, TheUnitRoundoffIsHalfTheDistanceAboveOne) {
  EXPECT_EQ(unit_roundoff<float>(), 0x1p-24);
  EXPECT_EQ(unit_roundoff<double>(), 0x1p-53);
  EXPECT_EQ(1.0f + static_cast<float>(unit_roundoff<float>()), 1.0f)
      << "the tie goes to the even one";
}

TEST(Bounded, GammaCoversEveryChainOfItsLength) {
  EXPECT_EQ(gamma<float>(0), 0);
  EXPECT_EQ(gamma<float>(0x1p23), 1) << "1/2 over 1/2";
  EXPECT_DOUBLE_EQ(gamma<float>(0x1p22), 1.0 / 3) << "1/4 over 3/4";
  EXPECT_DOUBLE_EQ(gamma<double>(0x1p51), 1.0 / 3);
  // The worst case: all roundings up give (1 + u)^d - 1. gamma exceeds that only in the next order.
  for (const int d : {1, 5, 100, 100000}) {
    const double worst = std::expm1(d * std::log1p(0x1p-24));
    EXPECT_GE(gamma<float>(d), worst) << d;
    EXPECT_LE(gamma<float>(d), worst * (1 + d * 0x1p-23)) << d;
  }
}

TEST(Bounded, UnderflowIsHalfTheSmallestSubnormal) {
  EXPECT_EQ(underflow_unit<float>(), 0x1p-150);
  EXPECT_EQ(static_cast<float>(underflow_unit<float>()), 0.0f);
  EXPECT_EQ(static_cast<float>(std::nextafter(underflow_unit<float>(), 1)), 0x1p-149f);
}

TEST(Bounded, FromTheOverflowThresholdOnRoundingGivesInfinity) {
  EXPECT_EQ(overflow_threshold<float>(), 0x1.ffffffp127);
  EXPECT_TRUE(std::isinf(static_cast<float>(overflow_threshold<float>())));
  EXPECT_EQ(static_cast<float>(std::nextafter(overflow_threshold<float>(), 0)),
            std::numeric_limits<float>::max());
}

}  // namespace
}  // namespace lockstep::reference
