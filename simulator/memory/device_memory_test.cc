#include "simulator/memory/device_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::memory {
namespace device_memory_test {

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(DeviceMemory, AllocationIsAlignedAsAskedAndNoBetter) {
  DeviceMemory memory;
  for (std::uint64_t alignment : {1, 4, 256, 512, 4096, 1 << 21}) {
    const Allocation* a = memory.allocate(100, alignment, Kind::kDevice, 0);
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->base % alignment, 0u);
    if (alignment < 4096) {
      EXPECT_NE(a->base % (2 * alignment), 0u) << alignment;
    }
    EXPECT_TRUE(memory.in_window(a->base));
  }
}

TEST(DeviceMemory, RefusesImpossibleRequests) {
  DeviceMemory memory;
  EXPECT_EQ(memory.allocate(0, 256, Kind::kDevice, 0), nullptr);
  EXPECT_EQ(memory.allocate(16, 0, Kind::kDevice, 0), nullptr);
  EXPECT_EQ(memory.allocate(16, 48, Kind::kDevice, 0), nullptr);
  EXPECT_EQ(memory.allocate(~std::uint64_t{0} / 2, 256, Kind::kDevice, 0), nullptr);
  EXPECT_EQ(memory.allocate(~std::uint64_t{0} - 100, 256, Kind::kDevice, 0), nullptr);
  EXPECT_TRUE(memory.live().empty());
}

TEST(DeviceMemory, SixtySmallWindowsExistAtOnce) {
  std::vector<std::unique_ptr<DeviceMemory>> all;
  for (int i = 0; i < 60; ++i) {
    const auto& memory =
        all.emplace_back(std::make_unique<DeviceMemory>(DeviceMemory::kSmallWindow));
    EXPECT_EQ(memory->window_end() - memory->window_begin(), DeviceMemory::kSmallWindow);
    const Allocation* a = memory->allocate(1 << 20, 256, Kind::kDevice, 0);
    ASSERT_NE(a, nullptr);
    *memory->host(*a, a->base) = std::byte{1};
    EXPECT_EQ(memory->allocate(DeviceMemory::kSmallWindow, 256, Kind::kDevice, 0), nullptr);
  }
}

TEST(DeviceMemory, BytesAreReachedAtTheAliasAndStartAsZero) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(10000, 256, Kind::kDevice, 0);
  std::byte* bytes = memory.host(*a, a->base);
  EXPECT_EQ(static_cast<std::int64_t>(reinterpret_cast<Address>(bytes) - a->base), a->alias_delta);
  EXPECT_EQ(memory.host(*a, a->base + 9999), bytes + 9999);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(bytes[i], std::byte{0});
  std::memset(bytes, 0x5a, 10000);
  EXPECT_EQ(bytes[9999], std::byte{0x5a});
}

TEST(DeviceMemoryDeathTest, HostCodeThatDereferencesADevicePointerDies) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(64, 256, Kind::kDevice, 0);
  volatile int* p = reinterpret_cast<int*>(a->base);
  EXPECT_EXIT(*p = 1, testing::KilledBySignal(SIGSEGV), "");
}

TEST(DeviceMemoryDeathTest, ManagedMemoryIsOneMemoryAtBothAddressesUntilFreed) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(3 * 4096 + 1, 256, Kind::kManaged, 0);
  ASSERT_NE(a, nullptr);
  auto* host = reinterpret_cast<unsigned char*>(a->base);
  for (int i = 0; i < 3 * 4096 + 1; ++i) host[i] = static_cast<unsigned char>(i * 7);
  EXPECT_EQ(0, std::memcmp(host, memory.host(*a, a->base), 3 * 4096 + 1));
  memory.host(*a, a->base)[5] = std::byte{99};
  EXPECT_EQ(host[5], 99);
  EXPECT_TRUE(memory.is_written(a->base, a->size)) << "the host may have written it unseen";
  const Address base = a->base;
  EXPECT_EQ(memory.release(base), DeviceMemory::FreeResult::kOk);
  EXPECT_EXIT(*reinterpret_cast<volatile int*>(base) = 1, testing::KilledBySignal(SIGSEGV), "");
}

