#include "simulator/runtime/host/guarded_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "simulator/runtime/host/faults.h"

namespace lockstep::runtime {
namespace guarded_pages_test {

using Level = GuardedPages::Level;
using State = GuardedPages::State;
using memory::Box;

constexpr std::uint64_t kPages = 8;

class Guarded : public testing::Test {
 protected:
  Guarded() : allocation(*memory.allocate(kPages * kPageBytes, 256, memory::Kind::kManaged, 0)) {}
  memory::Address page(std::uint64_t i) const { return allocation.base + i * kPageBytes; }
  void add(Box box, Level level, Lane lane, std::uint32_t sequence) {
    GuardedPages::Guard guard;
    guard.box = box;
    guard.level = level;
    guard.lane = lane;
    guard.sequence = sequence;
    pages.add(allocation, std::move(guard));
  }
  void settle(Lane lane, std::uint32_t sequence) {
    Clock known;
    known.raise(lane, sequence);
    pages.settle(known, [](auto, auto) { return true; });
  }
  bool reads(memory::Address at) const { return pages.state(at, false) == State::kOpen; }
  bool writes(memory::Address at) const { return pages.state(at, true) == State::kOpen; }

  memory::DeviceMemory memory;
  const memory::Allocation& allocation;
  GuardedPages pages;
};

TEST_F(Guarded, AGuardClosesThePagesOfItsBytes) {
  add(Box::line(page(2) + 100, kPageBytes), Level::kClosed, 1, 1);
  EXPECT_TRUE(reads(page(1)));
  EXPECT_FALSE(reads(page(2)));
  EXPECT_FALSE(reads(page(3)));
  EXPECT_TRUE(reads(page(4)));
  EXPECT_EQ(pages.state(page(0) - kPageBytes, false), State::kNone);
}

TEST_F(Guarded, ASourceMayBeRead) {
  add(Box::line(page(0), 8), Level::kReadOnly, 1, 1);
  EXPECT_TRUE(reads(page(0)));
  EXPECT_FALSE(writes(page(0)));
}

TEST_F(Guarded, TheStrictestGuardCounts) {
  add(Box::line(page(0), 8), Level::kClosed, 1, 1);
  add(Box::line(page(0), 8), Level::kReadOnly, 2, 1);
  EXPECT_FALSE(reads(page(0)));
  settle(1, 1);
  EXPECT_TRUE(reads(page(0)));
  EXPECT_FALSE(writes(page(0)));
  settle(2, 1);
  EXPECT_TRUE(writes(page(0)));
  EXPECT_FALSE(pages.any());
}

TEST_F(Guarded, ALaterOperationOfTheLaneKeepsThePagesClosed) {
  add(Box::line(page(0), 8), Level::kClosed, 1, 1);
  add(Box::line(page(0), 8), Level::kClosed, 1, 2);
  settle(1, 1);
  EXPECT_FALSE(reads(page(0)));
  settle(1, 2);
  EXPECT_TRUE(reads(page(0)));
}

TEST_F(Guarded, RowsCloseTheirPagesAlone) {
  Box rows;
  rows.begin = page(0);
  rows.width = 16;
  rows.height = 3;
  rows.pitch = 2 * kPageBytes;
  add(rows, Level::kClosed, 1, 1);
  for (std::uint64_t i = 0; i < kPages; ++i)
    EXPECT_EQ(reads(page(i)), i != 0 && i != 2 && i != 4) << i;
}

TEST_F(Guarded, AnOpenedPageStaysOpenUntilAnotherGuardComes) {
  add(Box::line(page(0), kPages * kPageBytes), Level::kClosed, 1, 1);
  pages.open(page(3), false);
  EXPECT_TRUE(writes(page(3)));
  EXPECT_FALSE(reads(page(4)));
  add(Box::line(page(3), 8), Level::kClosed, 2, 1);
  EXPECT_FALSE(reads(page(3)));
}

TEST_F(Guarded, PagesThatWaitForItOpenTogether) {
  add(Box::line(page(0), kPages * kPageBytes), Level::kClosed, 1, 1);
  pages.open(page(0), true);
  EXPECT_FALSE(reads(page(1)));
  pages.open(page(1), true);
  EXPECT_TRUE(reads(page(2)));
  EXPECT_FALSE(reads(page(3)));
}

TEST_F(Guarded, APageIsOpenedForSoManySteps) {
  add(Box::line(page(0), kPageBytes), Level::kClosed, 1, 1);
  for (unsigned i = 0; i < GuardedPages::kStepsOfPage; ++i) {
    ASSERT_TRUE(pages.begin_step(page(0))) << i;
    pages.end_step(page(0));
    ASSERT_FALSE(reads(page(0)));
  }
  EXPECT_FALSE(pages.begin_step(page(0)));
}

TEST_F(Guarded, OfRegisteredMemoryWholePagesAlone) {
  alignas(kPageBytes) static std::byte bytes[4 * kPageBytes];
  const auto* const part = memory.register_host(bytes + 100, 2 * kPageBytes);
  GuardedPages::Guard guard;
  guard.box = Box::line(part->base, part->size);
  guard.lane = guard.sequence = 1;
  EXPECT_TRUE(pages.add(*part, std::move(guard)));
  const auto first = reinterpret_cast<memory::Address>(bytes);
  EXPECT_EQ(pages.state(first, false), State::kNone);
  EXPECT_EQ(pages.state(first + kPageBytes, false), State::kProtected);
  EXPECT_EQ(pages.state(first + 2 * kPageBytes, false), State::kNone);
  settle(1, 1);
  bytes[kPageBytes] = std::byte{1};
}

// ---- faults -------------------------------------------------------------------------------------

GuardedPages* watched = nullptr;
unsigned judged = 0;
HostAccess last;
Verdict verdict = Verdict::kStep;

TEST_F(Guarded, AnAccessIsJudgedAndGoesOn) {
  watched = &pages;
  const auto judge = [](const HostAccess& access) {
    ++judged;
    last = access;
    return verdict;
  };
  ASSERT_TRUE(watch_faults(&pages, judge));
  add(Box::line(page(0), 2 * kPageBytes), Level::kClosed, 1, 1);
  auto* const words = reinterpret_cast<volatile int*>(page(0));
  verdict = Verdict::kStep;
  words[3] = 7;
  EXPECT_EQ(judged, 1u);
  EXPECT_EQ(last.address, page(0) + 12);
  EXPECT_EQ(last.bytes, 4u);
  EXPECT_TRUE(last.writes);
  EXPECT_FALSE(reads(page(0)));
  EXPECT_EQ(words[3], 7);
  EXPECT_EQ(judged, 2u);
  EXPECT_FALSE(last.writes);
  verdict = Verdict::kOpen;
  EXPECT_EQ(words[4], 0);
  EXPECT_EQ(words[5], 0);
  EXPECT_EQ(judged, 3u);
  EXPECT_FALSE(reads(page(1)));
  // An access across both pages.
  verdict = Verdict::kStep;
  struct __attribute__((packed)) Unaligned {
    std::uint64_t value;
  };
  reinterpret_cast<volatile Unaligned*>(page(1) - 4)->value = 5;
  EXPECT_EQ(judged, 4u);
  EXPECT_FALSE(reads(page(1)));
  settle(1, 1);
  EXPECT_EQ(words[kPageBytes / sizeof(int)], 0);
  EXPECT_EQ(judged, 4u);
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer has a thread of its own, which blocks signals

// Exits with 0 if faults are watched while another thread has blocked all signals.
[[noreturn]] void watch_beside_a_thread(bool with_the_librarys) {
  static std::atomic<bool> blocked = false;
  std::thread([with_the_librarys] {
    std::uint64_t all = ~0ull;
    sigset_t set;
    sigfillset(&set);  // without the two signals of the C library
    if (with_the_librarys) {
      syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, nullptr, sizeof all);
    } else {
      pthread_sigmask(SIG_BLOCK, &set, nullptr);
    }
    blocked = true;
    pause();
  }).detach();
  while (!blocked) std::this_thread::yield();
  static GuardedPages pages;
  _exit(watch_faults(&pages, [](const HostAccess&) { return Verdict::kOpen; }) ? 0 : 1);
}

TEST(Faults, OnlyAThreadThatRunsCanBlockTheSignals) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(watch_beside_a_thread(true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(watch_beside_a_thread(false), testing::ExitedWithCode(1), "");
}

#endif

// Closing and opening by levels must equal closing and opening page by page.
TEST_F(Guarded, AllPagesCloseAndOpenTogether) {
  const Box all = Box::line(allocation.base, allocation.size);
  add(all, Level::kClosed, 1, 1);
  for (std::uint64_t i = 0; i < kPages; ++i) EXPECT_FALSE(reads(page(i)));
  pages.open(page(3), false);
  EXPECT_TRUE(writes(page(3)));
  EXPECT_FALSE(reads(page(4)));
  add(all, Level::kClosed, 2, 1);
  EXPECT_FALSE(reads(page(3))) << "closed again";
  settle(1, 1);
  EXPECT_FALSE(reads(page(0))) << "by the other guard";
  settle(2, 1);
  for (std::uint64_t i = 0; i < kPages; ++i) EXPECT_TRUE(writes(page(i)));
  // The protection of the operating system must match.
  auto* const bytes = reinterpret_cast<volatile char*>(allocation.base);
  for (std::uint64_t i = 0; i < kPages; ++i) bytes[i * kPageBytes] = 1;
}

TEST_F(Guarded, RegisteredMemoryThatIsNotWritableStaysAsItIs) {
  for (const int protection : {PROT_READ, PROT_READ | PROT_WRITE}) {
    constexpr std::uint64_t kBytes = 4 * kPageBytes;
    void* const at = mmap(nullptr, kBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    const memory::Allocation* const a = memory.register_host(at, kBytes);
    GuardedPages::Guard guard;
    guard.box = Box::line(a->base, kBytes);
    guard.lane = guard.sequence = 1;
    const bool writable = (protection & PROT_WRITE) != 0;
    EXPECT_EQ(pages.add(*a, guard), writable);
    EXPECT_EQ(pages.add(*a, guard), writable);
    if (!writable) {
      EXPECT_EQ(*static_cast<volatile char*>(at), 0) << "it can still be read";
    }
    settle(1, 1);
    memory.release(a->base);
    munmap(at, kBytes);
  }
}

}  // namespace guarded_pages_test
}  // namespace lockstep::runtime
