// Tests which reads a story keeps, and that reads of several lanes at once have the effect of one
// after the other.
#include "simulator/check/story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "simulator/check/global_races.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace story_test {

// Accesses by blocks 0 and 1 to a location that has a story.
class AStoryOfReads : public ::testing::Test {
 protected:
  AStoryOfReads() {
    for (std::uint32_t b = 0; b < 2; ++b) orders_[b].start(0, 2, b, 1, &grid_);
    story_.reset();
  }
  bool races(std::uint32_t block, std::uint32_t lane, bool write, bool strong) {
    return races(block, lane, {.strong = strong, .write = write, .updates = strong && write});
  }
  // An access of warp `side.warp` of `block`, of the kind that `side` says.
  bool races(std::uint32_t block, std::uint32_t lane, Side side) {
    side.order = &orders_[block];
    side.block = block;
    return story_.access(side, lane, 1, true, other_);
  }
  std::size_t entries() const {
    std::size_t n = 0;
    story_.for_each([&](const Story::Entry&) { ++n; });
    return n;
  }
  GridOrder grid_;
  SharedRaces orders_[2];
  Story story_;
  Story::Entry other_;  // that the last access raced with
};

constexpr Side kPoll = {.pc = 10, .strong = true}, kStore = {.pc = 20, .write = true};

TEST_F(AStoryOfReads, AReadCoversNoUnorderedReadThatFollowsACoveredOne) {
  EXPECT_FALSE(races(0, 0, false, false));
  EXPECT_FALSE(races(1, 0, false, false));
  orders_[0].block_barrier();
  EXPECT_FALSE(races(0, 0, false, false));
  EXPECT_TRUE(races(0, 0, true, false)) << "with block 1";
}

TEST_F(AStoryOfReads, AStrongReadCoversNoWeakReadOfTheSameTimeAsAStrongOne) {
  EXPECT_FALSE(races(0, 0, false, true));
  EXPECT_FALSE(races(0, 1, false, false));
  orders_[0].warp_sync(0, ~0u, true);
  EXPECT_FALSE(races(0, 2, false, true));
  EXPECT_TRUE(races(1, 0, true, true)) << "with the weak read";
}

TEST_F(AStoryOfReads, WritesAmongManyReadsAreCompared) {
  EXPECT_FALSE(races(0, 0, true, false));
  for (std::uint32_t lane = 1; lane < 32; ++lane) EXPECT_TRUE(races(0, lane, false, true));
  EXPECT_TRUE(races(1, 0, false, false)) << "with the write";
  EXPECT_TRUE(races(0, 31, true, true)) << "with the weak read";
}

TEST_F(AStoryOfReads, LanesThatReadTogetherAreOneEntry) {
  Side poll = kPoll;
  for (poll.warp = 0; poll.warp < 20; ++poll.warp) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_FALSE(races(0, lane, poll));
  }
  EXPECT_EQ(entries(), 20u);
  EXPECT_TRUE(races(1, 0, kStore)) << "with the first reader";
  EXPECT_EQ(other_.who.warp, 0u);
  EXPECT_EQ(other_.who.lane, 0u);
}

TEST_F(AStoryOfReads, AReadCoversSomeOfTheLanesThatReadTogether) {
  for (std::uint32_t lane = 0; lane < 3; ++lane) EXPECT_FALSE(races(0, lane, kPoll));
  orders_[0].warp_sync(0, 0b10011, false);  // lane 4 with lanes 0 and 1
  EXPECT_FALSE(races(0, 4, kPoll));
  EXPECT_EQ(entries(), 2u);
  EXPECT_TRUE(races(0, 4, kStore)) << "with lane 2 alone";
  EXPECT_EQ(other_.lanes(), 0b100u);
}

TEST_F(AStoryOfReads, AWriteRacesWithTheUnorderedOnesOfTheLanesThatReadTogether) {
  for (std::uint32_t lane = 0; lane < 4; ++lane) EXPECT_FALSE(races(0, lane, kPoll));
  orders_[0].warp_sync(0, 0b10011, false);
  EXPECT_TRUE(races(0, 4, kStore));
  EXPECT_EQ(other_.lanes(), 0b1100u) << "lane 4 has met lanes 0 and 1";
}

