// Clusters: ranks, barriers and distributed shared memory, and findings for blocks that have exited
// or never arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace cluster_test {

using check::Kind;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

constexpr std::uint64_t kSeeds[] = {0, 1, 2, 7, 12345};

// Thread %r1 of block %r2 stores %r0 to out[block * threads + thread]; %r3 is the rank in the
// cluster. `cell` is four bytes of shared memory in each block, at the address %r4, generic %d1.
std::string kernel(std::string_view body) {
  return R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<6>;
  .reg .b32 %r<20>;
  .reg .b64 %d<12>;
  .shared .align 4 .b8 cell[4];
  .shared .align 4 .b8 other[4];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %cluster_ctarank;
  mov.u32 %r4, cell;
  cvt.u64.u32 %d1, %r4;
  cvta.shared.u64 %d1, %d1;
)" + std::string(body) +
         R"(
  ld.param.u64 %d10, [out];
  mov.u32 %r18, %ntid.x;
  mad.lo.u32 %r18, %r2, %r18, %r1;
  mul.wide.u32 %d11, %r18, 4;
  add.u64 %d10, %d10, %d11;
  st.global.u32 [%d10], %r0;
  ret;
})";
}

struct Result {
  Outcome outcome;
  std::vector<std::uint32_t> out;
};

Result run(std::string_view body, std::uint32_t grid, std::uint32_t block, std::uint32_t cluster,
           std::uint64_t seed = 0, int threads = 1) {
  Machine gpu;
  gpu.config.cluster = {cluster, 1, 1};
  gpu.config.schedule_seed = seed;
  gpu.config.host_threads = threads;
  gpu.load(kernel(body));
  const auto out = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(grid * block, 0xdddddddd));
  Result r;
  r.outcome = gpu.launch("k", grid, block, out);
  r.out = gpu.fetch<std::uint32_t>(out, grid * block);
  return r;
}

// Returns the only finding; the test fails if there is none.
check::Finding only(const Result& r) {
  EXPECT_EQ(r.outcome.findings.size(), 1u) << text(r.outcome);
  return r.outcome.findings.empty() ? check::Finding{} : r.outcome.findings[0];
}

TEST(Cluster, BlocksKnowTheirPlace) {
  const Result r = run(R"(
  mov.u32 %r5, %clusterid.x;
  mov.u32 %r6, %nclusterid.x;
  mov.u32 %r7, %cluster_ctaid.x;
  mov.u32 %r8, %cluster_nctaid.x;
  mov.u32 %r9, %cluster_nctarank;
  mov.pred %p1, %is_explicit_cluster;
  selp.u32 %r0, 1, 0, %p1;
  mad.lo.u32 %r0, %r0, 10, %r5;
  mad.lo.u32 %r0, %r0, 10, %r6;
  mad.lo.u32 %r0, %r0, 10, %r7;
  mad.lo.u32 %r0, %r0, 10, %r8;
  mad.lo.u32 %r0, %r0, 10, %r9;
  mad.lo.u32 %r0, %r0, 10, %r3;
)",
                       12, 1, 4);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  for (std::uint32_t b = 0; b < 12; ++b)
    EXPECT_EQ(r.out[b], 1030440 + b / 4 * 100000 + b % 4 * 1001) << "block " << b;
}

TEST(Cluster, RanksCountAlongXThenYThenZ) {
  Machine gpu;
  gpu.config.cluster = {2, 3, 2};
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<3>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %ctaid.z;
  mad.lo.u32 %r4, %r3, 6, %r2;
  mad.lo.u32 %r4, %r4, 4, %r1;
  ld.param.u64 %d1, [out];
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d1, %d1, %d2;
  mov.u32 %r5, %cluster_ctarank;
  st.global.u32 [%d1], %r5;
  ret;
})");
  const auto out = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(48, 99));
  const Outcome o = gpu.launch("k", Dim3{4, 6, 2}, Dim3{1, 1, 1}, out);
  EXPECT_FALSE(o.failed()) << text(o);
  const auto r = gpu.fetch<std::uint32_t>(out, 48);
  for (std::uint32_t i = 0; i < 48; ++i)
    EXPECT_EQ(r[i], i % 2 + 2 * (i / 4 % 6 % 3) + 6 * (i / 24)) << i;
}

