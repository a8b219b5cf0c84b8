// Tests what orders two accesses to shared memory, and what does not.
#include "simulator/check/shared_races.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::check {
namespace shared_races_test {

// One thread's access. A strong write is an atomic whose result is unused.
bool access(SharedRaces& races, std::uint32_t at, std::uint32_t size, std::uint32_t thread,
            std::uint32_t pc, bool write, bool strong, SharedRaces::Conflict& conflict) {
  return races.access(at, size, thread % 32, races.side(thread / 32, pc, write, strong), conflict);
}

class SharedRaceSearch : public ::testing::Test {
 protected:
  void SetUp() override { races.start(4096, 2); }
  bool read(std::uint32_t thread, std::uint32_t at = 0, bool strong = false) {
    return access(races, at, 4, thread, 1, false, strong, conflict);
  }
  bool write(std::uint32_t thread, std::uint32_t at = 0, bool strong = false) {
    return access(races, at, 4, thread, 2, true, strong, conflict);
  }
  // A release operation by lanes of a warp, and an acquire operation by another warp that reads it.
  void hand_on(std::uint32_t from, std::uint32_t lanes, std::uint32_t to) {
    Messages place;
    place.add(races.message_of(from, lanes, false, Scope::kBlock), races.grid());
    races.end_release(from);
    races.acquire(to, ~0u, true, place, Scope::kBlock);
  }
  SharedRaces races;
  SharedRaces::Conflict conflict;
};

TEST_F(SharedRaceSearch, AThreadNeverRacesWithItself) {
  EXPECT_FALSE(write(3));
  EXPECT_FALSE(read(3));
  EXPECT_FALSE(write(3));
}
TEST_F(SharedRaceSearch, WriteThenReadOfAnotherThread) {
  EXPECT_FALSE(write(3));
  EXPECT_TRUE(read(40));
  EXPECT_EQ(conflict.other_thread, 3u);
  EXPECT_EQ(conflict.other_pc, 2u);
  EXPECT_TRUE(conflict.other_is_write);
}
TEST_F(SharedRaceSearch, ReadsDoNotRace) {
  EXPECT_FALSE(read(3));
  EXPECT_FALSE(read(4));
  EXPECT_FALSE(read(70));
}
TEST_F(SharedRaceSearch, AWriteAfterManyReadersFindsOneThatIsNotTheWriter) {
  for (const std::uint32_t t : {0u, 1u, 2u, 64u}) EXPECT_FALSE(read(t));
  EXPECT_TRUE(write(64));
  EXPECT_FALSE(conflict.other_is_write);
  EXPECT_EQ(conflict.other_thread, 2u);
}
TEST_F(SharedRaceSearch, AWriterThatReadLastFindsTheLaneThatReadBesideIt) {
  EXPECT_FALSE(access(races, 0, 4, 5, 7, false, false, conflict));
  EXPECT_FALSE(access(races, 0, 4, 6, 8, false, false, conflict));
  EXPECT_TRUE(write(6));
  EXPECT_EQ(conflict.other_thread, 5u);
  EXPECT_EQ(conflict.other_pc, 7u) << "and where it read";
}
TEST_F(SharedRaceSearch, AWriterFindsWhoIsNotOrderedAmongTheReaders) {
  EXPECT_FALSE(read(70));
  EXPECT_FALSE(read(3));
  races.warp_sync(0, ~0u, true);
  EXPECT_TRUE(write(4)) << "after the readers of its warp, but not after the other warp's";
  EXPECT_EQ(conflict.other_thread, 70u);
}
TEST_F(SharedRaceSearch, TheReaderOfARowThatAnotherRowCoversIsStillKnown) {
  EXPECT_TRUE(races.read_row(0, 0, 32, 1, 5, false));
  EXPECT_TRUE(races.read_row(0, 0, 32, 0, 6, false));
  EXPECT_TRUE(write(3, 12));
  EXPECT_EQ(conflict.other_thread, 35u);
  EXPECT_EQ(conflict.other_pc, 5u);
  races.block_barrier();
  EXPECT_TRUE(races.read_row(1, 0, 31, 0, 7, false));
  EXPECT_TRUE(races.read_row(0, 0, 32, 0, 8, false));
  EXPECT_TRUE(write(3, 12));
  EXPECT_EQ(conflict.other_thread, 2u);
  EXPECT_EQ(conflict.other_pc, 7u);
}

// Warps are ordered in this epoch, so two warps that have read are not enough.
TEST_F(SharedRaceSearch, ARowOfAnotherWarpIsKnownBesideOneWhoseLanesMeet) {
  for (const bool before : {false, true}) {
    races.block_barrier();
    for (const std::uint32_t warp : {2, 3}) races.arrive(warp, 1);
    races.complete(1, 0b1100);
    if (before) {
      EXPECT_TRUE(races.read_row(0, 0, 32, 0, 7, false));
    }
    EXPECT_TRUE(races.read_row(1, 0, 31, 1, 5, false));
    EXPECT_TRUE(races.read_row(0, 0, 32, 1, 6, false));
    if (!before) {
      EXPECT_TRUE(races.read_row(0, 0, 32, 0, 7, false));
    }
    races.warp_sync(1, ~0u, true);
    EXPECT_TRUE(write(40, 4 * 12));
    EXPECT_EQ(conflict.other_thread, 12u);
    EXPECT_EQ(conflict.other_pc, 7u);
  }
}
// Another warp reads what two lanes have read. This may change which of them are recorded, so their
// warp's rows are examined again.
TEST_F(SharedRaceSearch, ARowIsReadAgainAfterAnotherWarpsReading) {
  for (const bool four : {false, true}) {
    races.block_barrier();
    for (const std::uint32_t warp : {2, 3}) races.arrive(warp, 1);
    races.complete(1, 0b1100);
    EXPECT_TRUE(races.read_row(1, 0, 31, 0, 5, false));
    EXPECT_TRUE(races.read_row(0, 0, 32, 0, 6, false));
    if (four) {
      EXPECT_TRUE(races.read_row(8, 0, 8, 0, 6, false))
          << "the words of the four that are read at once must be alike, but for their lanes";
      EXPECT_FALSE(access(races, 4 * 12, 16, 40, 8, false, false, conflict));
    } else {
      EXPECT_FALSE(read(40, 4 * 12));
    }
    EXPECT_TRUE(races.read_row(2, 0, 30, 0, 7, false));
    hand_on(1, ~0u, 0);
    EXPECT_TRUE(write(12, 4 * 12)) << "lane 10 has read it, too";
    EXPECT_EQ(conflict.other_thread, 10u);
    EXPECT_EQ(conflict.other_pc, 7u);
  }
}

TEST_F(SharedRaceSearch, ARowEndsWhereItEnds) {
  EXPECT_FALSE(write(70, 4 * 10));
  EXPECT_TRUE(races.read_row(0, 0, 10, 0, 5, false));
  EXPECT_FALSE(races.read_row(0, 0, 11, 0, 5, false))
      << "its last granule has another writer: to be looked at one by one";
}

// Two warps have read a row. A third warp, ordered after both, then reads it. A later race names a
// warp that is not ordered before the writer.
TEST_F(SharedRaceSearch, TheReaderOfARowAfterABarrierOfOthersIsKnown) {
  for (const std::uint32_t warp : {1, 2}) EXPECT_TRUE(races.read_row(0, 0, 32, warp, 5, false));
  for (const std::uint32_t warp : {1, 2, 3}) races.arrive(warp, 1);
  races.complete(1, 0b1110);
  EXPECT_TRUE(races.read_row(0, 0, 32, 0, 6, false));
  EXPECT_TRUE(write(100, 12));
  EXPECT_EQ(conflict.other_thread, 3u);
  EXPECT_EQ(conflict.other_pc, 6u);
}

TEST_F(SharedRaceSearch, WhoWroteLastIsKnownWhateverHasOrderedItSince) {
  EXPECT_FALSE(write(77, 8));
  for (int i = 0; i < 1000; ++i) races.block_barrier();
  EXPECT_EQ(races.last_write(8).other_thread, 77u);
  EXPECT_EQ(races.last_write(8).other_pc, 2u);
}
TEST_F(SharedRaceSearch, ABlockBarrierOrdersEverything) {
  EXPECT_FALSE(write(3));
  races.block_barrier();
  EXPECT_FALSE(read(40));
  races.block_barrier();
  EXPECT_FALSE(write(99));
}
TEST_F(SharedRaceSearch, IntervalsMayBeCountedPastTheirField) {
  for (int i = 0; i < 70000; ++i) {
    ASSERT_FALSE(write(static_cast<std::uint32_t>(i % 128)));
    races.block_barrier();
  }
  EXPECT_FALSE(write(1));
  EXPECT_TRUE(read(2));
}
// Numbers of barriers around one and two cycles of the epoch counter.
TEST_F(SharedRaceSearch, WhoReadManyBarriersAgoIsForgotten) {
  for (int barriers = 120; barriers <= 260; ++barriers) {
    EXPECT_FALSE(read(3));
    for (int i = 0; i < barriers; ++i) races.block_barrier();
    EXPECT_FALSE(write(40)) << barriers;
    races.block_barrier();
  }
}
TEST_F(SharedRaceSearch, AWarpBarrierOrdersItsWarpOnly) {
  EXPECT_FALSE(write(3));
  races.warp_sync(0, ~0u, true);
  EXPECT_FALSE(read(4));
  EXPECT_TRUE(read(40));
}
TEST_F(SharedRaceSearch, APartialWarpBarrierOrdersItsLanesAndWhatTheyKnow) {
  EXPECT_FALSE(write(0, 0));
  races.warp_sync(0, 0b0011, false);  // 0 and 1
  races.warp_sync(0, 0b0110, false);  // 1 and 2: 2 learns of 0 through 1
  EXPECT_FALSE(read(2, 0));
  EXPECT_FALSE(write(1, 4));
  EXPECT_TRUE(read(3, 4));
  EXPECT_TRUE(read(0, 4));  // it has not synchronised since that write
}
TEST_F(SharedRaceSearch, ABarrierOfSomeWarpsOrdersThem) {
  EXPECT_FALSE(write(0));
  races.arrive(0, 1);
  races.arrive(1, 1);
  races.complete(1, 0b11);
  EXPECT_FALSE(read(40));  // warp 1 has synchronised
  EXPECT_TRUE(read(70));   // warp 2 has not
}
TEST_F(SharedRaceSearch, WhoOnlyArrivesLearnsNothing) {
  EXPECT_FALSE(write(0, 0));
  EXPECT_FALSE(write(40, 4));
  races.arrive(0, 1);  // producer
  races.arrive(1, 1);  // consumer
  races.complete(1, 0b10);
  EXPECT_FALSE(read(40, 0));
  EXPECT_TRUE(read(0, 4));
}
TEST_F(SharedRaceSearch, StrongAccessesDoNotRaceWithEachOtherButWithWeakOnes) {
  EXPECT_FALSE(write(0, 0, true));
  EXPECT_FALSE(write(40, 0, true));
  EXPECT_FALSE(read(70, 0, true));
  EXPECT_TRUE(read(71, 0, false));
}
TEST_F(SharedRaceSearch, AWeakWriteIsNotHiddenByTheSameThreadsAtomic) {
  EXPECT_FALSE(write(0, 0, false));
  EXPECT_FALSE(write(0, 0, true));
  EXPECT_TRUE(write(1, 0, true));
}
TEST_F(SharedRaceSearch, AWeakReadIsNotHiddenByTheSameThreadsAtomic) {
  EXPECT_FALSE(read(0));
  for (const std::uint32_t thread : {0, 1}) EXPECT_EQ(write(thread, 0, true), thread == 1);
  EXPECT_EQ(conflict.other_thread, 0u);
  EXPECT_EQ(conflict.other_pc, 1u);
  races.block_barrier();
  EXPECT_FALSE(read(0));
  EXPECT_FALSE(write(0, 0, true));
  EXPECT_TRUE(write(40, 0, true)) << "of another warp";
}
TEST_F(SharedRaceSearch, AStrongReadIsNotHiddenByAnotherThreadsAtomic) {
  EXPECT_FALSE(read(0, 0, true));
  EXPECT_FALSE(write(40, 0, true));
  EXPECT_TRUE(write(40, 0, false));
  EXPECT_EQ(conflict.other_thread, 0u);
}
TEST_F(SharedRaceSearch, AFlagWithFencesOnBothSidesOrders) {
  EXPECT_FALSE(write(0));
  races.fence(0, ~0u, true, Scope::kBlock);
  races.fence(1, ~0u, true, Scope::kBlock);
  EXPECT_TRUE(read(40, 0)) << "fences alone order nothing";
  EXPECT_FALSE(write(0, 8));
  races.fence(0, ~0u, true, Scope::kBlock);
  EXPECT_FALSE(write(0, 16, true));
  EXPECT_FALSE(read(40, 16, true));
  races.fence(1, ~0u, true, Scope::kBlock);
  EXPECT_FALSE(read(40, 8));
  EXPECT_TRUE(read(41, 8)) << "a thread that has not read the flag";
}
TEST_F(SharedRaceSearch, WhatIsReadAgainAfterAReleaseIsNotReleased) {
  const auto acquired_by_warp_1 = [&] { hand_on(0, 1u << 3, 1); };
  // One after the other, by rows, and with another reader beside it.
  EXPECT_FALSE(read(3));
  acquired_by_warp_1();
  EXPECT_FALSE(read(3));
  EXPECT_TRUE(write(40));
  races.block_barrier();
  EXPECT_TRUE(races.read_row(0, 0, 8, 0, 5, false));
  acquired_by_warp_1();
  EXPECT_TRUE(races.read_row(0, 0, 8, 0, 6, false));
  EXPECT_TRUE(write(40, 12));
  EXPECT_EQ(conflict.other_pc, 6u);
  races.block_barrier();
  EXPECT_FALSE(read(3));
  EXPECT_FALSE(read(70));
  acquired_by_warp_1();
  hand_on(2, 1u << 6, 1);
  EXPECT_FALSE(read(3));
  EXPECT_TRUE(write(40));
  EXPECT_EQ(conflict.other_thread, 3u);
}
// One thread reads, another reads, the first one releases and reads again. The other acquires and
// writes: the last read races with it, however the search is asked about it.
TEST_F(SharedRaceSearch, WhatTheSecondReaderReadsAgainAfterAReleaseIsNotReleased) {
  const auto reads_again = [&](int way, std::uint32_t lane) {
    const std::uint32_t offsets[32] = {};
    switch (way) {
      case 0: return races.read_row(0, lane, 1, 0, 6, false);
      case 1: return races.read_together(0, lane, lane, 0, 6, false);
      case 2: return races.read_lanes(offsets, 1u << lane, 0, 6, false);
      default: return !read(lane);
    }
  };
  for (const std::uint32_t other : {40u, 5u}) {  // of another warp, of the same
    for (const bool first : {true, false}) {
      for (int way = 0; way < 4; ++way) {
        races.block_barrier();
        if (first) read(3);
        read(other);
        if (!first) read(3);
        Messages place;
        place.add(races.message_of(0, 1u << 3, false, Scope::kBlock), races.grid());
        races.end_release(0);
        for (int times = 0; times < 2; ++times) {
          if (!reads_again(way, 3)) read(3);
        }
        races.acquire(other, place, Scope::kBlock);
        EXPECT_TRUE(write(other)) << "reader " << other << ", way " << way;
        EXPECT_EQ(conflict.other_thread, 3u);
      }
    }
  }
}
// Two lanes have read at different clocks: another read by the one that read first counts.
TEST_F(SharedRaceSearch, TwoLanesThatReadAtDifferentClocksAreNotTwoOfThisClock) {
  const std::uint32_t offsets[32] = {};
  for (const bool row : {false, true}) {
    races.block_barrier();
    read(3);
    Messages place;
    place.add(races.message_of(0, 1u << 3, false, Scope::kBlock), races.grid());
    races.end_release(0);
    read(5);
    if (!(row ? races.read_row(0, 3, 1, 0, 6, false)
              : races.read_lanes(offsets, 1u << 3, 0, 6, false)))
      read(3);
    races.acquire(5, place, Scope::kBlock);
    EXPECT_TRUE(write(5)) << row;
    EXPECT_EQ(conflict.other_thread, 3u);
  }
}
TEST_F(SharedRaceSearch, ALaneThatReadBeforeAnotherReleasedStaysKnown) {
  for (const bool row : {false, true}) {
    races.block_barrier();
    EXPECT_FALSE(read(5));
    races.tick(0);
    if (row) {
      EXPECT_FALSE(races.read_row(0, 3, 1, 0, 1, false))
          << "the two have not met: to be looked at one by one";
    }
    EXPECT_FALSE(read(3));
    hand_on(0, 1u << 3, 1);
    EXPECT_TRUE(write(40));
    EXPECT_EQ(conflict.other_thread, 5u);
  }
}
TEST_F(SharedRaceSearch, RowsSayTheSameAsSingleAccesses) {
  EXPECT_TRUE(races.write_row(0, 0, 32, 0, 5, false));
  EXPECT_TRUE(races.read_row(0, 0, 32, 0, 6, false));
  EXPECT_FALSE(races.read_row(1, 0, 32, 0, 7, false));  // lane 0 would read lane 1's word
  EXPECT_FALSE(races.write_row(0, 0, 32, 1, 8, false));
  EXPECT_TRUE(access(races, 0, 4, 33, 9, false, false, conflict));
  EXPECT_EQ(conflict.other_pc, 5u);
  races.block_barrier();
  EXPECT_TRUE(races.read_row(1, 0, 32, 0, 7, false));
  EXPECT_TRUE(races.read_row(0, 0, 32, 1, 7, false));
  EXPECT_FALSE(races.write_row(0, 0, 32, 0, 8, false));  // others have read
  std::uint32_t offsets[32];
  for (std::uint32_t i = 0; i < 32; ++i) offsets[i] = 4 * (i % 8);
  EXPECT_TRUE(races.read_lanes(offsets, ~0u, 2, 9, false));
  races.block_barrier();
  EXPECT_FALSE(write(100));
  EXPECT_FALSE(races.read_lanes(offsets, ~0u, 2, 9, false));
}
// Any mixture of row accesses finds the same races as single accesses. A row that is refused is
// accessed lane by lane, as in the engine.
TEST_F(SharedRaceSearch, ManyLanesAtOnceSayTheSameAsSingleAccesses) {
  SharedRaces single;
  single.start(4096, 2);
  std::uint32_t state = 1, taken = 0, conflicts = 0;
  const auto random = [&](std::uint32_t n) {
    return ((state = state * 1664525u + 1013904223u) >> 8) % n;
  };
  for (int i = 0; i < 40000; ++i) {
    // In the second half, rows of one epoch are read repeatedly before a write.
    const bool mostly_reads = i >= 20000;
    if (random(mostly_reads ? 12 : 4) == 0) {
      races.block_barrier();
      single.block_barrier();
    }
    const std::uint32_t way = mostly_reads && random(8) != 0 ? 0 : random(5), warp = random(3),
                        lane = random(4) * 8 + (random(2) ? random(8) : 0),
                        granule = 4 * random(12);
    const std::uint32_t count = random(2) ? 32 - lane : 1 + random(32 - lane), pc = 10 + way;
    const bool strong = way == 4 || random(4) == 0, write = way == 1 || way == 4,
               together = way == 2;
    std::uint32_t narrow[32];
    std::uint64_t wide[32];
    std::uint32_t lanes = 0;
    for (std::uint32_t l = lane; l < lane + count; ++l) {
      lanes |= 1u << l;
      wide[l] = narrow[l] = 4 * (together               ? granule
                                 : way == 3 || way == 4 ? granule + random(16)
                                                        : granule + l - lane);
    }
    bool took = false;
    switch (way) {
      case 0: took = races.read_row(granule, lane, count, warp, pc, strong); break;
      case 1: took = races.write_row(granule, lane, count, warp, pc, strong); break;
      case 2: took = races.read_together(granule, lane, lane + count - 1, warp, pc, strong); break;
      case 3: took = races.read_lanes(narrow, lanes, warp, pc, strong); break;
      default: took = races.write_lanes_strongly(wide, lanes, races.side(warp, pc, true, true));
    }
    std::uint32_t found = 0, expected = 0;  // the lanes that race
    for (std::uint32_t l = lane; l < lane + count; ++l) {
      if (!took)
        found |=
            std::uint32_t{access(races, narrow[l], 4, warp * 32 + l, pc, write, strong, conflict)}
            << l;
      expected |=
          std::uint32_t{access(single, narrow[l], 4, warp * 32 + l, pc, write, strong, conflict)}
          << l;
    }
    ASSERT_EQ(found, expected) << "step " << i << ", way " << way
                               << (took ? ", at once" : ", lane by lane");
    taken += took;
    conflicts += found != 0;
  }
  EXPECT_GT(taken, 2000u);
  EXPECT_GT(conflicts, 2000u);
}
// Two atomics of one thread, and a strong read by another that observes the second one. It has
// observed the first one if both are of one size (PTX ISA 8.7, 8.9.2).
TEST_F(SharedRaceSearch, AnAtomicHidesNoneOfAnotherSizeOfItsThread) {
  for (const bool observes : {false, true}) {
    for (const std::uint8_t size : {4, 8}) {
      for (const bool at_once : {false, true}) {
        races.start(4096, 2);
        conflict = {};
        Side update = races.side(0, 1, true, true);
        update.observes = observes;
        update.size = size;
        EXPECT_FALSE(races.access(0, size, 3, update, conflict));
        update.pc = 2;
        update.size = 4;
        const std::uint64_t offsets[32] = {};
        const bool taken = at_once && races.write_lanes_strongly(offsets, 1u << 3, update);
        EXPECT_EQ(taken, at_once && size == 4);
        EXPECT_FALSE(!taken && races.access(0, 4, 3, update, conflict));
        EXPECT_FALSE(read(40, 0, true));
        EXPECT_EQ(read(40), size != 4) << "observes " << observes << ", at once " << at_once;
        EXPECT_EQ(conflict.other_pc, size != 4 ? 1u : 0u);
      }
    }
  }
}

// Epochs are counted in seven bits, over all blocks that the object serves.
TEST_F(SharedRaceSearch, AStampOutlastsTheCountOfEpochs) {
  for (int epoch = 0; epoch < 300; ++epoch) {
    write(3, 0);
    read(5, 8);
    races.block_barrier();
    races.block_barrier();
    ASSERT_TRUE(races.stamp_of_write(0).has_value()) << epoch;
    EXPECT_EQ(races.stamp_of_write(0)->epoch, races.epoch() - 2);
    ASSERT_TRUE(races.stamp_of_read(8).has_value()) << epoch;
    EXPECT_FALSE(read(40, 0)) << epoch;
  }
}

TEST_F(SharedRaceSearch, ASizeIsNoPartOfTheProgramCounter) {
  Side update = races.side(0, 7, true, true);
  update.size = 16;
  EXPECT_FALSE(races.access(0, 16, 3, update, conflict));
  EXPECT_FALSE(races.access(0, 16, 4, update, conflict));
  EXPECT_FALSE(races.access(16, 16, 4, update, conflict));
  EXPECT_EQ(races.last_write(8).other_pc, 7u);
  EXPECT_EQ(races.stamp_of_write(8)->pc, 7u);
  EXPECT_TRUE(read(40, 16)) << "of one writer";
  EXPECT_EQ(conflict.other_pc, 7u);
  EXPECT_TRUE(read(3, 8)) << "of two writers";
  EXPECT_EQ(conflict.other_pc, 7u);
}

// A release operation makes a story of the granule.
TEST_F(SharedRaceSearch, AReleaseContinuesTheChainOfItsThreadInASize) {
  for (const std::uint8_t size : {4, 8}) {
    races.start(4096, 2);
    Side update = races.side(0, 1, true, true);
    update.size = size;
    EXPECT_FALSE(races.access(0, 8, 3, update, conflict));
    update.size = 4;
    update.releases = true;
    EXPECT_FALSE(races.access(0, 4, 3, update, conflict));
    EXPECT_FALSE(read(40, 0, true));
    EXPECT_EQ(read(40), size != 4);
  }
}

// Overlapping rows of one warp, as in a stencil, with one access of another kind among them.
// Granules that two lanes are known to have read are not examined again until then. At the end a
// thread writes to each granule.
TEST_F(SharedRaceSearch, RowsThatAreReadAgainSayTheSameAsSingleAccesses) {
  SharedRaces single;
  single.start(4096, 2);
  std::mt19937 engine(7);
  const auto random = [&](std::uint32_t n) { return static_cast<std::uint32_t>(engine() % n); };
  int rows = 0, disturbed = 0, conflicts = 0;
  for (int program = 0; program < 6000; ++program) {
    races.block_barrier();
    single.block_barrier();
    const std::uint32_t warp = random(3), steps = 3 + random(8), disturbance = random(steps),
                        strong = random(4) == 0;
    // One by one: in both searches, or in the second only if `took`. The same lanes must race.
    const auto compare = [&](bool took, const std::uint32_t* at, std::uint32_t lanes,
                             std::uint32_t size, std::uint32_t w, bool write, bool is_strong) {
      std::uint32_t found = 0, expected = 0;
      for (std::uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        if (!took)
          found |=
              std::uint32_t{access(races, at[l], size, w * 32 + l, 3, write, is_strong, conflict)}
              << l;
        expected |=
            std::uint32_t{access(single, at[l], size, w * 32 + l, 3, write, is_strong, conflict)}
            << l;
      }
      conflicts += expected != 0;
      return found == expected;
    };
    for (std::uint32_t step = 0; step < steps; ++step) {
      const bool other = step == disturbance;
      const std::uint32_t way = other ? random(7) : 0,
                          w = other && random(4) != 0 ? random(3) : warp;
      const std::uint32_t lane = random(3) == 0 ? random(8) : 0,
                          count = random(3) == 0 ? 1 + random(32 - lane) : 32 - lane,
                          first = lane + random(9);
      std::uint32_t narrow[32] = {}, lanes = 0;
      std::uint64_t wide[32] = {};
      for (std::uint32_t l = lane; l < lane + count; ++l) {
        lanes |= 1u << l;
        wide[l] = narrow[l] = 4 * (way == 2               ? first
                                   : way == 3 || way == 4 ? random(40)
                                                          : first + l - lane);
      }
      const std::uint32_t of_four = 4 * random(8), thread = w * 32 + lane;
      bool same = false;
      switch (way) {
        case 0:
          same = compare(races.read_row(first, lane, count, w, 3, strong), narrow, lanes, 4, w,
                         false, strong);
          break;
        case 1:
          same = compare(races.write_row(first, lane, count, w, 3, false), narrow, lanes, 4, w,
                         true, false);
          break;
        case 2:
          same = compare(races.read_together(first, lane, lane + count - 1, w, 3, strong), narrow,
                         lanes, 4, w, false, strong);
          break;
        case 3:
          same = compare(races.read_lanes(narrow, lanes, w, 3, strong), narrow, lanes, 4, w, false,
                         strong);
          break;
        case 4:
          same = compare(races.write_lanes_strongly(wide, lanes, races.side(w, 3, true, true)),
                         narrow, lanes, 4, w, true, true);
          break;
        case 5:
          same = compare(false, narrow, 1u << lane, 4, w, random(2) == 0, random(3) == 0);
          break;
        default: {
          const bool write = random(2) == 0;
          const bool took =
              write ? races.write_four(of_four, thread, 3) : races.read_four(of_four, thread, 3);
          bool found = false;
          if (!took) found = access(races, 4 * of_four, 16, thread, 3, write, false, conflict);
          same = found == access(single, 4 * of_four, 16, thread, 3, write, false, conflict);
        }
      }
      ASSERT_TRUE(same) << "program " << program << ", step " << step << ", way " << way;
      rows += way == 0;
      disturbed += way != 0;
    }
    for (std::uint32_t granule = 0; granule < 48; ++granule) {
      const std::uint32_t at[32] = {4 * granule};
      ASSERT_TRUE(compare(false, at, 1, 4, random(3), true, false))
          << "program " << program << ", granule " << granule;
    }
  }
  EXPECT_GT(rows, 30000);
  EXPECT_GT(disturbed, 4000);
  EXPECT_GT(conflicts, 50000);
}

TEST_F(SharedRaceSearch, TheSecondOfTwoStrongWritersIsNamedByItsLastAccess) {
  EXPECT_FALSE(access(races, 0, 4, 0, 1, true, true, conflict));
  EXPECT_FALSE(access(races, 0, 4, 40, 1, true, true, conflict));
  EXPECT_FALSE(access(races, 0, 4, 0, 2, true, true, conflict));
  EXPECT_TRUE(access(races, 0, 4, 40, 9, false, false, conflict));
  EXPECT_EQ(conflict.other_thread, 0u);
  EXPECT_EQ(conflict.other_pc, 2u);
}

// Reductions by many lanes at once record the same writers as reductions one by one: for each
// granule the thread named first, and the thread that races with that thread.
TEST_F(SharedRaceSearch, ReductionsAtOnceLeaveTheWritersThatTheyLeaveOneByOne) {
  std::mt19937 engine(11);
  const auto random = [&](std::uint32_t n) { return static_cast<std::uint32_t>(engine() % n); };
  for (int program = 0; program < 3000; ++program) {
    SharedRaces single;
    single.start(4096, 2);
    races.start(4096, 2);
    constexpr std::uint32_t kGranules = 6;
    bool written[kGranules] = {};
    for (std::uint32_t step = 1 + random(12); step != 0; --step) {
      const std::uint32_t warp = random(2), pc = random(3), lanes = engine();
      if (random(4) == 0) {
        for (SharedRaces* s : {&races, &single}) s->tick(warp);
      }
      std::uint64_t offsets[32];
      for (std::uint64_t& offset : offsets) offset = 4 * random(kGranules);
      ASSERT_TRUE(races.write_lanes_strongly(offsets, lanes, races.side(warp, pc, true, true)));
      for (std::uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        written[offsets[l] / 4] = true;
        ASSERT_FALSE(access(single, static_cast<std::uint32_t>(offsets[l]), 4, warp * 32 + l, pc,
                            true, true, conflict));
      }
    }
    for (std::uint32_t g = 0; g < kGranules; ++g) {
      if (!written[g]) continue;
      const auto a = races.last_write(4 * g), b = single.last_write(4 * g);
      ASSERT_EQ(a.other_thread, b.other_thread) << "program " << program;
      ASSERT_EQ(a.other_pc, b.other_pc) << "program " << program;
      const auto stamp = races.stamp_of_write(4 * g),
                 stamp_of_single = single.stamp_of_write(4 * g);
      ASSERT_EQ(stamp->clock, stamp_of_single->clock) << "program " << program;
      SharedRaces::Conflict second, second_of_single;
      const bool found = access(races, 4 * g, 4, a.other_thread, 9, false, false, second);
      ASSERT_EQ(found, access(single, 4 * g, 4, b.other_thread, 9, false, false, second_of_single))
          << "program " << program;
      ASSERT_EQ(second.other_thread, second_of_single.other_thread) << "program " << program;
      ASSERT_EQ(second.other_pc, second_of_single.other_pc) << "program " << program;
    }
  }
}

TEST_F(SharedRaceSearch, BytesAreToldApartWhenTheGranuleIsOne) {
  races.start(4096, 0);
  EXPECT_FALSE(access(races, 0, 1, 0, 1, true, false, conflict));
  EXPECT_FALSE(access(races, 1, 1, 1, 1, true, false, conflict));
  EXPECT_TRUE(access(races, 0, 4, 2, 1, false, false, conflict));
}

// Four granules at once are treated as one by one. Two searches get the same accesses and find the
// same races with the same threads, in any order.
TEST(SharedRacesAtOnce, FourGranulesOfAThreadAreAsOneByOne) {
  std::mt19937 random(1);
  int taken = 0, written = 0, races = 0;
  for (int program = 0; program < 400; ++program) {
    SharedRaces at_once, one_by_one;
    at_once.start(64, 2);
    one_by_one.start(64, 2);
    const std::uint32_t warps = 1 + random() % 3;
    for (std::uint32_t pc = 0; pc < 60; ++pc) {
      const std::uint32_t thread = random() % warps * 32 + random() % 3;
      // Every other program is dense: all threads access one place, write more and are ordered more
      // often.
      const bool dense = program % 2 != 0;
      const std::uint32_t size = random() % 3 == 0 ? 4u << random() % 3 : 16,
                          kind = random() % (dense ? 16 : 40);
      const std::uint32_t at = random() % (dense ? 1 : 4) * 16 + random() % (16 / size) * size;
      if (kind < 3) {
        const std::uint32_t lanes = kind == 0 ? ~0u : 3u << random() % 2;
        for (SharedRaces* s : {&at_once, &one_by_one}) s->warp_sync(thread / 32, lanes, kind == 0);
      } else if (kind == 3) {
        for (SharedRaces* s : {&at_once, &one_by_one}) s->block_barrier();
      } else {
        const bool write = kind == 4 || (dense && kind >= 12),
                   strong = kind == 5 || (write && random() % 4 == 0);
        SharedRaces::Conflict expected, found;
        const bool race = access(one_by_one, at, size, thread, pc, write, strong, expected);
        if (size == 16 && !strong &&
            (write ? at_once.write_four(at / 4, thread, pc)
                   : at_once.read_four(at / 4, thread, pc))) {
          ASSERT_FALSE(race) << "program " << program << ", access " << pc;
          ++(write ? written : taken);
        } else {
          ASSERT_EQ(access(at_once, at, size, thread, pc, write, strong, found), race)
              << "program " << program << ", access " << pc;
          if (!race) continue;
          ++races;
          ASSERT_EQ(found.other_thread, expected.other_thread)
              << "program " << program << ", access " << pc;
          ASSERT_EQ(found.other_pc, expected.other_pc)
              << "program " << program << ", access " << pc;
          ASSERT_EQ(found.other_is_write, expected.other_is_write);
          ASSERT_EQ(found.other_is_strong, expected.other_is_strong);
        }
      }
    }
  }
  EXPECT_GT(taken, 5000);
  EXPECT_GT(written, 300);
  EXPECT_GT(races, 500);
}

// Lane 0 has read all four granules and has synchronised with the writer since. Before that, the
// writer has read only the first one, and lane 2 the others.
TEST(SharedRacesAtOnce, AWriteIsJudgedByTheSecondReaderOfEachGranule) {
  for (const bool in_other_warps : {false, true}) {
    SharedRaces races;
    races.start(64, 2);
    const std::uint32_t writer = 1, other = in_other_warps ? 64 : 2;
    SharedRaces::Conflict conflict;
    EXPECT_FALSE(access(races, 0, 4, writer, 1, false, false, conflict));
    EXPECT_FALSE(access(races, 4, 12, other, 2, false, false, conflict));
    EXPECT_FALSE(access(races, 0, 16, 0, 3, false, false, conflict));
    races.warp_sync(0, 3, false);
    EXPECT_FALSE(races.write_four(0, writer, 4));
    EXPECT_TRUE(access(races, 0, 16, writer, 4, true, false, conflict));
    EXPECT_EQ(conflict.other_thread, other);
  }
}

}  // namespace shared_races_test
}  // namespace lockstep::check
