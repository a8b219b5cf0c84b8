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
  // The launch keeps what it has learnt, but must hear again of later operations.
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

// ---- grids that descend from one launch ---------------------------------------------------------

using Grid = std::shared_ptr<Descent>;

Grid grid(std::uint64_t executed, Grid parent, std::uint32_t lane, std::uint32_t sequence = 1) {
  auto made = std::make_shared<Descent>();
  made->parent = parent;
  made->depth = parent ? parent->depth + 1 : 1;
  made->lane = lane;
  made->sequence = sequence;
  made->executed = executed;
  return made;
}
Grid tail(std::uint64_t executed, Grid parent) {
  Grid made = grid(executed, parent, Descent::kNoLane);
  made->tail = true;
  made->after_all = !parent || parent->after_all;
  return made;
}
bool before(const Grid& a, const Grid& b) { return Descent::is_before(a.get(), b.get()); }

TEST(Descent, AChildIsNotOrderedWithItsParentUnlessItIsATailLaunch) {
  const Grid child = grid(1, nullptr, 0), last = tail(2, nullptr);
  EXPECT_FALSE(before(nullptr, child));
  EXPECT_FALSE(before(child, nullptr));
  EXPECT_TRUE(before(nullptr, last));
  EXPECT_TRUE(before(child, last));
  EXPECT_FALSE(before(last, child));
  EXPECT_TRUE(before(last, tail(3, nullptr)));
  const Grid grandchild = grid(1, child, 0);
  EXPECT_FALSE(before(child, grandchild));
  EXPECT_FALSE(before(nullptr, grandchild));
  EXPECT_TRUE(before(child, tail(2, child)));
  EXPECT_TRUE(before(grandchild, tail(2, child)));
  EXPECT_FALSE(before(nullptr, tail(2, child))) << "a tail of the child's alone";
}

TEST(Descent, StreamsOrderChildrenWithAllThatDescendFromThem) {
  const Grid first = grid(1, nullptr, 0, 1), below = grid(2, first, 0, 1),
             second = grid(3, nullptr, 0, 2), other = grid(4, nullptr, 1, 1);
  EXPECT_TRUE(before(first, second));
  EXPECT_TRUE(before(below, second));
  EXPECT_TRUE(before(below, grid(5, second, 7, 1)));
  EXPECT_FALSE(before(second, first));
  EXPECT_FALSE(before(first, other));
  EXPECT_FALSE(before(below, other));
  const Grid loose = grid(1, nullptr, Descent::kNoLane);
  EXPECT_FALSE(before(loose, grid(2, nullptr, Descent::kNoLane))) << "fire and forget";
}

TEST(Descent, AnEventOrdersWhatWasLaunchedBeforeItsRecord) {
  const Grid first = grid(1, nullptr, 0, 1), late = grid(2, nullptr, 0, 2),
             waits = grid(3, nullptr, 1, 1);
  waits->waited = {{0, 1}};
  EXPECT_TRUE(before(first, waits));
  EXPECT_TRUE(before(grid(1, first, 0), waits));
  EXPECT_FALSE(before(late, waits));
}

TEST(Descent, OrdersLaunchesOfOneFamilyInPlaceOfClocks) {
  LaunchOrder order;
  const Clock first{1}, second{0, 1};
  order.begin({0, 1, first, {}, true, nullptr, 5, nullptr}, 4, 1, 1);
  order.begin({0, 1, first, {}, true, nullptr, 5, grid(1, nullptr, 0)}, 4, 1, 2);
  EXPECT_FALSE(order.is_before(0)) << "its parent";
  EXPECT_TRUE(order.is_of_family(0));
  EXPECT_FALSE(order.are_ordered(4, 0));
  order.begin({0, 1, first, {}, true, nullptr, 5, tail(2, nullptr)}, 4, 1, 3);
  EXPECT_TRUE(order.is_before(0) && order.is_before(4));
  EXPECT_TRUE(order.are_ordered(4, 8));
  // A launch after the family is ordered after all of it. A launch beside the family is ordered
  // after none of it.
  const Clock behind{2};
  order.begin({0, 2, behind, {}, true, nullptr, 6, nullptr}, 4, 1, 4);
  EXPECT_TRUE(order.is_before(0) && order.is_before(4) && order.is_before(8));
  EXPECT_FALSE(order.is_of_family(4));
  order.begin({1, 1, second, {}, true, nullptr, 7, nullptr}, 4, 1, 5);
  EXPECT_FALSE(order.is_before(0) || order.is_before(4) || order.is_before(8));
}

}  // namespace
}  // namespace lockstep::check
