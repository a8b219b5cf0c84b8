// Barriers that complete although threads of the block have exited: when the check reports it, with
// which severity, and which source places it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace absent_threads_test {

using check::Kind;
using check::Severity;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::text;

struct Case : testing::TwoBuffers {
  explicit Case(std::uint32_t checks = check::kAllChecks) { gpu.config.checks = checks; }
  static std::string line(int n) { return "PTX line " + std::to_string(kBodyLine + n); }
};

constexpr std::uint32_t kStrict = check::kAllChecks | check::kStrictBarriers;
// Threads from number 20 on exit.
constexpr const char* kBody =
    "  setp.ge.u32 %p1, %r1, 20;\n  @%p1 bra OUT;\n  bar.sync 0;\n  st.global.u32 [%rd6], "
    "%r1;\nOUT:";

TEST(AbsentThreads, AreInformationWithCountAndPlaces) {
  Case c;
  const Outcome o = c.run(kBody, 64);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kBarrierDivergence);
  EXPECT_EQ(o.findings[0].severity, Severity::kInformation);
  EXPECT_FALSE(o.failed());
  EXPECT_EQ(o.findings[0].access.site.ptx_line, Case::kBodyLine + 2);
  EXPECT_THAT(text(o),
              HasSubstr("44 threads of the block have ended and never come to this barrier"));
  EXPECT_THAT(text(o), HasSubstr("They ended at " + Case::line(5) + " (ret)"));
  EXPECT_THAT(text(o), HasSubstr("the branch past the barrier is at " + Case::line(1) + " (bra)"));
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 20)[19], 19u) << "the kernel has run to its end";
}

TEST(AbsentThreads, OneIsOne) {
  Case c;
  EXPECT_THAT(text(c.run("  setp.eq.u32 %p1, %r1, 3;\n  @%p1 exit;\n  bar.sync 0;", 32)),
              HasSubstr("1 thread of the block has ended and never comes to this barrier"));
}

TEST(AbsentThreads, AreAnErrorWhereBarriersAreStrict) {
  for (const std::uint32_t checks : {kStrict, std::uint32_t{check::kStrictBarriers}}) {
    Case c(checks);
    const Outcome o = c.run(kBody, 64);
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].severity, Severity::kError);
    EXPECT_TRUE(o.failed());
    EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 20), std::vector<std::uint32_t>(20, 0))
        << "nothing behind the barrier has run";
  }
}

TEST(AbsentThreads, AreNotLookedForWithoutTheCheck) {
  Case c(check::kAllChecks & ~check::kSynchronisation);
  EXPECT_TRUE(c.run(kBody, 64).findings.empty());
}

TEST(AbsentThreads, MayBeSurvived) {
  Case c(kStrict);
  c.gpu.config.go_on = true;
  const Outcome o = c.run(
      "  mov.u32 %r4, 0;\n  setp.ge.u32 %p1, %r1, 32;\n  @%p1 exit;\nL:\n  bar.sync 0;\n  add.u32 "
      "%r4, %r4, 1;\n"
      "  setp.lt.u32 %p2, %r4, 10;\n  @%p2 bra L;\n  st.global.u32 [%rd6], %r4;",
      64);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_EQ(o.findings[0].occurrences, 10u) << text(o);
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 1)[0], 10u);
}

TEST(AbsentThreads, InformationIsGivenOnceAPlaceAndCounted) {
  Case c;
  const Outcome o = c.run(
      "  mov.u32 %r4, 0;\n  setp.ge.u32 %p1, %r1, 32;\n  @%p1 exit;\nL:\n  bar.sync 0;\n  add.u32 "
      "%r4, %r4, 1;\n"
      "  setp.lt.u32 %p2, %r4, 10;\n  @%p2 bra L;\n  bar.red.popc.u32 %r5, 0, %p2;",
      64, 3);
  ASSERT_EQ(o.findings.size(), 2u) << text(o);
  EXPECT_EQ(o.findings[0].occurrences, 30u) << text(o);
  EXPECT_EQ(o.findings[1].occurrences, 3u) << text(o);
}

