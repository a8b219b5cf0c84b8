// Tests what orders the threads of one block and of different blocks, and what does not.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "simulator/check/block_order.h"
#include "simulator/check/grid_order.h"
#include "simulator/check/knowledge.h"
#include "simulator/check/shared_races.h"
#include "simulator/check/story.h"

namespace lockstep::check {
namespace order_test {

// SharedRaces provides the block's order with a barrier of all threads.
class InABlock : public ::testing::Test {
 protected:
  void SetUp() override { order.start(0, 2); }
  bool is_ordered(std::uint32_t other, std::uint32_t at, std::uint32_t thread) const {
    const std::uint32_t lanes = order.ordered_lanes(other / 32, at, thread);
    for (std::uint32_t l = 0; l < 32; ++l)
      EXPECT_EQ(lanes >> l & 1, order.ordered(other / 32 * 32 + l, at, thread)) << "lane " << l;
    return order.ordered(other, at, thread);
  }
  std::uint32_t now(std::uint32_t thread) const { return order.clock(thread / 32); }
  // A release operation by lanes of a warp, and an acquire operation by all lanes, at one place.
  void release(std::uint32_t warp, std::uint32_t lanes) {
    place.add(order.message_of(warp, lanes, lanes == ~0u, Scope::kBlock), order.grid());
    order.end_release(warp);
  }
  void acquire(std::uint32_t warp) { order.acquire(warp, ~0u, true, place, Scope::kBlock); }
  // Strong accesses of one lane of the warp to the place.
  void write(std::uint32_t warp) { order.leave(warp * 32, place); }
  void read(std::uint32_t warp) { order.remember(warp * 32, 1, ++reads, place); }
  void fence(std::uint32_t warp) { order.fence(warp, ~0u, true, Scope::kBlock); }
  SharedRaces order;
  Messages place;
  std::uint64_t reads = 0;
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
  EXPECT_TRUE(is_ordered(0, before, 2)) << "released by lane 1";
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

TEST_F(InABlock, AFenceOrdersByAStrongWriteAfterItThatAStrongReadFinds) {
  const std::uint32_t before = now(0);
  fence(0);
  fence(1);
  EXPECT_FALSE(is_ordered(0, before, 32)) << "nothing has been written and read";
  write(0);
  EXPECT_FALSE(is_ordered(0, before, 32));
  read(1);
  EXPECT_FALSE(is_ordered(0, before, 32)) << "no fence after the read";
  order.fence(1, 1, false, Scope::kBlock);
  EXPECT_TRUE(is_ordered(0, before, 32));
  EXPECT_TRUE(is_ordered(5, before, 32)) << "the lanes fenced in one instruction";
  EXPECT_FALSE(is_ordered(0, before, 33)) << "another lane has read nothing";
  EXPECT_FALSE(is_ordered(0, now(0), 32)) << "what came after the fence";
  EXPECT_FALSE(is_ordered(32, 0, 0)) << "the other way round";
}

TEST_F(InABlock, AWriteWithoutAFenceLeavesNothing) {
  write(0);
  EXPECT_TRUE(place.empty());
  order.fence(0, 0b10, false, Scope::kBlock);
  write(0);
  EXPECT_TRUE(place.empty()) << "another lane's fence";
}

TEST_F(InABlock, AFenceHandsOnWhatItsWarpKnows) {
  const std::uint32_t before = now(0);
  order.arrive(0, 1);
  order.arrive(1, 1);
  order.complete(1, 0b10);
  fence(1);
  write(1);
  read(2);
  fence(2);
  EXPECT_TRUE(is_ordered(5, before, 64))
      << "from warp 0 to warp 1 at a barrier, and on to warp 2 by the flag";
  EXPECT_FALSE(is_ordered(5, before, 100));
}

TEST_F(InABlock, AFenceOfALaneThatMeetsAnotherCoversNoThirdLane) {
  const std::uint32_t before = now(0);
  order.release_fence(0, 0b001, false, Scope::kBlock);
  order.warp_sync(0, 0b011, false);
  order.leave(1, place);
  acquire(1);
  EXPECT_TRUE(is_ordered(0, before, 32)) << "lane 0 fenced, lane 1 wrote";
  EXPECT_FALSE(is_ordered(2, before, 32)) << "lane 2 did neither";
}

TEST_F(InABlock, FencesBeforeABarrierStandBeforeTheWritesAfterIt) {
  const std::uint32_t before = now(0);
  fence(0);
  order.arrive(0, 1);
  order.arrive(1, 1);
  order.complete(1, 0b10);
  write(1);
  EXPECT_FALSE(place.empty());
  acquire(2);
  EXPECT_TRUE(is_ordered(5, before, 64));
}

TEST_F(InABlock, ABarrierIsAFenceForTheReadsBeforeIt) {
  const std::uint32_t before = now(0);
  fence(0);
  write(0);
  read(1);
  order.arrive(1, 1);
  order.arrive(2, 1);
  order.complete(1, 0b110);
  EXPECT_TRUE(is_ordered(5, before, 64));
  EXPECT_TRUE(is_ordered(5, before, 32));
}

TEST_F(InABlock, ABarrierIsNoFenceForTheReadsOfWarpsThatAreNotThere) {
  const std::uint32_t before = now(0);
  fence(0);
  write(0);
  read(3);
  order.arrive(1, 1);
  order.arrive(2, 1);
  order.complete(1, 0b110);
  EXPECT_FALSE(is_ordered(5, before, 64)) << "warp 3 found the write and did not arrive";
}

TEST_F(InABlock, AnAcquireBySomeLanesIsTheirs) {
  const std::uint32_t before = now(0);
  release(0, ~0u);
  order.acquire(1, 0b101, false, place, Scope::kBlock);
  EXPECT_TRUE(is_ordered(5, before, 32));
  EXPECT_FALSE(is_ordered(5, before, 33));
  EXPECT_TRUE(is_ordered(5, before, 34));
}

TEST_F(InABlock, ALanesReleaseHandsOnWhatTheLaneHasAcquired) {
  const std::uint32_t before = now(0);
  release(0, ~0u);
  order.acquire(1, 0b01, false, place, Scope::kBlock);
  const auto passes_on = [&](std::uint32_t lanes, std::uint32_t reader) {
    Messages flag;
    flag.add(order.message_of(1, lanes, false, Scope::kBlock), order.grid());
    order.end_release(1);
    order.acquire(reader, ~0u, true, flag, Scope::kBlock);
    return is_ordered(5, before, reader * 32);
  };
  EXPECT_FALSE(passes_on(0b10, 2)) << "lane 1 has acquired nothing";
  EXPECT_TRUE(passes_on(0b01, 3));
}

TEST_F(InABlock, LanesThatKnowTheSameAreOneWarpAgain) {
  const std::uint32_t before = now(0);
  release(0, ~0u);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_FALSE(is_ordered(5, before, 32 + lane));
    order.acquire(32 + lane, place, Scope::kBlock);
    order.put_together(1, ~0u);
    EXPECT_EQ(order.knows_lanes_apart(1, order.block(), 3), lane != 31) << lane;
    EXPECT_TRUE(is_ordered(5, before, 32 + lane));
  }
}

TEST_F(InABlock, LanesThatMeetShareWhatEachHasAcquired) {
  const std::uint32_t before = now(0);
  release(0, ~0u);
  order.acquire(32, place, Scope::kBlock);
  order.warp_sync(1, 0b11, false);
  EXPECT_TRUE(is_ordered(5, before, 33));
  EXPECT_FALSE(is_ordered(5, before, 34));
  order.warp_sync(1, ~0u, true);
  EXPECT_TRUE(is_ordered(5, before, 34));
}

TEST_F(InABlock, ALanesReleaseIsItsOwn) {
  const std::uint32_t before = now(0);
  release(0, 0b1);
  EXPECT_FALSE(is_ordered(0, before, 40)) << "nobody has acquired";
  acquire(1);
  EXPECT_TRUE(is_ordered(0, before, 40));
  EXPECT_FALSE(is_ordered(1, before, 40)) << "a lane that has not met the one that released";
  EXPECT_FALSE(is_ordered(0, now(0), 40)) << "what it does after that";
  EXPECT_FALSE(is_ordered(0, before, 1)) << "its own warp has acquired nothing";
  EXPECT_TRUE(order.knows_lanes_apart(1, order.block(), 0));
  acquire(0);
  EXPECT_TRUE(is_ordered(0, before, 1));
}

TEST_F(InABlock, ALanesReleaseTellsOfThoseItHasMet) {
  const std::uint32_t before = now(0);
  order.warp_sync(0, 0b011, false);
  release(0, 0b10);
  acquire(1);
  EXPECT_TRUE(is_ordered(0, before, 40)) << "lane 0 met lane 1, which released";
  EXPECT_FALSE(is_ordered(2, before, 40));
  const std::uint32_t later = now(0);
  order.warp_sync(0, ~0u, true);
  release(0, 0b1);
  acquire(1);
  EXPECT_TRUE(is_ordered(2, later, 40)) << "all lanes have met";
}

TEST_F(InABlock, WhatAWarpAccessesAsOneAnyLaneTellsOf) {
  const std::uint32_t before = now(0);
  order.accessed_as_one(0);
  EXPECT_FALSE(is_ordered(1, before, 0)) << "the lanes have not met";
  release(0, 0b1);
  acquire(1);
  EXPECT_TRUE(is_ordered(1, before, 40));
  const std::uint32_t later = now(0);
  release(0, 0b1);
  acquire(1);
  EXPECT_TRUE(is_ordered(0, later, 40));
  EXPECT_FALSE(is_ordered(1, later, 40)) << "what came after that";
}

TEST_F(InABlock, AFenceOfAnyLaneCoversWhatTheWarpAccessedAsOne) {
  const std::uint32_t before = now(0);
  order.accessed_as_one(0);
  order.fence(0, 0b1, false, Scope::kBlock);
  write(0);
  acquire(1);
  EXPECT_TRUE(is_ordered(1, before, 40));
  EXPECT_FALSE(is_ordered(1, now(0), 40)) << "what lane 1 did after that";
}

TEST_F(InABlock, AnArrivalOfAnyLaneCoversWhatTheWarpAccessedAsOne) {
  const std::uint32_t before = now(0);
  order.accessed_as_one(0);
  order.arrive(0, 1, 0b1, false);
  order.arrive(1, 1);
  order.complete(1, 0b10);
  EXPECT_TRUE(is_ordered(1, before, 40));
}

TEST_F(InABlock, ReleasesOfAllLanesOneByOneAreThatOfTheWarp) {
  const std::uint32_t before = now(0);
  for (std::uint32_t lane = 0; lane < 32; ++lane) release(0, 1u << lane);
  acquire(1);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_TRUE(is_ordered(lane, before, 40)) << lane;
  EXPECT_TRUE(order.knows_lanes_apart(1, order.block(), 0))
      << "what the last did before the first released";
  EXPECT_TRUE(is_ordered(31, before + 31, 40));
  EXPECT_FALSE(is_ordered(0, before + 31, 40));
}

TEST_F(InABlock, WhatALaneTellsIsHandedOn) {
  const std::uint32_t before = now(0);
  release(0, 0b1);
  acquire(1);
  order.arrive(1, 1);
  order.arrive(2, 1);
  order.complete(1, 0b100);
  EXPECT_TRUE(is_ordered(0, before, 70)) << "by a barrier";
  EXPECT_FALSE(is_ordered(1, before, 70));
  release(2, 0b1);
  acquire(3);
  EXPECT_TRUE(is_ordered(0, before, 100)) << "by a release";
  EXPECT_FALSE(is_ordered(1, before, 100));
}

TEST_F(InABlock, AnIntervalForgetsAllOfThis) {
  order.arrive(0, 1);
  fence(0);
  release(2, 0b1);
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
  acquire(1);
  EXPECT_FALSE(is_ordered(64, 0, 40)) << "a release from before";
  order.warp_sync(2, 0b11, false);
  EXPECT_FALSE(is_ordered(33, 0, 32)) << "lanes that met before";
  fence(1);
  release(3, 0b1);
  acquire(1);
  EXPECT_FALSE(is_ordered(97, 0, 40)) << "a matrix from before";
}

// A named barrier that is used again keeps nothing of its last use.
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

// The side of one block.
struct Side {
  Side(std::uint32_t serial, GridOrder& grid) : serial(serial) {
    order.start(0, 2, serial, 2, &grid);
    first = order.epoch();
  }
  std::uint32_t serial, first = 0;  // the number of its first epoch
  SharedRaces order;
};

class BetweenBlocks : public ::testing::Test {
 protected:
  BetweenBlocks() { grid.clear(false); }
  // __threadfence by a warp.
  void fence(Side& s, std::uint32_t warp, Scope scope = Scope::kGrid) {
    s.order.fence(warp, ~0u, true, scope);
  }
  // Atomics at a place, by a warp's lane 0.
  void write(Side& s, Messages& place, std::uint32_t warp = 0) { s.order.leave(warp * 32, place); }
  void release(Side& s, std::uint32_t warp, Messages& place, std::uint32_t lanes = ~0u,
               Scope scope = Scope::kGrid) {
    place.add(s.order.message_of(warp, lanes, lanes == ~0u, scope), grid);
    s.order.end_release(warp);
  }
  void read(Side& s, Messages& place, std::uint32_t warp = 0) {
    s.order.remember(warp * 32, reinterpret_cast<std::uint64_t>(&place), ++reads, place);
  }
  void acquire(Side& s, Messages& place, std::uint32_t warp = 0, Scope scope = Scope::kGrid) {
    s.order.acquire(warp, ~0u, true, place, scope);
  }
  // Whether what `thread` of `reader` does now is ordered after an access of `writer` at `clock` of
  // warp `at_warp`, in `epoch` (counted from 0).
  bool knows(const Side& reader, std::uint32_t thread, const Side& writer, std::uint32_t epoch,
             std::uint32_t at_warp, std::uint32_t clock, std::uint32_t lane = 0) const {
    const auto is_ordered = [&](std::uint32_t l) {
      return reader.order.ordered_after_block(thread, writer.serial, writer.first + epoch, at_warp,
                                              l, clock);
    };
    const std::uint32_t lanes = reader.order.lanes_ordered_after_block(
        thread, writer.serial, writer.first + epoch, at_warp, clock);
    for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(lanes >> l & 1, is_ordered(l)) << "lane " << l;
    return is_ordered(lane);
  }
  bool knows(const Side& reader, const Side& writer) const {
    return knows(reader, 0, writer, 0, 0, 0);
  }

