// Tests that lanes judged together are judged as each of them is alone. engine/tests/checks_test.cc
// tests what orders accesses, in running kernels.
#include <gtest/gtest.h>

#include <vector>

#include "simulator/check/global_rows.h"
#include "simulator/check/scattered_lanes.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace global_races_test {

constexpr std::uint32_t kBlocks = 3, kCells = 256;

// The races of one launch over a few granules, and the blocks that run it.
struct Launch {
  explicit Launch(memory::DeviceMemory& memory) : cells(kCells) {
    races.start(memory, 1, 1);
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      orders[b].start(0, 2, b, 1, &races.grid());
    }
  }
  GlobalRaces races;
  GlobalRaces::Memo memo;
  std::vector<GlobalCell> cells;
  SharedRaces orders[kBlocks];  // for the order that barriers make
};

TEST(GlobalRaces, LanesTogetherSayTheSameAsSingleAccesses) {
  memory::DeviceMemory memory;
  Launch together(memory), single(memory);
  std::uint32_t state = 7, taken = 0, parted = 0, elements = 0, conflicts = 0;
  const auto random = [&](std::uint32_t n) {
    return ((state = state * 1664525u + 1013904223u) >> 8) % n;
  };
  for (int i = 0; i < 60000; ++i) {
    const std::uint32_t block = random(4) ? 0 : random(kBlocks), warp = random(3) ? 0 : 1,
                        width = 1u << random(3), lane = random(4) ? 0 : random(32);
    const std::uint32_t count = random(4) ? 32 - lane : 1 + random(32 - lane),
                        first = 4 * random(2) * random(16);
    if (random(3) == 0) {
      for (Launch* l : {&together, &single}) l->orders[block].block_barrier();
    }
    if (random(16) == 0) {
      // The next launch, ordered after this one.
      for (Launch* l : {&together, &single}) l->cells.assign(kCells, GlobalCell());
    }
    const bool one_place = random(3) == 0, strong = random(3) == 0,
               write = one_place && !strong ? false : random(3) == 0;
    const auto side = [&](Launch& l) {
      return Side{.order = &l.orders[block],
                  .block = block,
                  .warp = warp,
                  .pc = 10 + random(2),
                  .strong = strong,
                  .write = write,
                  .updates = strong && write};
    };
    const std::uint32_t before = state;
    GlobalRaces::Access a(together.races, side(together), together.memo);
    state = before;  // both get the same instruction
    GlobalRaces::Access b(single.races, side(single), single.memo);
    const bool took =
        one_place ? record_one_place(together.races, &together.cells[first], width, lane,
                                     lane + count - 1, a)
                  : record_row(together.races, &together.cells[first], width, lane, count, a);
    // The cells of a row may change on the way. The row is then recorded in parts.
    std::uint32_t done = took ? count : 0;
    while (!one_place && done < count) {
      const std::uint32_t part =
          length_of_row(together.races, &together.cells[first + done * width], width, count - done);
      if (part == 0 || !record_row(together.races, &together.cells[first + done * width], width,
                                   lane + done, part, a))
        break;
      done += part;
    }
    parted += !took && done == count;
    std::uint32_t found = 0, expected = 0;  // the lanes that race
    LaneAccess conflict;
    for (std::uint32_t l = 0; l < count; ++l) {
      const bool element =
          l >= done &&
          record_element(together.races, &together.cells[first + (one_place ? 0 : l * width)],
                         width, lane + l, a);
      elements += element;
      for (std::uint32_t c = 0; c < width; ++c) {
        const std::uint32_t cell = first + (one_place ? c : l * width + c);
        if (l >= done && !element)
          found |=
              std::uint32_t{together.races.access(together.cells[cell], 15, lane + l, a, conflict)}
              << l;
        expected |=
            std::uint32_t{single.races.access(single.cells[cell], 15, lane + l, b, conflict)} << l;
      }
    }
    ASSERT_EQ(found, expected) << "step " << i << (one_place ? ", one place" : ", a row")
                               << (took ? ", together" : ", lane by lane");
    taken += took;
    conflicts += found != 0;
  }
  EXPECT_GT(taken, 3000u);
  EXPECT_GT(parted, 500u);
  EXPECT_GT(elements, 5000u);
  EXPECT_GT(conflicts, 2000u);
}

// Blocks one after another, each with an instruction whose lanes go to words far apart. Nothing
// orders them.
TEST(GlobalRaces, ScatteredLanesOfSeveralBlocks) {
  memory::DeviceMemory memory;
  const memory::Address begin = memory.allocate(1 << 16, 256, memory::Kind::kDevice, 0)->base;
  GlobalRaces races;
  races.start(memory, 1, 1);
  GlobalRaces::Memo memo;
  SharedRaces orders[6];
  std::uint64_t address[32];
  for (std::uint64_t l = 0; l < 32; ++l) address[l] = begin + 4 * (l * 401 % 8192);
  const auto lanes_taken = [&](std::uint32_t block, bool atomic, bool observes = false) {
    orders[block].start(0, 2, block, 1, &races.grid());
    const std::uint32_t first = races.records().least_to_come(memo.records);
    GlobalRaces::Access me(races,
                           Side{.order = &orders[block],
                                .block = block,
                                .pc = 10 + block,
                                .strong = atomic,
                                .write = atomic,
                                .updates = atomic,
                                .observes = observes},
                           memo);
    return record_scattered(races, memory, {address, 0, 4, ~0u, first}, me);
  };
  const auto racing_writes = [&](std::uint32_t block) {
    orders[block].start(0, 2, block, 1, &races.grid());
    GlobalRaces::Access me(
        races, Side{.order = &orders[block], .block = block, .pc = 10 + block, .write = true},
        memo);
    std::uint32_t lanes = 0;
    LaneAccess with;
    for (std::uint32_t l = 0; l < 32; ++l)
      lanes |= std::uint32_t{races.access(*cell_of(memory, address[l]), 15, l, me, with)} << l;
    return lanes;
  };
  EXPECT_EQ(lanes_taken(0, false), ~0u);
  EXPECT_EQ(lanes_taken(1, false), ~0u) << "a second reader is kept";
  const std::uint32_t next = races.records().least_to_come(memo.records);
  EXPECT_EQ(lanes_taken(2, false), ~0u);
  EXPECT_EQ(races.records().least_to_come(memo.records), next) << "a third reading makes no record";
  EXPECT_EQ(lanes_taken(3, true), 0u) << "atomics race with plain readers: nothing is decided here";
  EXPECT_EQ(racing_writes(4), ~0u);
  EXPECT_EQ(lanes_taken(5, false), 0u) << "so do readings of what has been written";

  for (std::uint64_t& a : address) a += 1 << 15;
  EXPECT_EQ(lanes_taken(0, true), ~0u);
  EXPECT_EQ(lanes_taken(1, true), ~0u);
  EXPECT_EQ(lanes_taken(2, true), ~0u);
  EXPECT_EQ(lanes_taken(3, true, true), 0u) << "of another kind: its result is used";
  EXPECT_EQ(racing_writes(4), ~0u);
}

}  // namespace global_races_test
}  // namespace lockstep::check
