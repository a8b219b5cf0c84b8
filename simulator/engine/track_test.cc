// Values that nobody wrote, on their way through instructions that take one of their operands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "simulator/engine/testing.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using testing::Machine;
using testing::text;
using ::testing::HasSubstr;

// Thread i has %r1 = i, %f1 = signs[i], %r7 = 5 and %r8, which nobody wrote; it stores what the body leaves in %r9, plus 1.
struct Selections {
  Machine gpu;
  memory::Address out = 0;
  std::vector<float> signs = std::vector<float>(32, 1.0f);

  Outcome run(const std::string& body) {
    gpu.load(R"(
.visible .entry k(.param .u64 signs, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [signs];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  mov.u32 %r7, 5;
)" + body + "  add.u32 %r9, %r9, 1;\n  st.global.u32 [%rd5], %r9;\n  ret;\n}\n");
    const auto x = gpu.buffer(signs, "signs");
    out = gpu.unwritten(128, "out");
    return gpu.launch("k", 1, 32, x, out);
  }
  // Lanes that are accused.
  std::uint64_t accused(const std::string& body) {
    const Outcome o = run(body);
    if (o.findings.empty()) return 0;
    EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised) << text(o);
    return o.findings[0].occurrences;
  }
};

TEST(Selection, TheOperandThatIsNotTakenDoesNotCount) {
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 32;\nselp.b32 %r9, %r7, %r8, %p1;\n"), 0u);
  EXPECT_EQ(Selections().accused("setp.ge.u32 %p1, %r1, 32;\nselp.b32 %r9, %r8, %r7, %p1;\n"), 0u);
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 30;\nselp.b32 %r9, %r7, %r8, %p1;\n"), 2u);
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 30;\nselp.b32 %r9, %r8, %r7, %p1;\n"), 30u);
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 30;\nselp.b32 %r9, %r8, %r8, %p1;\n"), 32u);
}

// for (i = 0; i < 2; ++i) d = lane / 16 == i ? v : d, with a d that begins unassigned.
TEST(Selection, ALoopThatAssignsEachLaneInItsTurn) {
  Selections s;
  const Outcome o = s.run("mov.u32 %r2, 0;\nshr.u32 %r3, %r1, 4;\nL:\nadd.u32 %r4, %r7, %r2;\nsetp.eq.u32 %p1, %r3, %r2;\nselp.b32 %r8, %r4, %r8, %p1;\n"
                          "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 2;\n@%p2 bra L;\nmov.b32 %r9, %r8;\n");
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(s.gpu.fetch<std::uint32_t>(s.out, 32)[31], 7u);
  EXPECT_GT(Selections().accused("mov.u32 %r2, 0;\nshr.u32 %r3, %r1, 4;\nL:\nadd.u32 %r4, %r7, %r2;\nsetp.eq.u32 %p1, %r3, %r2;\nselp.b32 %r8, %r4, %r8, %p1;\n"
                                 "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1;\n@%p2 bra L;\nmov.b32 %r9, %r8;\n"), 0u) << "one turn too few";
}

TEST(Selection, AConditionThatNobodyWroteCounts) {
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r8, 7;\nselp.b32 %r9, %r7, %r1, %p1;\n"), 32u);
  EXPECT_EQ(Selections().accused("slct.b32.s32 %r9, %r7, %r1, %r8;\n"), 32u);
}

TEST(Selection, SlctTakesItsFirstOperandFromZeroOn) {
  EXPECT_EQ(Selections().accused("sub.u32 %r2, %r1, 20;\nslct.b32.s32 %r9, %r7, %r8, %r2;\n"), 20u);
  EXPECT_EQ(Selections().accused("sub.u32 %r2, %r1, 20;\nslct.b32.s32 %r9, %r8, %r7, %r2;\n"), 12u);
  Selections plain;
  plain.signs[1] = -1, plain.signs[2] = -0.0f, plain.signs[3] = std::numeric_limits<float>::quiet_NaN();
  plain.signs[4] = -std::numeric_limits<float>::denorm_min(), plain.signs[5] = -std::numeric_limits<float>::min();
  Selections flushed;
  flushed.signs = plain.signs;
  EXPECT_EQ(plain.accused("slct.b32.f32 %r9, %r7, %r8, %f1;\n"), 4u) << "-1, NaN, and both small ones";
  EXPECT_EQ(flushed.accused("slct.ftz.b32.f32 %r9, %r7, %r8, %f1;\n"), 3u) << "the subnormal is zero";
}

TEST(Selection, AGuardedMoveLeavesTheOtherLanesAlone) {
  EXPECT_EQ(Selections().accused("mov.b32 %r9, %r7;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 mov.b32 %r9, %r8;\n"), 0u);
  EXPECT_EQ(Selections().accused("mov.b32 %r9, %r7;\nsetp.ge.u32 %p1, %r1, 30;\n@%p1 mov.b32 %r9, %r8;\n"), 2u);
}

TEST(Selection, AStoredRegisterThatNobodyAssignedIsNamedAsSuch) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r1;
  ret;
}
)");
  const Outcome o = gpu.launch("k", 1, 1, gpu.unwritten(4));
  ASSERT_EQ(o.unwritten_stores.size(), 1u);
  EXPECT_THAT(o.unwritten_stores[0].by.detail, HasSubstr("before anything was assigned to it"));
}

}  // namespace
}  // namespace lockstep::engine
