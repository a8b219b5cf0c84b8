// What orders the threads of one block (BlockOrder) and those of different blocks (GridOrder), and what does not.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "simulator/check/grid_order.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace order_test {

// SharedRaces is the block's order with its barrier of all threads.
class InABlock : public ::testing::Test {
 protected:
  void SetUp() override { order.start(0, 2); }
  bool is_ordered(std::uint32_t other, std::uint32_t at, std::uint32_t thread) const { return order.ordered(other, at, thread); }
  std::uint32_t now(std::uint32_t thread) const { return order.clock(thread / 32); }
  SharedRaces order;
};

TEST_F(InABlock, NothingIsOrderedByItself) {
  EXPECT_FALSE(is_ordered(0, now(0), 1)) << "lanes of a warp";
  EXPECT_FALSE(is_ordered(0, now(0), 40)) << "warps of a block";
}

TEST_F(InABlock, ASynchronisationOfAllLanesOrdersTheWarpAndNoOther) {
  const std::uint32_t before = now(0);
  order.warp_sync(0, ~0u, true);
  EXPECT_TRUE(is_ordered(0, before, 1));
  EXPECT_FALSE(is_ordered(0, now(0), 1)) << "what comes after it";
  EXPECT_FALSE(is_ordered(0, before, 40));
}

TEST_F(InABlock, ASynchronisationOfSomeLanesOrdersTheseAndWhatTheyHaveLearnt) {
  const std::uint32_t before = now(0);
  order.warp_sync(0, 0b011, false);
  EXPECT_TRUE(is_ordered(0, before, 1));
  EXPECT_FALSE(is_ordered(0, before, 2));
  order.warp_sync(0, 0b110, false);
  EXPECT_TRUE(is_ordered(0, before, 2)) << "told by lane 1";
  EXPECT_FALSE(is_ordered(2, before, 0)) << "lane 0 has heard nothing of lane 2";
}

TEST_F(InABlock, ABarrierOrdersThoseWhoWaitAfterThoseWhoArrive) {
  const std::uint32_t before[] = {now(0), now(32)};
  order.arrive(0, 3);
  order.arrive(1, 3);
  order.complete(3, 0b10);
  EXPECT_TRUE(is_ordered(5, before[0], 40)) << "warp 0 arrived, warp 1 waited";
  EXPECT_FALSE(is_ordered(40, before[1], 5)) << "warp 0 did not wait";
  EXPECT_FALSE(is_ordered(5, before[0], 70)) << "warp 2 was not there";
}

TEST_F(InABlock, BarriersPassOnWhatWarpsKnow) {
  const std::uint32_t before = now(0);
  order.arrive(0, 1);
  order.arrive(1, 1);
  order.complete(1, 0b10);
  order.arrive(1, 2);
  order.arrive(2, 2);
  order.complete(2, 0b100);
  EXPECT_TRUE(is_ordered(5, before, 70));
}

TEST_F(InABlock, AFenceOrdersAfterEarlierFencesOnly) {
  const std::uint32_t before = now(0);
  order.fence(0, ~0u, true);
  EXPECT_FALSE(is_ordered(0, before, 40));
  order.fence(1, ~0u, true);
  EXPECT_TRUE(is_ordered(0, before, 40));
  EXPECT_FALSE(is_ordered(0, now(0), 40)) << "what came after the fence";
  EXPECT_FALSE(is_ordered(32, now(32), 0));
}

TEST_F(InABlock, FencesPassOnWhatWarpsKnow) {
  const std::uint32_t before = now(0);
  order.arrive(0, 1);
  order.arrive(1, 1);
  order.complete(1, 0b10);
  order.fence(1, ~0u, true);
  order.fence(2, ~0u, true);
  EXPECT_TRUE(is_ordered(5, before, 70)) << "warp 0 told warp 1 at a barrier, and that told warp 2 by its fence";
  EXPECT_FALSE(is_ordered(5, before, 100)) << "warp 3 had no fence";
}

