// The orders that a schedule seed permutes, and the guarantee that every seed keeps: a block may
// wait for earlier blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace schedule_test {

using testing::Machine;
using testing::text;

// ThreadSanitizer is slow: fewer rounds.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 2;
#else
constexpr std::uint64_t kSeeds = 5;
#endif

std::string kernel(const std::string& body) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 words)
{
.reg .pred p, q; .reg .b32 r<16>; .reg .b64 d<8>;
ld.param.u64 d0, [words];
mov.u32 r0, %tid.x;
mov.u32 r1, %ctaid.x;
mov.u32 r2, %nctaid.x;
mov.u32 r3, %ctaid.y;
mad.lo.u32 r1, r3, r2, r1;
mad.wide.u32 d1, r1, 4, d0;
)" + body +
         "\nret;\n}\n";
}

std::vector<std::uint32_t> words(Machine& gpu, Dim3 grid, std::uint32_t threads, std::size_t count,
                                 std::uint32_t first) {
  std::vector<std::uint32_t> values(count, 0);
  values[0] = first;
  const auto at = gpu.buffer(values);
  const Outcome o = gpu.launch("k", grid, Dim3{threads, 1, 1}, at);
  EXPECT_TRUE(o.findings.empty()) << "seed " << gpu.config.schedule_seed << ", host threads "
                                  << gpu.config.host_threads << "\n"
                                  << text(o);
  return gpu.fetch<std::uint32_t>(at, count);
}

// Block b waits for word b and writes word b + 1. The grid has far more blocks than run at once.
constexpr char kLookBack[] = R"(
setp.ne.u32 p, r0, 0;
@p bra E;
W: ld.acquire.gpu.global.u32 r5, [d1];
setp.eq.u32 p, r5, 0;
@p bra W;
add.u32 r5, r5, 1;
st.release.gpu.global.u32 [d1+4], r5;
E:
)";

void expect_chain(const std::vector<std::uint32_t>& w, std::uint64_t seed) {
  for (std::uint32_t i = 0; i < w.size(); ++i) ASSERT_EQ(w[i], i + 1) << "seed " << seed;
}

TEST(Schedule, OfASampleTheFirstAndTheLastBlocksRun) {
  Machine gpu;
  gpu.load_text(kernel("add.u32 r5, r1, 100;\nst.global.u32 [d1], r5;"));
  const auto ran = [&](std::uint64_t sample, std::uint64_t seed, bool cooperative) {
    gpu.config.sample = sample;
    gpu.config.schedule_seed = seed;
    gpu.config.cooperative = cooperative;
    const auto w = words(gpu, Dim3{5, 4, 1}, 1, 20, 0);
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t i = 0; i < w.size(); ++i) {
      if (w[i] == i + 100) blocks.push_back(i);
    }
    return blocks;
  };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_THAT(ran(5, seed, false), ::testing::ElementsAre(0, 1, 2, 18, 19));
    EXPECT_THAT(ran(1, seed, false), ::testing::ElementsAre(0));
    EXPECT_EQ(ran(20, seed, false).size(), 20u);
    EXPECT_EQ(ran(99, seed, false).size(), 20u);
    EXPECT_EQ(ran(0, seed, false).size(), 20u);
    EXPECT_EQ(ran(5, seed, true).size(), 20u) << "whose blocks wait for each other";
  }
}

TEST(Schedule, ABlockMayWaitForEarlierOnesUnderEverySeed) {
  Machine gpu;
  gpu.load_text(kernel(kLookBack));
  for (const int threads : {1, 2, 5}) {
    gpu.config.host_threads = threads;
    for (std::uint64_t seed = 0; seed < kSeeds * (threads == 1 ? 5 : 1); ++seed) {
      gpu.config.schedule_seed = seed;
      expect_chain(words(gpu, Dim3{25, 12, 1}, 64, 301, 1), seed);
      if (HasFailure()) return;
    }
  }
}