  GridOrder grid;
  Messages flag, other;
  std::uint64_t reads = 0;
  Side a{0, grid}, b{1, grid}, c{2, grid};
};

TEST_F(BetweenBlocks, AFenceAWriteAReadAndAFenceOrder) {
  fence(a, 0);
  write(a, flag);
  EXPECT_FALSE(knows(b, a));
  read(b, flag);
  EXPECT_FALSE(knows(b, a)) << "no fence after the read yet";
  fence(b, 0);
  EXPECT_TRUE(knows(b, a));
  EXPECT_FALSE(knows(a, b)) << "the other way round nobody has released anything";
}

TEST_F(BetweenBlocks, ScopesMustIncludeBothThreads) {
  fence(a, 0, Scope::kBlock);
  write(a, flag);
  acquire(b, flag);
  EXPECT_FALSE(knows(b, a)) << "the fence reaches the block alone";
  fence(a, 0, Scope::kCluster);
  write(a, flag);
  acquire(c, flag);
  EXPECT_FALSE(knows(c, a)) << "another cluster";
  acquire(b, flag, 0, Scope::kBlock);
  EXPECT_FALSE(knows(b, a)) << "the acquire reaches the block alone";
  read(b, flag);
  fence(b, 0, Scope::kBlock);
  EXPECT_FALSE(knows(b, a));
  fence(b, 0, Scope::kCluster);
  EXPECT_TRUE(knows(b, a)) << "a wider fence, later";
}

TEST_F(BetweenBlocks, ABarrierIsNoFenceForReadsOfAnotherBlocksOwnRelease) {
  for (const bool wide : {false, true}) {
    SCOPED_TRACE(wide ? "a release to the grid" : "a release to the block alone");
    Side writer{wide ? 3u : 5u, grid}, reader{wide ? 4u : 6u, grid};
    Messages place;
    release(writer, 0, place, ~0u, wide ? Scope::kGrid : Scope::kBlock);
    read(reader, place);
    reader.order.arrive(0, 1);
    reader.order.arrive(1, 1);
    reader.order.complete(1, 0b11);
    EXPECT_EQ(knows(reader, writer), wide);
  }
}

TEST_F(BetweenBlocks, WhatComesAfterTheFenceIsNotReleased) {
  fence(a, 0);
  write(a, flag);
  acquire(b, flag);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, 0));
  EXPECT_FALSE(knows(b, 0, a, 0, 0, a.order.clock(0))) << "the same warp, later";
  EXPECT_FALSE(knows(b, 0, a, 0, 1, 0))
      << "another warp of the block, whose work the fencing warp has not observed";
  EXPECT_FALSE(knows(b, 0, a, 1, 0, 0)) << "after a barrier";
}

