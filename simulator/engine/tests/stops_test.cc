// Instructions that end a kernel or let time pass: trap, brkpt, nanosleep, and loops that wait for
// a clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace stops_test {

using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

constexpr int kBodyLine = 3 + 12;  // the line of the module's text on which `body` begins

// k(out): thread i has %r1 = i; it stores %rd10 to out + 8 i.
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 out)
{
  .reg .pred %p<9>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 8, %rd1;
  mov.u64 %rd10, 1;
  setp.eq.u32 %p1, %r1, 5;
  setp.gt.u32 %p2, %r1, 1000;
)" + body +
         "\n  st.global.u64 [%rd2], %rd10;\n  ret;\n}";
}

// trap and brkpt end the launch with an error; earlier stores remain.
JUDGES(Stops, ATrapOrABreakpointEndsTheLaunchAtItsPlace, "trap", "brkpt");
TEST(Stops, ATrapOrABreakpointEndsTheLaunchAtItsPlace) {
  for (const std::string stop : {"trap", "brkpt"}) {
    Machine gpu;
    gpu.load(kernel("  st.global.u64 [%rd2], %rd10;\n  mov.u64 %rd10, 2;\n  @%p1 " + stop + ";"));
    const auto out = gpu.buffer(std::vector<std::uint64_t>(32, 0));
    const Outcome o = gpu.launch("k", 1, 32, out);
    ASSERT_TRUE(o.failed()) << stop;
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].kind, check::Kind::kTrap) << text(o);
    EXPECT_EQ(o.findings[0].access.thread.x, 5u) << text(o);
    EXPECT_EQ(o.findings[0].access.site.ptx_line, kBodyLine + 2) << text(o);
    EXPECT_THAT(text(o), HasSubstr(stop));
    EXPECT_EQ(gpu.fetch<std::uint64_t>(out, 32), std::vector<std::uint64_t>(32, 1))
        << "what follows " << stop << " was not executed";

    // An instruction that no thread reaches has no effect.
    gpu.load(kernel("  @%p2 " + stop + ";"));
    const Outcome goes_on = gpu.launch("k", 1, 32, out);
    EXPECT_TRUE(goes_on.findings.empty()) << text(goes_on);
  }
}

