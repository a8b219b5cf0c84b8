// Kernels that go on after a finding: each place is told once, with how often it was met, and a mistake is not told again at everything that comes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/engine/testing/testing.h"

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
  const Outcome o = c.run("  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.global.u32 [%rd6], %r1;", 64);
  EXPECT_FALSE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].severity, Severity::kError);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_THAT(text(o), HasSubstr("The kernel went on."));
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 64)[63], 63u);
}

TEST(GoesOn, AfterEveryPlaceAndTellsEachOnceWithItsCount) {
  // Ten turns; in each, 31 lanes meet the first store's race and 31 the second's.
  Case c;
  c.gpu.config.host_threads = 1;
  const Outcome o = c.run(
      "  mov.u32 %r4, 0;\nL:\n  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.shared.u32 [s+4], %r1;\n  bar.sync 0;\n"
      "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 10;\n  @%p1 bra L;");
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_LT(o.findings[0].access.site.ptx_line, o.findings[1].access.site.ptx_line);
  for (const check::Finding& f : o.findings) EXPECT_EQ(f.occurrences, 310u) << f.to_string();
  EXPECT_THAT(text(o), HasSubstr("and 309 more times, by this and other threads"));
}

TEST(GoesOn, TellsARaceWhereWritesOfOneValueWereToldBefore) {
  // The same store writes one value in its first turn, and different ones in its second.
  Case c;
  const Outcome o = c.run(
      "  mov.u32 %r4, 0;\n  mov.u32 %r5, 9;\nL:\n  st.shared.u32 [s], %r5;\n  bar.sync 0;\n  mov.u32 %r5, %r1;\n"
      "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 2;\n  @%p1 bra L;");
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_EQ(o.findings[0].severity, Severity::kInformation);
  EXPECT_EQ(o.findings[1].severity, Severity::kError);
}

TEST(GoesOn, WhatOneLoadMetIsToldOnceHoweverItIsUsed) {
  // The value decides a branch, is computed with and stored, and is an address.
  Case c;
  c.gpu.config.host_threads = 1;
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [%r2];\n  setp.eq.u32 %p1, %r5, 0x7fffffff;\n  @%p1 bra L;\n  add.u32 %r6, %r5, 1;\n"
      "  st.global.u32 [%rd6], %r6;\nL:\n  and.b32 %r7, %r5, 0;\n  mul.lo.u32 %r8, %r5, 3;\n  st.global.u32 [%rd6], %r8;");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].access.site.instruction, "bra") << text(o);
  EXPECT_EQ(o.findings[0].occurrences, 96u) << "32 threads, three uses";
  ASSERT_TRUE(o.findings[0].origin.has_value());
  EXPECT_EQ(o.findings[0].origin->instruction, "ld.shared.u32");
}

TEST(GoesOn, WhatIsStoredAfterItWasToldCountsAsWritten) {
  Case c;
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [%r2];\n  add.u32 %r6, %r5, 1;\n  st.shared.u32 [%r2], %r6;\n  ld.shared.u32 %r7, [%r2];\n"
      "  add.u32 %r8, %r7, 1;\n  st.global.u32 [%rd6], %r8;");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].access.site.instruction, "st.shared.u32") << text(o);
}

TEST(GoesOn, TwoLoadsAreTwoMistakes) {
  Case c;
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [s];\n  ld.shared.u32 %r6, [s+4];\n  add.u32 %r5, %r5, 1;\n  add.u32 %r6, %r6, 1;\n"
      "  st.global.u32 [%rd5], %r5;\n  st.global.u32 [%rd6], %r6;");
  EXPECT_EQ(o.findings.size(), 2u) << text(o);
}

TEST(GoesOn, AnAtomicOnWhatNobodyWroteIsToldOnce) {
  Case c;
  const Outcome o = c.run("  atom.shared.add.u32 %r5, [s], 1;\n  add.u32 %r6, %r5, 1;\n  st.global.u32 [%rd6], %r6;");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised);
}

TEST(GoesOn, FindsTheSameWithSeveralHostThreads) {
  const std::string body = "  ld.shared.u32 %r5, [%r2];\n  setp.eq.u32 %p1, %r5, 0x7fffffff;\n  @%p1 bra L;\n  st.shared.u32 [s], %r1;\nL:";
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
  const Outcome o = c.run("  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.global.u32 [%rd6+4], %r1;", 64);
  EXPECT_TRUE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_EQ(o.findings[1].kind, Kind::kOutOfBounds);
  EXPECT_FALSE(o.findings[1].survived);
}

TEST(GoesOn, NotAfterTheSameInstructionsFindingThatItDoesNotSurvive) {
  // Each lane's mask is the lanes before it. It leaves out its own lane, which the kernel survives, and names lanes that wait at the barrier, which it does
  // not.
  Case c;
  c.gpu.config.host_threads = 1;
  const Outcome o = c.run("  mov.u32 %r5, %lanemask_lt;\n  vote.sync.ballot.b32 %r6, 1, %r5;\n  bar.sync 0;\n  st.global.u32 [%rd6], %r6;");
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
  const Outcome o = c.run("  st.shared.u32 [s], %r1;\n  bar.sync 0;\n  st.shared.u32 [s+4], %r1;", 64);
  EXPECT_TRUE(o.failed());
  EXPECT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_FALSE(o.findings[0].survived);
}

}  // namespace go_on_test
}  // namespace lockstep::engine
