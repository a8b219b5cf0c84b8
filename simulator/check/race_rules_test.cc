// Tests which pairs of accesses to global memory race, which do not, and what is reported of the
// other side.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "simulator/check/global_races.h"
#include "simulator/check/global_rows.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace race_rules_test {

enum Strength { kWeak, kStrongBlock, kStrongGrid };

class Races : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kBlocks = 4;
  Races() {
    word = memory.allocate(4096, 256, memory::Kind::kDevice, 0)->base;
    begin();
  }
  void begin(std::uint32_t cluster = 1, std::uint32_t most = 0, bool parallel = false) {
    races.start(memory, cluster, parallel ? 2 : 1, most);
    memo = {};
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      order[b].start(0, 2, b, cluster, &races.grid());
    }
  }
  // A strong write is an atomic whose result is unused.
  Side side(std::uint32_t block, std::uint32_t warp, bool write, Strength strength) {
    return {.order = &order[block],
            .block = block,
            .warp = warp,
            .pc = write ? 20u : 10u,
            .strong = strength != kWeak,
            .write = write,
            .scope = strength == kStrongBlock ? Scope::kBlock : Scope::kGrid,
            .updates = strength != kWeak && write};
  }
  // The race that an access makes, if any. `bytes`: the bytes of the granule, one bit each.
  std::optional<LaneAccess> access(std::uint32_t block, std::uint32_t thread, bool write,
                                   Strength strength = kWeak, std::uint32_t bytes = 15,
                                   std::uint64_t at = 0) {
    GlobalRaces::Access me(races, side(block, thread / 32, write, strength), memo);
    LaneAccess conflict;
    if (!races.access(*cell_of(memory, word + at), bytes, thread % 32, me, conflict))
      return std::nullopt;
    return conflict;
  }
  bool reads(std::uint32_t block, std::uint32_t thread, Strength s = kWeak,
             std::uint32_t bytes = 15) {
    return access(block, thread, false, s, bytes).has_value();
  }
  bool writes(std::uint32_t block, std::uint32_t thread, Strength s = kWeak,
              std::uint32_t bytes = 15) {
    return access(block, thread, true, s, bytes).has_value();
  }
  // An atomic whose result is used.
  bool updates(std::uint32_t block, std::uint32_t thread) {
    Side s = side(block, thread / 32, true, kStrongGrid);
    s.observes = true;
    GlobalRaces::Access me(races, s, memo);
    LaneAccess conflict;
    return races.access(*cell_of(memory, word), 15, thread % 32, me, conflict);
  }
  template <int kCells>
  bool row(std::uint32_t block, std::uint32_t warp, bool write, std::uint64_t at = 0) {
    GlobalRaces::Access me(races, side(block, warp, write, kWeak), memo);
    return record_row(races, cell_of(memory, word + at), kCells, 0, 32, me);
  }
  void fence(std::uint32_t block, std::uint32_t warp) {
    order[block].fence(warp, ~0u, true, Scope::kGrid);
  }

  memory::DeviceMemory memory;
  GlobalRaces races;
  GlobalRaces::Memo memo;
  SharedRaces order[kBlocks];
  memory::Address word = 0;
};

TEST_F(Races, AThreadDoesNotRaceWithItself) {
  EXPECT_FALSE(writes(0, 3));
  EXPECT_FALSE(reads(0, 3));
  EXPECT_FALSE(writes(0, 3, kStrongGrid));
}

TEST_F(Races, ReadsDoNotRace) {
  EXPECT_FALSE(reads(0, 3));
  EXPECT_FALSE(reads(0, 50));
  EXPECT_FALSE(reads(1, 3));
}

TEST_F(Races, AReadOfAWiderScopeDoesNotStandForOneOfANarrower) {
  EXPECT_FALSE(reads(0, 3, kStrongBlock));
  EXPECT_FALSE(reads(0, 3, kStrongGrid));
  EXPECT_TRUE(writes(1, 3, kStrongGrid)) << "the first read's scope leaves block 1 out";
}

TEST_F(Races, ARowThatLiesOtherwiseThanItsWarpsRowBeforeIsJudgedByLane) {
  EXPECT_TRUE(row<1>(0, 0, true));
  order[0].warp_sync(0, 0b11, false);
  GlobalRaces::Access me(races, side(0, 0, false, kWeak), memo);
  EXPECT_FALSE(record_row(races, cell_of(memory, word + 4), 1, 0, 31, me))
      << "lane 0 comes after lane 1, and lane 2 does not come after lane 3";
}

