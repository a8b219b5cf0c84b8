// Compares the shadow with an array of bools after each operation.
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace written_shadow_test {

constexpr std::uint64_t kSize = 3000;

class WrittenShadow : public testing::Test {
 protected:
  void check() {
    for (std::uint64_t i = 0; i < kSize; ++i)
      ASSERT_EQ(memory_.is_written(base_ + i, 1), model_[i]) << i;
  }
  DeviceMemory memory_;
  Address base_ = memory_.allocate(kSize, 4, Kind::kDevice, 0)->base;
  std::vector<bool> model_ = std::vector<bool>(kSize, false);
};

TEST_F(WrittenShadow, StartsUnwritten) { check(); }

TEST_F(WrittenShadow, AgreesWithAModelUnderRandomOperations) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t longest = round % 3 == 0 ? 20 : kSize;
    const std::uint64_t from = random() % kSize,
                        size = random() % std::min(longest, kSize - from + 1);
    switch (random() % 4) {
      case 0:
        memory_.mark_written(base_ + from, size);
        for (std::uint64_t i = from; i < from + size; ++i) model_[i] = true;
        break;
      case 1:
        memory_.mark_unwritten(base_ + from, size);
        for (std::uint64_t i = from; i < from + size; ++i) model_[i] = false;
        break;
      case 2: {
        const std::uint64_t to = random() % (kSize - size + 1);
        memory_.copy_written(base_ + to, base_ + from, size);
        const std::vector<bool> before = model_;
        for (std::uint64_t i = 0; i < size; ++i) model_[to + i] = before[from + i];
        break;
      }
      default: {
        std::uint64_t first = from;
        while (first < from + size && model_[first]) ++first;
        ASSERT_EQ(memory_.first_unwritten(base_ + from, size), base_ + first)
            << from << " + " << size;
        ASSERT_EQ(memory_.is_written(base_ + from, size), first == from + size);
        std::uint64_t written = from;
        while (written < from + size && !model_[written]) ++written;
        ASSERT_EQ(memory_.first_written(base_ + from, size), base_ + written)
            << from << " + " << size;
      }
    }
    if (round % 50 == 0) check();
  }
  check();
}

TEST_F(WrittenShadow, OneHoleInALongRangeIsFound) {
  memory_.mark_written(base_, kSize);
  EXPECT_TRUE(memory_.is_written(base_, kSize));
  for (std::uint64_t hole : {0ull, 1ull, 7ull, 8ull, 63ull, 64ull, 1000ull, 2999ull}) {
    memory_.mark_unwritten(base_ + hole, 1);
    EXPECT_EQ(memory_.first_unwritten(base_, kSize), base_ + hole);
    memory_.mark_written(base_ + hole, 1);
  }
}

TEST_F(WrittenShadow, OutsideTheWindowEverythingCountsAsWritten) {
  static char host[16];
  const Address a = reinterpret_cast<Address>(host);
  EXPECT_TRUE(memory_.is_written(a, 16));
  memory_.mark_unwritten(a, 16);
  memory_.copy_written(base_, a, 16);
  EXPECT_TRUE(memory_.is_written(base_, 16));
  EXPECT_FALSE(memory_.is_written(base_, 17));
}

TEST_F(WrittenShadow, ThreadsMayMarkNeighbouringBytes) {
  for (int round = 0; round < 50; ++round) {
    memory_.mark_unwritten(base_, kSize);
    const auto mark_every_other = [&](std::uint64_t first) {
      for (std::uint64_t i = first; i < kSize; i += 2) memory_.mark_written(base_ + i, 1);
    };
    std::thread one(mark_every_other, 0), two(mark_every_other, 1);
    one.join();
    two.join();
    ASSERT_TRUE(memory_.is_written(base_, kSize));
  }
}

}  // namespace written_shadow_test
}  // namespace lockstep::memory