TEST(Schedule, SoMayClusters) {
  Machine gpu;
  gpu.load_text(
      kernel(std::string(kLookBack) + "\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"));
  gpu.config.cluster = {2, 1, 1};
  for (const int threads : {1, 2}) {
    gpu.config.host_threads = threads;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      gpu.config.schedule_seed = seed;
      expect_chain(words(gpu, Dim3{400, 1, 1}, 32, 401, 1), seed);
      if (HasFailure()) return;
    }
  }
}

// Each block takes a number when it starts.
std::vector<std::uint32_t> order(Machine& gpu, std::uint64_t seed, std::uint32_t blocks) {
  gpu.config.schedule_seed = seed;
  auto w = words(gpu, Dim3{blocks, 1, 1}, 1, blocks + 1, 0);
  w.erase(w.begin());
  return w;
}
constexpr char kTicket[] = "atom.global.add.u32 r5, [d0], 1;\nst.global.u32 [d1+4], r5;\n";

TEST(Schedule, SeedsBeginBlocksInManyOrders) {
  Machine gpu;
  gpu.load_text(kernel(kTicket));
  const auto first = order(gpu, 0, 200);
  for (std::uint32_t i = 0; i < 200; ++i) EXPECT_EQ(first[i], i);
  std::set<std::vector<std::uint32_t>> orders;
  std::set<std::uint32_t> of_block_zero;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto now = order(gpu, seed, 200);
    orders.insert(now);
    of_block_zero.insert(now[0]);
    // No block starts while a block 64 or more before it has not started.
    for (std::uint32_t i = 0; i < 200; ++i)
      EXPECT_LT(std::abs(static_cast<int>(now[i]) - static_cast<int>(i)), 64) << "seed " << seed;
    EXPECT_EQ(order(gpu, seed, 200), now) << "seed " << seed;
  }
  EXPECT_GT(orders.size(), 45u);
  EXPECT_GT(of_block_zero.size(), 20u);
  std::set<bool> first_of_two;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) first_of_two.insert(order(gpu, seed, 2)[0] == 0);
  EXPECT_EQ(first_of_two.size(), 2u);
}

// All blocks of a cooperative launch run at once: any block may start first.
TEST(Schedule, OfACooperativeLaunchAnyBlockMayBeginFirst) {
  Machine gpu;
  gpu.config.cooperative = true;
  gpu.load_text(kernel(kTicket));
  bool far = false;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) far |= order(gpu, seed, 200)[0] >= 64;
  EXPECT_TRUE(far);
}

// Counting by a separate atomic read and write loses counts if other threads run in between.
constexpr char kReadThenWrite[] = R"(
atom.global.add.u32 r5, [d0], 0;
add.u32 r5, r5, 1;
atom.global.exch.b32 r6, [d0], r5;
)";

TEST(Schedule, SeedsLetOtherBlocksComeBetweenAtomics) {
  Machine gpu;
  gpu.load_text(kernel(kReadThenWrite));
  int lost = 0;
  for (std::uint64_t seed = 0; seed <= 20; ++seed) {
    gpu.config.schedule_seed = seed;
    const bool loses = words(gpu, Dim3{64, 1, 1}, 1, 65, 0)[0] != 64;
    if (seed == 0) {
      EXPECT_FALSE(loses);
    }
    lost += loses;
  }
  EXPECT_GE(lost, 15);
}

// Thread 0 of each warp takes a number: the order in which the warps of a block run.
std::vector<std::uint32_t> order_of_warps(Machine& gpu, std::uint64_t seed, std::uint32_t warps) {
  gpu.config.schedule_seed = seed;
  auto w = words(gpu, Dim3{1, 1, 1}, 32 * warps, warps + 1, 0);
  w.erase(w.begin());
  return w;
}
constexpr char kTicketOfWarp[] = R"(
and.b32 r4, r0, 31;
setp.ne.u32 p, r4, 0;
@p bra E;
shr.u32 r4, r0, 5;
mad.wide.u32 d1, r4, 4, d0;
atom.global.add.u32 r5, [d0], 1;
st.global.u32 [d1+4], r5;
E:
)";