TEST_F(AStoryOfReads, LanesThatReadInOtherWaysAreEntriesOfTheirOwn) {
  std::uint32_t lane = 0;
  const auto reads = [&](Side side) { return races(0, lane++, side); };
  Side other_place = kPoll, other_scope = kPoll, other_size = kPoll, weak = kPoll;
  other_place.pc = 11;
  other_scope.scope = Scope::kBlock;
  other_size.size = 8;
  weak.strong = false;
  std::size_t expected = 0;
  for (const Side& side : {other_place, other_scope, other_size, weak}) {
    EXPECT_FALSE(reads(kPoll));
    EXPECT_FALSE(reads(side));
    expected += 2;
    EXPECT_EQ(entries(), expected);
  }
  orders_[0].warp_sync(0, 1u << lane, false);
  EXPECT_FALSE(reads(weak));
  EXPECT_EQ(entries(), ++expected) << "at another time";
  weak.warp = 1;
  EXPECT_FALSE(reads(weak));
  EXPECT_EQ(entries(), ++expected) << "of another warp";
}

TEST_F(AStoryOfReads, AReadThatRacesIsNoReadLikeThoseThatDoNot) {
  EXPECT_FALSE(races(0, 0, kStore));
  EXPECT_FALSE(races(0, 0, kPoll)) << "it is the writer";
  EXPECT_TRUE(races(0, 1, kPoll));
  EXPECT_EQ(entries(), 3u);
  Side elsewhere = kPoll;
  elsewhere.pc = 11;
  EXPECT_TRUE(races(0, 1, elsewhere)) << "it races at each place";
}

TEST_F(AStoryOfReads, OfLanesThatReadTogetherEachKeepsItsOperation) {
  for (std::uint32_t lane = 0; lane < 2; ++lane) EXPECT_FALSE(races(0, lane, kPoll));
  Side later = kPoll;
  later.pc = 11;
  EXPECT_FALSE(races(0, 0, later)) << "a read that lane 0 repeats elsewhere";
  orders_[0].warp_sync(0, 0b101, false);
  orders_[0].warp_sync(0, 0b1010, false);
  EXPECT_TRUE(races(0, 2, kStore)) << "with lane 1";
  EXPECT_EQ(other_.pc, 10u);
  EXPECT_EQ(other_.who.lane, 1u);
}

TEST_F(AStoryOfReads, LanesAcquireWhatEachOfThemHasFound) {
  Side release{.pc = 30, .strong = true, .write = true, .releases = true};
  EXPECT_FALSE(races(1, 0, release));
  for (std::uint32_t lane = 1; lane < 3; ++lane) EXPECT_FALSE(races(0, lane, kPoll));
  races(0, 0, kStore);
  orders_[0].warp_sync(0, ~0u, true);
  Side poll = kPoll;
  poll.order = &orders_[0];
  EXPECT_TRUE(story_.read_as_one(poll, 0b110));
  orders_[0].warp_sync(0, ~0u, true);
  poll.acquires = true;
  EXPECT_FALSE(story_.read_as_one(poll, 0b110)) << "each acquires messages of its own";
}

TEST_F(AStoryOfReads, ASwapThatFailsIsNoneOfThoseThatWrite) {
  Side swap = kPoll;
  swap.write = swap.updates = swap.observes = true;
  EXPECT_FALSE(races(0, 0, swap));
  EXPECT_FALSE(races(0, 1, kPoll));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(AStoryOfReads, AReadThatALaneRepeatsIsNotAddedAgain) {
  for (int turn = 0; turn < 3; ++turn) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_FALSE(races(0, lane, kPoll));
  }
  EXPECT_EQ(entries(), 1u);
}

// ---- Reads of several lanes at once.

constexpr std::uint32_t kBlocks = 2, kWarps = 3;

// Two searches that see the same accesses: in one, lanes that read strongly are recorded at once
// where that is possible.
class Twins {
 public:
  Twins() {
    for (std::uint32_t t = 0; t < 2; ++t) {
      word_[t] = memory_[t].allocate(4096, 256, memory::Kind::kDevice, 0)->base;
      races_[t].start(memory_[t], 1, 1, 0, LaunchOrder::Place{}, kBlocks);
      for (std::uint32_t b = 0; b < kBlocks; ++b)
        orders_[t][b].start(64, 2, races_[t].grid().launches().first_block() + b, 1,
                            &races_[t].grid());
      story_[t].reset();
    }
  }
  template <class Act>
  void each_order(std::uint32_t block, Act act) {
    for (auto& orders : orders_) act(orders[block]);
  }
  // Which lanes race with whom, in both searches: in shared memory, in global memory and in a story
  // alone. `side.order` and `side.block` are set here.
  void access(std::uint32_t block, std::uint32_t lanes, Side side) {
    std::vector<Found> found[2];
    for (std::uint32_t t = 0; t < 2; ++t) {
      side.order = &orders_[t][block];
      side.block = orders_[t][block].block();
      const bool joint = t == 1 && !side.write && side.strong;
      shared(t, block, lanes, side, joint, found[t]);
      global(t, lanes, side, joint, found[t]);
      story(t, lanes, side, joint, found[t]);
    }
    ASSERT_EQ(found[0], found[1]);
    ASSERT_EQ(entries(0), entries(1));
  }
  int joint_reads() const { return joint_; }

