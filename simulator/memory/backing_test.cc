#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "simulator/memory/backing_blocks.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace backing_test {

#if defined(__SANITIZE_THREAD__)
constexpr bool kKeepsMemory = true;  // ThreadSanitizer, for what is touched
#else
constexpr bool kKeepsMemory = false;
#endif

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Stores to every byte, and to all of its shadow.
void use(DeviceMemory& memory, const Allocation& a) {
  std::memset(memory.host(a, a.base), 0x5a, a.size);
  memory.mark_written(a.base, a.size);
  for (Address p = a.base; p < a.base + a.size; p += 4) *memory.race_shadow(p) = 7;
}

// What an allocation has that a new one must not have.
std::string traces(const DeviceMemory& memory, const Allocation& a) {
  std::string all;
  const std::byte* const bytes = memory.host(a, a.base);
  for (std::uint64_t i = 0; i < a.size; ++i) {
    if (bytes[i] != std::byte{0}) return all + "byte " + std::to_string(i);
  }
  if (memory.first_written(a.base, a.size) != a.base + a.size) return "a written byte";
  for (Address p = a.base; p < a.base + a.size; p += 4) {
    if (*memory.race_shadow(p) != 0) return "a record of the race checker";
  }
  return "";
}

TEST(Backing, ABlockBacksALaterAllocationAtAnotherAddress) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(5000, 256, Kind::kDevice, 0);
  const std::byte* const host = memory.host(*a, a->base);
  const Address base = a->base;
  use(memory, *a);
  memory.release(base);
  const Allocation* b = memory.allocate(5001, 256, Kind::kDevice, 0);
  EXPECT_NE(b->base, base);
  EXPECT_EQ(memory.host(*b, b->base), host);
  EXPECT_EQ(traces(memory, *b), "");
  use(memory, *b);
  EXPECT_EQ(traces(memory, *memory.find(base)), "") << "no longer its block";
}

TEST(Backing, LiveAllocationsShareNoByte) {
  DeviceMemory memory;
  std::vector<const Allocation*> live;
  std::vector<std::uint8_t> marks;
  std::uint64_t step = 1;
  for (int round = 0; round < 3000; ++round) {
    step = step * 6364136223846793005u + 1442695040888963407u;
    if (live.size() > 60 || (live.size() > 4 && (step >> 40) % 2 == 0)) {
      const std::size_t i = (step >> 33) % live.size();
      const Allocation& a = *live[i];
      const std::byte* const bytes = memory.host(a, a.base);
      for (std::uint64_t n = 0; n < a.size; n += 97)
        ASSERT_EQ(static_cast<std::uint8_t>(bytes[n]), marks[i]) << round;
      memory.release(a.base);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      const std::uint64_t size = 1 + (step >> 30) % (std::uint64_t{1} << (6 + (step >> 20) % 13));
      const Allocation* a = memory.allocate(size, 256, Kind::kDevice, 0);
      ASSERT_NE(a, nullptr);
      ASSERT_EQ(traces(memory, *a), "") << round;
      marks.push_back(static_cast<std::uint8_t>(1 + round % 255));
      std::memset(memory.host(*a, a->base), marks.back(), a->size);
      memory.mark_written(a->base, a->size);
      *memory.race_shadow(a->base) = 7;
      live.push_back(a);
    }
  }
}

TEST(Backing, AnAddressThatComesAgainHasNothingOfItsEarlierUse) {
  for (const bool in_order : {true, false}) {
    DeviceMemory memory;
    std::vector<Address> bases;
    for (int i = 0; i < 6; ++i) {
      const Allocation* a = memory.allocate(3000, 256, Kind::kDevice, 0);
      use(memory, *a);
      bases.push_back(a->base);
    }
    const Address kept = bases[2];
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const Address base = bases[in_order ? i : bases.size() - 1 - i];
      if (base != kept) memory.release(base);
    }
    memory.set_next(memory.window_begin());
    for (std::size_t i = 0; i < bases.size(); ++i) {
      if (bases[i] == kept) continue;
      const Allocation* a = memory.allocate(3000, 256, Kind::kDevice, 0);
      EXPECT_EQ(a->base, bases[i]);
      EXPECT_EQ(traces(memory, *a), "");
    }
    EXPECT_TRUE(memory.is_written(kept, 3000));
    EXPECT_EQ(*memory.race_shadow(kept), 7u);
    EXPECT_EQ(*memory.host(*memory.find(kept), kept), std::byte{0x5a});
  }
}

TEST(Backing, APartOfARangeThatIsBackedAgainHasNothingOfItsEarlierUse) {
  constexpr std::uint64_t kPiece = 2 << 20;
  DeviceMemory memory;
  const Address range = memory.reserve_range(3 * kPiece, kPiece);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(memory.back(range, kPiece, 0));
    EXPECT_EQ(traces(memory, *memory.find(range)), "") << i;
    use(memory, *memory.find(range));
    ASSERT_TRUE(memory.unback(range, kPiece));
  }
}

