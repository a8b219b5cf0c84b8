// Tests that a cell returns what was stored in it, and that accesses change its state as the table
// in global_cell.h says.
#include "simulator/check/global_cell.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "simulator/check/global_races.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace global_cell_test {

TEST(GlobalCell, AHalfStoresItsNumberBytesLaneAndMarks) {
  for (const std::uint32_t number : {1u, 77u, AccessRecords::kMost - 1}) {
    for (const std::uint32_t mask : {1u, 2u, 4u, 8u, 3u, 12u, 15u}) {
      for (const std::uint32_t lane : {0u, 1u, 31u}) {
        const CellHalf h(number, ByteSet::of_mask(mask), lane);
        for (const CellHalf same : {h, h.naming_two(), h.observed(), h.observed().naming_two()}) {
          EXPECT_EQ(same.number(), number);
          EXPECT_EQ(same.bytes().mask(), mask);
          EXPECT_EQ(same.lane(), lane);
          EXPECT_FALSE(same.empty());
        }
        EXPECT_FALSE(h.names_two());
        EXPECT_FALSE(h.may_be_observed());
        EXPECT_TRUE(h.naming_two().names_two());
        EXPECT_TRUE(h.observed().may_be_observed());
        EXPECT_EQ(h.observed().naming_two().naming_one(), h.observed());
        EXPECT_EQ(h.naming_two().with_number(5), CellHalf(5, h.bytes(), lane).naming_two());
        EXPECT_TRUE(h.is_since(number));
        EXPECT_FALSE(h.is_since(number + 1));
        for (int byte = 0; byte < 4; ++byte) {
          EXPECT_EQ(h.of_byte(byte),
                    mask >> byte & 1 ? CellHalf(number, ByteSet::all(), lane) : CellHalf());
        }
      }
    }
  }
  for (const std::uint32_t mask : {0u, 5u, 6u, 7u, 9u, 10u, 11u, 13u, 14u})
    EXPECT_EQ(ByteSet::of_mask(mask), ByteSet::none());
}

TEST(GlobalCell, ACellForgetsEarlierLaunches) {
  const CellHalf old(4, ByteSet::all(), 1), fresh(9, ByteSet::all(), 2);
  EXPECT_EQ(GlobalCell(fresh, fresh).since(9), GlobalCell(fresh, fresh));
  EXPECT_EQ(GlobalCell(old, fresh).since(9), GlobalCell({}, fresh));
  EXPECT_EQ(GlobalCell(fresh, old).since(9), GlobalCell(fresh, {}));
  for (const GlobalCell apart : {GlobalCell::split(9, 1u << 23), GlobalCell::story(9, 1u << 19)}) {
    EXPECT_TRUE(apart.is_apart());
    EXPECT_EQ(apart.since(9), apart);
    // Its number does not count in a later launch.
    EXPECT_EQ(apart.since(10), GlobalCell());
  }
  EXPECT_TRUE(GlobalCell::split(9, 3).is_split());
  EXPECT_TRUE(GlobalCell::story(9, 3).is_story());
  EXPECT_FALSE(GlobalCell::story(9, 3).is_split());
  EXPECT_EQ(GlobalCell::story(9, 3).index(), 3u);
  EXPECT_FALSE(GlobalCell(fresh, {}).is_apart());
  EXPECT_FALSE(GlobalCell().is_apart());
}

// Random accesses to one granule. The state after each is the one in the table, or a story if the
// table's condition does not hold. Every entry of the table occurs, and every condition both holds
// and fails.
TEST(GlobalCell, AccessesChangeItsStateAsTheTableSays) {
  constexpr std::uint32_t kBlocks = 2;
  memory::DeviceMemory memory;
  GlobalRaces races;
  GlobalRaces::Memo memo;
  races.start(memory, 1, 1);
  SharedRaces orders[kBlocks];
  for (std::uint32_t b = 0; b < kBlocks; ++b) orders[b].start(0, 2, b, 1, &races.grid());
  std::uint32_t random_state = 3;
  const auto random = [&](std::uint32_t n) {
    return ((random_state = random_state * 1664525u + 1013904223u) >> 8) % n;
  };
  GlobalCell cell;
  std::set<std::pair<CellState, CellAccess>> met;
  std::set<std::pair<Question, bool>> answered;
  for (int i = 0; i < 40000; ++i) {
    if (random(6) == 0) cell = {};
    if (random(4) == 0) orders[random(kBlocks)].block_barrier();
    const std::uint32_t block = random(kBlocks), lane = random(3);
    Side side{.order = &orders[block],
              .block = block,
              .warp = random(2),
              .pc = random(5),
              .strong = random(3) != 0,
              .write = random(3) != 0,
              .scope = random(3) == 0 ? Scope::kBlock : Scope::kGrid};
    side.updates = side.strong && side.write && random(4) != 0;
    side.observes = side.updates && random(2) == 0;
    side.acquires = side.strong && !side.write && random(6) == 0;
    side.releases = side.strong && side.write && random(12) == 0;
    const CellQuestions ask(races.records(), side, lane);
    const auto state_of = [&](GlobalCell c) {
      return c.is_story() ? CellState::kStory : ask.state(c.write(), c.read());
    };
    const CellState before = state_of(cell);
    const CellAccess how = ask.access();
    const Transition t = transition(before, how);
    GlobalRaces::Access access(races, side, memo);
    LaneAccess conflict;
    races.access(cell, 15, lane, access, conflict);
    orders[block].end_release(side.warp);
    const CellState after = state_of(cell);
    ASSERT_FALSE(cell.is_split());
    if (t.question == Question::kNone) {
      ASSERT_EQ(after, t.next) << "step " << i;
    } else {
      ASSERT_TRUE(after == t.next || after == CellState::kStory) << "step " << i;
      answered.emplace(t.question, after == t.next);
    }
    met.emplace(before, how);
  }
  EXPECT_EQ(met.size(), kCellStates * kCellAccesses);
  EXPECT_EQ(answered.size(), 8u);
  ASSERT_FALSE(races.exhausted());
}

}  // namespace global_cell_test
}  // namespace lockstep::check
