// An ordinary test of an ordinary kernel, without any use of Lockstep.
#include "sums.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

TEST(Sums, OfNothing) { EXPECT_EQ(sum(nullptr, 0), 0); }

TEST(Sums, OfSmallArrays) {
  for (const int n : {1, 2, 31, 32, 33, 255, 256, 257}) {
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 1);
    EXPECT_EQ(sum(values.data(), n), 1LL * n * (n + 1) / 2) << n;
  }
}

TEST(Sums, OfManyBlocks) {
  const std::vector<int> values(10'000, -3);
  EXPECT_EQ(sum(values.data(), 10'000), -30'000);
}