TEST(Backing, ABlockThatIsFreedWhileAKernelRunsIsNotUsedMeanwhile) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(100, 256, Kind::kDevice, 0);
  const std::byte* const host = memory.host(*a, a->base);
  {
    const DeviceMemory::Hold hold(memory);
    memory.release(a->base);
    const Allocation* b = memory.allocate(100, 256, Kind::kDevice, 0);
    EXPECT_NE(memory.host(*b, b->base), host);
  }
  const Allocation* c = memory.allocate(100, 256, Kind::kDevice, 0);
  EXPECT_EQ(memory.host(*c, c->base), host);
}

TEST(Backing, SharedMemoryLeavesItsBlockToTheNext) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(5000, 256, Kind::kDevice, 0);
  use(memory, *a);
  const int file = memory.share(a->base);
  ASSERT_GE(file, 0);
  EXPECT_EQ(memory.host(*a, a->base)[4999], std::byte{0x5a});
  const Allocation* const imported = memory.import(file, a->base % 4096, 5000, 0);
  ASSERT_NE(imported, nullptr);
  memory.release(a->base);
  const Allocation* b = memory.allocate(5000, 256, Kind::kDevice, 0);
  use(memory, *b);
  std::memset(memory.host(*b, b->base), 1, b->size);
  EXPECT_EQ(memory.host(*imported, imported->base)[0], std::byte{0x5a});
}

TEST(Backing, FreedMemoryKeepsFewBytes) {
  if (kKeepsMemory) GTEST_SKIP();
  DeviceMemory memory;
  const std::size_t before = resident_bytes();
  for (const std::uint64_t size : {100u, 60'000u, 250'000u, 1'000'000u}) {
    std::vector<const Allocation*> all;
    for (std::uint64_t bytes = 0; bytes < 60 << 20; bytes += size + 4096) {
      all.push_back(memory.allocate(size, 256, Kind::kDevice, 0));
      use(memory, *all.back());
      if (all.size() == 4000) break;
    }
    for (const Allocation* a : all) memory.release(a->base);
    EXPECT_LE(resident_bytes(), before + (64 << 20)) << size;
  }
}

TEST(Backing, TheSearchForRacesForgetsWhatIsInBlocks) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(65536 - 256, 256, Kind::kDevice, 0);
  const Allocation* b = memory.allocate(5, 1, Kind::kDevice, 0);
  use(memory, *a);
  use(memory, *b);
  memory.clear_race_shadow();
  for (const Allocation* c : {a, b}) {
    for (Address p = c->base; p < c->base + c->size; p += 4) ASSERT_EQ(*memory.race_shadow(p), 0u);
  }
}

TEST(BackingBlocks, AreApartAndWithinTheirSpan) {
  constexpr std::uint64_t kBytes = 64 << 10;
  BackingBlocks blocks;
  for (int round = 0; round < 2; ++round) {
    std::set<std::uint64_t> taken;
    while (const auto block = blocks.take(kBytes - 1)) {
      EXPECT_EQ(block->is_new, round == 0);
      ASSERT_EQ(block->place % kBytes, 0u);
      ASSERT_LE(block->place + kBytes, BackingBlocks::kSpan);
      ASSERT_TRUE(taken.insert(block->place).second);
    }
    EXPECT_EQ(taken.size(), BackingBlocks::kSpan / kBytes);
    // Smaller blocks than those that are free are parts of them.
    const std::uint64_t first = *taken.begin();
    blocks.put(first, kBytes - 1);
    std::set<std::uint64_t> parts;
    while (const auto part = blocks.take(4096)) {
      EXPECT_FALSE(part->is_new);
      ASSERT_TRUE(part->place >= first && part->place < first + kBytes);
      ASSERT_EQ(part->place % 4096, 0u);
      ASSERT_TRUE(parts.insert(part->place).second);
    }
    EXPECT_EQ(parts.size(), 16u);
    for (const std::uint64_t part : parts) blocks.put(part, 4096);
    taken.erase(first);
    const std::uint64_t last = *taken.rbegin();
    taken.erase(last);
    for (const std::uint64_t place : taken) blocks.put(place, kBytes - 1);
    // The span is divided anew only when no block is taken.
    EXPECT_FALSE(blocks.take(BackingBlocks::kLargest));
    blocks.put(last, kBytes - 1);
    const auto large = blocks.take(BackingBlocks::kLargest);
    ASSERT_TRUE(large);
    EXPECT_FALSE(large->is_new);
    blocks.put(large->place, BackingBlocks::kLargest);
  }
  EXPECT_FALSE(blocks.take(BackingBlocks::kLargest + 1));
}

}  // namespace backing_test
}  // namespace lockstep::memory
