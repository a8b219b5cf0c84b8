// The counts by hand, and what clamping must not do.
#include "reference/histogram.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace lockstep::reference {
namespace histogram_test {

Counts counts(std::vector<unsigned long long> v) {
  return Eigen::Map<const Counts>(v.data(), static_cast<Eigen::Index>(v.size()));
}

TEST(HistogramReference, CountsWhatIsInRange) {
  EXPECT_TRUE((histogram(std::vector{0, 1, 1, 3}, 4) == counts({1, 2, 0, 1})).all());
}

TEST(HistogramReference, PutsWhatIsOutOfRangeIntoTheEnds) {
  constexpr int kLow = std::numeric_limits<int>::min(), kHigh = std::numeric_limits<int>::max();
  EXPECT_TRUE((histogram(std::vector{-1, kLow, 4, 5, kHigh, 2}, 4) == counts({2, 0, 1, 3})).all());
}

TEST(HistogramReference, HasOneBinForEverything) {
  EXPECT_EQ(histogram(std::vector{-7, 0, 9}, 1)(0), 3u);
}

TEST(HistogramReference, IsAllZerosWithoutElements) { EXPECT_TRUE((histogram({}, 5) == 0).all()); }

}  // namespace histogram_test
}  // namespace lockstep::reference
