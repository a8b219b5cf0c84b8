// The exchange's reference, compared with statements of the CUDA C++ Programming Guide, and the
// sums with values derived by hand.
#include "reference/shuffle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep::reference {
namespace shuffle_test {

constexpr int kWidths[] = {1, 2, 4, 8, 16, 32};

TEST(ShuffleReference, WrapsAnIndexInsideItsSegment) {
  for (int width : kWidths) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int operand = -70; operand < 70; ++operand) {
        const int within = ((operand % width) + width) % width;
        ASSERT_EQ(source_lane(Exchange::kIndex, lane, operand, width),
                  lane / width * width + within)
            << lane << " " << operand << " " << width;
      }
    }
  }
}

TEST(ShuffleReference, KeepsTheOwnValueWhereAShiftLeavesTheSegment) {
  for (int width : kWidths) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int delta = 0; delta < 32; ++delta) {
        const int position = lane % width;
        ASSERT_EQ(source_lane(Exchange::kUp, lane, delta, width),
                  position - delta >= 0 ? lane - delta : lane);
        ASSERT_EQ(source_lane(Exchange::kDown, lane, delta, width),
                  position + delta < width ? lane + delta : lane);
      }
    }
  }
}

TEST(ShuffleReference, ExchangesAcrossSegmentsOnlyDownward) {
  // A lane mask of `width` or more can reach the segment before, but not the segment after.
  EXPECT_EQ(source_lane(Exchange::kButterfly, 9, 8, 8), 1);
  EXPECT_EQ(source_lane(Exchange::kButterfly, 1, 8, 8), 1);
  EXPECT_EQ(source_lane(Exchange::kButterfly, 5, 3, 8), 6);
}

TEST(ShuffleReference, SumsSegments) {
  Eigen::ArrayXd x(4);
  x << 1, 2, 3, 4;
  const double u = unit_roundoff<float>();
  EXPECT_TRUE((segment_sums(SegmentSum::kAll, x, 2, u).value == Eigen::Array4d(3, 3, 7, 7)).all());
  EXPECT_TRUE(
      (segment_sums(SegmentSum::kFirst, x, 4, u).value == Eigen::Array4d(10, 0, 0, 0)).all());
  EXPECT_TRUE(
      (segment_sums(SegmentSum::kInclusive, x, 4, u).value == Eigen::Array4d(1, 3, 6, 10)).all());
  EXPECT_TRUE(
      (segment_sums(SegmentSum::kExclusive, x, 2, u).value == Eigen::Array4d(0, 1, 0, 3)).all());
  EXPECT_TRUE((segment_sums(SegmentSum::kAll, x, 4, u).bound == 0).all());
}

TEST(ShuffleReference, SumsAreExactWhileEveryIntegerIsANumberOfTheType) {
  Eigen::ArrayXd x(2);
  const double u = unit_roundoff<float>();
  x << 0x1p24 - 2, 1;
  EXPECT_TRUE((segment_sums(SegmentSum::kAll, x, 2, u).bound == 0).all());
  x << 0x1p24, 1;
  EXPECT_TRUE((segment_sums(SegmentSum::kAll, x, 2, u).bound > 0).all());
  x << 1.5, 1;
  EXPECT_TRUE((segment_sums(SegmentSum::kAll, x, 2, u).bound > 0).all());
}

TEST(ShuffleReference, TheDeclaredChainAddsInItsOrder) {
  // The additions of each element, as text.
  using Words = std::vector<std::string>;
  const Words x = {"a", "b", "c", "d"};
  const auto add = [](const std::string& one, const std::string& other) {
    return "(" + one + "+" + other + ")";
  };
  const auto chain = [&](SegmentSum kind) { return segment_chain<std::string>(kind, x, 4, add); };
  EXPECT_EQ(chain(SegmentSum::kAll), Words(4, "((a+c)+(b+d))"));
  EXPECT_EQ(chain(SegmentSum::kFirst), (Words{"((a+c)+(b+d))", "", "", ""}));
  EXPECT_EQ(chain(SegmentSum::kInclusive), (Words{"a", "(a+b)", "(a+(b+c))", "((a+b)+(c+d))"}));
  EXPECT_EQ(chain(SegmentSum::kExclusive), (Words{"", "a", "(a+b)", "(a+(b+c))"}));
  EXPECT_EQ(segment_chain<std::string>(SegmentSum::kAll, x, 2, add),
            (Words{"(a+b)", "(a+b)", "(c+d)", "(c+d)"}));
  EXPECT_EQ(segment_chain<std::string>(SegmentSum::kAll, x, 1, add), x);
}

TEST(ShuffleReference, BoundsInexactSumsByTheirDepth) {
  const Eigen::ArrayXd x = Eigen::ArrayXd::Constant(32, 0.1);
  const double u = unit_roundoff<float>();
  const Bounded all = segment_sums(SegmentSum::kAll, x, 32, u),
                one = segment_sums(SegmentSum::kAll, x, 1, u);
  EXPECT_GE(all.bound(0), 5 * u * 3.2);
  EXPECT_LE(all.bound(0), 6 * u * 3.2);
  EXPECT_TRUE((one.bound == 0).all());  // nothing is added
}

}  // namespace shuffle_test
}  // namespace lockstep::reference
