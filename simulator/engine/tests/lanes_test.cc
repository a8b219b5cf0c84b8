// Instructions by which lanes learn about their warp: active lanes and the elected leader.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace lanes_test {

using testing::Machine;
using testing::text;

// Thread i has %r1 = i and %r2, its lane; it stores %r10 and %r11 at index 2 i.
struct Pairs {
  Outcome outcome;
  std::vector<std::uint32_t> words;
  std::uint32_t first(std::uint32_t thread) const { return words[2 * thread]; }
  std::uint32_t second(std::uint32_t thread) const { return words[2 * thread + 1]; }
};
Pairs run(const std::string& body, std::uint32_t threads = 32, std::uint64_t seed = 0) {
  Machine gpu;
  gpu.config.schedule_seed = seed;
  gpu.load(R"(.visible .entry k(.param .u64 out)
{
  .reg .pred %p<9>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %laneid;
  mad.wide.u32 %rd2, %r1, 8, %rd1;
  mov.u32 %r10, 0;
  mov.u32 %r11, 0;
)" + body + R"(
  st.global.v2.u32 [%rd2], {%r10, %r11};
  ret;
})");
  const auto out = gpu.buffer(std::vector<std::uint32_t>(2 * threads, 0xdead), "out");
  Pairs r;
  r.outcome = gpu.launch("k", 1, threads, out);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  r.words = gpu.fetch<std::uint32_t>(out, 2 * threads);
  return r;
}

JUDGES(ActiveMask, NamesTheLanesThatExecuteIt, "activemask.b32");
TEST(ActiveMask, NamesTheLanesThatExecuteIt) {
  const Pairs together = run("  activemask.b32 %r10;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(together.first(i), 0xffffffffu);

  // The last warp has eight threads.
  const Pairs partial = run("  activemask.b32 %r10;", 40);
  for (std::uint32_t i = 0; i < 40; ++i)
    EXPECT_EQ(partial.first(i), i < 32 ? 0xffffffffu : 0xffu) << i;

  // Under a guard only executing lanes count; the others keep their registers.
  const Pairs guarded =
      run("  and.b32 %r3, %r2, 3;\n  setp.eq.u32 %p1, %r3, 1;\n  mov.u32 %r10, 77;\n  @%p1 "
          "activemask.b32 %r10;");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(guarded.first(i), i % 4 == 1 ? 0x22222222u : 77u) << i;

  // In a branch: the lanes that took it; after it: all reconverged lanes (%r11).
  for (const std::uint64_t seed : {0, 3}) {
    const Pairs branched = run(R"(
  setp.lt.u32 %p1, %r2, 5;
  @%p1 bra LOW;
  activemask.b32 %r10;
  bra.uni MEET;
LOW:
  activemask.b32 %r10;
MEET:
  bar.warp.sync 0xffffffff;
  activemask.b32 %r11;)",
                               32, seed);
    for (std::uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(branched.first(i) >> i & 1, 1u) << "a lane that executes it is active";
      EXPECT_EQ(branched.first(i) & ~(i < 5 ? 0x1fu : 0xffffffe0u), 0u)
          << "lanes of the other side are not";
      EXPECT_EQ(branched.second(i) >> i & 1, 1u);
    }
    if (seed == 0) {
      for (std::uint32_t i = 0; i < 32; ++i)
        EXPECT_EQ(branched.first(i), i < 5 ? 0x1fu : 0xffffffe0u);
    }
  }

  // Exited lanes do not count.
  const Pairs left = run("  setp.ge.u32 %p1, %r2, 30;\n  @%p1 exit;\n  activemask.b32 %r10;");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(left.first(i), i < 30 ? 0x3fffffffu : 0xdeadu) << i;
}

JUDGES(Elect, TheLowestLaneOfTheMaskUnderEverySchedule, "elect.sync");
TEST(Elect, TheLowestLaneOfTheMaskUnderEverySchedule) {
  for (const std::uint64_t seed : {0, 5}) {
    for (const std::uint32_t mask : {0xffffffffu, 0x80000000u, 0x00ff0010u, 0xaaaaaaaau}) {
      const Pairs r = run("  mov.u32 %r10, 99;\n  mov.u32 %r3, " + std::to_string(mask) + R"(;
  shr.u32 %r4, %r3, %r2;
  and.b32 %r4, %r4, 1;
  setp.eq.u32 %p1, %r4, 1;
  @!%p1 bra OUT;
  elect.sync %r10|%p2, %r3;
  selp.u32 %r11, 1, 2, %p2;
OUT:)",
                          32, seed);
      std::uint32_t leaders = 0, leader = 99;
      for (std::uint32_t i = 0; i < 32; ++i) {
        const bool takes_part = mask >> i & 1;
        EXPECT_EQ(r.second(i) == 0, !takes_part) << i;
        if (!takes_part) continue;
        if (r.second(i) == 1) ++leaders, leader = i;
      }
      EXPECT_EQ(leaders, 1u) << std::hex << mask;
      for (std::uint32_t i = 0; i < 32; ++i)
        EXPECT_EQ(r.first(i), mask >> i & 1 ? leader : 99u) << "all get the leader, lane " << i;
      // As on an H100, for all of 4096 masks: golden/instructions/h100.zst.
      EXPECT_EQ(leader, static_cast<std::uint32_t>(std::countr_zero(mask))) << "seed " << seed;
    }
  }
  // The destination of the leader's lane may be a sink.
  const Pairs sink = run("  elect.sync _|%p2, 0xffffffff;\n  selp.u32 %r11, 1, 2, %p2;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(sink.second(i), i == 0 ? 1u : 2u);
}

}  // namespace lanes_test
}  // namespace lockstep::engine