// Every block writes its own cell, then reads the next block's cell in one of several ways.
constexpr const char* kWriteOwn = R"(
  setp.eq.u32 %p1, %r1, 0;
  add.u32 %r5, %r2, 1000;
  @%p1 st.shared.u32 [%r4], %r5;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r6, %cluster_nctarank;
  add.u32 %r7, %r3, 1;
  rem.u32 %r7, %r7, %r6;
)";
constexpr const char* kStay = R"(
  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait.acquire;
)";

void expect_neighbours(std::string_view read) {
  for (const auto seed : kSeeds) {
    for (const int threads : {1, 3}) {
      const Result r =
          run(std::string(kWriteOwn) + std::string(read) + kStay, 24, 48, 4, seed, threads);
      ASSERT_TRUE(r.outcome.findings.empty()) << text(r.outcome) << "seed " << seed;
      for (std::uint32_t i = 0; i < r.out.size(); ++i) {
        const std::uint32_t block = i / 48;
        ASSERT_EQ(r.out[i], 1000 + block / 4 * 4 + (block + 1) % 4)
            << "thread " << i << " seed " << seed;
      }
    }
  }
}

JUDGES(Cluster, ReadsAnotherBlockThroughAGenericAddress, "mapa.u64", "barrier.cluster.arrive",
       "barrier.cluster.arrive.relaxed", "barrier.cluster.wait");
TEST(Cluster, ReadsAnotherBlockThroughAGenericAddress) {
  expect_neighbours("mapa.u64 %d2, %d1, %r7;\n ld.u32 %r0, [%d2];\n");
}

JUDGES(Cluster, ReadsAnotherBlockThroughA32BitSharedAddress, "mapa.shared::cluster.u32",
       "ld.shared::cluster.u32");
TEST(Cluster, ReadsAnotherBlockThroughA32BitSharedAddress) {
  expect_neighbours(
      "mapa.shared::cluster.u32 %r8, %r4, %r7;\n ld.shared::cluster.u32 %r0, [%r8];\n");
}

TEST(Cluster, ReadsAnotherBlockThroughA64BitSharedAddress) {
  expect_neighbours(
      "cvt.u64.u32 %d5, %r4;\n mapa.shared::cluster.u64 %d2, %d5, %r7;\n ld.shared::cluster.u32 "
      "%r0, [%d2];\n");
}

JUDGES(Cluster, AConvertedAddressKeepsItsBlock, "cvta.shared::cluster.u64",
       "cvta.to.shared::cluster.u64");
TEST(Cluster, AConvertedAddressKeepsItsBlock) {
  expect_neighbours(
      "cvt.u64.u32 %d5, %r4;\n mapa.shared::cluster.u64 %d2, %d5, %r7;\n cvta.shared::cluster.u64 "
      "%d3, %d2;\n cvta.to.shared::cluster.u64 %d4, %d3;\n"
      "ld.shared::cluster.u32 %r9, [%d4];\n ld.u32 %r0, [%d3];\n max.u32 %r0, %r0, %r9;\n");
}

JUDGES(Cluster, AnAddressTellsItsRank, "getctarank.u64");
TEST(Cluster, AnAddressTellsItsRank) {
  const Result r = run(R"(
  mov.u32 %r5, 2;
  mapa.u64 %d2, %d1, %r5;
  getctarank.u64 %r6, %d2;
  getctarank.u64 %r7, %d1;
  mapa.shared::cluster.u32 %r8, %r4, 1;
  getctarank.shared::cluster.u32 %r9, %r8;
  mad.lo.u32 %r0, %r6, 10, %r7;
  mad.lo.u32 %r0, %r0, 10, %r9;
)",
                       3, 1, 3);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  for (std::uint32_t b = 0; b < 3; ++b) EXPECT_EQ(r.out[b], 201 + 10 * b);
}

