#include "simulator/check/launch_order.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::check {
namespace {

using Clock = std::vector<std::uint32_t>;

TEST(LaunchOrder, ComparesALaunchWithThoseBefore) {
  LaunchOrder order;
  const Clock first{1}, second{0, 1}, third{1, 0, 1};
  order.begin({0, 1, first, {}}, 10, 1, 100);
  order.begin({1, 1, second, {}}, 5, 1, 200);
  EXPECT_EQ(order.first_block(), 10u);
  EXPECT_FALSE(order.is_before(9));
  order.begin({2, 1, third, {}}, 1, 1, 300);
  EXPECT_TRUE(order.is_before(0));
  EXPECT_TRUE(order.is_before(9));
  EXPECT_FALSE(order.is_before(10));
  EXPECT_FALSE(order.is_before(14));
}

TEST(LaunchOrder, WithOneLaneTheLaunchsOwnRecordsCount) {
  LaunchOrder order;
  const Clock first{1}, second{2}, third{3};
  order.begin({0, 1, first, {}}, 10, 1, 100);
  order.begin({0, 2, second, {}}, 10, 1, 200);
  EXPECT_EQ(order.first_counted_record(), 200u);
  order.begin({0, 3, third, {}, true}, 10, 1, 300);
  EXPECT_EQ(order.first_counted_record(), 100u);
  order.settle({0, 3, third, first, true});
  order.begin({0, 3, third, {}, true}, 10, 1, 300);
  EXPECT_EQ(order.first_counted_record(), 200u);
}

TEST(LaunchOrder, ClustersBeginAtAMultipleOfTheirSize) {
  LaunchOrder order;
  const Clock first{1}, second{2};
  order.begin({0, 1, first, {}}, 5, 1, 100);
  order.begin({0, 2, second, {}}, 8, 4, 200);
  EXPECT_EQ(order.first_block(), 8u);
}

TEST(LaunchOrder, SettledLaunchesAreForgottenWithoutALoss) {
  LaunchOrder order;
  const Clock first{1}, second{0, 1}, settled{1};
  order.begin({0, 1, first, {}}, 5, 1, 100);
  order.settle({1, 1, second, settled});
  EXPECT_FALSE(order.remembers());
  order.forget(1);
  order.begin({1, 1, second, settled}, 5, 1, 200);
  EXPECT_FALSE(order.missed());
  EXPECT_EQ(order.first_block(), 0u) << "numbers begin anew";
}

TEST(LaunchOrder, WhatIsForgottenAndNotOrderedIsMissed) {
  LaunchOrder order;
  const Clock first{1}, after{1, 1}, apart{0, 0, 1};
  order.begin({0, 1, first, {}}, 5, 1, 100);
  order.forget(1);
  order.begin({1, 1, after, {}}, 5, 1, 200);
  EXPECT_FALSE(order.missed());
  order.begin({2, 1, apart, {}}, 5, 1, 300);
  EXPECT_TRUE(order.missed());
}

TEST(LaunchOrder, ALaunchWithoutAPlaceIsAlone) {
  LaunchOrder order;
  const Clock first{1};
  order.begin({0, 1, first, {}}, 5, 1, 100);
  order.settle({});
  order.forget(1);
  order.begin({}, 5, 1, 200);
  EXPECT_FALSE(order.remembers());
  EXPECT_TRUE(order.is_before(77));
  EXPECT_EQ(order.first_counted_record(), 200u);
}

TEST(LaunchOrder, HoldsABoundedNumber) {
  LaunchOrder order;
  Clock clock{0};
  while (!order.is_full()) {
    ++clock[0];
    order.begin({0, clock[0], clock, {}}, 1, 1, clock[0]);
  }
  EXPECT_EQ(clock[0], LaunchOrder::kMost);
}

TEST(Hearing, KnowsWhatTheHostHadWaitedForOnceItHasHeard) {
  Hearing hearing;
  hearing.host_knows(std::vector<std::uint32_t>{0, 3});
  EXPECT_FALSE(hearing.covers(1, 3));
  hearing.hear();
  EXPECT_TRUE(hearing.covers(1, 3));
  EXPECT_FALSE(hearing.covers(1, 4));
  EXPECT_FALSE(hearing.covers(0, 1));
  // What the host waits for later it must hear anew; what it has learnt it keeps.
  hearing.host_knows(std::vector<std::uint32_t>{2, 4});
  EXPECT_FALSE(hearing.has_heard());
  EXPECT_TRUE(hearing.covers(1, 3));
  EXPECT_FALSE(hearing.covers(1, 4));
  hearing.hear();
  EXPECT_TRUE(hearing.covers(1, 4) && hearing.covers(0, 2));
}

TEST(Hearing, OrdersLaunchesOnceItHasHeard) {
  LaunchOrder order;
  const std::vector<std::uint32_t> first{1}, second{0, 1}, host{1};
  order.begin({0, 1, first, {}, true, nullptr}, 4, 1, 1);
  const std::uint32_t block = order.first_block();
  const auto hearing = std::make_shared<Hearing>();
  hearing->host_knows(host);
  order.begin({1, 1, second, {}, true, hearing}, 4, 1, 2);
  EXPECT_FALSE(order.is_before(block));
  EXPECT_FALSE(order.are_ordered(block, order.first_block()));
  hearing->hear();
  EXPECT_TRUE(order.is_before(block));
  EXPECT_TRUE(order.are_ordered(block, order.first_block()));
  EXPECT_TRUE(order.comes_after(order.first_block(), 0, 1));
}

}  // namespace
}  // namespace lockstep::check
