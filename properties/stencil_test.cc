// The coverage of the stencil's generators, and that every case type can be printed and parsed.
// Uses no device.
#include "properties/stencil.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lockstep::properties {
namespace {

TEST(StencilCase, TenThousandDrawsReachEveryEdge) {
  Bits bits(1);
  std::set<kernels::StencilBoundary> boundaries;
  std::set<kernels::StencilVariant> variants;
  std::set<int> blocks, x_offsets, y_offsets;
  std::set<Poison> poisons;
  std::set<std::int64_t> sizes;
  bool partial_last_block = false, strides = false, shorter_than_the_radius = false;
  for (int i = 0; i < 10000; ++i) {
    const auto c = draw_case<StencilCase>(bits);
    boundaries.insert(c.boundary);
    variants.insert(c.variant);
    blocks.insert(c.block);
    x_offsets.insert(c.x_offset);
    y_offsets.insert(c.y_offset);
    poisons.insert(c.poison);
    sizes.insert(c.n);
    partial_last_block |= c.n > c.block && c.n % c.block != 0;
    strides |= c.n / c.block > c.max_blocks;
    shorter_than_the_radius |= c.boundary == kernels::StencilBoundary::kPeriodic && c.n > 0 &&
                               c.n < kernels::kStencilRadius;
  }
  EXPECT_EQ(boundaries.size(), 4u);
  EXPECT_EQ(variants.size(), 3u);
  for (const int block : {32, 64, 96, 128, 256, 512, 1024})
    EXPECT_TRUE(blocks.contains(block)) << block;
  EXPECT_EQ(x_offsets.size(), 32u);
  EXPECT_EQ(y_offsets.size(), 32u);
  EXPECT_EQ(poisons.size(), 4u);
  for (const std::int64_t n : {0, 1, 2, 3, 4, 31, 32, 33, 255, 256, 257, 1 << 20})
    EXPECT_TRUE(sizes.contains(n)) << n;
  EXPECT_TRUE(partial_last_block);
  EXPECT_TRUE(strides);
  EXPECT_TRUE(shorter_than_the_radius);
}

TEST(StencilCase, HoldsTheCentresCoefficientAsANaNOrAHugeNumberThatNothingMayUse) {
  Bits bits(2);
  int nans = 0;
  for (int i = 0; i < 100; ++i) {
    const auto c = draw_case<StencilCase>(bits);
    const float centre = c.c()[0];
    nans += std::isnan(centre);
    EXPECT_TRUE(std::isnan(centre) || centre > 0x1p100f);
  }
  EXPECT_GT(nans, 20);
  EXPECT_LT(nans, 80) << "coefficients may be equal to others, which a NaN is not";
}

TEST(StencilCase, HasAHaloOnlyWhereTheBoundaryIsPadded) {
  StencilCase c;
  c.n = 5;
  EXPECT_EQ(c.x().size(), 5u);
  c.boundary = kernels::StencilBoundary::kPadded;
  EXPECT_EQ(c.x().size(), 13u);
}

TEST(StencilCase, MapsElementsToTheBlockAndThreadThatComputeThem) {
  StencilCase c;
  c.block = 32;
  const int tile = 32 * kernels::kStencilItems;
  c.n = 4 * tile;
  EXPECT_EQ(c.where()(3 * tile + 35).block, 3u);
  EXPECT_EQ(c.where()(3 * tile + 35).thread, 3u);
  c.max_blocks = 2;
  EXPECT_EQ(c.where()(3 * tile + 35).block, 1u);
}

template <class Case>
class StencilCases : public ::testing::Test {};
using Cases = ::testing::Types<StencilCase, ExactStencilCase, LinearStencilCase, ScaledStencilCase,
                               ConstantStencilCase, ShiftedStencilCase, PolynomialStencilCase,
                               ScheduledStencilCase, Refused<stencil_call, ScheduledStencilCase>>;
TYPED_TEST_SUITE(StencilCases, Cases);

TYPED_TEST(StencilCases, ReadBackWhatTheyPrint) {
  Bits bits(3);
  for (int i = 0; i < 200; ++i) {
    const auto c = draw_case<TypeParam>(bits);
    TypeParam again;
    EXPECT_EQ(parse_case(print_case(c), again), "") << print_case(c);
    EXPECT_EQ(print_case(again), print_case(c));
  }
}

TYPED_TEST(StencilCases, ShrinkToLegalCases) {
  Bits bits(4);
  for (int i = 0; i < 20; ++i) {
    const auto drawn = cases<TypeParam>()(rc::Random(bits.next()));
    for (auto shrinks = drawn.shrinks(); const auto shrink = shrinks.next();) {
      const TypeParam simpler = shrink->value();
      TypeParam again;
      EXPECT_EQ(parse_case(print_case(simpler), again), "") << print_case(simpler);
    }
  }
}

TEST(ExactStencilCase, HoldsSmallIntegersOnly) {
  Bits bits(5);
  for (int i = 0; i < 200; ++i) {
    auto c = draw_case<ExactStencilCase>(bits);
    c.n = std::min<std::int64_t>(c.n, 100);
    for (const float v : c.x()) EXPECT_TRUE(v == std::trunc(v) && std::abs(v) <= 4) << v;
  }
}

}  // namespace
}  // namespace lockstep::properties