TEST(DeviceMemory, FindKnowsExactlyTheBytesOfAnAllocation) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(1000, 256, Kind::kDevice, 0);
  EXPECT_EQ(memory.find(a->base), a);
  EXPECT_EQ(memory.find(a->base + 999), a);
  EXPECT_EQ(memory.find(a->base + 1000), nullptr);
  EXPECT_EQ(memory.find(a->base - 1), nullptr);
  EXPECT_EQ(memory.find(0), nullptr);
  EXPECT_EQ(memory.find(memory.window_end()), nullptr);
}

TEST(DeviceMemory, NeighboursAreGapsApartInBothDirections) {
  DeviceMemory memory;
  for (std::uint64_t size : {1ull, 1000ull, 1ull << 20, 1ull << 30, 3ull << 30}) {
    const Allocation* a = memory.allocate(size, 256, Kind::kDevice, 0);
    const Allocation* b = memory.allocate(size, 256, Kind::kDevice, 0);
    const std::uint64_t gap = std::clamp<std::uint64_t>(size, 64 << 10, 256 << 20);
    EXPECT_GE(b->base - (a->base + a->size), gap);
    const auto n = memory.neighbours(a->base + a->size + 8);
    EXPECT_EQ(n.below, a);
    EXPECT_EQ(n.above, b);
  }
}

TEST(DeviceMemory, FreedAllocationsStayKnownAndAddressesAreNotUsedAgain) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(4096, 256, Kind::kDevice, 0, "first");
  const Address base = a->base;
  const auto generation = memory.generation();
  EXPECT_EQ(memory.release(base + 1), DeviceMemory::FreeResult::kNotAnAllocation);
  EXPECT_EQ(memory.release(base), DeviceMemory::FreeResult::kOk);
  EXPECT_NE(memory.generation(), generation);
  EXPECT_EQ(memory.release(base), DeviceMemory::FreeResult::kAlreadyFreed);
  ASSERT_NE(memory.find(base + 10), nullptr);
  EXPECT_TRUE(memory.find(base + 10)->freed);
  EXPECT_EQ(memory.find(base + 10)->name, "first");
  for (int i = 0; i < 1000; ++i)
    EXPECT_NE(memory.allocate(4096, 256, Kind::kDevice, 0)->base, base);
}

TEST(DeviceMemory, FreeingGivesPagesBack) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps memory of its own for what is touched";
#endif
  DeviceMemory memory;
  const std::uint64_t size = 64 << 20;
  const std::size_t before = resident_bytes();
  const Allocation* a = memory.allocate(size, 256, Kind::kDevice, 0);
  std::memset(memory.host(*a, a->base), 1, size);
  memory.mark_written(a->base, size);
  for (Address p = a->base; p < a->base + size; p += 4) *memory.race_shadow(p) = 1;
  const std::size_t during = resident_bytes();
  EXPECT_GE(during - before, 3 * size);
  EXPECT_LE(during - before, 4 * size) << "at most 4 bytes a byte with all shadow touched";
  memory.release(a->base);
  EXPECT_LE(resident_bytes(), before + (4 << 20));
}

// The growth of this process's resident bytes after every `step`-th page of a 7 MiB shadow was
// touched and the shadow was cleared.
std::ptrdiff_t kept_by_a_cleared_shadow(std::uint64_t step, unsigned threads) {
  DeviceMemory memory;
  const std::uint64_t size = 7 << 20;
  const Allocation* a = memory.allocate(size, 256, Kind::kDevice, 0);
  const auto before = static_cast<std::ptrdiff_t>(resident_bytes());
  for (Address p = a->base; p < a->base + size; p += 2048 * step) *memory.race_shadow(p) = 1;
  memory.clear_race_shadow(threads);
  const std::ptrdiff_t kept = static_cast<std::ptrdiff_t>(resident_bytes()) - before;
  for (Address p = a->base; p < a->base + size; p += 4) {
    if (*memory.race_shadow(p) == 0) continue;
    ADD_FAILURE() << "the shadow is not clear at byte " << p - a->base;
    break;
  }
  return kept;
}