TEST(Schedule, SeedsBeginWarpsInManyOrders) {
  Machine gpu;
  gpu.load_text(kernel(kTicketOfWarp));
  for (const std::uint32_t warps : {2u, 5u, 32u}) {
    const auto first = order_of_warps(gpu, 0, warps);
    for (std::uint32_t i = 0; i < warps; ++i)
      EXPECT_EQ(first[i], i) << "without a seed they come in turn";
    std::set<std::vector<std::uint32_t>> orders;
    std::set<std::uint32_t> begins;  // the warp that runs first
    int up = 0, down = 0;            // neighbouring warps in ascending and in descending order
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
      const auto now = order_of_warps(gpu, seed, warps);
      EXPECT_EQ(order_of_warps(gpu, seed, warps), now) << "seed " << seed;
      auto sorted = now;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, first) << "each warp once";
      orders.insert(now);
      begins.insert(
          static_cast<std::uint32_t>(std::find(now.begin(), now.end(), 0u) - now.begin()));
      (now[0] < now[1] ? up : down) += 1;
    }
    EXPECT_GE(orders.size(), warps) << warps;
    EXPECT_GE(begins.size(), warps == 32 ? 25u : warps) << warps;
    EXPECT_GE(up, 15) << warps;
    EXPECT_GE(down, 15) << warps;
  }
}

// Two blocks of one launch have different orders of their warps.
TEST(Schedule, SeedsOrderWarpsOfEachBlockByItself) {
  Machine gpu;
  gpu.load_text(kernel(R"(
and.b32 r4, r0, 31;
setp.ne.u32 p, r4, 0;
@p bra E;
shr.u32 r4, r0, 5;
mad.wide.u32 d2, r1, 36, d0;
mad.wide.u32 d3, r4, 4, d2;
atom.global.add.u32 r5, [d2], 1;
st.global.u32 [d3+4], r5;
E:
)"));
  int differ = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    gpu.config.schedule_seed = seed;
    const auto w = words(gpu, Dim3{2, 1, 1}, 256, 18, 0);
    differ += !std::equal(&w[1], &w[9], &w[10]);
  }
  EXPECT_GE(differ, 10);
}

// Under seeds, diverged lanes sometimes run in another order; without a seed, the lower program
// counter runs first.
TEST(Schedule, SeedsLetLanesThatPartedComeInAnyOrder) {
  Machine gpu;
  gpu.load_text(kernel(R"(
and.b32 r4, r0, 3;
mad.wide.u32 d1, r4, 4, d0;
setp.eq.u32 p, r4, 0;
@p bra A;
setp.eq.u32 p, r4, 1;
@p bra B;
setp.eq.u32 p, r4, 2;
@p bra C;
atom.global.add.u32 r5, [d0], 1;
bra E;
A: atom.global.add.u32 r5, [d0], 1;
bra E;
B: atom.global.add.u32 r5, [d0], 1;
bra E;
C: atom.global.add.u32 r5, [d0], 1;
E: st.global.u32 [d1+4], r5;
)"));
  const auto order = [&](std::uint64_t seed) {
    gpu.config.schedule_seed = seed;
    auto w = words(gpu, Dim3{1, 1, 1}, 4, 5, 0);
    w.erase(w.begin());
    return w;
  };
  EXPECT_EQ(order(0), (std::vector<std::uint32_t>{1, 2, 3, 0}));
  std::set<std::vector<std::uint32_t>> orders;
  std::set<std::uint32_t> of_each[4];
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto now = order(seed);
    orders.insert(now);
    for (int i = 0; i < 4; ++i) of_each[i].insert(now[i]);
  }
  // The lanes that do not jump continue first; any of the waiting lanes may follow.
  EXPECT_GE(orders.size(), 4u);
  EXPECT_GE(of_each[0].size(), 2u);
  EXPECT_EQ(of_each[1].size(), 3u);
  EXPECT_EQ(of_each[2].size(), 3u);
  EXPECT_EQ(of_each[3].size(), 1u);
}

