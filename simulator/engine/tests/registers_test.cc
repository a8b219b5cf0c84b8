// A kernel behaves the same whether its registers share storage or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace registers_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// Pointers incremented at the top of a loop, as nvcc rotates loops: add.s64 reads its destination,
// so the pointers are live throughout the loop.
TEST(Registers, WhatALoopMovesOnIsLiveIntoTheLoop) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  mov.u32 %r2, 0;
  bra FIRST;
NEXT:
  add.s64 %rd4, %rd4, 128;
  add.s64 %rd5, %rd5, 128;
  add.u32 %r2, %r2, 1;
FIRST:
  ld.global.u32 %r3, [%rd4];
  mul.wide.u32 %rd6, %r3, 3;
  cvt.u32.u64 %r4, %rd6;
  st.global.u32 [%rd5], %r4;
  setp.lt.u32 %p1, %r2, 3;
  @%p1 bra NEXT;
  ret;
}
)");
  std::vector<std::uint32_t> values(128), tripled(128);
  for (std::uint32_t i = 0; i < 128; ++i) values[i] = i + 1, tripled[i] = 3 * (i + 1);
  const auto x = gpu.buffer(values), y = gpu.buffer(std::vector<std::uint32_t>(128, 0));
  const Outcome o = gpu.launch("k", 1, 32, x, y);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(y, 128), tripled);
}

// An asynchronous copy reads its address register and leaves it unchanged for the next turn.
TEST(Registers, TheAddressOfACopyIsRead) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  .shared .align 16 .b8 s[128];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, s;
  mov.u32 %r2, 0;
L:
  cp.async.ca.shared.global [%r1], [%rd1], 4;
  cp.async.wait_all;
  ld.global.u32 %r3, [%rd1];
  st.global.u32 [%rd2], %r3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 3;
  @%p1 bra L;
  ret;
}
)");
  const auto x = gpu.buffer(std::vector<std::uint32_t>{77}),
             y = gpu.buffer(std::vector<std::uint32_t>{0});
  const Outcome o = gpu.launch("k", 1, 1, x, y);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(y, 1).front(), 77u);
}

// An instruction that reads its own destination reads it before it writes it.
TEST(Registers, AnUpdateOfWhatNobodyWroteIsFound) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 y)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [y];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)");
  const Outcome o = gpu.launch("k", 1, 1, gpu.buffer(std::vector<std::uint32_t>{0}));
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised) << text(o);
}

// A lane that waits at a *.sync keeps its operand in storage of the instruction. Other lanes of its
// warp execute other instructions meanwhile.
TEST(Registers, AParkedLaneKeepsItsOperand) {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    Machine gpu;
    gpu.config.schedule_seed = seed;
    gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred p<4>; .reg .b32 r<8>; .reg .b64 d<4>;
  ld.param.u64 d0, [out];
  mov.u32 r0, %laneid;
  and.b32 r1, r0, 1;
  setp.eq.u32 p0, r1, 1;
  setp.lt.u32 p1, r0, 16;
  @p1 bra ELSE;
  vote.sync.ballot.b32 r2, !p0, 0xffffffff;
  bra DONE;
ELSE:
  cvt.u64.u32 d2, %ntid.x;
  mov.b64 d3, out;
  vote.sync.all.pred _, p0, 0x0000ffff;
  vote.sync.ballot.b32 r2, !p0, 0xffffffff;
DONE:
  mad.wide.u32 d1, r0, 4, d0;
  st.global.u32 [d1], r2;
  ret;
}
)");
    const auto out = gpu.buffer(std::vector<std::uint32_t>(32));
    const Outcome o = gpu.launch("k", 1, 32, out);
    EXPECT_FALSE(o.failed()) << text(o);
    EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 32), std::vector<std::uint32_t>(32, 0x55555555u))
        << "seed " << seed;
  }
}

}  // namespace registers_test
}  // namespace lockstep::engine