 private:
  using Found = std::tuple<char, std::uint32_t, std::uint32_t, std::uint32_t>;
  using Shown = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                           std::uint32_t, std::uint32_t, bool, bool, bool>;
  template <class Act>
  static void each(std::uint32_t lanes, Act act) {
    for (; lanes != 0; lanes &= lanes - 1) act(static_cast<std::uint32_t>(std::countr_zero(lanes)));
  }
  void shared(std::uint32_t t, std::uint32_t block, std::uint32_t lanes, const Side& side,
              bool joint, std::vector<Found>& found) {
    SharedRaces& races = orders_[t][block];
    if (joint && races.read_as_one(8, 8, lanes, side)) {
      ++joint_;
      return;
    }
    each(lanes, [&](std::uint32_t l) {
      SharedRaces::Conflict c;
      if (races.access(8, 8, l, side, c)) found.push_back({'s', l, c.other_thread, c.other_pc});
    });
  }
  void global(std::uint32_t t, std::uint32_t lanes, const Side& side, bool joint,
              std::vector<Found>& found) {
    GlobalRaces::Access me(races_[t], side, memo_[t]);
    GlobalCell& cell = *cell_of(memory_[t], word_[t]);
    if (joint && races_[t].read_as_one(cell, lanes, me)) {
      ++joint_;
      return;
    }
    each(lanes, [&](std::uint32_t l) {
      LaneAccess c;
      if (races_[t].access(cell, 15, l, me, c))
        found.push_back({'g', l, c.record.block << 10 | c.record.warp << 5 | c.lane, c.record.pc});
    });
  }
  void story(std::uint32_t t, std::uint32_t lanes, const Side& side, bool joint,
             std::vector<Found>& found) {
    if (joint && story_[t].read_as_one(side, lanes)) {
      ++joint_;
      return;
    }
    each(lanes, [&](std::uint32_t l) {
      Story::Entry c;
      if (story_[t].access(side, l, 1, true, c))
        found.push_back({'t', l, c.who.block << 10 | c.who.warp << 5 | c.who.lane, c.pc});
    });
  }
  std::vector<Shown> entries(std::uint32_t t) const {
    std::vector<Shown> all;
    story_[t].for_each([&](const Story::Entry& e) {
      all.push_back({e.who.block, e.who.epoch, e.who.clock, e.who.warp, e.lanes(), e.pc, e.write,
                     e.strong, e.raced});
    });
    return all;
  }

  memory::DeviceMemory memory_[2];
  GlobalRaces races_[2];
  GlobalRaces::Memo memo_[2];
  SharedRaces orders_[2][kBlocks];
  Story story_[2];
  memory::Address word_[2] = {};
  int joint_ = 0;
};

TEST(AStoryOfLanes, HasTheEntriesOfOneLaneAfterTheOther) {
  int joint = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto any = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto some_lanes = [&] {
      const std::uint32_t of[] = {~0u, ~0u, 0xffff, 0xffff0000, 1u << any(32), 0x10011};
      return of[any(6)];
    };
    auto twins = std::make_unique<Twins>();
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t block = any(kBlocks), warp = any(kWarps), lanes = some_lanes();
      const Scope scope = any(4) == 0 ? Scope::kBlock : Scope::kGrid;
      Side side{.warp = warp, .pc = 10 + any(2), .strong = true, .scope = scope};
      side.size = any(8) == 0 ? 8 : 4;
      switch (any(12)) {
        case 0: twins->each_order(block, [](SharedRaces& o) { o.block_barrier(); }); break;
        case 1:
          twins->each_order(block, [&](SharedRaces& o) { o.warp_sync(warp, lanes, lanes == ~0u); });
          break;
        case 2:
          twins->each_order(block,
                            [&](SharedRaces& o) { o.fence(warp, lanes, lanes == ~0u, scope); });
          break;
        case 3:
          side.write = true;
          side.strong = any(2) == 0;
          side.updates = side.strong;
          side.observes = side.strong && any(2) == 0;
          twins->access(block, 1u << any(32), side);
          break;
        case 4:
          side.strong = false;
          twins->access(block, lanes, side);
          break;
        case 5:
          twins->each_order(block, [&](SharedRaces& o) {
            o.arrive(warp, 1);
            o.arrive((warp + 1) % kWarps, 1);
            o.complete(1, 1u << warp | 1u << (warp + 1) % kWarps);
          });
          break;
        default: side.acquires = any(6) == 0; twins->access(block, lanes, side);
      }
      if (HasFatalFailure()) return;
    }
    joint += twins->joint_reads();
  }
  EXPECT_GT(joint, 3000);
}

}  // namespace story_test
}  // namespace lockstep::check