JUDGES(Cluster, TheSharedWindowOfABlockIsPartOfTheClusters, "isspacep.shared::cta",
       "isspacep.shared::cluster");
TEST(Cluster, TheSharedWindowOfABlockIsPartOfTheClusters) {
  const Result r = run(R"(
  mov.u32 %r5, 1;
  mapa.u64 %d2, %d1, %r5;
  isspacep.shared::cta %p1, %d2;
  isspacep.shared::cluster %p2, %d2;
  isspacep.global %p3, %d2;
  selp.u32 %r0, 100, 0, %p1;
  @%p2 add.u32 %r0, %r0, 10;
  @%p3 add.u32 %r0, %r0, 1;
)",
                       2, 1, 2);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  EXPECT_EQ(r.out[0], 10u);
  EXPECT_EQ(r.out[1], 110u);
}

TEST(Cluster, AtomicsOfAllBlocksMeetInOne) {
  for (const auto seed : kSeeds) {
    const Result r = run(R"(
  setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r5, 0;
  @%p1 st.shared.u32 [%r4], %r5;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.u64 %d2, %d1, %r5;
  atom.add.u32 %r6, [%d2], 1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.u32 %r0, [%d2];
  barrier.cluster.arrive;
  barrier.cluster.wait;
)",
                         8, 96, 8, seed);
    EXPECT_TRUE(r.outcome.findings.empty()) << text(r.outcome);
    EXPECT_THAT(r.out, Each(8u * 96u)) << "seed " << seed;
    EXPECT_EQ(r.outcome.counters.barriers, 3u);
  }
}

TEST(Cluster, WithoutAClusterTheBarrierIsTheBlocks) {
  const Result r = run(R"(
  setp.eq.u32 %p1, %r1, 95;
  @%p1 st.shared.u32 [%r4], %r2;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ld.shared.u32 %r0, [%r4];
)",
                       3, 96, 1);
  EXPECT_TRUE(r.outcome.findings.empty()) << text(r.outcome);
  for (std::uint32_t i = 0; i < r.out.size(); ++i) EXPECT_EQ(r.out[i], i / 96);
}

TEST(Cluster, TheBarrierDoesNotWaitForThreadsThatHaveExited) {
  // Block 1 exits, and so do one and a half warps of the other blocks.
  const Result r = run(R"(
  setp.eq.u32 %p1, %r3, 1;
  setp.ge.u32 %p2, %r1, 48;
  or.pred %p1, %p1, %p2;
  mov.u32 %r0, 5;
  @%p1 exit;
  barrier.cluster.arrive;
  barrier.cluster.wait;
)",
                       4, 96, 4);
  EXPECT_FALSE(r.outcome.failed())
      << "information, absent_threads_test.cc has it: " << text(r.outcome);
  for (std::uint32_t i = 0; i < r.out.size(); ++i)
    EXPECT_EQ(r.out[i], i / 96 == 1 || i % 96 >= 48 ? 0xdddddddd : 5u) << i;
}

TEST(Cluster, ArrivingWaitsForNobody) {
  // Rank 0 arrives. Before its wait it passes on a value that rank 1 needs before it arrives.
  for (const auto seed : kSeeds) {
    const Result r = run(R"(
  mov.u32 %r0, 0;
  st.shared.u32 [%r4], %r0;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.eq.u32 %p1, %r3, 0;
  mapa.u64 %d2, %d1, 1;
  @%p1 barrier.cluster.arrive;
  @%p1 atom.add.u32 %r5, [%d2], 7;
  @%p1 mov.u32 %r0, 7;
  @%p1 bra MEET;
SPIN:
  atom.or.b32 %r0, [%d2], 0;
  setp.eq.u32 %p2, %r0, 0;
  @%p2 bra SPIN;
  barrier.cluster.arrive;
MEET:
  barrier.cluster.wait;
)",
                         2, 1, 2, seed);
    EXPECT_TRUE(r.outcome.findings.empty()) << text(r.outcome);
    EXPECT_THAT(r.out, Each(7u)) << "seed " << seed;
  }
}