TEST_F(InABlock, ALanesReleaseIsItsOwn) {
  const std::uint32_t before = now(0);
  order.release(0, 0b1, false);
  EXPECT_FALSE(is_ordered(0, before, 40)) << "nobody has acquired";
  order.acquire(1);
  EXPECT_TRUE(is_ordered(0, before, 40));
  EXPECT_FALSE(is_ordered(1, before, 40)) << "a lane that has not met the one that released";
  EXPECT_FALSE(is_ordered(0, now(0), 40)) << "what it does after that";
  EXPECT_FALSE(is_ordered(0, before, 1)) << "its own warp has acquired nothing";
  EXPECT_TRUE(order.knows_lanes_apart(1, 0));
  order.acquire(0);
  EXPECT_TRUE(is_ordered(0, before, 1));
}

TEST_F(InABlock, ALanesReleaseTellsOfThoseItHasMet) {
  const std::uint32_t before = now(0);
  order.warp_sync(0, 0b011, false);
  order.release(0, 0b10, false);
  order.acquire(1);
  EXPECT_TRUE(is_ordered(0, before, 40)) << "lane 0 met lane 1, which released";
  EXPECT_FALSE(is_ordered(2, before, 40));
  const std::uint32_t later = now(0);
  order.warp_sync(0, ~0u, true);
  order.release(0, 0b1, false);
  order.acquire(1);
  EXPECT_TRUE(is_ordered(2, later, 40)) << "all lanes have met";
}

TEST_F(InABlock, WhatAWarpAccessesAsOneAnyLaneTellsOf) {
  const std::uint32_t before = now(0);
  order.accessed_as_one(0);
  EXPECT_FALSE(is_ordered(1, before, 0)) << "the lanes have not met";
  order.release(0, 0b1, false);
  order.acquire(1);
  EXPECT_TRUE(is_ordered(1, before, 40));
  const std::uint32_t later = now(0);
  order.release(0, 0b1, false);
  order.acquire(1);
  EXPECT_TRUE(is_ordered(0, later, 40));
  EXPECT_FALSE(is_ordered(1, later, 40)) << "what came after that";
}

TEST_F(InABlock, ReleasesOfAllLanesOneByOneAreThatOfTheWarp) {
  const std::uint32_t before = now(0);
  for (std::uint32_t lane = 0; lane < 32; ++lane) order.release(0, 1u << lane, false);
  order.acquire(1);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_TRUE(is_ordered(lane, before, 40)) << lane;
  EXPECT_TRUE(order.knows_lanes_apart(1, 0)) << "what the last did before the first released";
  EXPECT_TRUE(is_ordered(31, before + 31, 40));
  EXPECT_FALSE(is_ordered(0, before + 31, 40));
}

TEST_F(InABlock, WhatALaneTellsIsHandedOn) {
  const std::uint32_t before = now(0);
  order.release(0, 0b1, false);
  order.acquire(1);
  order.arrive(1, 1);
  order.arrive(2, 1);
  order.complete(1, 0b100);
  EXPECT_TRUE(is_ordered(0, before, 70)) << "by a barrier";
  EXPECT_FALSE(is_ordered(1, before, 70));
  order.release(2, 0b1, false);
  order.acquire(3);
  EXPECT_TRUE(is_ordered(0, before, 100)) << "by a release";
  EXPECT_FALSE(is_ordered(1, before, 100));
}

TEST_F(InABlock, AnIntervalForgetsAllOfThis) {
  order.arrive(0, 1);
  order.fence(0, ~0u, true);
  order.release(2, 0b1, false);
  order.warp_sync(1, 0b11, false);
  order.accessed_as_one(3);
  const std::uint32_t epoch = order.epoch();
  order.block_barrier();
  EXPECT_EQ(order.epoch(), epoch + 1);
  for (std::uint32_t w = 0; w < 4; ++w) {
    EXPECT_EQ(order.clock(w), 0u);
    EXPECT_FALSE(order.partly_ordered(w)) << w;
  }
  order.complete(1, 0b10);
  EXPECT_FALSE(is_ordered(0, 0, 40)) << "an arrival from before";
  order.warp_sync(2, 0b11, false);
  EXPECT_FALSE(is_ordered(33, 0, 32)) << "lanes that met before";
  order.fence(1, ~0u, true);
  EXPECT_FALSE(is_ordered(0, 0, 40)) << "a fence from before";
  order.release(3, 0b1, false);
  order.acquire(1);
  EXPECT_FALSE(is_ordered(97, 0, 40)) << "a matrix from before";
}