// Seeds permute the order of clusters, and of the blocks of a cluster.
TEST(Schedule, SeedsBeginClustersAndTheirBlocksInManyOrders) {
  Machine gpu;
  gpu.config.cluster = {4, 1, 1};
  gpu.load_text(kernel(kTicket));
  const auto first = order(gpu, 0, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(first[i], i);
  std::set<std::uint32_t> of_cluster, of_block;
  std::set<std::size_t> steps;  // from the first block of a cluster to the second, modulo its size
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto now = order(gpu, seed, 32);
    EXPECT_EQ(order(gpu, seed, 32), now) << "seed " << seed;
    const auto begins =
        static_cast<std::uint32_t>(std::find(now.begin(), now.end(), 0u) - now.begin());
    of_cluster.insert(begins / 4);
    of_block.insert(begins % 4);
    steps.insert((std::find(now.begin(), now.end(), 1u) - now.begin() + 4 - begins) % 4);
  }
  EXPECT_GE(of_cluster.size(), 6u);
  EXPECT_EQ(of_block.size(), 4u);
  EXPECT_TRUE(steps.contains(1) && steps.contains(3)) << "upwards and downwards";
}

TEST(Schedule, SeedsLetOtherWarpsComeBetweenAtomics) {
  Machine gpu;
  gpu.load_text(kernel(R"(
.shared .u32 s;
mov.u32 r7, s;
setp.eq.u32 p, r0, 0;
@p st.shared.u32 [r7], 0;
bar.sync 0;
and.b32 r4, r0, 31;
setp.ne.u32 p, r4, 0;
@p bra E;
atom.shared.add.u32 r5, [r7], 0;
add.u32 r5, r5, 1;
atom.shared.exch.b32 r6, [r7], r5;
E: bar.sync 0;
ld.shared.u32 r5, [r7];
setp.eq.u32 p, r0, 0;
@p st.global.u32 [d0], r5;
)"));
  int lost = 0;
  for (std::uint64_t seed = 0; seed <= 20; ++seed) {
    gpu.config.schedule_seed = seed;
    const bool loses = words(gpu, Dim3{1, 1, 1}, 1024, 1, 0)[0] != 32;
    if (seed == 0) {
      EXPECT_FALSE(loses);
    }
    lost += loses;
  }
  EXPECT_GE(lost, 10);
}

// A thread that polls a flag yields to the thread that sets it. words[1 + who] counts its polls. A
// turn has at most 64 polls. It takes as many turns as there are other threads, and as the setter
// needs.
std::uint32_t most_polls(const std::string& body, std::uint32_t blocks, std::uint32_t threads,
                         std::uint64_t seed, std::uint32_t cluster = 1) {
  Machine gpu;
  gpu.config.schedule_seed = seed;
  gpu.config.cluster = {cluster, 1, 1};
  gpu.load_text(kernel(body));
  const std::vector<std::uint32_t> w =
      words(gpu, Dim3{blocks, 1, 1}, threads, 1 + std::max(blocks, threads / 32), 0);
  return *std::max_element(w.begin() + 1, w.end());
}

constexpr std::uint64_t kManySeeds = kSeeds < 5 ? 4 : 65;

TEST(Schedule, ABlockThatPollsLetsTheOthersCome) {
  // Polls by volatile reads, and by atomics that change nothing.
  for (const std::string look :
       {"ld.volatile.global.u32 r5, [d0];", "atom.global.add.u32 r5, [d0], 0;"}) {
    for (const std::uint32_t blocks : {2u, 8u}) {
      for (const std::uint32_t setter : {0u, blocks - 1}) {
        const std::string body = "setp.ne.u32 p, r0, 0;\n@p bra E;\nsetp.eq.u32 p, r1, " +
                                 std::to_string(setter) +
                                 ";\n@p bra SET;\nmov.u32 r6, 0;\nW: " + look +
                                 "\nadd.u32 r6, r6, 1;\nsetp.eq.u32 p, r5, 0;\n@p bra "
                                 "W;\nst.global.u32 [d1+4], r6;\nbra E;\n"
                                 "SET: st.volatile.global.u32 [d0], 1;\nE:\n";
        for (std::uint64_t seed = 1; seed < kManySeeds; ++seed) {
          EXPECT_LE(most_polls(body, blocks, 32, seed), 64 * (blocks + 2))
              << "seed " << seed << ", " << blocks << " blocks, " << setter << " sets\n"
              << look;
        }
      }
    }
  }
}

// A polling cluster also yields to blocks of other clusters.
TEST(Schedule, AClusterThatPollsLetsTheOthersCome) {
  for (const std::uint32_t setter : {0u, 3u, 7u}) {
    const std::string body =
        "setp.ne.u32 p, r0, 0;\n@p bra E;\nsetp.eq.u32 p, r1, " + std::to_string(setter) +
        ";\n@p bra SET;\nmov.u32 r6, 0;\nW: ld.volatile.global.u32 r5, [d0];\n"
        "add.u32 r6, r6, 1;\nsetp.eq.u32 p, r5, 0;\n@p bra W;\n"
        "st.global.u32 [d1+4], r6;\nbra E;\nSET: st.volatile.global.u32 [d0], 1;\nE:\n";
    for (std::uint64_t seed = 1; seed < kManySeeds; ++seed) {
      EXPECT_LE(most_polls(body, 8, 32, seed, 2), 64u * 10)
          << "seed " << seed << ", " << setter << " sets";
    }
  }
}

TEST(Schedule, ABlockThatPollsLetsOneThatTakesLongCome) {
  // A hundred strong stores precede the flag; each may end the setter's turn.
  const std::string body =
      "setp.ne.u32 p, r0, 0;\n@p bra E;\nsetp.eq.u32 p, r1, 1;\n@p bra SET;\nmov.u32 r6, 0;\nW: "
      "ld.volatile.global.u32 r5, [d0];\n"
      "add.u32 r6, r6, 1;\nsetp.eq.u32 p, r5, 0;\n@p bra W;\nst.global.u32 [d1+4], r6;\nbra E;\n"
      "SET: mov.u32 r7, 0;\nL: st.volatile.global.u32 [d1+4], 0;\nadd.u32 r7, r7, 1;\nsetp.lt.u32 "
      "p, r7, 100;\n@p bra L;\n"
      "st.volatile.global.u32 [d0], 1;\nE:\n";
  for (std::uint64_t seed = 1; seed < kManySeeds; ++seed)
    EXPECT_LE(most_polls(body, 2, 32, seed), 64u * 30) << "seed " << seed;
}

TEST(Schedule, AWarpThatPollsLetsTheOthersCome) {
  for (const std::uint32_t setter : {0u, 3u}) {
    const std::string body =
        ".shared .align 4 .b8 s[4];\nmov.u32 r8, s;\nsetp.ne.u32 p, r0, 0;\n@!p st.shared.u32 "
        "[r8], 0;\nbar.sync 0;\n"
        "and.b32 r7, r0, 31;\nsetp.ne.u32 p, r7, 0;\n@p bra E;\nshr.u32 r7, r0, 5;\nmad.wide.u32 "
        "d1, r7, 4, d0;\nsetp.eq.u32 p, r7, " +
        std::to_string(setter) +
        ";\n@p bra SET;\nmov.u32 r6, 0;\nW: ld.volatile.shared.u32 r5, [r8];\nadd.u32 r6, r6, "
        "1;\nsetp.eq.u32 p, r5, 0;\n@p bra W;\n"
        "st.global.u32 [d1+4], r6;\nbra E;\nSET: st.volatile.shared.u32 [r8], 1;\nE:\n";
    for (std::uint64_t seed = 1; seed < kManySeeds; ++seed)
      EXPECT_LE(most_polls(body, 1, 128, seed), 64u * 3) << "seed " << seed << ", warp " << setter;
  }
}

// Converged lanes: a warp sum that relies on lock-step execution, by volatile accesses so that
// there is no race.
std::string sum_of_a_warp(const std::string& between) {
  std::string body = R"(
.shared .align 4 .b32 part[64];
mov.u32 r4, part;
mad.lo.u32 r4, r0, 4, r4;
mov.u32 r5, 1;
st.volatile.shared.u32 [r4], r5;
st.volatile.shared.u32 [r4+128], 0;
bar.warp.sync 0xffffffff;
)";
  for (const int distance : {16, 8, 4, 2, 1}) {
    body += "ld.volatile.shared.u32 r6, [r4+" + std::to_string(4 * distance) + "];\n" + between +
            "ld.volatile.shared.u32 r5, [r4];\nadd.u32 r5, r5, r6;\n" +
            "st.volatile.shared.u32 [r4], r5;\n" + between;
  }
  return kernel(body + "mad.wide.u32 d2, r0, 4, d0;\nst.global.u32 [d2], r5;");
}