TEST(Cluster, ABlockMayNotBeReadAfterItHasLeft) {
  // As in the neighbour test above, but all blocks exit at once.
  const Result r =
      run(std::string(kWriteOwn) + "mapa.u64 %d2, %d1, %r7;\n ld.u32 %r0, [%d2];\n", 4, 32, 4);
  const check::Finding f = only(r);
  EXPECT_EQ(f.kind, Kind::kUseAfterFree);
  // The last block to arrive continues first, and has exited when the block before it reads its
  // cell.
  EXPECT_THAT(f.where, HasSubstr("the block of rank 3 has left the cluster"));
  EXPECT_EQ(f.access.block.x, 2u);
  EXPECT_EQ(f.space, "shared");
  EXPECT_TRUE(r.outcome.failed());
}

TEST(Cluster, ARankOutsideTheClusterIsOutOfBounds) {
  for (const char* read :
       {"mapa.u64 %d2, %d1, 4;\n ld.u32 %r0, [%d2];\n",
        "mapa.shared::cluster.u32 %r8, %r4, 4;\n ld.shared::cluster.u32 %r0, [%r8];\n",
        "mapa.u64 %d2, %d1, 4;\n atom.add.u32 %r0, [%d2], 1;\n"}) {
    const check::Finding f = only(run(std::string(kWriteOwn) + read + kStay, 8, 32, 4));
    EXPECT_EQ(f.kind, Kind::kOutOfBounds);
    EXPECT_THAT(f.where, HasSubstr("rank 4 is outside the cluster, which has 4 blocks"));
  }
  const check::Finding far = only(run(
      std::string(kWriteOwn) + "mapa.u64 %d2, %d1, -1;\n ld.u32 %r0, [%d2];\n" + kStay, 8, 32, 4));
  EXPECT_EQ(far.kind, Kind::kOutOfBounds);
  EXPECT_THAT(far.where, HasSubstr("outside the cluster"));
}

TEST(Cluster, BoundsOfAnotherBlocksVariablesHold) {
  const check::Finding f =
      only(run(std::string(kWriteOwn) + "mapa.u64 %d2, %d1, %r7;\n ld.u32 %r0, [%d2+4];\n" + kStay,
               4, 32, 4));
  EXPECT_EQ(f.kind, Kind::kOutOfBounds);
  EXPECT_THAT(
      f.where,
      HasSubstr("just past the end of 'cell' (4 bytes), in the block of rank 0 of the cluster"));
}

TEST(Cluster, BlockSharedInstructionsReachNoOtherBlock) {
  const char* read = "mapa.shared::cluster.u32 %r8, %r4, %r7;\n ld.shared.u32 %r0, [%r8];\n";
  const check::Finding f = only(run(std::string(kWriteOwn) + read + kStay, 4, 32, 4));
  EXPECT_EQ(f.kind, Kind::kOutOfBounds);
  EXPECT_THAT(f.where, HasSubstr("without ::cluster"));
}

TEST(Cluster, AnotherBlocksUnwrittenMemoryIsFound) {
  // Rank 1 never writes its cell.
  const Result r = run(R"(
  setp.eq.u32 %p1, %r3, 0;
  @%p1 st.shared.u32 [%r4], %r2;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.u64 %d2, %d1, 1;
  atom.add.u32 %r0, [%d2], 1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
)",
                       2, 1, 2);
  EXPECT_EQ(only(r).kind, Kind::kUninitialised);
}