TEST_F(Races, AWriteRacesWithAReadAndWithAWriteOfAnotherBlock) {
  EXPECT_FALSE(writes(0, 37));
  const auto read = access(1, 3, false);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->record.block, 0u);
  EXPECT_EQ(read->record.warp, 1u);
  EXPECT_EQ(read->lane, 5u);
  EXPECT_EQ(read->record.pc, 20u);
  EXPECT_TRUE(read->record.write);
  EXPECT_FALSE(read->record.strong);
  EXPECT_TRUE(writes(2, 0));
}

TEST_F(Races, ALaterWriteRacesWithAnEarlierReader) {
  EXPECT_FALSE(reads(0, 3));
  const auto write = access(1, 3, true);
  ASSERT_TRUE(write.has_value());
  EXPECT_FALSE(write->record.write);
}

TEST_F(Races, OneOfSeveralReadersIsEnough) {
  EXPECT_FALSE(reads(0, 3));
  EXPECT_FALSE(reads(1, 3));
  EXPECT_TRUE(writes(1, 3)) << "the reader in block 0";
}

TEST_F(Races, WarpsAndLanesOfABlockRaceToo) {
  EXPECT_FALSE(writes(0, 0));
  EXPECT_TRUE(reads(0, 1)) << "the same warp";
  EXPECT_TRUE(reads(0, 40)) << "another warp";
}

TEST_F(Races, ABarrierOfTheBlockOrdersItAndNoOther) {
  EXPECT_FALSE(writes(0, 0));
  order[0].block_barrier();
  order[1].block_barrier();
  EXPECT_FALSE(reads(0, 40));
  EXPECT_TRUE(reads(1, 40));
}

TEST_F(Races, BytesOfAWordAreToldApart) {
  EXPECT_FALSE(writes(0, 0, kWeak, 0b0001));
  EXPECT_FALSE(writes(1, 0, kWeak, 0b0010));
  EXPECT_TRUE(writes(2, 0, kWeak, 0b0110));
}

TEST_F(Races, StrongAccessesDoNotRaceWithEachOther) {
  EXPECT_FALSE(writes(0, 0, kStrongGrid));
  EXPECT_FALSE(writes(1, 0, kStrongGrid));
  EXPECT_FALSE(reads(2, 0, kStrongGrid));
  EXPECT_TRUE(reads(3, 0, kWeak)) << "with a weak one they do";
}

TEST_F(Races, AnAtomicOfTheBlockDoesNotReachAnother) {
  EXPECT_FALSE(writes(0, 0, kStrongBlock));
  EXPECT_FALSE(writes(0, 40, kStrongBlock)) << "in its block";
  EXPECT_TRUE(writes(1, 0, kStrongBlock));
  EXPECT_TRUE(writes(2, 0, kStrongGrid)) << "both must reach";
}

TEST_F(Races, AWeakWriteIsNotHiddenByStrongOnesThatFollow) {
  EXPECT_FALSE(writes(0, 0, kWeak));
  EXPECT_FALSE(writes(0, 0, kStrongGrid)) << "the same thread";
  EXPECT_TRUE(writes(1, 0, kStrongGrid));
}

TEST_F(Races, WhoHasReadWhatAStrongWriteLeftIsOrderedAfterIt) {
  EXPECT_FALSE(writes(0, 0, kStrongGrid));
  EXPECT_FALSE(reads(1, 0, kStrongGrid));
  EXPECT_TRUE(reads(2, 0, kWeak)) << "who has read nothing";
  begin();
  EXPECT_FALSE(writes(0, 0, kStrongGrid));
  EXPECT_FALSE(reads(1, 0, kStrongGrid));
  EXPECT_FALSE(reads(1, 0, kWeak));
  EXPECT_FALSE(writes(1, 0, kWeak));
}

TEST_F(Races, AnAtomicThatReadsIsOrderedAfterTheChainBeforeIt) {
  EXPECT_FALSE(updates(0, 0));
  EXPECT_FALSE(updates(1, 0));
  EXPECT_FALSE(updates(2, 0));
  EXPECT_FALSE(writes(2, 0)) << "the last of the chain";
  begin();
  EXPECT_FALSE(updates(0, 0));
  EXPECT_FALSE(updates(1, 0));
  EXPECT_TRUE(writes(0, 0)) << "the first of the chain";
}