TEST_F(BetweenBlocks, AFenceAfterABarrierReleasesTheWholeBlock) {
  a.order.block_barrier();
  fence(a, 0);
  write(a, flag);
  acquire(b, flag);
  for (std::uint32_t warp = 0; warp < 4; ++warp) EXPECT_TRUE(knows(b, 0, a, 0, warp, 5)) << warp;
  EXPECT_FALSE(knows(b, 0, a, 1, 1, 0));
}

TEST_F(BetweenBlocks, AnAcquireIsItsThreadsOwnUntilABarrier) {
  fence(a, 0);
  write(a, flag);
  b.order.acquire(70, flag, Scope::kGrid);
  EXPECT_TRUE(knows(b, 70, a, 0, 0, 0));
  EXPECT_FALSE(knows(b, 71, a, 0, 0, 0)) << "its warp";
  EXPECT_FALSE(knows(b, 32, a, 0, 0, 0));
  EXPECT_TRUE(b.order.block_barrier()) << "the block knows more";
  EXPECT_TRUE(knows(b, 32, a, 0, 0, 0));
  EXPECT_FALSE(b.order.block_barrier()) << "and no more than that";
}

TEST_F(BetweenBlocks, LanesThatMeetShareWhatTheyHaveAcquired) {
  fence(a, 0);
  write(a, flag);
  b.order.acquire(70, flag, Scope::kGrid);
  b.order.warp_sync(2, 0b11000000, false);
  EXPECT_TRUE(knows(b, 71, a, 0, 0, 0)) << "it has met the lane that acquired";
  EXPECT_FALSE(knows(b, 72, a, 0, 0, 0));
  fence(c, 0);
  write(c, other);
  b.order.acquire(73, other, Scope::kGrid);
  b.order.warp_sync(2, 0b1100000000, false);
  EXPECT_TRUE(knows(b, 72, c, 0, 0, 0));
  EXPECT_FALSE(knows(b, 72, a, 0, 0, 0)) << "the lanes that know of a were not there";
}