TEST(DeviceMemory, ClearedShadowKeepsItsPagesWhereItIsDense) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps memory of its own for what is touched";
#endif
  for (const unsigned threads : {1u, 3u}) {
    EXPECT_GE(kept_by_a_cleared_shadow(1, threads), 13 << 20);
    EXPECT_LE(kept_by_a_cleared_shadow(5, threads), 1 << 20);
  }
}

TEST(DeviceMemory, RecycledMemoryIsZeroUnwrittenAndForgotten) {
  DeviceMemory memory;
  // 16 GiB blocks use up any window within a few hundred rounds.
  const std::uint64_t size =
      memory.window_end() - memory.window_begin() > (64ull << 30) ? 16ull << 30 : 1ull << 30;
  Address first = 0;
  const Allocation* a = nullptr;
  const Allocation* kept = memory.allocate(100, 256, Kind::kDevice, 0, "kept");
  int rounds = 0;
  for (; rounds < 1000; ++rounds) {
    a = memory.allocate(size, 256, Kind::kDevice, 0);
    ASSERT_NE(a, nullptr);
    if (first == 0) {
      first = a->base;
    } else if (a->base == first) {
      break;
    }
    EXPECT_FALSE(memory.is_written(a->base, 8));
    EXPECT_EQ(*memory.host(*a, a->base), std::byte{0});
    EXPECT_EQ(*memory.race_shadow(a->base), 0u);
    memory.mark_written(a->base, 8);
    *memory.host(*a, a->base) = std::byte{1};
    *memory.race_shadow(a->base) = 7;
    memory.release(a->base);
  }
  ASSERT_EQ(a->base, first) << "the window was never used again";
  EXPECT_GE(rounds, 4);
  EXPECT_FALSE(memory.is_written(a->base, 8));
  EXPECT_EQ(*memory.host(*a, a->base), std::byte{0});
  EXPECT_EQ(*memory.race_shadow(a->base), 0u);
  EXPECT_FALSE(memory.find(a->base)->freed);
  EXPECT_EQ(memory.find(kept->base), kept) << "a live allocation must survive";
  EXPECT_EQ(kept->name, "kept");
}

TEST(DeviceMemory, WindowFullOfLiveAllocationsIsRefused) {
  DeviceMemory memory;
  const std::uint64_t size = 15ull << 30;
  int made = 0;
  while (memory.allocate(size, 256, Kind::kDevice, 0) != nullptr) ASSERT_LT(++made, 1000);
  EXPECT_GT(made, 0);
  EXPECT_EQ(memory.live().size(), static_cast<std::size_t>(made));
}

TEST(DeviceMemory, FreedRecordsAreBounded) {
  DeviceMemory memory;
  const Address first = memory.allocate(16, 256, Kind::kDevice, 0)->base;
  memory.release(first);
  bool again = false;
  for (std::size_t i = 0; i < DeviceMemory::kMaxFreed + 10 && !again; ++i) {
    const Allocation* a = memory.allocate(16, 256, Kind::kDevice, 0);
    again = a->base == first;
    memory.release(a->base);
  }
  EXPECT_TRUE(again);
}

TEST(DeviceMemory, CapacityIsHeldForEachDevice) {
  DeviceMemory memory;
  memory.set_capacity(0, 1000);
  memory.set_capacity(1, 500);
  const Allocation* a = memory.allocate(600, 256, Kind::kDevice, 0);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(memory.allocate(401, 256, Kind::kDevice, 0), nullptr);
  EXPECT_EQ(memory.allocate(501, 256, Kind::kDevice, 1), nullptr);
  EXPECT_NE(memory.allocate(500, 256, Kind::kDevice, 1), nullptr);
  EXPECT_NE(memory.allocate(5000, 256, Kind::kPinned, 0), nullptr) << "pinned memory is the host's";
  EXPECT_EQ(memory.bytes_in_use(0), 600u);
  memory.release(a->base);
  EXPECT_EQ(memory.bytes_in_use(0), 0u);
  EXPECT_NE(memory.allocate(1000, 256, Kind::kDevice, 0), nullptr);
}

