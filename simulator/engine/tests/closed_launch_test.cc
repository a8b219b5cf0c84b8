// Where races in global memory are searched for: LaunchConfig::closed and what is proved.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/engine/launch/certificate.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace closed_launch_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Proof = LaunchConfig::Proof;

constexpr std::uint32_t kThreads = 128;

// k(x, y) by one block. %rd5: the thread's word of x; %rd6: of y. %r1: its number.
std::string kernel(const std::string& body) { return testing::TwoBuffers::kernel(body); }

const std::string kCopy = "ld.global.u32 %r9, [%rd5];\nst.global.u32 [%rd6], %r9;\n";
// The word of x that the thread's word of x selects, to y.
const std::string kGather =
    "ld.global.u32 %r9, [%rd5];\nmul.wide.u32 %rd9, %r9, 4;\nadd.s64 %rd10, %rd1, %rd9;\n"
    "ld.global.u32 %r10, [%rd10];\nst.global.u32 [%rd6], %r10;\n";

// Counts in the words of an array that the thread's word of x selects.
std::string count_in(const std::string& array) {
  return "ld.global.u32 %r9, [%rd5];\nmul.wide.u32 %rd9, %r9, 4;\nadd.s64 %rd10, " + array +
         ", %rd9;\natom.global.add.u32 %r10, [%rd10], 1;\n";
}

// The first warp copies x to y as a matrix of 16 by 16 halves.
const std::string kHalves = "{%r9, %r10, %r11, %r12}",
                  kStoreMatrix = "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd2], " +
                                 kHalves + ", 16;\n",
                  kCopyMatrix =
                      "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra END;\n"
                      "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 " +
                      kHalves + ", [%rd1], 16;\n" + kStoreMatrix + "END:\n";

struct Closed {
  testing::Machine gpu;
  memory::Address x = 0, y = 0;
  int asked = 0;  // how often LaunchConfig::closed was called

  explicit Closed(const std::string& body, Proof proof = Proof::kOn, bool closed = true) {
    gpu.config.proof = proof;
    gpu.config.certified = [](const LaunchCertificate&) {};  // proves before the first launch
    gpu.config.closed = [this, closed] { return ++asked, closed; };
    gpu.load(kernel(body));
    x = gpu.buffer(std::vector<std::uint32_t>(kThreads, 7), "x");
    y = gpu.buffer(std::vector<std::uint32_t>(kThreads, 0), "y");
  }
  Outcome run() { return gpu.launch("k", 1, kThreads, x, y); }
  // Runs the kernel, which must have no finding. Returns the buffers with recorded accesses.
  std::string recorded() {
    const Outcome o = run();
    EXPECT_THAT(o.findings, IsEmpty()) << testing::text(o);
    std::string all;
    if (*gpu.memory.race_shadow(x) != 0) all += "x";
    if (*gpu.memory.race_shadow(y) != 0) all += "y";
    return all;
  }
};

TEST(ClosedLaunch, WhatCannotRaceIsNotRecorded) {
  Closed copy(kCopy);
  EXPECT_EQ(copy.recorded(), "");
  EXPECT_EQ(copy.gpu.fetch<std::uint32_t>(copy.y, kThreads),
            std::vector<std::uint32_t>(kThreads, 7));
  EXPECT_EQ(Closed(kGather).recorded(), "") << "no load comes from y";
}

// A proof costs as much as some thousand warp instructions: a few blocks of a large grid do not
// repay it.
TEST(ClosedLaunch, OfASampleOnlyTheBlocksThatRunRepayAProof) {
  for (const std::uint64_t sample : {0, 40}) {
    Closed load("ld.global.u32 %r9, [%rd5];\n");
    load.gpu.config.certified = nullptr;
    load.gpu.config.sample = sample;
    load.gpu.launch("k", 4096, kThreads, load.x, load.y);
    EXPECT_EQ(load.asked, sample == 0 ? 1 : 0) << sample;
  }
}

TEST(ClosedLaunch, AllIsRecordedUnlessTheLaunchIsClosed) {
  EXPECT_EQ(Closed(kCopy, Proof::kOn, false).recorded(), "xy");
  EXPECT_EQ(Closed(kCopy, Proof::kOff).recorded(), "xy");
  EXPECT_EQ(Closed(kCopy, Proof::kCompare).recorded(), "xy");
  Closed unknown(kCopy);
  unknown.gpu.config.closed = nullptr;
  EXPECT_EQ(unknown.recorded(), "xy");
}