TEST_F(BetweenBlocks, ABarrierOfTheClusterIsNoFenceForStrongReads) {
  fence(a, 0);
  write(a, flag);
  read(b, flag);
  b.order.block_barrier(false);
  EXPECT_FALSE(knows(b, a));
  b.order.acquire_fence(0, 1, false, Scope::kGrid);
  EXPECT_TRUE(knows(b, a)) << "what was read is not forgotten";
  read(b, flag);
  b.order.block_barrier();
  EXPECT_TRUE(knows(b, 64, a, 0, 0, 0)) << "one of the block is";
}

TEST_F(BetweenBlocks, AnAcquireTakesUpWhatRelaxedReadsOfItsPlaceFound) {
  fence(a, 0);
  write(a, flag);
  read(b, flag);
  b.order.acquire_remembered(0, reinterpret_cast<std::uint64_t>(&other), Scope::kGrid);
  EXPECT_FALSE(knows(b, a)) << "another place";
  b.order.acquire_remembered(0, reinterpret_cast<std::uint64_t>(&flag), Scope::kGrid);
  EXPECT_TRUE(knows(b, a));
}

TEST_F(BetweenBlocks, ChainsAreFollowed) {
  fence(a, 0);
  write(a, flag);
  acquire(b, flag);
  fence(b, 0);
  write(b, other);
  acquire(c, other);
  EXPECT_TRUE(knows(c, a)) << "by way of b";
  EXPECT_TRUE(knows(c, b));
}

TEST_F(BetweenBlocks, ChainsAreFollowedOverABarrier) {
  fence(a, 0);
  write(a, flag);
  acquire(b, flag);
  b.order.block_barrier();
  fence(b, 3);
  write(b, other, 3);
  acquire(c, other);
  EXPECT_TRUE(knows(c, a)) << "by way of another warp of b";
}

TEST_F(BetweenBlocks, AnotherBlockHandsBackWhatAWarpReleased) {
  const std::uint32_t clock = a.order.clock(0);
  release(a, 0, flag);
  acquire(b, flag);
  release(b, 0, other);
  EXPECT_FALSE(a.order.ordered(5, clock, 40));
  a.order.acquire(1, ~0u, true, other, Scope::kGrid);
  EXPECT_TRUE(a.order.ordered(5, clock, 40)) << "to another warp of its block";
  EXPECT_FALSE(a.order.ordered(5, a.order.clock(0), 40));
}

TEST_F(BetweenBlocks, AReleaseAcquiresNothing) {
  fence(a, 0);
  write(a, flag);
  read(b, flag);
  release(b, 0, other);
  acquire(c, other);
  EXPECT_FALSE(knows(b, a)) << "the read was relaxed";
  EXPECT_FALSE(knows(c, a));
  EXPECT_TRUE(knows(c, b));
  fence(b, 0);
  EXPECT_TRUE(knows(b, a)) << "a fence takes up what was read before the release";
}

TEST_F(BetweenBlocks, ALanesReleaseIsItsOwn) {
  const std::uint32_t clock = a.order.clock(0);
  release(a, 0, flag, 0b1);
  acquire(b, flag);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock, 0));
  EXPECT_FALSE(knows(b, 0, a, 0, 0, clock, 1));
  EXPECT_TRUE(b.order.knows_lanes_apart(0, a.serial, 0));
  EXPECT_FALSE(b.order.knows_lanes_apart(0, a.serial, 1)) << "another warp";
  a.order.warp_sync(0, ~0u, true);
  release(a, 0, flag, 0b1);
  acquire(b, flag);
  EXPECT_TRUE(knows(b, 0, a, 0, 0, clock, 1)) << "the lanes have met";
}