TEST(DeviceMemory, NameBufferNarrowsWhatKernelsMayTouch) {
  DeviceMemory memory;
  const Allocation* a = memory.allocate(1000, 256, Kind::kDevice, 0);
  EXPECT_TRUE(memory.name_buffer(a->base + 100, 800, "x"));
  EXPECT_EQ(a->begin, a->base + 100);
  EXPECT_EQ(a->end, a->base + 900);
  EXPECT_EQ(a->name, "x");
  EXPECT_EQ(memory.find(a->base), a) << "the allocation itself keeps its size";
  EXPECT_FALSE(memory.name_buffer(a->base + 100, 901, "too long"));
  EXPECT_FALSE(memory.name_buffer(a->base + 1000, 1, "past the end"));
  EXPECT_TRUE(memory.name_buffer(a->base + 1000, 0, "empty"));
  memory.release(a->base);
  EXPECT_FALSE(memory.name_buffer(a->base, 10, "freed"));
}

TEST(DeviceMemory, RegisteredHostMemoryIsKnownWhileRegistered) {
  DeviceMemory memory;
  static char buffer[4096];
  const Allocation* a = memory.register_host(buffer, sizeof buffer);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->kind, Kind::kRegistered);
  EXPECT_FALSE(a->has_shadow);
  EXPECT_EQ(memory.find(reinterpret_cast<Address>(buffer) + 4095), a);
  EXPECT_EQ(static_cast<void*>(memory.host(*a, a->base)), static_cast<void*>(buffer));
  EXPECT_TRUE(memory.is_written(a->base, a->size));
  EXPECT_EQ(memory.register_host(buffer + 100, 10), nullptr);
  EXPECT_EQ(memory.register_host(buffer - 10, 20), nullptr);
  EXPECT_EQ(memory.register_host(reinterpret_cast<void*>(memory.window_begin() + 4096), 10),
            nullptr);
  EXPECT_EQ(memory.release(a->base), DeviceMemory::FreeResult::kOk);
  EXPECT_EQ(memory.find(reinterpret_cast<Address>(buffer)), nullptr);
  EXPECT_NE(memory.register_host(buffer + 1, 10), nullptr);
}

TEST(DeviceMemory, GenericWindowsLieApart) {
  DeviceMemory memory;
  const Address size = 4ull << 30;
  EXPECT_EQ(memory.shared_window() % size, 0u);
  EXPECT_EQ(memory.local_window() % size, 0u);
  EXPECT_GE(memory.local_window(), memory.shared_window() + size);
  EXPECT_FALSE(memory.in_window(memory.shared_window()));
  EXPECT_FALSE(memory.in_window(memory.local_window() + size - 1));
}

TEST(DeviceMemory, TwoCanLiveInOneProcess) {
  DeviceMemory one;
  DeviceMemory two;
  EXPECT_NE(one.window_begin(), two.window_begin());
  const Allocation* a = one.allocate(16, 256, Kind::kManaged, 0);
  const Allocation* b = two.allocate(16, 256, Kind::kManaged, 0);
  *reinterpret_cast<int*>(a->base) = 1;
  *reinterpret_cast<int*>(b->base) = 2;
  EXPECT_EQ(*reinterpret_cast<int*>(a->base), 1);
}

// ---- reserved ranges

constexpr std::uint64_t kPiece = std::uint64_t{2} << 20;

