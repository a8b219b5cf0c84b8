// Launches of one kernel as machine code (simulator/translate) and by the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine::translated {

using Translate = LaunchConfig::Translate;

// A launch in each way. `seed`: LaunchConfig::schedule_seed.
struct Launched {
  std::vector<std::uint32_t> out;
  std::uint64_t warp_instructions = 0, thread_instructions = 0, shuffles = 0, votes = 0;
  std::string findings;
  bool operator==(const Launched&) const = default;
};
inline Launched launched(const std::string& text, Translate translate, std::uint32_t threads,
                         std::uint64_t seed = 0, std::uint32_t checks = check::kAllChecks,
                         std::uint64_t limit = 1'000'000) {
  testing::Machine gpu;
  gpu.config.translate = translate;
  gpu.config.schedule_seed = seed;
  gpu.config.checks = checks;
  gpu.config.instruction_limit = limit;
  gpu.load(text);
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(4 * threads));
  const Outcome o = gpu.launch("k", 4, threads, out);
  return {gpu.fetch<std::uint32_t>(out, 4 * threads),
          o.counters.warp_instructions,
          o.counters.thread_instructions,
          o.counters.shuffles,
          o.counters.votes,
          testing::text(o)};
}

// Thread t of the grid has %r1 = t and %rd2 = the address of out[t]; %r9 is stored there.
inline std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[512];
  .reg .pred %p<9>;
  .reg .b32 %r<20>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
)" + body +
         R"(
  st.global.u32 [%rd2], %r9;
  ret;
}
)";
}

inline void expect_the_same(const std::string& text, std::uint32_t threads, std::uint64_t limit) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    // Without the search for races the code loads from shared memory by itself.
    for (const std::uint32_t checks :
         {std::uint32_t{check::kAllChecks}, std::uint32_t{check::kBounds | check::kInitialisation},
          0u}) {
      const Launched off = launched(text, Translate::kOff, threads, seed, checks, limit);
      for (const Translate way : {Translate::kAlways, Translate::kCompare}) {
        const Launched other = launched(text, way, threads, seed, checks, limit);
        EXPECT_EQ(off.out, other.out);
        EXPECT_EQ(off.warp_instructions, other.warp_instructions) << seed << " " << checks;
        EXPECT_EQ(off.thread_instructions, other.thread_instructions);
        EXPECT_EQ(off.shuffles, other.shuffles);
        EXPECT_EQ(off.votes, other.votes);
        EXPECT_EQ(off.findings, other.findings);
      }
    }
  }
}

}  // namespace lockstep::engine::translated