TEST_F(BetweenBlocks, OfManyBlocksALanesReleaseIsItsOwn) {
  std::vector<std::unique_ptr<Side>> many;
  for (std::uint32_t i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<Side>(10 + i, grid));
    release(*many.back(), 0, flag, 0b1);
  }
  acquire(b, flag);
  for (const auto& s : many) {
    EXPECT_TRUE(knows(b, 0, *s, 0, 0, 0, 0)) << s->serial;
    EXPECT_FALSE(knows(b, 0, *s, 0, 0, 0, 1)) << s->serial;
    EXPECT_TRUE(b.order.knows_lanes_apart(0, s->serial, 0)) << s->serial;
  }
  EXPECT_FALSE(knows(b, c)) << "a block that has published nothing";
  fence(c, 0);
  EXPECT_FALSE(knows(b, c)) << "nor one that publishes later";
}

TEST_F(BetweenBlocks, ABlockBeginsWithNothing) {
  fence(a, 0);
  write(a, flag);
  acquire(b, flag, 1);
  b.order.block_barrier();
  read(b, flag, 3);
  fence(b, 2);
  ASSERT_TRUE(knows(b, a));
  b.order.start(0, 2, 9, 1, &grid);
  for (const std::uint32_t thread : {0u, 32u, 64u, 96u})
    EXPECT_FALSE(knows(b, thread, a, 0, 0, 0)) << thread;
  EXPECT_FALSE(b.order.has_fenced(64));
  fence(b, 3);
  EXPECT_FALSE(knows(b, 96, a, 0, 0, 0)) << "what was read before";
}

TEST_F(BetweenBlocks, ABarrierOfTheClusterHandsOnWhatABlockKnew) {
  fence(a, 0);
  write(a, flag);
  acquire(b, flag);
  b.order.block_barrier();
  Knowledge all;
  all.own = {b.serial, b.order.epoch(), {}};
  all.others = b.order.known_to_all();
  c.order.learn(all);
  EXPECT_TRUE(knows(c, a));
  EXPECT_TRUE(knows(c, 100, b, 0, 3, 7));
}

TEST_F(BetweenBlocks, ABlockBeginsWithoutWhatABarrierPassedOn) {
  fence(a, 0);
  write(a, flag);
  acquire(b, flag);
  fence(b, 2);
  b.order.block_barrier();
  ASSERT_TRUE(knows(b, a));
  ASSERT_TRUE(b.order.has_fenced(0));
  b.order.start(0, 2, 9, 1, &grid);
  EXPECT_FALSE(b.order.has_fenced(0)) << "a fence before the last block's barrier";
  Messages other;
  fence(c, 0);
  write(c, other);
  acquire(b, other);
  EXPECT_TRUE(knows(b, c));
  EXPECT_FALSE(knows(b, a)) << "it knows of one block now, and not of those before";
}

// The clocks of `block` in `epoch`, set for one warp.
ReleaseClock clock_of(std::uint32_t block, std::uint32_t epoch, std::uint32_t warp,
                      std::uint32_t clock) {
  ThreadClocks clocks;
  clocks.raise(warp, clock);
  return {block, epoch, SharedClocks(std::move(clocks))};
}
std::shared_ptr<const Knowledge> knowledge_of(const ReleaseClock& own) {
  Knowledge k;
  k.own = own;
  return std::make_shared<const Knowledge>(std::move(k));
}

TEST(WhatIsKnown, OfABlockTwoClocksAreJoined) {
  const GridOrder grid;
  VectorClock known;
  known.join(clock_of(1, 3, 0, 5), grid);
  known.join(clock_of(1, 3, 1, 7), grid);
  EXPECT_TRUE(known.happens_before(grid, 1, 3, 0, 0, 4));
  EXPECT_TRUE(known.happens_before(grid, 1, 3, 1, 0, 6));
  EXPECT_FALSE(known.happens_before(grid, 1, 3, 1, 0, 7)) << "at that clock";
  EXPECT_TRUE(known.happens_before(grid, 1, 2, 9, 0, 9)) << "an earlier epoch";
  EXPECT_FALSE(known.happens_before(grid, 1, 4, 0, 0, 0)) << "a later epoch";
  EXPECT_FALSE(known.happens_before(grid, 2, 3, 0, 0, 0)) << "another block";
}

TEST(WhatIsKnown, JoinedKnowledgeHasWhatEitherKnewOfOthers) {
  const GridOrder grid;
  Knowledge mine, theirs;
  mine.own = clock_of(1, 1, 0, 1);
  theirs.own = clock_of(2, 1, 0, 1);
  theirs.others.join(clock_of(3, 1, 0, 1), grid);
  mine.join(theirs, grid);
  EXPECT_TRUE(mine.others.happens_before(grid, 2, 1, 0, 0, 0));
  EXPECT_TRUE(mine.others.happens_before(grid, 3, 1, 0, 0, 0));
}

TEST(WhatIsKnown, OfAWarpWhoseLanesDifferEachLaneIsJoined) {
  ThreadClocks mine, theirs;
  mine.raise(0, 0b01, 5);
  theirs.raise(0, 0b10, 5);
  mine.join(theirs);
  EXPECT_TRUE(mine.cover(0, 0, 4));
  EXPECT_TRUE(mine.cover(0, 1, 4));
  EXPECT_FALSE(mine.cover(0, 2, 4));
}