// A named barrier that is used again has nothing left of its last use.
TEST_F(InABlock, ABarrierBeginsAnew) {
  const std::uint32_t before = now(0);
  order.arrive(0, 3);
  order.arrive(1, 3);
  order.complete(3, 0b11);
  order.arrive(2, 3);
  order.arrive(3, 3);
  order.complete(3, 0b1100);
  EXPECT_FALSE(is_ordered(5, before, 70)) << "warp 0 was there the first time, warp 2 the second";
  EXPECT_TRUE(is_ordered(70, before, 100));
}

TEST_F(InABlock, AClockThatIsCountedOutOrdersEverything) {
  for (std::uint32_t i = 0; i < 2 * BlockOrder::kClockMax; ++i) order.warp_sync(0, ~0u, true);
  EXPECT_EQ(now(0), BlockOrder::kClockMax);
  EXPECT_TRUE(is_ordered(0, now(0), 40)) << "a race may be missed; none is made up";
}

// One block's side.
struct Side {
  explicit Side(std::uint32_t serial) : serial(serial) {
    order.start(0, 2);
    block_clock.start(serial);
    first = order.epoch();
  }
  std::uint32_t serial, first = 0;  // number of its first epoch
  SharedRaces order;
  BlockClock block_clock;
};

class BetweenBlocks : public ::testing::Test {
 protected:
  void SetUp() override { grid.start(); }
  // __threadfence by a warp.
  void fence(Side& s, std::uint32_t warp) {
    s.order.fence(warp, ~0u, true);
    s.block_clock.fence(s.order, warp, ~0u, true, grid);
  }
  void write(Side& s, std::uint64_t address) {
    if (s.block_clock.has_released()) grid.leave(address, s.block_clock);
  }
  // A write by some lanes of a warp that releases.
  void release(Side& s, std::uint32_t warp, std::uint64_t address, std::uint32_t lanes = ~0u) {
    s.order.release(warp, lanes, lanes == ~0u);
    const ReleaseClock done = s.block_clock.done(s.order, warp, lanes, lanes == ~0u);
    grid.leave(address, s.block_clock, &done);
  }
  void read(Side& s, std::uint64_t address, std::uint32_t warp = 0, bool acquires = false) { grid.find(address, s.block_clock, warp, acquires); }
  void barrier(Side& s) {
    s.order.block_barrier();
    s.block_clock.barrier(grid);
  }
  // Whether what `warp` of `reader` does now is ordered after an access that `writer` made at `clock` of its warp, in `epoch` counted from 0.
  bool knows(const Side& reader, std::uint32_t warp, const Side& writer, std::uint32_t epoch, std::uint32_t at_warp, std::uint32_t clock,
             std::uint32_t lane = 0) const {
    return reader.block_clock.happens_before(grid, warp, writer.serial, writer.first + epoch, at_warp, lane, clock);
  }
  bool knows(const Side& reader, const Side& writer) const { return knows(reader, 0, writer, 0, 0, 0); }

  static constexpr std::uint64_t kFlag = 0x1000, kOther = 0x2000;
  GridOrder grid;
  Side a{0}, b{1}, c{2};
};

TEST_F(BetweenBlocks, AFenceAWriteAReadAndAFenceOrder) {
  EXPECT_FALSE(grid.used());
  fence(a, 0);
  write(a, kFlag);
  EXPECT_TRUE(grid.used());
  EXPECT_FALSE(knows(b, a));
  read(b, kFlag);
  EXPECT_FALSE(knows(b, a)) << "no fence after the read yet";
  fence(b, 0);
  EXPECT_TRUE(knows(b, a));
  EXPECT_FALSE(knows(a, b)) << "the other way round nobody has told anything";
}

TEST_F(BetweenBlocks, WithoutTheWritersFenceNothingIsKnown) {
  write(a, kFlag);
  read(b, kFlag);
  fence(b, 0);
  EXPECT_FALSE(knows(b, a));
  EXPECT_FALSE(grid.used());
}

TEST_F(BetweenBlocks, AnotherAddressSaysNothing) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kOther);
  fence(b, 0);
  EXPECT_FALSE(knows(b, a));
}

TEST_F(BetweenBlocks, WhatComesAfterTheFenceIsNotPublished) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, 0));
  EXPECT_FALSE(knows(b, 0, a, 0, 0, a.order.clock(0))) << "the same warp, later";
  EXPECT_FALSE(knows(b, 0, a, 0, 1, 0)) << "another warp of the block, of which the fencing one knows nothing";
  EXPECT_FALSE(knows(b, 0, a, 1, 0, 0)) << "after a barrier";
}

