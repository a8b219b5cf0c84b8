#include "simulator/memory/partly_written.h"

#include <gtest/gtest.h>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace partly_written_test {

TEST(PartlyWritten, AByteWithoutAnEntryIsUnwrittenAsAWhole) {
  PartlyWritten bytes;
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(bytes.unwritten_bits(5), 0xff);
  bytes.set(5, 0xff);
  EXPECT_TRUE(bytes.empty()) << "that needs no entry";
  bytes.set(5, 0x07);
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(bytes.unwritten_bits(5), 0x07);
  EXPECT_EQ(bytes.unwritten_bits(4), 0xff);
  bytes.set(5, 0xff);
  EXPECT_EQ(bytes.unwritten_bits(5), 0xff);
}

TEST(PartlyWritten, ARangeIsForgottenAndNoMore) {
  PartlyWritten bytes;
  for (const std::uint64_t place : {63u, 64u, 127u, 128u, 1u << 20}) bytes.set(place, 1);
  bytes.forget(64, 64);
  EXPECT_EQ(bytes.unwritten_bits(63), 1);
  EXPECT_EQ(bytes.unwritten_bits(64), 0xff);
  EXPECT_EQ(bytes.unwritten_bits(127), 0xff);
  EXPECT_EQ(bytes.unwritten_bits(128), 1);
  bytes.forget(0, 1u << 30);
  EXPECT_TRUE(bytes.empty()) << "a long range is looked through by its entries";
}

// A range of many chunks contains few existing ones; the first and last chunk are affected only
// within the range.
TEST(PartlyWritten, ALongRangeIsForgottenToItsEnds) {
  constexpr std::uint64_t kFirst = 1000, kLast = kFirst + (1u << 30) - 1;
  PartlyWritten bytes;
  for (const std::uint64_t place : {kFirst - 1, kFirst, kLast, kLast + 1}) bytes.set(place, 0x0f);
  bytes.forget(kFirst, kLast - kFirst + 1);
  EXPECT_EQ(bytes.unwritten_bits(kFirst - 1), 0x0f);
  EXPECT_EQ(bytes.unwritten_bits(kFirst), 0xff);
  EXPECT_EQ(bytes.unwritten_bits(kLast), 0xff);
  EXPECT_EQ(bytes.unwritten_bits(kLast + 1), 0x0f);
}

TEST(PartlyWritten, ACopyTakesEntriesAlong) {
  PartlyWritten bytes;
  bytes.set(10, 1);
  bytes.set(12, 3);
  bytes.set(101, 7);
  bytes.copy(100, 10, 3);
  EXPECT_EQ(bytes.unwritten_bits(100), 1);
  EXPECT_EQ(bytes.unwritten_bits(101), 0xff);
  EXPECT_EQ(bytes.unwritten_bits(102), 3);
  bytes.copy(11, 10, 2);
  EXPECT_EQ(bytes.unwritten_bits(10), 1);
  EXPECT_EQ(bytes.unwritten_bits(11), 1);
  EXPECT_EQ(bytes.unwritten_bits(12), 0xff);
}

TEST(PartlyWritten, OfADeviceFollowsItsShadow) {
  DeviceMemory memory;
  const Address a = memory.allocate(64, 256, Kind::kDevice, 0)->base,
                b = memory.allocate(64, 256, Kind::kDevice, 0)->base;
  memory.partly_written().set(a + 8, 0x0f);
  memory.copy_written(b, a, 64);
  EXPECT_EQ(memory.partly_written().unwritten_bits(b + 8), 0x0f);
  memory.mark_unwritten(b, 64);
  EXPECT_EQ(memory.partly_written().unwritten_bits(b + 8), 0xff);
  memory.release(a);
  EXPECT_TRUE(memory.partly_written().empty()) << "nothing is kept of freed memory";
  for (int i = 0; i < 4; ++i) {
    const Address again = memory.allocate(64, 256, Kind::kDevice, 0)->base;
    EXPECT_EQ(memory.partly_written().unwritten_bits(again + 8), 0xff)
        << "fresh memory, wherever it lies";
  }
}

}  // namespace partly_written_test
}  // namespace lockstep::memory