TEST(Cluster, ARemoteStoreCountsAsWritten) {
  const Result r = run(R"(
  mov.u32 %r6, %cluster_nctarank;
  add.u32 %r7, %r3, 1;
  rem.u32 %r7, %r7, %r6;
  mapa.shared::cluster.u32 %r8, %r4, %r7;
  st.shared::cluster.u32 [%r8], %r3;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r0, [%r4];
)",
                       3, 1, 3);
  EXPECT_TRUE(r.outcome.findings.empty()) << text(r.outcome);
  EXPECT_THAT(r.out, ::testing::ElementsAre(2u, 0u, 1u));
}

TEST(Cluster, TheBarrierOrdersTheThreadsOfABlock) {
  const auto body = [](const char* between) {
    return std::string("setp.eq.u32 %p1, %r1, 0;\n @%p1 st.shared.u32 [%r4], %r2;\n") + between +
           "ld.shared.u32 %r0, [%r4];\n" + kStay;
  };
  EXPECT_TRUE(
      run(body("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"), 2, 64, 2)
          .outcome.findings.empty());
  // No barrier does not order, and a relaxed arrival does not either.
  for (const char* between : {"", kStay})
    EXPECT_EQ(only(run(body(between), 2, 64, 2)).kind, Kind::kRace) << between;
}

// An arrival does not release accesses between it and the wait.
TEST(Cluster, TheBarrierOrdersWhatComesBeforeAnArrivalAndNotWhatFollowsIt) {
  const auto body = [](const char* before, const char* after) {
    return R"(
  xor.b32 %r6, %r3, 1;
  mapa.shared::cluster.u32 %r7, %r4, %r6;
)" + std::string(before) +
           "barrier.cluster.arrive.release;\n" + after + R"(
  barrier.cluster.wait.acquire;
  ld.shared::cluster.u32 %r0, [%r7];
)" + kStay;
  };
  constexpr const char* kStore = "st.shared.u32 [%r4], %r3;\n";
  const Result released = run(body(kStore, "add.u32 %r6, %r6, 1;\n"), 2, 1, 2);
  EXPECT_TRUE(released.outcome.findings.empty()) << text(released.outcome);
  EXPECT_THAT(released.out, ::testing::ElementsAre(1u, 0u));
  EXPECT_EQ(run(body("", kStore), 2, 1, 2).outcome.findings.at(0).kind, Kind::kRace);
}

// Lane 1 arrives after lane 0 has arrived and then stored. Its arrival releases that store only if
// the two lanes synchronised.
TEST(Cluster, AnArrivalReleasesWhatItsOwnLanesKnow) {
  const auto body = [](const char* lane_0, const char* lane_1) {
    return R"(
  xor.b32 %r6, %r3, 1;
  mapa.shared::cluster.u32 %r7, %r4, %r6;
  mov.u32 %r8, other;
  setp.ne.u32 %p1, %r1, 0;
  st.relaxed.cta.shared.u32 [%r8], 0;
  bar.warp.sync 3;
  @%p1 bra SECOND;
  barrier.cluster.arrive.release;
  st.shared.u32 [%r4], %r3;
)" + std::string(lane_0) +
           R"(
  bra ARRIVED;
SECOND:
)" + lane_1 +
           R"(
  barrier.cluster.arrive.release;
ARRIVED:
  barrier.cluster.wait.acquire;
  ld.shared::cluster.u32 %r0, [%r7];
)" + kStay;
  };
  const Result met = run(body("bar.warp.sync 3;\n", "bar.warp.sync 3;\n"), 2, 2, 2);
  EXPECT_TRUE(met.outcome.findings.empty()) << text(met.outcome);
  // Lane 0 synchronises with itself only: its store is not ordered before lane 1's arrival.
  const Result apart = run(body(R"(
  bar.warp.sync 1;
  st.relaxed.cta.shared.u32 [%r8], 1;
)",
                                R"(
SPIN:
  ld.relaxed.cta.shared.u32 %r9, [%r8];
  setp.eq.u32 %p2, %r9, 0;
  @%p2 bra SPIN;
)"),
                           2, 2, 2);
  ASSERT_FALSE(apart.outcome.findings.empty());
  EXPECT_EQ(apart.outcome.findings[0].kind, Kind::kRace) << text(apart.outcome);
}