TEST(WhatIsKnown, ListsOfBlocksAreJoinedBlockByBlock) {
  const GridOrder grid;
  VectorClock mine, theirs;
  mine.join(clock_of(1, 1, 0, 2), grid);
  mine.join(clock_of(2, 1, 0, 2), grid);
  theirs.join(clock_of(2, 1, 0, 9), grid);
  theirs.join(clock_of(3, 1, 0, 4), grid);
  mine.join(theirs, grid);
  EXPECT_FALSE(mine.happens_before(grid, 1, 1, 0, 0, 8)) << "that is of block 2";
  EXPECT_TRUE(mine.happens_before(grid, 2, 1, 0, 0, 8));
  EXPECT_FALSE(mine.happens_before(grid, 2, 1, 0, 0, 9));
  EXPECT_TRUE(mine.happens_before(grid, 3, 1, 0, 0, 3));
}

TEST(WhatIsKnown, OfListsWithTheSameBlocksTheLaterClocksCount) {
  const GridOrder grid;
  VectorClock mine, theirs;
  for (std::uint32_t block = 1; block <= 2; ++block) {
    mine.join(clock_of(block, 1, 0, block == 1 ? 2 : 9), grid);
    theirs.join(clock_of(block, 1, 0, block == 1 ? 9 : 2), grid);
  }
  mine.join(theirs, grid);
  EXPECT_TRUE(mine.happens_before(grid, 1, 1, 0, 0, 8)) << "theirs is later";
  EXPECT_TRUE(mine.happens_before(grid, 2, 1, 0, 0, 8)) << "mine is later";
}

TEST(WhatIsKnown, ALocationJoinsEveryMessageOfABlock) {
  const GridOrder grid;
  Messages at;
  const auto second = knowledge_of(clock_of(1, 1, 1, 7));
  at.add({1, Scope::kGrid, knowledge_of(clock_of(1, 1, 0, 5))}, grid);
  at.add({1, Scope::kGrid, second}, grid);
  at.add({1, Scope::kGrid, second}, grid);
  at.add({1, Scope::kGrid, knowledge_of(clock_of(1, 1, 2, 3))}, grid);
  const ReleaseClock& own = (*at.begin()).what->own;
  EXPECT_TRUE(own.happens_before(1, 0, 0, 4));
  EXPECT_TRUE(own.happens_before(1, 1, 0, 6));
  EXPECT_TRUE(own.happens_before(1, 2, 0, 2)) << "after two that are the same";
}

TEST(WhatIsKnown, ALocationHasTheMessagesOfManyBlocks) {
  const GridOrder grid;
  Messages at;
  constexpr std::uint32_t kBlocks = 30;
  for (std::uint32_t b = 0; b < kBlocks; ++b)
    at.add({b, Scope::kGrid, knowledge_of(clock_of(b, 1, 0, 1))}, grid);
  Knowledge all;
  all.own.block = 100;
  for (const Message& m : at) all.join(*m.what, grid);
  for (std::uint32_t b = 0; b < kBlocks; ++b)
    EXPECT_TRUE(all.others.happens_before(grid, b, 1, 0, 0, 0)) << b;
}

TEST(WhatIsKnown, ABlockMayPublishAgainInOneLaunch) {
  GridOrder grid;
  grid.publish(clock_of(1, 1, 0, 5));
  grid.publish(clock_of(1, 1, 1, 5));
  EXPECT_TRUE(grid.released_by(grid.now(), 1, 1, 0, 0, 4));
  EXPECT_TRUE(grid.released_by(grid.now(), 1, 1, 1, 0, 4));
  grid.clear(false);
  grid.publish(clock_of(2, 1, 0, 5));
  EXPECT_FALSE(grid.released_by(~std::uint64_t{0}, 1, 1, 0, 0, 4)) << "of the launch before";
}

// Launches of two blocks each: launch 0 in lane 0; launches 1 and 2 after it, in lanes 1 and 2;
// launch 3 after launch 1 only.
TEST(WhatIsKnown, ALaterLaunchHadReleasedByATime) {
  GridOrder grid;
  std::uint32_t record = 1;
  const auto begin = [&](std::uint32_t lane, std::uint32_t sequence,
                         std::vector<std::uint32_t> before) {
    LaunchOrder::Place place;
    place.lane = lane;
    place.sequence = sequence;
    place.before = before;
    place.several_lanes = true;
    grid.launches().begin(place, 2, 1, record++);
  };
  begin(0, 1, {});
  begin(1, 1, {1});
  begin(2, 1, {1});
  begin(1, 2, {1, 1});
  const auto later = [&](std::uint64_t until, std::uint32_t block) {
    return grid.later_launch_released_by(until, block);
  };
  constexpr std::uint64_t kEver = 1000;
  EXPECT_FALSE(later(kEver, 0)) << "nobody has released";
  grid.publish(clock_of(0, 1, 0, 1));
  EXPECT_FALSE(later(kEver, 1)) << "its own launch alone";
  grid.publish(clock_of(5, 1, 0, 1));  // of launch 2, at the time 2
  EXPECT_FALSE(later(1, 0)) << "later than that";
  EXPECT_TRUE(later(2, 1));
  EXPECT_FALSE(later(kEver, 3)) << "launch 1 is not before launch 2";
  grid.publish(clock_of(7, 1, 0, 1));  // of launch 3, at the time 3
  EXPECT_FALSE(later(2, 3));
  EXPECT_TRUE(later(3, 2));
  EXPECT_FALSE(later(kEver, 4)) << "launch 2 is before no other";
  EXPECT_TRUE(grid.launch_after_released_by(3, 1, 1)) << "launch 3 comes after launch 1";
  EXPECT_FALSE(grid.launch_after_released_by(2, 1, 1));
  EXPECT_FALSE(grid.launch_after_released_by(kEver, 2, 1));
  grid.launches().forget(1);
  grid.clear(false);
  begin(0, 1, {});
  begin(1, 1, {1});
  EXPECT_FALSE(later(kEver, 0)) << "of launches that have been forgotten";
  grid.publish(clock_of(2, 1, 0, 1));
  EXPECT_TRUE(later(1, 0)) << "times begin anew";
}