TEST_F(Races, AnAtomicIsNotOrderedAfterTheAtomicOfAnotherSizeBeforeItsThreadsLast) {
  for (const bool another : {false, true}) {
    begin();
    Side first = side(1, 0, true, kStrongGrid), last = first;
    first.observes = last.observes = true;
    if (another) last.size = 8;
    LaneAccess conflict;
    for (const Side& s : {first, last}) {
      GlobalRaces::Access me(races, s, memo);
      EXPECT_FALSE(races.access(*cell_of(memory, word), 15, 0, me, conflict));
    }
    Side observer = last;
    observer.block = 0;
    observer.order = &order[0];
    GlobalRaces::Access me(races, observer, memo);
    EXPECT_FALSE(races.access(*cell_of(memory, word), 15, 0, me, conflict));
    EXPECT_EQ(writes(0, 0), another);
  }
}

// A release operation makes a story of the granule.
TEST_F(Races, AReleaseContinuesTheChainOfItsThreadInASize) {
  for (const std::uint8_t size : {4, 8}) {
    begin();
    Side first = side(0, 0, true, kStrongGrid), release = first;
    first.size = size;
    release.releases = true;
    LaneAccess conflict;
    for (const Side& s : {first, release}) {
      GlobalRaces::Access me(races, s, memo);
      EXPECT_FALSE(races.access(*cell_of(memory, word), 15, 0, me, conflict));
    }
    EXPECT_FALSE(reads(1, 0, kStrongGrid));
    EXPECT_EQ(reads(1, 0), size != 4);
  }
}

TEST_F(Races, AReductionReadsNothing) {
  EXPECT_FALSE(updates(0, 0));
  EXPECT_FALSE(writes(1, 0, kStrongGrid));
  EXPECT_TRUE(writes(1, 0));
}

TEST_F(Races, WhatWasObservedButRecordedTooEarlyIsMadeUpFor) {
  begin(1, 0, true);
  // Block 1's atomic is recorded after that of block 0, but is executed before it: block 0 is
  // slower between recording and executing.
  EXPECT_FALSE(updates(1, 0));
  EXPECT_FALSE(updates(0, 0));
  races.observe(*cell_of(memory, word), 0, side(1, 0, false, kStrongGrid));
  // Block 0 also reports late that it has read.
  races.observe(*cell_of(memory, word), 0, side(0, 0, false, kStrongGrid));
  EXPECT_FALSE(writes(1, 0));
  races.observe(*cell_of(memory, word), 0, side(0, 0, false, kStrongGrid));
  EXPECT_TRUE(reads(2, 0)) << "the plain write is known as ever";
}

TEST_F(Races, ReadersOfBothStrengthsAndAnAtomicOfOneOfThem) {
  EXPECT_FALSE(reads(0, 0, kStrongGrid));
  EXPECT_FALSE(reads(1, 0, kWeak));
  EXPECT_FALSE(writes(1, 0, kStrongGrid)) << "the other reader is as strong";
  begin();
  EXPECT_FALSE(reads(1, 0, kWeak));
  EXPECT_FALSE(reads(0, 0, kStrongGrid));
  EXPECT_FALSE(writes(1, 0, kStrongGrid));
  begin();
  EXPECT_FALSE(reads(0, 0, kWeak));
  EXPECT_FALSE(reads(1, 0, kWeak));
  EXPECT_TRUE(writes(2, 0, kStrongGrid)) << "weak ones race with it";
}

TEST_F(Races, OtherBytesOfAWordAreNobodyElses) {
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_FALSE(reads(0, i, kWeak, 1u << i));
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_FALSE(writes(0, i, kWeak, 1u << i)) << i;
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_FALSE(reads(0, i, kWeak, 1u << i)) << i;
  const auto other = access(0, 2, true, kWeak, 0b0010);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->lane, 1u);
  order[0].block_barrier();
  EXPECT_FALSE(writes(0, 9)) << "the whole word after a barrier";
  EXPECT_TRUE(reads(0, 2, kWeak, 0b1000));
}

TEST_F(Races, AnInstructionThatReadsAndWritesIsTwoRecords) {
  // A copy reads and writes at one place in the program.
  Side from = side(0, 0, false, kWeak), to = side(0, 0, true, kWeak);
  from.pc = to.pc = 30;
  GlobalRaces::Access reading(races, from, memo), writing(races, to, memo);
  LaneAccess conflict;
  EXPECT_FALSE(races.access(*cell_of(memory, word), 15, 0, reading, conflict));
  EXPECT_FALSE(races.access(*cell_of(memory, word + 4), 15, 0, writing, conflict));
  EXPECT_FALSE(access(1, 0, false, kWeak, 15, 0).has_value()) << "it was read";
  EXPECT_TRUE(access(1, 0, false, kWeak, 15, 4).has_value()) << "it was written";
}

