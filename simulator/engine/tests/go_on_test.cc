// Kernels that continue after a finding. Each place is reported once, with its number of
// occurrences, and consequences of a mistake are not reported again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace go_on_test {

using check::Kind;
using check::Severity;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

struct Case : testing::TwoBuffers {
  Case() { gpu.config.go_on = true; }
};

TEST(GoesOn, AfterARaceToTheEnd) {
  Case c;
  const Outcome o =
      c.run("  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.global.u32 [%rd6], %r1;", 64);
  EXPECT_FALSE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].severity, Severity::kError);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_THAT(text(o), HasSubstr("The kernel went on."));
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 64)[63], 63u);
}

TEST(GoesOn, AfterEveryPlaceAndTellsEachOnceWithItsCount) {
  // Ten turns; in each, 31 lanes race at the first store and 31 at the second.
  Case c;
  c.gpu.config.host_threads = 1;
  const Outcome o = c.run(
      "  mov.u32 %r4, 0;\nL:\n  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.shared.u32 [s+4], "
      "%r1;\n  bar.sync 0;\n"
      "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 10;\n  @%p1 bra L;");
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_LT(o.findings[0].access.site.ptx_line, o.findings[1].access.site.ptx_line);
  for (const check::Finding& f : o.findings) EXPECT_EQ(f.occurrences, 310u) << f.to_string();
  EXPECT_THAT(text(o), HasSubstr("and 309 more times, by this and other threads"));
}

TEST(GoesOn, ReportsARaceWhereWritesOfOneValueWereReportedBefore) {
  // The store writes one value in its first turn, and different values in its second.
  Case c;
  const Outcome o = c.run(
      "  mov.u32 %r4, 0;\n  mov.u32 %r5, 9;\nL:\n  st.shared.u32 [s], %r5;\n  bar.sync 0;\n  "
      "mov.u32 %r5, %r1;\n"
      "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 2;\n  @%p1 bra L;");
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_EQ(o.findings[0].severity, Severity::kInformation);
  EXPECT_EQ(o.findings[1].severity, Severity::kError);
}

TEST(GoesOn, WhatOneLoadMetIsToldOnceHoweverItIsUsed) {
  // The value decides a branch, is used in arithmetic and stored, and is an address.
  Case c;
  c.gpu.config.host_threads = 1;
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [%r2];\n  setp.eq.u32 %p1, %r5, 0x7fffffff;\n  @%p1 bra L;\n  add.u32 "
      "%r6, %r5, 1;\n"
      "  st.global.u32 [%rd6], %r6;\nL:\n  and.b32 %r7, %r5, 0;\n  mul.lo.u32 %r8, %r5, 3;\n  "
      "st.global.u32 [%rd6], %r8;");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].access.site.instruction, "bra") << text(o);
  EXPECT_EQ(o.findings[0].occurrences, 96u) << "32 threads, three uses";
  ASSERT_TRUE(o.findings[0].origin.has_value());
  EXPECT_EQ(o.findings[0].origin->instruction, "ld.shared.u32");
}

TEST(GoesOn, WhatIsStoredAfterItWasToldCountsAsWritten) {
  Case c;
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [%r2];\n  add.u32 %r6, %r5, 1;\n  st.global.u32 [%rd6], %r6;\n  "
      "ld.global.u32 %r7, [%rd6];\n"
      "  add.u32 %r8, %r7, 1;\n  setp.eq.u32 %p1, %r8, 9;\n  @%p1 bra L;\nL:");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].access.site.instruction, "st.global.u32") << text(o);
}

TEST(GoesOn, TwoLoadsAreTwoMistakes) {
  Case c;
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [s];\n  ld.shared.u32 %r6, [s+4];\n  add.u32 %r5, %r5, 1;\n  add.u32 "
      "%r6, %r6, 1;\n"
      "  st.global.u32 [%rd5], %r5;\n  st.global.u32 [%rd6], %r6;");
  EXPECT_EQ(o.findings.size(), 2u) << text(o);
}

TEST(GoesOn, AnAtomicOnWhatNobodyWroteIsToldOnce) {
  Case c;
  const Outcome o = c.run(
      "  atom.shared.add.u32 %r5, [s], 1;\n  add.u32 %r6, %r5, 1;\n  st.global.u32 [%rd6], %r6;");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised);
}

TEST(GoesOn, FindsTheSameWithSeveralHostThreads) {
  const std::string body =
      "  ld.shared.u32 %r5, [%r2];\n  setp.eq.u32 %p1, %r5, 0x7fffffff;\n  @%p1 bra L;\n  "
      "st.shared.u32 [s], %r1;\nL:";
  Case one, many;
  one.gpu.config.host_threads = 1;
  many.gpu.config.host_threads = 4;
  const Outcome a = one.run(body, 64, 50), b = many.run(body, 64, 50);
  ASSERT_EQ(a.findings.size(), 2u) << text(a);
  ASSERT_EQ(b.findings.size(), 2u) << text(b);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(check::same_place(a.findings[i], b.findings[i])) << text(b);
    EXPECT_EQ(a.findings[i].occurrences, b.findings[i].occurrences) << text(b);
  }
}

TEST(GoesOn, NotAfterWhatNoKernelSurvives) {
  Case c;
  const Outcome o =
      c.run("  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.global.u32 [%rd6+4], %r1;", 64);
  EXPECT_TRUE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_EQ(o.findings[1].kind, Kind::kOutOfBounds);
  EXPECT_FALSE(o.findings[1].survived);
}