TEST(Schedule, LanesThatAreTogetherMayPart) {
  for (const bool synchronised : {false, true}) {
    Machine gpu;
    gpu.load_text(sum_of_a_warp(synchronised ? "bar.warp.sync 0xffffffff;\n" : ""));
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      gpu.config.schedule_seed = seed;
      const bool right = words(gpu, Dim3{1, 1, 1}, 32, 32, 0)[0] == 32;
      wrong += !right;
      EXPECT_TRUE(right || seed != 0);
    }
    EXPECT_EQ(wrong != 0, !synchronised) << wrong;
  }
}

// activemask may name only some of the lanes that have reached this place.
TEST(Schedule, ActivemaskMayNameSomeOfTheLanesThatAreTogether) {
  Machine gpu;
  gpu.load_text(kernel(R"(
setp.ge.u32 p, r0, 24;
@p bra E;
activemask.b32 r5;
mad.wide.u32 d2, r0, 4, d0;
st.global.u32 [d2], r5;
E:
)"));
  std::set<std::uint32_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    gpu.config.schedule_seed = seed;
    const std::vector<std::uint32_t> masks = words(gpu, Dim3{1, 1, 1}, 32, 32, 0);
    for (std::uint32_t i = 0; i < 24; ++i) {
      EXPECT_EQ(masks[i] & 1u << i, 1u << i);
      EXPECT_EQ(masks[i] >> 24, 0u);
      for (std::uint32_t j = 0; j < 24; ++j) {
        EXPECT_TRUE((masks[i] >> j & 1) == 0 ||
                    masks[j] == masks[i]);  // the lanes of a group agree
      }
      EXPECT_TRUE(seed != 0 || masks[i] == 0xffffffu);
      seen.insert(masks[i]);
    }
  }
  EXPECT_GT(seen.size(), 5u);
}

// Diverged lanes execute as many atomics as there are lanes; a barrier waits for all of them.
TEST(Schedule, LanesThatHavePartedMeetAtABarrier) {
  Machine gpu;
  gpu.load_text(kernel(R"(
.shared .align 4 .b32 count;
mov.u32 r4, count;
setp.eq.u32 p, r0, 0;
@p st.shared.u32 [r4], 0;
bar.sync 0;
atom.shared.add.u32 r5, [r4], 1;
atom.shared.add.u32 r5, [r4], 1;
atom.shared.add.u32 r5, [r4], 1;
bar.sync 0;
ld.shared.u32 r5, [r4];
mad.wide.u32 d2, r0, 4, d0;
st.global.u32 [d2], r5;
)"));
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    gpu.config.schedule_seed = seed;
    const std::vector<std::uint32_t> counts = words(gpu, Dim3{1, 1, 1}, 100, 100, 0);
    EXPECT_EQ(std::ranges::count(counts, 300u), 100) << "seed " << seed;
  }
}

}  // namespace schedule_test
}  // namespace lockstep::engine