TEST_F(Races, AFlagWithFencesOrdersTwoBlocks) {
  constexpr std::uint64_t kFlag = 64;
  EXPECT_FALSE(writes(0, 0));
  fence(0, 0);
  EXPECT_FALSE(access(0, 0, true, kStrongGrid, 15, kFlag).has_value());
  EXPECT_FALSE(access(1, 0, false, kStrongGrid, 15, kFlag).has_value());
  fence(1, 0);
  EXPECT_FALSE(reads(1, 0));
  EXPECT_TRUE(reads(2, 0)) << "who has not looked at the flag";
}

TEST_F(Races, ARowOfWhichOneLaneHasReleasedIsLookedAtLaneByLane) {
  for (const bool meet : {false, true}) {
    begin();
    EXPECT_TRUE(row<1>(0, 0, true));
    if (meet) order[0].warp_sync(0, ~0u, true);
    Messages flag;
    flag.add(order[0].message_of(0, 1, false, Scope::kGrid), races.grid());
    order[0].end_release(0);
    order[1].acquire(0, ~0u, true, flag, Scope::kGrid);
    EXPECT_FALSE(row<1>(1, 0, false)) << "in another block: some lanes have records of their own";
    EXPECT_FALSE(access(1, 0, false).has_value()) << "what the lane wrote that released";
    EXPECT_FALSE(access(1, 3, false).has_value()) << "the same to another lane";
    EXPECT_EQ(access(1, 5, false, kWeak, 15, 20).has_value(), !meet);
    order[0].acquire(1, ~0u, true, flag, Scope::kGrid);
    EXPECT_FALSE(row<1>(0, 1, false)) << "in another warp of its block";
    EXPECT_FALSE(access(0, 32, false).has_value());
    EXPECT_EQ(access(0, 37, false, kWeak, 15, 20).has_value(), !meet);
  }
}

TEST_F(Races, AReadIsNotHiddenByStrongWritesThatFollow) {
  EXPECT_FALSE(reads(0, 0, kStrongGrid));
  EXPECT_FALSE(writes(1, 0, kStrongGrid));
  EXPECT_TRUE(writes(1, 0)) << "the strong read of block 0";
  begin();
  EXPECT_FALSE(reads(0, 0));
  EXPECT_FALSE(writes(0, 0, kStrongGrid)) << "the same thread";
  EXPECT_TRUE(writes(1, 0, kStrongGrid)) << "the weak read of block 0";
}

TEST_F(Races, AStrongWriteIsNotHiddenByAReadOfItsThread) {
  EXPECT_FALSE(writes(0, 0, kStrongGrid));
  EXPECT_FALSE(reads(0, 0, kStrongGrid));
  EXPECT_TRUE(reads(1, 0));
}

TEST_F(Races, AnAcquireIsItselfOrderedAfterWhatItAcquires) {
  EXPECT_FALSE(writes(0, 0)) << "the flag begins by a weak store";
  Side release = side(0, 0, true, kStrongGrid), acquire = side(1, 0, false, kStrongGrid);
  release.updates = false;
  release.releases = acquire.acquires = true;
  LaneAccess conflict;
  for (const Side& s : {release, acquire}) {
    GlobalRaces::Access me(races, s, memo);
    EXPECT_FALSE(races.access(*cell_of(memory, word), 15, 0, me, conflict)) << s.block;
    if (s.releases) order[0].end_release(0);
  }
  EXPECT_FALSE(reads(1, 0)) << "the release operation is ordered, too";
  EXPECT_TRUE(reads(2, 0, kStrongGrid)) << "a relaxed read is not";
}

TEST_F(Races, AnAtomicContinuesTheChainOfItsThreadsWeakStore) {
  EXPECT_FALSE(writes(0, 0));
  EXPECT_FALSE(updates(0, 0));
  EXPECT_TRUE(updates(1, 0)) << "nothing orders the store";
  EXPECT_FALSE(writes(1, 0)) << "the end of the chain has been read";
}

TEST_F(Races, LaunchesAreOrdered) {
  EXPECT_FALSE(writes(0, 0));
  begin();
  EXPECT_FALSE(reads(1, 0)) << "the writer was of the launch before";
  EXPECT_TRUE(writes(2, 0)) << "the reader is of this one";
}