TEST_F(BetweenBlocks, AFenceAfterABarrierPublishesTheWholeBlock) {
  barrier(a);
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  for (std::uint32_t warp = 0; warp < 4; ++warp) EXPECT_TRUE(knows(b, 0, a, 0, warp, 5)) << warp;
  EXPECT_FALSE(knows(b, 0, a, 1, 1, 0));
}

TEST_F(BetweenBlocks, OneWarpsAcquireIsItsOwnUntilABarrier) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 2, true);
  EXPECT_TRUE(knows(b, 2, a, 0, 0, 0));
  EXPECT_FALSE(knows(b, 1, a, 0, 0, 0));
  barrier(b);
  EXPECT_TRUE(knows(b, 1, a, 0, 0, 0));
}

TEST_F(BetweenBlocks, OneWarpsFenceAcquiresForItAlone) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 2);
  fence(b, 2);
  EXPECT_TRUE(knows(b, 2, a, 0, 0, 0));
  for (const std::uint32_t warp : {0u, 1u, 3u, 31u}) EXPECT_FALSE(knows(b, warp, a, 0, 0, 0)) << warp;
}

// A read that finds nothing new is skipped.
TEST_F(BetweenBlocks, AWarpFindsAnewWhatAnothersFenceHasTaken) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 1);
  fence(b, 2);
  read(b, kFlag, 1);
  fence(b, 1);
  EXPECT_TRUE(knows(b, 1, a, 0, 0, 0));
}

TEST_F(BetweenBlocks, AReadAgainFindsWhatWasLeftSince) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  const std::uint32_t clock = a.order.clock(0);
  EXPECT_FALSE(knows(b, 0, a, 0, 0, clock));
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock));
  b.block_clock.start(b.serial);
  EXPECT_FALSE(knows(b, a)) << "another block";
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, a));
}

TEST_F(BetweenBlocks, AReadThatAcquiresFindsAnewWhatARelaxedOneFound) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag);
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, a));
}

TEST_F(BetweenBlocks, ChainsAreFollowed) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  fence(b, 0);
  write(b, kOther);
  read(c, kOther, 0, true);
  EXPECT_TRUE(knows(c, a)) << "told by b";
  EXPECT_TRUE(knows(c, b));
}

TEST_F(BetweenBlocks, ChainsAreFollowedOverABarrier) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  barrier(b);  // what one warp had acquired, all have
  fence(b, 3);
  write(b, kOther);
  read(c, kOther, 0, true);
  EXPECT_TRUE(knows(c, a)) << "told by another warp of b";
}

TEST_F(BetweenBlocks, AReleaseAcquiresNothing) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag);
  release(b, 0, kOther);
  read(c, kOther, 0, true);
  EXPECT_FALSE(knows(b, a)) << "the read was relaxed";
  EXPECT_FALSE(knows(c, a));
  EXPECT_TRUE(knows(c, b));
  fence(b, 0);
  EXPECT_TRUE(knows(b, a)) << "a fence takes up what was read before the release";
}

TEST_F(BetweenBlocks, ALanesReleaseIsItsOwn) {
  const std::uint32_t clock = a.order.clock(0);
  release(a, 0, kFlag, 0b1);
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock, 0));
  EXPECT_FALSE(knows(b, 0, a, 0, 0, clock, 1));
  EXPECT_TRUE(b.block_clock.knows_lanes_apart(grid, 0, a.serial, 0));
  EXPECT_FALSE(b.block_clock.knows_lanes_apart(grid, 0, a.serial, 1)) << "another warp";
  a.order.warp_sync(0, ~0u, true);
  release(a, 0, kFlag, 0b1);
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock, 1)) << "the lanes have met";
}

TEST_F(BetweenBlocks, APlaceKeepsWhatEveryLaneHasReleased) {
  const std::uint32_t clock = a.order.clock(0);
  release(a, 0, kFlag, 0b01);
  release(a, 0, kFlag, 0b10);
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock, 0));
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock, 1));
  EXPECT_FALSE(knows(b, 0, a, 0, 0, clock, 2));
}