TEST(AbsentThreads, SeveralWaysOutAreAllNamed) {
  Case c;
  const Outcome o = c.run(
      "  setp.lt.u32 %p1, %r1, 8;\n  @%p1 exit;\n  setp.gt.u32 %p2, %r1, 50;\n  @%p2 bra OUT;\n  "
      "setp.eq.u32 %p3, %r1, 30;\n  @%p3 bra OUT;\n"
      "  bar.sync 0;\nOUT:",
      64);
  EXPECT_THAT(text(o), HasSubstr("22 threads"));
  EXPECT_THAT(text(o), HasSubstr("They ended at " + Case::line(1) + " (exit)"));
  EXPECT_THAT(text(o), HasSubstr("the branches past the barrier are at " + Case::line(3)));
  EXPECT_THAT(text(o), HasSubstr(" and " + Case::line(5)));
}

// The exiting threads are scheduled last: the barrier waits for them, and their exit completes it.
TEST(AbsentThreads, TheLastToEndReleasesTheBarrierAndIsReported) {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    for (const bool strict : {false, true}) {
      Case c(strict ? kStrict : check::kAllChecks);
      c.gpu.config.schedule_seed = seed;
      const Outcome o = c.run(
          "  setp.lt.u32 %p1, %r1, 32;\n  @%p1 bra WAIT;\n  mov.u32 %r4, 0;\nL:\n  add.u32 %r4, "
          "%r4, 1;\n  setp.lt.u32 %p2, %r4, 3000;\n"
          "  @%p2 bra L;\n  exit;\nWAIT:\n  bar.sync 0;\n  st.global.u32 [%rd6], %r1;",
          96);
      ASSERT_EQ(o.findings.size(), 1u) << text(o);
      EXPECT_EQ(o.failed(), strict);
      EXPECT_THAT(text(o), HasSubstr("64 threads of the block have ended"));
    }
  }
}

// A block whose threads all arrive, or all exit, has no absent thread.
TEST(AbsentThreads, AreNoneWhereAllComeOrNobodyDoes) {
  Case c(kStrict);
  EXPECT_TRUE(
      c.run("  mov.u32 %r4, %ctaid.x;\n  setp.eq.u32 %p1, %r4, 1;\n  @%p1 exit;\n  bar.sync 0;", 64,
            3)
          .findings.empty());
  EXPECT_TRUE(c.run("  bar.sync 0;", 40).findings.empty()) << "a last warp of 8 threads";
  EXPECT_TRUE(c.run("  bar.sync 1, 64;", 40).findings.empty())
      << "a last warp of 8 threads, counted";
}

TEST(AbsentThreads, ABlockBeginsWithNone) {
  // Simulated blocks are reused: exits of one block must not count in the next.
  Case c(kStrict);
  const Outcome o = c.run(
      "  mov.u32 %r4, %ctaid.x;\n  setp.ne.u32 %p1, %r4, 0;\n  @%p1 bra ALL;\n  exit;\nALL:\n  "
      "bar.sync 0;",
      64, 8);
  EXPECT_TRUE(o.findings.empty()) << text(o);
}

TEST(AbsentThreads, OfACountOnlyTheWarpsThatCome) {
  Case c(kStrict);
  EXPECT_TRUE(
      c.run("  setp.ge.u32 %p1, %r1, 64;\n  @%p1 exit;\n  bar.sync 1, 64;\n  barrier.sync 2, 64;",
            96)
          .findings.empty());
  const Outcome lanes = c.run("  setp.eq.u32 %p1, %r1, 33;\n  @%p1 exit;\n  bar.sync 1, 64;", 64);
  ASSERT_EQ(lanes.findings.size(), 1u) << text(lanes);
  EXPECT_THAT(text(lanes), HasSubstr("1 thread of a warp that it counts has ended"));
  EXPECT_TRUE(c.run("  setp.eq.u32 %p1, %r1, 33;\n  @%p1 exit;\n  barrier.sync 1, 64;", 64)
                  .findings.empty())
      << "PTX waits for those that have not ended";
}