JUDGES(Sleep, LetsTimePassAndChangesNothingElse, "nanosleep.u32");
TEST(Sleep, LetsTimePassAndChangesNothingElse) {
  const auto elapsed = [](const std::string& sleep) {
    Machine gpu;
    gpu.load(kernel(
        "  mov.u64 %rd3, %globaltimer;\n" + sleep +
        "\n  mov.u64 %rd4, %globaltimer;\n  sub.u64 %rd10, %rd4, %rd3;\n  mov.u32 %r5, %tid.x;\n"
        "  setp.ne.u32 %p3, %r5, %r1;\n  @%p3 trap;"));
    const auto out = gpu.buffer(std::vector<std::uint64_t>(32, 0));
    const Outcome o = gpu.launch("k", 1, 32, out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    return gpu.fetch<std::uint64_t>(out, 32);
  };
  // PTX: sleeps between zero and twice the given time, at most one millisecond.
  for (const std::uint64_t t : elapsed("")) EXPECT_LT(t, 10u);
  for (const std::uint64_t t : elapsed("  nanosleep.u32 5000;"))
    EXPECT_TRUE(t <= 10'010 && t >= 4'000) << t;
  for (const std::uint64_t t : elapsed("  nanosleep.u32 0;")) EXPECT_LT(t, 10u);
  for (const std::uint64_t t : elapsed("  nanosleep.u32 4000000000;")) EXPECT_LE(t, 2'000'010u);
  for (const std::uint64_t t : elapsed("  mov.u32 %r4, 700;\n  nanosleep.u32 %r4;"))
    EXPECT_TRUE(t <= 1'410 && t >= 500) << t;
}

// A loop that only reads a clock ends after few instructions, and shortly after the time that it
// waits for.
TEST(ClockWait, EndsSoonAndNotTooEarly) {
  constexpr std::uint64_t kAsked = 3'200'000'000;
  for (const std::string clock : {"%clock64", "%globaltimer"}) {
    Machine gpu;
    gpu.load(kernel("  mov.u64 %rd3, " + clock + ";\nwait:\n  mov.u64 %rd4, " + clock +
                    ";\n  sub.u64 %rd10, %rd4, %rd3;\n  setp.lt.u64 %p3, %rd10, 3200000000;\n"
                    "  @%p3 bra wait;"));
    const auto out = gpu.buffer(std::vector<std::uint64_t>(32, 0));
    const Outcome o = gpu.launch("k", 1, 32, out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_LT(o.counters.warp_instructions, 10'000u) << clock;
    for (const std::uint64_t t : gpu.fetch<std::uint64_t>(out, 32))
      EXPECT_TRUE(t >= kAsked && t < kAsked + kAsked / 8) << clock << " " << t;
  }
  // Consecutive waits for the 32-bit %clock: no wait overshoots so far that the difference wraps
  // around.
  constexpr std::uint64_t kWaits = 40, kNearlyAll = 4'200'000'000, kLeap = 1 << 26;
  Machine gpu;
  gpu.load(
      kernel("  mov.u64 %rd3, %clock64;\n  mov.u32 %r4, 40;\nagain:\n  mov.u32 %r2, %clock;\n"
             "wait:\n  mov.u32 %r3, %clock;\n  sub.u32 %r3, %r3, %r2;\n"
             "  setp.lt.u32 %p3, %r3, 4200000000;\n  @%p3 bra wait;\n"
             "  sub.u32 %r4, %r4, 1;\n  setp.ne.u32 %p4, %r4, 0;\n  @%p4 bra again;\n"
             "  mov.u64 %rd4, %clock64;\n  sub.u64 %rd10, %rd4, %rd3;"));
  const auto out = gpu.buffer(std::vector<std::uint64_t>(32, 0));
  const Outcome o = gpu.launch("k", 1, 32, out);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_LT(o.counters.warp_instructions, 100'000u);
  for (const std::uint64_t t : gpu.fetch<std::uint64_t>(out, 32))
    EXPECT_TRUE(t >= kWaits * kNearlyAll && t < kWaits * (kNearlyAll + 2 * kLeap)) << t;
}

// In a loop that also reads a flag, time advances with instructions only, so that the setting
// thread can run.
TEST(ClockWait, WithAFlagDoesNotPassOverTime) {
  const std::string look = "  ld.relaxed.gpu.u64 %rd10, [%rd1+512];\n",
                    time = "  mov.u64 %rd4, %clock64;\n  sub.u64 %rd4, %rd4, %rd3;\n";
  for (const bool look_first : {true, false}) {
    Machine gpu;
    gpu.load(
        kernel("  setp.ge.u32 %p3, %r1, 32;\n  mov.u32 %r4, 20000;\n  @%p3 bra slow;\n"
               "  mov.u64 %rd3, %clock64;\npoll:\n" +
               (look_first ? look + time : time + look) +
               "  setp.eq.u64 %p4, %rd10, 0;\n  setp.lt.and.u64 %p5, %rd4, 1000000, %p4;\n"
               "  @%p5 bra poll;\n  bra done;\nslow:\n  sub.u32 %r4, %r4, 1;\n"
               "  setp.ne.u32 %p4, %r4, 0;\n  @%p4 bra slow;\n  mov.u64 %rd10, 7;\n"
               "  st.relaxed.gpu.u64 [%rd1+512], %rd10;\ndone:"));
    const auto out = gpu.buffer(std::vector<std::uint64_t>(65, 0));
    const Outcome o = gpu.launch("k", 1, 64, out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_EQ(gpu.fetch<std::uint64_t>(out, 64), std::vector<std::uint64_t>(64, 7)) << look_first;
  }
}

// A thread that sleeps in a loop lets threads of its own warp and of other warps run.
TEST(Sleep, LetsOthersRun) {
  for (const std::uint32_t setter : {31u, 40u}) {
    Machine gpu;
    gpu.load(
        kernel("  .shared .align 4 .u32 flag;\n  setp.eq.u32 %p3, %r1, 0;\n  @%p3 "
               "st.volatile.shared.u32 [flag], 0;\n  bar.sync 0;\n  setp.eq.u32 %p4, %r1, " +
               std::to_string(setter) + R"(;
  @%p4 bra SET;
WAIT:
  ld.relaxed.cta.shared.u32 %r5, [flag];
  setp.ne.u32 %p5, %r5, 0;
  @%p5 bra DONE;
  nanosleep.u32 100;
  bra.uni WAIT;
SET:
  atom.shared.exch.b32 %r6, [flag], 9;
DONE:)"));
    const auto out = gpu.buffer(std::vector<std::uint64_t>(64, 0));
    const Outcome o = gpu.launch("k", 1, 64, out);
    EXPECT_FALSE(o.failed()) << text(o);
    EXPECT_EQ(gpu.fetch<std::uint64_t>(out, 64), std::vector<std::uint64_t>(64, 1));
  }
}

}  // namespace stops_test
}  // namespace lockstep::engine