TEST(ReservedRange, IsNothingUntilItIsBacked) {
  DeviceMemory memory;
  const Address range = memory.reserve_range(4 * kPiece, kPiece);
  ASSERT_NE(range, 0u);
  EXPECT_EQ(range % kPiece, 0u);
  EXPECT_EQ(memory.find(range), nullptr);
  EXPECT_TRUE(memory.live().empty());
  ASSERT_TRUE(memory.back(range, kPiece, 0));
  EXPECT_FALSE(memory.back(range, kPiece, 0));
  EXPECT_FALSE(memory.back(range + 3 * kPiece, 2 * kPiece, 0));
  const Allocation* a = memory.find(range + kPiece - 1);
  ASSERT_NE(a, nullptr);
  EXPECT_FALSE(memory.is_written(range, 1));
  EXPECT_EQ(memory.find(range + kPiece), nullptr);
  EXPECT_FALSE(memory.release_range(range)) << "something is backed";
  ASSERT_TRUE(memory.unback(range, kPiece));
  EXPECT_TRUE(memory.release_range(range));
  EXPECT_FALSE(memory.release_range(range));
}

TEST(ReservedRange, LongOnesComeAndGoBesideAllocationsThatStay) {
  DeviceMemory memory;
  const std::uint64_t quarter = (memory.window_end() - memory.window_begin()) / 4;
  for (int i = 0; i < 20; ++i) {
    const Address range = memory.reserve_range(quarter - kPiece, kPiece);
    ASSERT_NE(range, 0u) << i;
    ASSERT_NE(memory.allocate(4096, 256, Kind::kDevice, 0), nullptr);
    ASSERT_TRUE(memory.release_range(range));
  }
}

TEST(ReservedRange, NeighboursAreOneAllocationAndPartAgain) {
  DeviceMemory memory;
  const Address range = memory.reserve_range(4 * kPiece, kPiece);
  ASSERT_TRUE(memory.back(range, kPiece, 0));
  *memory.host(*memory.find(range), range + 5) = std::byte{42};
  memory.mark_written(range + 5, 1);
  ASSERT_TRUE(memory.back(range + 2 * kPiece, kPiece, 0));
  ASSERT_TRUE(memory.back(range + kPiece, kPiece, 0));
  const Allocation* a = memory.find(range);
  EXPECT_EQ(a->size, 3 * kPiece);
  EXPECT_EQ(a->begin, range);
  EXPECT_EQ(a->end, range + 3 * kPiece);
  EXPECT_EQ(*memory.host(*a, range + 5), std::byte{42});
  EXPECT_TRUE(memory.is_written(range + 5, 1));
  ASSERT_TRUE(memory.back(range + 3 * kPiece, kPiece, 1));
  EXPECT_EQ(memory.find(range)->size, 3 * kPiece) << "another device's";
  ASSERT_TRUE(memory.unback(range + kPiece, kPiece));
  EXPECT_EQ(memory.find(range)->size, kPiece);
  EXPECT_TRUE(memory.find(range + kPiece)->freed);
  EXPECT_EQ(memory.find(range + 2 * kPiece)->size, kPiece);
  EXPECT_FALSE(memory.unback(range, 2 * kPiece));
}

TEST(ReservedRange, NobodyElseIsPutThere) {
  DeviceMemory memory;
  const Address range = memory.reserve_range(64 * kPiece, kPiece);
  for (int i = 0; i < 200; ++i) {
    const Allocation* a = memory.allocate(kPiece, 256, Kind::kDevice, 0);
    ASSERT_NE(a, nullptr);
    ASSERT_TRUE(a->base >= range + 64 * kPiece || a->base + a->size <= range);
    memory.release(a->base);
  }
}

TEST(ReservedRange, WhatIsClaimedCountsAgainstTheCapacity) {
  DeviceMemory memory;
  memory.set_capacity(0, 2 * kPiece);
  EXPECT_TRUE(memory.claim(0, kPiece));
  EXPECT_FALSE(memory.claim(0, 2 * kPiece));
  EXPECT_EQ(memory.allocate(2 * kPiece, 256, Kind::kDevice, 0), nullptr);
  memory.unclaim(0, kPiece);
  EXPECT_NE(memory.allocate(2 * kPiece, 256, Kind::kDevice, 0), nullptr);
}

}  // namespace device_memory_test
}  // namespace lockstep::memory