// Lanes that arrive wait for the other lanes of their warp. When those exit, the warp has arrived.
TEST(AbsentThreads, AWarpArrivesWhenTheLanesThatAreMissingEnd) {
  const std::string body =
      "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra WAIT;\n  setp.ge.u32 %p2, %r1, 16;\n  @%p2 bra "
      "OUT;\n  ARRIVE 1, 64;\n  bra OUT;\nWAIT:\n"
      "  barrier.sync 1, 64;\n  st.global.u32 [%rd6], %r1;\nOUT:";
  const auto with = [&](const std::string& arrive) {
    return std::string(body).replace(body.find("ARRIVE"), 6, arrive);
  };
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
    Case c(kStrict);
    c.gpu.config.schedule_seed = seed;
    EXPECT_TRUE(c.run(with("barrier.arrive"), 64).findings.empty());
    EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 64)[63], 63u);
    const Outcome aligned = c.run(with("bar.arrive"), 64);
    ASSERT_EQ(aligned.findings.size(), 1u) << text(aligned);
    EXPECT_THAT(text(aligned), HasSubstr("16 threads of a warp that it counts have ended"));
  }
}

TEST(AbsentThreads, TheKernelsBranchIsNamedForAFunctionsBarrier) {
  Case c;
  c.gpu.load(".func meet()\n{\n  bar.sync 0;\n  ret;\n}\n" +
             Case::kernel("  setp.ge.u32 %p1, %r1, 20;\n  @%p1 bra OUT;\n  call meet;\nOUT:"));
  c.x = c.gpu.buffer(std::vector<std::uint32_t>(64, 7), "x");
  c.y = c.gpu.unwritten(256, "y");
  const Outcome o = c.gpu.launch("k", 1, 64, c.x, c.y);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].access.site.instruction, "bar.sync");
  EXPECT_THAT(text(o), HasSubstr("the branch past the barrier is at PTX line " +
                                 std::to_string(Case::kBodyLine + 5 + 1)));
}

TEST(AbsentThreads, OfTheClusterThoseWhoHaveNotArrived) {
  const auto run = [](const std::string& body, std::uint64_t seed) {
    Case c(kStrict);
    c.gpu.config.cluster = {2, 1, 1};
    c.gpu.config.schedule_seed = seed;
    return c.run(
        "  mov.u32 %r4, %ctaid.x;\n  setp.eq.u32 %p1, %r4, 1;\n  setp.ge.u32 %p2, %r1, 20;\n  "
        "and.pred %p1, %p1, %p2;\n" +
            body,
        64, 2);
  };
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const Outcome early =
        run("  @%p1 exit;\n  barrier.cluster.arrive;\n  barrier.cluster.wait;", seed);
    ASSERT_EQ(early.findings.size(), 1u) << text(early);
    EXPECT_THAT(text(early), HasSubstr("44 threads of the cluster have ended"));
    EXPECT_THAT(text(early), HasSubstr("They ended at " + Case::line(4) + " (exit)"));
    const Outcome arrived =
        run("  barrier.cluster.arrive;\n  @%p1 exit;\n  barrier.cluster.wait;", seed);
    EXPECT_TRUE(arrived.findings.empty()) << text(arrived);
    const Outcome between =
        run("  barrier.cluster.arrive;\n  @%p1 exit;\n  barrier.cluster.wait;\n  "
            "barrier.cluster.arrive;\n  barrier.cluster.wait;",
            seed);
    ASSERT_EQ(between.findings.size(), 1u) << text(between);
    EXPECT_THAT(text(between), HasSubstr("44 threads of the cluster have ended"));
  }
}

}  // namespace absent_threads_test
}  // namespace lockstep::engine