TEST(ClosedLaunch, OtherWorkUnderWayIsNoClosedLaunch) {
  Closed beside_a_copy(kCopy);
  ConcurrentAccess copy;
  copy.box = memory::Box::line(beside_a_copy.y, 4);
  copy.writes = true;
  copy.by = "a copy";
  copy.verb = "writes";
  beside_a_copy.gpu.config.concurrent = {&copy, 1};
  const Outcome o = beside_a_copy.run();
  ASSERT_EQ(o.findings.size(), 1u);
  EXPECT_EQ(o.findings[0].kind, check::Kind::kRace);

  Closed beside_a_grid(kCopy);
  const RunningGrid grid{"before", 1u << 30, 1u << 30, true};
  beside_a_grid.gpu.config.running_grids = {&grid, 1};
  EXPECT_EQ(beside_a_grid.recorded(), "xy");

  Closed descendant(kCopy);
  descendant.gpu.config.place.descent = std::make_shared<check::Descent>();
  EXPECT_EQ(descendant.recorded(), "xy");
}

TEST(ClosedLaunch, MemoryOfTheHostIsRecorded) {
  for (const auto kind : {memory::Kind::kPinned, memory::Kind::kManaged}) {
    Closed launch(kCopy);
    launch.y = launch.gpu.memory.allocate(kThreads * 4, 256, kind, 0, "y")->base;
    EXPECT_EQ(launch.recorded(), "y");
  }
}

TEST(ClosedLaunch, MemoryOfOtherProcessesIsRecorded) {
  Closed launch(kCopy);
  const_cast<memory::Allocation*>(launch.gpu.memory.find(launch.y))->shared = true;
  EXPECT_EQ(launch.recorded(), "y");
}

TEST(ClosedLaunch, AKernelThatMayLaunchGridsIsRecorded) {
  Closed launch(kCopy);
  const auto& loaded = static_cast<const LoadedKernel&>(*launch.gpu.module->find_kernel("k"));
  const_cast<Program&>(loaded.program()).launches_grids = true;
  EXPECT_EQ(launch.recorded(), "xy");
}

TEST(ClosedLaunch, EveryContestedAllocationIsSearched) {
  // All threads store one value to the first words of x and y.
  Closed both("st.global.u32 [%rd1], 7;\nst.global.u32 [%rd2], 7;\n");
  const Outcome o = both.run();
  EXPECT_EQ(o.findings.size(), 2u) << testing::text(o);
}

TEST(ClosedLaunch, RacesAreFoundWhereTheyArePossible) {
  // All threads store to the first word of y.
  const std::string one_word = kCopy + "st.global.u32 [%rd2], %r1;\n";
  // The last threads' words of y are read and written by two threads.
  const std::string neighbour =
      "st.global.u32 [%rd6], %r1;\nsetp.lt.u32 %p1, %r1, 127;\n@%p1 ld.global.u32 %r9, [%rd6+4];\n";
  // Each warp stores its own matrix to y.
  const std::string matrices =
      "mov.b32 %r9, %r1;\nmov.b32 %r10, %r1;\nmov.b32 %r11, %r1;\nmov.b32 %r12, %r1;\n" +
      kStoreMatrix;
  // A thread of the second warp reads what the first has stored.
  const std::string read_matrix =
      kCopyMatrix + "setp.ne.u32 %p2, %r1, 40;\n@!%p2 ld.global.u32 %r13, [%rd6];\n";
  // Gathers from the array that it writes.
  const std::string in_place = kGather + "st.global.u32 [%rd5], %r10;\n";
  // Scatters.
  const std::string scatter =
      "ld.global.u32 %r9, [%rd5];\nmul.wide.u32 %rd9, %r9, 4;\nadd.s64 %rd10, %rd2, %rd9;\n"
      "st.global.u32 [%rd10], %r1;\n";
  const std::string weak_and_atomic =
      "atom.global.add.u32 %r9, [%rd2], 1;\nld.global.u32 %r10, [%rd2];\n";
  const std::string count_where_all_read = count_in("%rd1"),
                    read_counts = count_in("%rd2") + "ld.global.u32 %r11, [%rd6];\n";
  for (const std::string& body : {one_word, neighbour, in_place, scatter, weak_and_atomic,
                                  count_where_all_read, read_counts, matrices, read_matrix}) {
    for (const Proof proof : {Proof::kOff, Proof::kOn, Proof::kCompare}) {
      const Outcome o = Closed(body, proof).run();
      ASSERT_FALSE(o.findings.empty()) << body << static_cast<int>(proof);
      EXPECT_EQ(o.findings[0].kind, check::Kind::kRace) << body << static_cast<int>(proof);
    }
  }
}

