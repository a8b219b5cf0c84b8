// What is remembered of allocations that are written as a whole.
#include "simulator/memory/known_written.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace known_written_test {

TEST(KnownWritten, AgreesWithTheShadow) {
  constexpr std::uint64_t kSize = 1000;
  DeviceMemory memory;
  const Allocation& a = *memory.allocate(kSize, 4, Kind::kDevice, 0);
  const Allocation& other = *memory.allocate(kSize, 4, Kind::kDevice, 0);
  memory.mark_written(other.base, kSize / 2);
  std::mt19937 random(1);
  bool was_whole = false;
  std::uint64_t generation = memory.cache_generation();
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t at = random() % kSize, size = 1 + random() % std::min(20ul, kSize - at);
    switch (random() % 8) {
      case 0: memory.mark_unwritten(a.base + at, size); break;
      case 1: memory.copy_written(a.base + at, other.base + random() % (kSize - size), size); break;
      case 2: memory.mark_written(a.base, at); break;
      case 3: memory.mark_written(a.base + at, kSize - at); break;
      default: memory.mark_written(a.base, kSize);
    }
    const bool is_whole = memory.is_written(a.base, kSize);
    if (was_whole && !is_whole) {
      ASSERT_NE(memory.cache_generation(), generation) << round;
    }
    ASSERT_EQ(memory.is_all_written(a), is_whole) << round;
    generation = memory.cache_generation();
    was_whole = is_whole;
  }
}

TEST(KnownWritten, WhatChangesNothingKeepsCaches) {
  DeviceMemory memory;
  const Allocation& a = *memory.allocate(64, 4, Kind::kDevice, 0);
  const Allocation& b = *memory.allocate(64, 4, Kind::kDevice, 0);
  memory.mark_written(a.base, 64);
  memory.mark_written(b.base, 63);
  EXPECT_TRUE(memory.is_all_written(a));
  EXPECT_FALSE(memory.is_all_written(b));
  const std::uint64_t generation = memory.cache_generation();
  memory.mark_unwritten(b.base + 7, 1);
  memory.copy_written(a.base, a.base + 32, 32);
  EXPECT_EQ(memory.cache_generation(), generation);
  memory.copy_written(a.base, b.base, 32);
  EXPECT_NE(memory.cache_generation(), generation);
  EXPECT_FALSE(memory.is_all_written(a));
}

TEST(KnownWritten, BytesThatBecomeUnwrittenDuringALookCount) {
  KnownWritten known;
  const KnownWritten::Whole whole{64, 32, 1};
  const KnownWritten::Look look = known.begin(whole);
  known.forget(70, 1);
  EXPECT_FALSE(known.end(whole, look, 96));
  EXPECT_EQ(known.begin(whole).from, 64u) << "nothing was learnt";
}

TEST(KnownWritten, ALookGoesOnWhereTheLastOneEnded) {
  KnownWritten known;
  const KnownWritten::Whole whole{64, 32, 1}, before{0, 64, 2};
  EXPECT_TRUE(known.end(before, known.begin(before), 64));
  EXPECT_FALSE(known.end(whole, known.begin(whole), 80));
  EXPECT_EQ(known.begin(whole).from, 80u);
  known.forget(90, 6);
  EXPECT_EQ(known.begin(whole).from, 80u) << "behind what is known";
  known.forget(72, 1);
  EXPECT_EQ(known.begin(whole).from, 72u);
  known.forget(60, 8);
  EXPECT_EQ(known.begin(whole).from, 64u);
  EXPECT_EQ(known.begin(before).from, 60u);
  EXPECT_EQ(known.generation(), 1u) << "only the first was written as a whole";
}

TEST(KnownWritten, AnotherAllocationAtTheAddressIsUnknown) {
  KnownWritten known;
  const KnownWritten::Whole whole{64, 32, 1}, later{64, 32, 2};
  EXPECT_TRUE(known.end(whole, known.begin(whole), 96));
  EXPECT_EQ(known.begin(later).from, 64u);
}

TEST(KnownWritten, NothingIsKeptOfAFreedAllocation) {
  DeviceMemory memory;
  const Allocation& a = *memory.allocate(64, 4, Kind::kDevice, 0);
  memory.is_all_written(a);
  ASSERT_EQ(memory.known_written().size(), 1u);
  memory.release(a.base);
  EXPECT_EQ(memory.known_written().size(), 0u);
}

TEST(KnownWritten, NothingIsKeptOfMemoryThatIsNoLongerMapped) {
  constexpr std::uint64_t kPiece = 2 << 20;
  DeviceMemory memory;
  const Address range = memory.reserve_range(2 * kPiece, kPiece);
  ASSERT_TRUE(memory.back(range, 2 * kPiece, 0));
  memory.is_all_written(*memory.find(range));
  ASSERT_EQ(memory.known_written().size(), 1u);
  ASSERT_TRUE(memory.unback(range, 2 * kPiece));
  EXPECT_EQ(memory.known_written().size(), 0u);
}

}  // namespace known_written_test
}  // namespace lockstep::memory