TEST(WhatIsKnown, AScopeReachesTheThreadsThatItNames) {
  EXPECT_TRUE(reaches(Scope::kBlock, 3, 3, 1));
  EXPECT_FALSE(reaches(Scope::kBlock, 2, 3, 2));
  EXPECT_TRUE(reaches(Scope::kCluster, 2, 3, 2));
  EXPECT_FALSE(reaches(Scope::kCluster, 1, 2, 2)) << "another cluster";
  EXPECT_FALSE(reaches(Scope::kCluster, 2, 3, 1)) << "no clusters";
  EXPECT_TRUE(reaches(Scope::kGrid, 0, 9, 2));
}

TEST(AStory, BeginsAnewForAnotherLocation) {
  Story story;
  story.reset();
  Story::Entry write;
  write.write = true;
  story.add(write);
  ASSERT_NE(story.last_write(), nullptr);
  story.reset();
  EXPECT_EQ(story.last_write(), nullptr);
}

// Block 0 releases at a location, block 1 writes there, block 2 acquires.
bool hands_on(bool strong, bool updates) {
  GridOrder grid;
  SharedRaces order[3];
  for (std::uint32_t b = 0; b < 3; ++b) order[b].start(0, 2, b, 1, &grid);
  Story story;
  story.reset();
  Story::Entry other;
  story.access({.order = &order[0], .block = 0, .strong = true, .write = true, .releases = true}, 0,
               1, true, other);
  order[0].end_release(0);
  story.access(
      {.order = &order[1], .block = 1, .strong = strong, .write = true, .updates = updates}, 0, 1,
      true, other);
  story.access({.order = &order[2], .block = 2, .strong = true, .acquires = true}, 0, 1, true,
               other);
  return order[2].ordered_after_block(0, 0, order[0].epoch(), 0, 0, 0);
}

TEST(AStory, OnlyAnAtomicContinuesTheChainOfARelease) {
  EXPECT_TRUE(hands_on(true, true)) << "an atomic";
  EXPECT_FALSE(hands_on(true, false)) << "a strong store";
  EXPECT_FALSE(hands_on(false, false)) << "a weak store";
}

// Block 0 releases with .gpu scope. Block 1 reads the location with `scope`, then executes
// fence.acq_rel.gpu. A read whose scope excludes the writer's block is not morally strong with the
// write, so it observes nothing (8.7, 8.9.2).
bool a_fence_acquires_after_a_read_of(Scope scope) {
  GridOrder grid;
  SharedRaces order[2];
  for (std::uint32_t b = 0; b < 2; ++b) order[b].start(0, 2, b, 1, &grid);
  Story story;
  story.reset();
  Story::Entry other;
  story.access({.order = &order[0], .block = 0, .strong = true, .write = true, .releases = true}, 0,
               1, true, other);
  order[0].end_release(0);
  story.access({.order = &order[1], .block = 1, .strong = true, .scope = scope}, 0, 1, true, other);
  order[1].fence(0, 1, false, Scope::kGrid);
  return order[1].ordered_after_block(0, 0, order[0].epoch(), 0, 0, 0);
}

TEST(AStory, AReadObservesNoWriteOfABlockOutsideItsScope) {
  EXPECT_TRUE(a_fence_acquires_after_a_read_of(Scope::kGrid));
  EXPECT_FALSE(a_fence_acquires_after_a_read_of(Scope::kBlock));
}

// A write before an atomic of the same thread belongs to the atomic's chain, even a weak write.
// Another thread that observes the end of the chain is ordered after all of it in what it does next
// (8.9.2, 8.9.6).
TEST(AStory, AnAtomicContinuesTheChainOfAWeakWriteOfItsOwnThread) {
  SharedRaces order;
  order.start(0, 2);
  Story story;
  story.reset();
  Story::Entry other;
  story.access({.order = &order, .write = true}, 0, 1, true, other);
  story.access({.order = &order, .strong = true, .write = true, .updates = true, .observes = true},
               0, 1, true, other);
  EXPECT_TRUE(story.access({.order = &order, .strong = true}, 1, 1, true, other))
      << "nothing orders the read itself after the weak write";
  EXPECT_FALSE(other.strong);
  EXPECT_FALSE(story.access({.order = &order}, 1, 1, true, other)) << "it has observed the chain";
}

// Two strong accesses of one thread are morally strong if they overlap completely (8.7). A thread
// that observes its atomic has not observed its earlier write of another size.
TEST(AStory, AnAtomicContinuesNoChainOfItsOwnThreadInAnotherSize) {
  for (const bool another : {false, true}) {
    SharedRaces order;
    order.start(0, 2);
    Story story;
    story.reset();
    Story::Entry other;
    check::Side write{.order = &order, .pc = 1, .strong = true, .write = true};
    check::Side update{.order = &order, .pc = 2, .strong = true, .write = true, .updates = true};
    if (another) write.size = 2;
    story.access(write, 0, 1, true, other);
    story.access(update, 0, 1, true, other);
    EXPECT_FALSE(story.access({.order = &order, .strong = true}, 1, 1, true, other));
    EXPECT_EQ(story.access({.order = &order}, 1, 1, true, other), another);
    EXPECT_EQ(other.pc, another ? 1u : 0u);
  }
}

