// Tests which of many readers of one place are kept.
#include <gtest/gtest.h>

#include <vector>

#include "simulator/check/global_races.h"
#include "simulator/check/global_rows.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace readers_test {

// Four blocks that access a word of global memory. Each passes messages by a flag of its own.
class Readers : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kBlocks = 4;
  Readers() {
    word_ = memory_.allocate(4096, 256, memory::Kind::kDevice, 0)->base;
    begin(0);
  }
  // A launch of its own lane, which nothing orders with the launches before it but those in
  // `before`.
  void begin(std::uint32_t lane, std::vector<std::uint32_t> before = {}) {
    LaunchOrder::Place place;
    place.lane = lane;
    place.sequence = 1;
    place.before = before;
    place.several_lanes = true;
    races_.start(memory_, 1, 1, 0, place, kBlocks);
    first_ = races_.grid().launches().first_block();
    memo_ = {};
    for (std::uint32_t b = 0; b < kBlocks; ++b)
      orders_[b].start(0, 2, first_ + b, 1, &races_.grid());
  }
  Side side(std::uint32_t block, std::uint32_t warp, bool write, bool strong) {
    return {.order = &orders_[block],
            .block = first_ + block,
            .warp = warp,
            .pc = write ? 20u : 10u,
            .strong = strong,
            .write = write,
            .updates = strong && write};
  }
  bool races(std::uint32_t block, std::uint32_t thread, bool write, bool strong = false,
             std::uint64_t at = 0) {
    GlobalRaces::Access me(races_, side(block, thread / 32, write, strong), memo_);
    LaneAccess conflict;
    return races_.access(*cell_of(memory_, word_ + at), 15, thread % 32, me, conflict);
  }
  // All lanes of warp 0 read the word. False: each lane must be judged alone.
  bool read_together(std::uint32_t block) {
    GlobalRaces::Access me(races_, side(block, 0, false, false), memo_);
    return record_one_place(races_, cell_of(memory_, word_), 1, 0, 31, me);
  }
  SharedRaces& orders(std::uint32_t block) { return orders_[block]; }
  // What block `from` has done so far is ordered before what the first lane of warp `warp` of block
  // `to` does next.
  void pass(std::uint32_t from, std::uint32_t to, std::uint32_t warp) {
    const std::uint64_t flag = 64 + 64 * from;
    orders_[from].fence(0, ~0u, true, Scope::kGrid);
    races(from, 0, true, true, flag);
    races(to, 32 * warp, false, true, flag);
    orders_[to].fence(warp, ~0u, true, Scope::kGrid);
  }

 private:
  memory::DeviceMemory memory_;
  GlobalRaces races_;
  GlobalRaces::Memo memo_;
  SharedRaces orders_[kBlocks];
  std::uint32_t first_ = 0;
  memory::Address word_ = 0;
};

TEST_F(Readers, ABlockThatKnowsOfTheOthersIsKeptInTheirPlace) {
  EXPECT_TRUE(read_together(1));
  EXPECT_TRUE(read_together(2));
  pass(1, 0, 0);
  pass(2, 0, 0);
  EXPECT_TRUE(read_together(0));
  pass(1, 3, 0);
  pass(2, 3, 0);
  EXPECT_TRUE(races(3, 0, true)) << "with block 0";
}

TEST_F(Readers, ABlockThatIsTheFirstReaderReadsAgain) {
  EXPECT_FALSE(races(0, 0, false));
  EXPECT_TRUE(read_together(1));
  orders(0).block_barrier();
  EXPECT_TRUE(read_together(0));
  pass(1, 0, 1);
  EXPECT_TRUE(races(0, 32, true)) << "with the read after the barrier";
}

TEST_F(Readers, ABlockThatIsTheSecondReaderReadsAgain) {
  EXPECT_FALSE(races(1, 0, false));
  EXPECT_FALSE(races(0, 0, false));
  orders(0).block_barrier();
  EXPECT_TRUE(read_together(0));
  pass(1, 0, 1);
  EXPECT_TRUE(races(0, 32, true)) << "with the read after the barrier";
}

TEST_F(Readers, AThirdLaunchIsKeptToo) {
  EXPECT_TRUE(read_together(0));
  begin(1);
  EXPECT_TRUE(read_together(0));
  begin(2);
  if (!read_together(0)) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_FALSE(races(0, lane, false));
  }
  begin(3, {1, 1});
  EXPECT_TRUE(races(0, 0, true)) << "with the third launch";
}

TEST_F(Readers, AStrongReadBeforeIsNoWeakOne) {
  EXPECT_FALSE(races(1, 0, false, true));
  EXPECT_FALSE(read_together(0)) << "both are kept in a story";
}

}  // namespace readers_test
}  // namespace lockstep::check