// A thread of the second block completes a phase of the first block's mbarrier by two arrivals. A
// third arrival counts for the next phase.
TEST(Cluster, WhoWaitsForAPhaseIsOrderedAfterItsArrivalsAndNoLaterOnes) {
  const auto body = [](const char* before, const char* between) {
    const std::string arrival = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n";
    return R"(
  .shared .align 8 .b8 bar[8];
  mov.u32 %r0, 0;
  mov.u32 %r5, bar;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 mbarrier.init.shared.b64 [%r5], 2;
  st.shared.u32 [%r4], %r0;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.shared::cluster.u32 %r6, %r5, 0;
  mapa.shared::cluster.u32 %r7, %r4, 1;
  mov.u32 %r8, 5;
  @%p1 bra WAIT;
)" + std::string(before) +
           arrival + arrival + between + arrival + R"(
  bra END;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r5], 0;
  @!%p2 bra WAIT;
  ld.shared::cluster.u32 %r0, [%r7];
END:
)" + kStay;
  };
  constexpr const char* kStore = "st.shared.u32 [%r4], %r8;\n";
  const Result released = run(body(kStore, ""), 2, 1, 2);
  EXPECT_TRUE(released.outcome.findings.empty()) << text(released.outcome);
  EXPECT_EQ(released.out[0], 5u);
  EXPECT_EQ(only(run(body("", kStore), 2, 1, 2)).kind, Kind::kRace);
}

TEST(Cluster, ADeadlockAtTheBarrierIsReported) {
  // The first warp of every block waits for the cluster, the second warp for its block.
  const Result r = run(R"(
  setp.lt.u32 %p1, %r1, 32;
  mov.u32 %r0, 1;
  @%p1 bra CLUSTER;
  bar.sync 0;
CLUSTER:
  barrier.cluster.arrive;
  barrier.cluster.wait;
)",
                       4, 64, 2);
  const check::Finding f = only(r);
  EXPECT_EQ(f.kind, Kind::kDeadlock);
  EXPECT_THAT(f.detail, HasSubstr("block of rank 1, warp 1"));
  EXPECT_THAT(f.access.site.instruction, HasSubstr("barrier.cluster.wait"));
}

TEST(Cluster, ArrivingTwiceIsFound) {
  const check::Finding f =
      only(run("mov.u32 %r0, 0;\n barrier.cluster.arrive;\n barrier.cluster.arrive;\n", 2, 32, 2));
  EXPECT_EQ(f.kind, Kind::kInvalidInstruction);
  EXPECT_THAT(f.where, HasSubstr("arrives again"));
}

TEST(Cluster, WaitingWithoutArrivingIsFound) {
  const check::Finding f = only(run("mov.u32 %r0, 0;\n barrier.cluster.wait;\n", 2, 32, 2));
  EXPECT_EQ(f.kind, Kind::kInvalidInstruction);
  EXPECT_THAT(f.where, HasSubstr("without having arrived"));
}

TEST(Cluster, OnlySharedAddressesCanBeMapped) {
  const check::Finding f =
      only(run("ld.param.u64 %d2, [out];\n mapa.u64 %d3, %d2, 0;\n mov.u32 %r0, 0;\n", 2, 32, 2));
  EXPECT_EQ(f.kind, Kind::kInvalidInstruction);
  EXPECT_THAT(f.where, HasSubstr("no shared memory"));
}

TEST(Cluster, AGridThatTheClusterDoesNotDivideIsRefused) {
  EXPECT_THROW(run("mov.u32 %r0, 0;\n", 3, 32, 2), std::invalid_argument);
}

}  // namespace cluster_test
}  // namespace lockstep::engine