// Lanes arrive one by one (bar.arrive). What a lane does between its arrival and that of another
// lane of its warp is not ordered before the threads that wait.
TEST(WhatIsKnown, AnArrivalTakesUpTheStrongReadsAndFencesOfItsLanesAlone) {
  for (const bool arrives : {false, true}) {
    GridOrder grid;
    SharedRaces order;
    order.start(0, 2, 0, 1, &grid);
    const std::uint32_t lanes = arrives ? 0b11 : 0b01;
    Messages found;
    found.add(order.message_of(2, 1, false, Scope::kGrid), order.grid());
    order.end_release(2);
    order.remember(32 + 1, 1, 1, found);
    order.release_fence(1, 0b10, false, Scope::kGrid);
    order.arrive(1, 3, lanes, false);
    order.complete(3, 1);
    EXPECT_EQ(order.ordered(2 * 32, 0, 0), arrives) << "what the strong read has found";
    EXPECT_EQ(order.has_fenced(0), arrives);
  }
}

// An acquire operation acquires what strong reads of its location have found (8.8). A location of
// another size is another location.
TEST(AStory, AnAcquireAcquiresWhatReadsOfItsSizeHaveFound) {
  for (const bool another : {false, true}) {
    GridOrder grid;
    SharedRaces order[3];
    for (std::uint32_t b = 0; b < 3; ++b) order[b].start(0, 2, b, 1, &grid);
    Story story;
    story.reset();
    Story::Entry other;
    const auto access = [&](check::Side side) { story.access(side, 0, 1, true, other); };
    access({.order = &order[0], .strong = true, .write = true, .releases = true});
    order[0].end_release(0);
    access({.order = &order[1], .block = 1, .pc = 1, .strong = true});
    access({.order = &order[2], .block = 2, .strong = true, .write = true});
    check::Side acquire{.order = &order[1], .block = 1, .pc = 2, .strong = true, .acquires = true};
    if (another) acquire.size = 8;
    access(acquire);
    EXPECT_EQ(order[1].ordered_after_block(0, 0, order[0].epoch(), 0, 0, 0), !another);
  }
}

// Threads of blocks that access one location.
struct Location {
  static constexpr std::uint32_t kBlocks = 60;
  explicit Location() : order(kBlocks) {
    grid.launches().begin({}, kBlocks, 1, 1);
    for (std::uint32_t b = 0; b < kBlocks; ++b) order[b].start(0, 2, b, 1, &grid);
    story.reset();
  }
  // By a thread of the block; the side's block is filled in.
  bool access(std::uint32_t block, check::Side side) {
    side.order = &order[block];
    side.block = block;
    return story.access(side, 0, 1, true, other);
  }
  std::size_t count(bool writes) const {
    std::size_t n = 0;
    story.for_each([&](const Story::Entry& e) { n += e.write == writes; });
    return n;
  }

  GridOrder grid;
  std::vector<SharedRaces> order;
  Story story;
  Story::Entry other;
};

TEST(AStory, ReadsByOperationsInTurnAreOneAndAreComparedEach) {
  Location at;
  at.access(0, {.pc = 1, .strong = true, .write = true, .updates = true, .observes = true});
  for (std::uint32_t i = 0; i < 20; ++i)
    EXPECT_FALSE(at.access(1, {.pc = 2 + i % 4, .strong = true})) << "both are strong";
  EXPECT_EQ(at.count(false), 1u);
  at.story.for_each([](const Story::Entry& e) { EXPECT_EQ(e.pc, e.write ? 1 : 5) << "the last"; });
  EXPECT_TRUE(at.access(2, {.pc = 9, .write = true}));
  EXPECT_TRUE(at.access(1, {.pc = 2, .strong = true})) << "with the weak write";
  EXPECT_TRUE(at.access(1, {.pc = 3, .strong = true})) << "by another operation";
  EXPECT_FALSE(at.access(1, {.pc = 3, .strong = true})) << "it is reported";
}

TEST(AStory, AReadByAnotherOperationAcquiresWhatTheFirstHasNot) {
  Location at;
  at.access(0, {.pc = 1, .strong = true, .write = true, .releases = true});
  at.order[0].end_release(0);
  at.access(1, {.pc = 2, .strong = true});
  const auto knows = [&] {
    return at.order[1].ordered_after_block(0, 0, at.order[0].epoch(), 0, 0, 0);
  };
  EXPECT_FALSE(knows());
  at.access(1, {.pc = 3, .strong = true, .acquires = true});
  EXPECT_TRUE(knows());
}

// Reads of many threads stay: nothing can be reported against a write that many have observed.
TEST(AStory, WritesThatManyHaveObservedMakeRoom) {
  constexpr std::uint32_t kWriters = 15, kReaders = 35;
  Location at;
  for (std::uint32_t b = 0; b < kWriters; ++b)
    at.access(b, {.pc = 1, .strong = true, .write = true, .updates = true});
  for (std::uint32_t b = kWriters; b < kWriters + kReaders; ++b)
    EXPECT_FALSE(at.access(b, {.pc = 2, .strong = true}));
  EXPECT_EQ(at.count(false), kReaders);
  EXPECT_EQ(at.count(true), 5u);
  // The last write stays, if the reads of still more threads do not.
  for (std::uint32_t b = kWriters + kReaders; b < Location::kBlocks; ++b)
    EXPECT_FALSE(at.access(b, {.pc = 2, .strong = true}));
  EXPECT_EQ(at.count(true), 1u);
  EXPECT_EQ(at.count(false), 39u);
}

TEST(AStory, WritesThatNobodyHasObservedStayBesideReads) {
  Location at;
  for (std::uint32_t b = 0; b < 20; ++b)
    at.access(b, {.pc = 1, .strong = true, .write = true, .updates = true});
  for (std::uint32_t b = 20; b < Location::kBlocks; ++b) at.access(b, {.pc = 2});
  EXPECT_GE(at.count(true), 15u);
}

}  // namespace order_test
}  // namespace lockstep::check