TEST_F(BetweenBlocks, OfManyBlocksALanesReleaseIsItsOwn) {
  std::vector<std::unique_ptr<Side>> many;
  for (std::uint32_t i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<Side>(10 + i));
    release(*many.back(), 0, kFlag, 0b1);
  }
  read(b, kFlag, 0, true);
  for (const auto& s : many) {
    EXPECT_TRUE(knows(b, 0, *s, 0, 0, 0, 0)) << s->serial;
    EXPECT_FALSE(knows(b, 0, *s, 0, 0, 0, 1)) << s->serial;
    EXPECT_TRUE(b.block_clock.knows_lanes_apart(grid, 0, s->serial, 0)) << s->serial;
  }
}

TEST_F(BetweenBlocks, AReleaseIsForItsOwnPlace) {
  release(a, 0, kFlag);
  write(a, kOther);
  read(b, kOther, 0, true);
  EXPECT_FALSE(knows(b, a));
  read(b, kFlag, 0, true);
  EXPECT_TRUE(knows(b, a));
}

TEST_F(BetweenBlocks, AFenceInTheBlockPassesOnWhatAnotherWarpHasAcquired) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  EXPECT_FALSE(knows(b, 1, a, 0, 0, 0));
  b.block_clock.pass_on(1);
  EXPECT_TRUE(knows(b, 1, a, 0, 0, 0));
  EXPECT_FALSE(knows(b, 2, a, 0, 0, 0)) << "a warp that has not fenced";
}

TEST_F(BetweenBlocks, OfManyBlocksAllThatWasPublishedCounts) {
  std::vector<std::unique_ptr<Side>> many;
  for (std::uint32_t i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<Side>(10 + i));
    fence(*many.back(), 0);
    write(*many.back(), kFlag);
  }
  read(b, kFlag, 0, true);
  for (const auto& s : many) EXPECT_TRUE(knows(b, *s)) << s->serial;
  EXPECT_FALSE(knows(b, 0, *many[50], 0, 0, many[50]->order.clock(0))) << "and no more than was published";
  EXPECT_FALSE(knows(b, c)) << "a block that has published nothing";
  fence(c, 0);
  write(c, kOther);
  EXPECT_FALSE(knows(b, c)) << "nor one that publishes later";
}

TEST_F(BetweenBlocks, ABlockBeginsWithNothing) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 1, true);
  barrier(b);
  read(b, kFlag, 2, true);
  read(b, kFlag, 3);
  ASSERT_TRUE(knows(b, a));
  b.block_clock.start(9);
  EXPECT_TRUE(b.block_clock.empty());
  EXPECT_FALSE(b.block_clock.has_released());
  for (const std::uint32_t warp : {0u, 1u, 2u, 3u}) EXPECT_FALSE(knows(b, warp, a, 0, 0, 0)) << warp;
  fence(b, 3);
  EXPECT_FALSE(knows(b, 3, a, 0, 0, 0)) << "what was read before";
}

TEST_F(BetweenBlocks, WhatAClustersBarrierTellsOutlivesManyOthers) {
  barrier(a);
  ReleaseClock all;
  all.block = a.serial;
  all.epoch = a.order.epoch();
  b.block_clock.learn(all, a.block_clock, grid);
  std::vector<std::unique_ptr<Side>> many;
  for (std::uint32_t i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<Side>(10 + i));
    fence(*many.back(), 0);
    write(*many.back(), kFlag);
  }
  read(b, kFlag, 0, true);
  barrier(b);
  EXPECT_TRUE(knows(b, a));
}

TEST_F(BetweenBlocks, ABarrierOfTheClusterHandsOnWhatABlockKnew) {
  fence(a, 0);
  write(a, kFlag);
  read(b, kFlag, 0, true);
  barrier(b);
  ReleaseClock all;
  all.block = b.serial;
  all.epoch = b.order.epoch();
  c.block_clock.learn(all, b.block_clock, grid);
  EXPECT_TRUE(knows(c, a));
}

TEST_F(BetweenBlocks, ALaunchBeginsWithNothing) {
  fence(a, 0);
  write(a, kFlag);
  grid.start();
  EXPECT_FALSE(grid.used());
  read(b, kFlag, 0, true);
  EXPECT_FALSE(knows(b, a));
}

}  // namespace order_test
}  // namespace lockstep::check