// Thread 0 writes a word of x and then counts in y, by an atomic behind a fence. The other warps
// wait for the count and read the word.
TEST(ClosedLaunch, AFlagInMemoryThatCannotRaceOrdersOtherAccesses) {
  const std::string pass_on =
      "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nst.global.u32 [%rd1], 5;\nmembar.gl;\n"
      "atom.global.add.u32 %r9, [%rd2], 1;\nbra END;\nWAIT:\nsetp.lt.u32 %p2, %r1, 32;\n"
      "@%p2 bra END;\nLOOK:\natom.global.add.u32 %r9, [%rd2], 0;\nsetp.eq.u32 %p3, %r9, 0;\n"
      "@%p3 bra LOOK;\nmembar.gl;\nld.global.u32 %r10, [%rd1];\nEND:\n";
  for (const Proof proof : {Proof::kOff, Proof::kOn, Proof::kCompare}) {
    const Outcome o = Closed(pass_on, proof).run();
    EXPECT_THAT(o.findings, IsEmpty()) << static_cast<int>(proof) << testing::text(o);
  }
}

TEST(ClosedLaunch, AtomicsThatOrderNothingAreNotRecorded) {
  EXPECT_EQ(Closed("atom.global.add.u32 %r9, [%rd2], 1;\n").recorded(), "");
}

TEST(ClosedLaunch, AtomicsToAnywhereAreRecordedWhereOthersGo) {
  Closed count(count_in("%rd2"));
  EXPECT_EQ(count.recorded(), "x");
  EXPECT_EQ(count.gpu.fetch<std::uint32_t>(count.y, kThreads)[7], kThreads);
}

TEST(ClosedLaunch, MatricesThatCannotRaceAreNotRecorded) {
  Closed copy(kCopyMatrix);
  EXPECT_EQ(copy.recorded(), "");
  EXPECT_EQ(copy.gpu.fetch<std::uint32_t>(copy.y, kThreads),
            std::vector<std::uint32_t>(kThreads, 7));
  EXPECT_EQ(Closed(kCopyMatrix, Proof::kCompare).recorded(), "xy");
}

TEST(ClosedLaunch, NobodyIsAskedIfNothingCanBeLeftOut) {
  Closed scatter(
      "ld.global.u32 %r9, [%rd5];\nmul.wide.u32 %rd9, %r9, 4;\nadd.s64 %rd10, %rd2, %rd9;\n"
      "st.global.u32 [%rd10], %r1;\n");
  scatter.run();
  EXPECT_EQ(scatter.asked, 0);
  Closed copy(kCopy);
  copy.run();
  EXPECT_EQ(copy.asked, 1);
}

// The earlier launch is unordered with the second one, and so `closed` is wrong.
void launch_two_unordered() {
  Closed launch(kCopy, Proof::kCompare, false);
  const std::uint32_t first[] = {1}, second[] = {0, 1};
  OperationPlace& place = launch.gpu.config.place;
  place.several_streams = true;
  place.lane = 0, place.sequence = 1, place.before = first;
  launch.run();
  place.lane = 1, place.before = second;
  launch.gpu.config.closed = [] { return true; };
  launch.run();
}

TEST(ClosedLaunchDeathTest, CompareStopsAtARaceThatWouldBeMissed) {
  EXPECT_DEATH(launch_two_unordered(), HasSubstr("no access to this memory races; this one races "
                                                 "at 0x"));
}

}  // namespace closed_launch_test
}  // namespace lockstep::engine