TEST_F(Races, RowsFindWhatSingleAccessesFind) {
  EXPECT_TRUE(row<1>(0, 0, true)) << "nobody was there";
  EXPECT_TRUE(row<1>(0, 0, false)) << "each lane reads what it wrote";
  EXPECT_FALSE(row<1>(0, 1, false)) << "another warp: to be looked at lane by lane";
  const auto conflict = access(0, 32 + 7, false, kWeak, 15, 4 * 7);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->lane, 7u);
  EXPECT_FALSE(row<1>(1, 0, true));
  EXPECT_TRUE(row<1>(0, 0, true, 2048));
  EXPECT_FALSE(row<1>(0, 1, true, 2048));
  order[0].block_barrier();
  EXPECT_TRUE(row<1>(0, 1, true, 2048)) << "ordered by the barrier";
}

TEST_F(Races, WideRowsGiveALaneSeveralWords) {
  EXPECT_TRUE(row<4>(0, 0, true, 512));
  EXPECT_FALSE(access(0, 2, false, kWeak, 15, 512 + 2 * 16 + 12).has_value())
      << "the last word of lane 2's sixteen bytes";
  EXPECT_TRUE(access(0, 3, false, kWeak, 15, 512 + 2 * 16).has_value());
  EXPECT_TRUE(row<2>(0, 0, true, 1536));
  EXPECT_TRUE(access(1, 9, false, kWeak, 15, 1536 + 9 * 8 + 4).has_value());
}

TEST_F(Races, RunningOutOfRecordsIsKnownAndOldOnesStillCount) {
  begin(1, 128);
  EXPECT_FALSE(writes(0, 0));
  for (std::uint32_t i = 0; i < 200; ++i) {
    order[0].block_barrier();
    EXPECT_FALSE(access(0, 0, true, kWeak, 15, 256 + 4 * i).has_value()) << i;
  }
  EXPECT_TRUE(races.exhausted());
  EXPECT_EQ(races.records().made(), 128u);
  EXPECT_EQ(races.records().first_unrecorded().block, 0u);
  EXPECT_EQ(races.records().first_unrecorded().pc, 20u);
  EXPECT_TRUE(reads(1, 0)) << "the first write is recorded";
  EXPECT_FALSE(access(1, 0, false, kWeak, 15, 256 + 4 * 190).has_value())
      << "the last ones are not: a race is missed";
  begin();
  EXPECT_FALSE(races.exhausted());
}

TEST_F(Races, WithoutRecordsStrongWritesAreHeldAgainstNobody) {
  begin(1, 128);
  EXPECT_FALSE(writes(0, 0, kStrongGrid));
  for (std::uint32_t i = 0; i < 200; ++i) {
    order[0].block_barrier();
    EXPECT_FALSE(access(0, 0, true, kWeak, 15, 256 + 4 * i).has_value()) << i;
  }
  ASSERT_TRUE(races.exhausted());
  EXPECT_FALSE(reads(1, 0, kStrongGrid)) << "that it has read it goes unrecorded";
  EXPECT_FALSE(reads(1, 0, kWeak));
}

TEST_F(Races, RunningOutOfSplitWordsIsKnown) {
  begin(1, 128);
  for (std::uint32_t i = 0; i < 200; ++i) {
    EXPECT_FALSE(access(0, 0, true, kWeak, 0b0001, 256 + 4 * i).has_value()) << i;
    EXPECT_FALSE(access(1, 0, true, kWeak, 0b0010, 256 + 4 * i).has_value()) << i;
  }
  EXPECT_TRUE(races.exhausted());
  EXPECT_TRUE(access(2, 0, true, kWeak, 0b0010, 256).has_value())
      << "the first have cells of their own";
}

TEST_F(Races, WordsThatAreWholeAgainMakeRoom) {
  begin(1, 128);
  for (int round = 0; round < 8; ++round) {
    for (std::uint32_t i = 0; i < 50; ++i) {
      EXPECT_FALSE(access(0, 0, true, kWeak, 0b0001, 4 * i).has_value());
      EXPECT_FALSE(access(0, 1, true, kWeak, 0b0010, 4 * i).has_value());
    }
    order[0].warp_sync(0, ~0u, true);
    for (std::uint32_t i = 0; i < 50; ++i)
      EXPECT_FALSE(access(0, 0, true, kWeak, 15, 4 * i).has_value());
    order[0].block_barrier();
  }
  EXPECT_FALSE(races.exhausted());
}

}  // namespace race_rules_test
}  // namespace lockstep::check