TEST(GoesOn, NotAfterTheSameInstructionsFindingThatItDoesNotSurvive) {
  // Each lane's mask names the lanes before it. It omits the lane itself, after which the kernel
  // continues. It also names lanes that wait at the barrier, which ends the kernel.
  Case c;
  c.gpu.config.host_threads = 1;
  const Outcome o = c.run(
      "  mov.u32 %r5, %lanemask_lt;\n  vote.sync.ballot.b32 %r6, 1, %r5;\n  bar.sync 0;\n  "
      "st.global.u32 [%rd6], %r6;");
  EXPECT_TRUE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kInvalidMask);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_EQ(o.findings[1].kind, Kind::kInvalidMask);
  EXPECT_FALSE(o.findings[1].survived);
}

TEST(GoesOn, OnlyWhenAsked) {
  Case c;
  c.gpu.config.go_on = false;
  const Outcome o =
      c.run("  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.shared.u32 [s+4], %r1;", 64);
  EXPECT_TRUE(o.failed());
  EXPECT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_FALSE(o.findings[0].survived);
}

// mbarrier.init and mbarrier.inval at a wrong time; %r9 is the object's address.
struct MbarrierCase : Case {
  Outcome run_object(const std::string& body, std::uint32_t threads) {
    return run("  .shared .align 8 .b64 object;\n  mov.u32 %r9, object;\n  mov.u32 %r10, 0;\n" +
                   body + "  st.global.u32 [%rd6], %r10;",
               threads);
  }
};

TEST(GoesOn, AfterASecondInitWithAFreshObject) {
  // After one of three arrivals the object is initialised again, with count two: the other two
  // arrivals complete the new object's first phase.
  MbarrierCase c;
  const Outcome o = c.run_object(
      "  mbarrier.init.shared.b64 [%r9], 3;\n  mbarrier.arrive.shared.b64 _, [%r9];\n  "
      "mbarrier.init.shared.b64 [%r9], 2;\n"
      "  mbarrier.arrive.shared.b64 _, [%r9];\n  mbarrier.test_wait.parity.shared.b64 %p1, [%r9], "
      "0;\n  mbarrier.arrive.shared.b64 _, [%r9];\n"
      "  mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 0;\n  selp.u32 %r10, 1, 0, %p1;\n  "
      "selp.u32 %r11, 2, 0, %p2;\n  add.u32 %r10, %r10, %r11;\n",
      1);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kMbarrierMisuse);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_THAT(text(o), HasSubstr("is initialised again while it is in use"));
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 1)[0], 2u)
      << "complete after two arrivals, and not after one";
}

TEST(GoesOn, AfterASecondInitThatThreadsWaitAt) {
  // Warp 1 waits for a phase that the second object completes.
  MbarrierCase c;
  c.gpu.config.checks &= ~check::kRaces;  // it is also a race
  const Outcome o = c.run_object(
      "  setp.ne.u32 %p1, %r1, 0;\n  @!%p1 mbarrier.init.shared.b64 [%r9], 9;\n  bar.sync 0;\n  "
      "setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra WAIT;\n"
      "  @%p1 bra OUT;\n  nanosleep.u32 1000;\n  mbarrier.init.shared.b64 [%r9], 1;\n  "
      "mbarrier.arrive.shared.b64 _, [%r9];\n  bra OUT;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;\n  @!%p3 bra WAIT;\n  mov.u32 "
      "%r10, 7;\nOUT:\n",
      64);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 64)[63], 7u);
}

TEST(GoesOn, AfterASecondInval) {
  MbarrierCase c;
  const Outcome o = c.run_object(
      "  mbarrier.init.shared.b64 [%r9], 1;\n  mov.u32 %r4, 0;\nL:\n  mbarrier.inval.shared.b64 "
      "[%r9];\n  add.u32 %r4, %r4, 1;\n"
      "  setp.lt.u32 %p1, %r4, 4;\n  @%p1 bra L;\n  mbarrier.init.shared.b64 [%r9], 1;\n  "
      "mbarrier.arrive.shared.b64 _, [%r9];\n"
      "  mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 0;\n  selp.u32 %r10, 7, 0, %p2;\n",
      1);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_THAT(text(o),
              HasSubstr("is invalidated and not initialised, or has been invalidated before"));
  EXPECT_EQ(o.findings[0].occurrences, 3u) << text(o);
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 1)[0], 7u);
}

TEST(GoesOn, AfterAnInvalWhileThreadsWait) {
  // The bytes stay unchanged; the later arrival releases the waiting threads.
  MbarrierCase c;
  c.gpu.config.checks &= ~check::kRaces;  // it is also a race
  const Outcome o = c.run_object(
      "  setp.ne.u32 %p1, %r1, 0;\n  @!%p1 mbarrier.init.shared.b64 [%r9], 1;\n  bar.sync 0;\n  "
      "setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra WAIT;\n"
      "  @%p1 bra OUT;\n  nanosleep.u32 1000;\n  mbarrier.inval.shared.b64 [%r9];\n  "
      "mbarrier.arrive.shared.b64 _, [%r9];\n  bra OUT;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;\n  @!%p3 bra WAIT;\n  mov.u32 "
      "%r10, 7;\nOUT:\n",
      64);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_THAT(text(o), HasSubstr("is invalidated while threads wait for it"));
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 64)[63], 7u);
}

TEST(GoesOn, NotAfterAnMbarrierMisuseWhoseObjectIsGone) {
  MbarrierCase c;
  EXPECT_TRUE(c.run_object("  mbarrier.arrive.shared.b64 _, [%r9];\n", 1).failed())
      << "never initialised";
}

}  // namespace go_on_test
}  // namespace lockstep::engine
