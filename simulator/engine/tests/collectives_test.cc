// Warp-level operations and barriers: results, and findings for threads that do not arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace collectives_test {

using check::Kind;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::Machine;
using testing::storing_r0;
using testing::text;

struct Result {
  Outcome outcome;
  std::vector<std::uint32_t> out;
};
Result run(const std::string& body, std::uint32_t threads = 32, const std::string& shared = "",
           std::uint64_t seed = 0) {
  Machine gpu;
  gpu.config.schedule_seed = seed;
  gpu.load(storing_r0(body, shared));
  const auto out = gpu.unwritten(threads * 4, "out");
  Result r;
  r.outcome = gpu.launch("k", 1, threads, out);
  r.out = gpu.fetch<std::uint32_t>(out, threads);
  return r;
}
void expect_finding(const Result& r, Kind kind, std::uint32_t thread) {
  ASSERT_TRUE(r.outcome.failed());
  EXPECT_EQ(r.outcome.findings[0].kind, kind) << text(r.outcome);
  EXPECT_EQ(r.outcome.findings[0].access.thread.x, thread) << text(r.outcome);
  EXPECT_GT(r.outcome.findings[0].access.site.ptx_line, 0);
}

JUDGES(Shuffle, ModesAndSegments, "shfl.sync.up.b32");
TEST(Shuffle, ModesAndSegments) {
  const auto up = run("  shfl.sync.up.b32 %r0|%p1, %r1, 3, 0, 0xffffffff;\n");
  const auto down = run("  shfl.sync.down.b32 %r0, %r1, 5, 31, 0xffffffff;\n");
  const auto bfly = run("  shfl.sync.bfly.b32 %r0, %r1, 9, 31, 0xffffffff;\n");
  const auto segment =
      run("  shfl.sync.idx.b32 %r0, %r1, 2, 0x181f, 0xffffffff;\n");  // segments of eight lanes
  const auto flag =
      run("  shfl.sync.down.b32 %r2|%p1, %r1, 5, 31, 0xffffffff;\n  selp.u32 %r0, 1, 0, %p1;\n");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(up.out[i], i < 3 ? i : i - 3);
    EXPECT_EQ(down.out[i], i + 5 > 31 ? i : i + 5);
    EXPECT_EQ(bfly.out[i], i ^ 9);
    EXPECT_EQ(segment.out[i], (i & 24) + 2);
    EXPECT_EQ(flag.out[i], i + 5 <= 31 ? 1u : 0u);
  }
}

// Lanes of four groups, each with a mask of its own, in every order that a seed chooses.
TEST(Shuffle, GroupsOfAWarpExchangeEachByItsOwnMask) {
  const std::string groups = R"(
  and.b32 %r2, %r1, 3;
  mov.u32 %r3, 0x11111111;
  shl.b32 %r3, %r3, %r2;
  and.b32 %r4, %r1, 28;
)";
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    SCOPED_TRACE(seed);
    const auto shuffled =
        run(groups + "  add.u32 %r5, %r2, 4;\n  shfl.sync.idx.b32 %r0, %r1, %r5, 31, %r3;\n", 32,
            "", seed);
    const auto ballot = run(groups +
                                "  setp.ge.u32 %p1, %r1, 16;\n"
                                "  vote.sync.ballot.b32 %r0, %p1, %r3;\n",
                            32, "", seed);
    const auto sum = run(groups + "  redux.sync.add.u32 %r0, %r1, %r3;\n", 32, "", seed);
    const auto in_place = run(
        groups + "  mov.u32 %r0, %r3;\n  shfl.sync.bfly.b32 %r0, %r1, 4, 31, %r0;\n", 32, "", seed);
    for (const Result* r : {&shuffled, &ballot, &sum, &in_place}) EXPECT_EQ(text(r->outcome), "");
    for (std::uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(shuffled.out[i], (i & 3) + 4);
      EXPECT_EQ(ballot.out[i], 0x11110000u << (i & 3));
      EXPECT_EQ(sum.out[i], 8 * (i & 3) + 112);
      EXPECT_EQ(in_place.out[i], i ^ 4);
    }
    EXPECT_EQ(shuffled.outcome.counters.shuffles, 4u);
    EXPECT_EQ(ballot.outcome.counters.votes, 4u);
  }
}

// The group of lane 0 waits for a lane that comes by another way, and the others do not.
TEST(Shuffle, AGroupWaitsForItsLanesAlone) {
  const auto r = run(R"(
  and.b32 %r2, %r1, 3;
  mov.u32 %r3, 0x11111111;
  shl.b32 %r3, %r3, %r2;
  mov.u32 %r4, 5;
  setp.eq.u32 %p1, %r1, 4;
  @%p1 bra LATER;
  shfl.sync.idx.b32 %r0, %r4, %r2, 31, %r3;
  bra END;
LATER:
  mov.u32 %r4, 9;
  shfl.sync.idx.b32 %r0, %r4, 4, 31, %r3;
END:
)");
  EXPECT_EQ(text(r.outcome), "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.out[i], i == 4 ? 9u : 5u);
  const auto ended = run(R"(
  mov.u32 %r0, 1;
  and.b32 %r2, %r1, 3;
  mov.u32 %r3, 0x11111111;
  shl.b32 %r3, %r3, %r2;
  setp.eq.u32 %p1, %r1, 5;
  @%p1 bra END;
  setp.ge.u32 %p2, %r1, 0;
  vote.sync.ballot.b32 %r0, %p2, %r3;
END:
)");
  EXPECT_EQ(text(ended.outcome), "");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ended.out[i], i == 5 ? 1 : 0x11111111u << (i & 3) & ~(i % 4 == 1 ? 32u : 0u));
}

TEST(Match, AnyFindsLanesOfEqualValues) {
  const auto words =
      run("  and.b32 %r2, %r1, 7;\n  mul.lo.u32 %r2, %r2, 0x10001;\n"
          "  match.any.sync.b32 %r0, %r2, 0xffffffff;\n");
  const auto wide =
      run("  shr.u32 %r2, %r1, 3;\n  mov.b64 %rd4, {%r1, %r2};\n"
          "  and.b64 %rd4, %rd4, 0x300000001;\n"
          "  match.any.sync.b64 %r0, %rd4, 0xffffffff;\n");
  const auto some =
      run("  mov.u32 %r0, 0;\n  setp.gt.u32 %p1, %r1, 19;\n  @%p1 bra END;\n"
          "  and.b32 %r2, %r1, 1;\n  match.any.sync.b32 %r0, %r2, 0xfffff;\nEND:\n");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(words.out[i], 0x01010101u << (i & 7));
    EXPECT_EQ(wide.out[i], 0x55u << (i & 24) << (i & 1));
    EXPECT_EQ(some.out[i], i > 19 ? 0 : 0x55555u << (i & 1));
  }
}

TEST(Shuffle, LanesAtDifferentPlacesMeetWhenTheirMasksNameEachOther) {
  // Both sides of a branch shuffle with the full mask: legal since sm_70 for any program counters.
  for (const std::uint64_t seed : {0, 1, 5}) {
    const auto r = run(R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  shfl.sync.bfly.b32 %r0, %r1, 16, 31, 0xffffffff;
  bra DONE;
LOW:
  shfl.sync.bfly.b32 %r0, %r1, 16, 31, 0xffffffff;
DONE:
)",
                       32, "", seed);
    EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.out[i], i ^ 16);
  }
}

TEST(Shuffle, HalvesWithTheirOwnMasksDoNotWaitForEachOther) {
  const auto r = run(R"(
  setp.lt.u32 %p1, %r1, 16;
  selp.u32 %r2, 0xffff, 0xffff0000, %p1;
  shfl.sync.bfly.b32 %r0, %r1, 1, 31, %r2;
)");
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.out[i], i ^ 1);
}

TEST(Shuffle, AValueFromALaneThatTakesNoPartIsReportedWhereItIsUsed) {
  // Lane 0 reads lane 20, which is not in the mask.
  const auto r = run(R"(
  mov.u32 %r0, 1;
  setp.ge.u32 %p1, %r1, 16;
  @%p1 bra DONE;
  shfl.sync.down.b32 %r2, %r1, 8, 31, 0xffff;
  add.u32 %r0, %r2, 1;
DONE:
)");
  expect_finding(r, Kind::kInactiveLane, 8);
}

TEST(Shuffle, AValueFromALaneThatTakesNoPartIsFineWhenNobodyUsesIt) {
  // A reduction over eight lanes: the last lanes read past the end; only lane 0's sum is used.
  const auto r = run(R"(
  mov.u32 %r0, 1;
  shfl.sync.down.b32 %r2, %r0, 4, 31, 0xff;
  add.u32 %r0, %r0, %r2;
  shfl.sync.down.b32 %r2, %r0, 2, 31, 0xff;
  add.u32 %r0, %r0, %r2;
  shfl.sync.down.b32 %r2, %r0, 1, 31, 0xff;
  add.u32 %r0, %r0, %r2;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 mov.u32 %r0, 0;
)",
                     8);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  EXPECT_EQ(r.out[0], 8u);
}

JUDGES(Vote, AllModes, "vote.sync.any.pred", "vote.sync.ballot.b32");
TEST(Vote, AllModes) {
  const auto r = run(R"(
  setp.lt.u32 %p1, %r1, 5;
  vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
  vote.sync.any.pred %p2, %p1, 0xffffffff;
  vote.sync.all.pred %p3, %p1, 0xffffffff;
  vote.sync.uni.pred %p4, %p1, 0xffffffff;
  vote.sync.any.pred %p5, !%p1, 0xffffffff;
  selp.u32 %r3, 0x100, 0, %p2;
  selp.u32 %r4, 0x200, 0, %p3;
  selp.u32 %r5, 0x400, 0, %p4;
  selp.u32 %r6, 0x800, 0, %p5;
  or.b32 %r0, %r2, %r3;
  or.b32 %r0, %r0, %r4;
  or.b32 %r0, %r0, %r5;
  or.b32 %r0, %r0, %r6;
)");
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  EXPECT_THAT(r.out, Each(0x1fu | 0x100u | 0x800u));
}

JUDGES(Match, AnyAndAll, "match.any.sync.b32", "match.all.sync.b32");
TEST(Match, AnyAndAll) {
  const auto any = run("  and.b32 %r2, %r1, 3;\n  match.any.sync.b32 %r0, %r2, 0xffffffff;\n");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(any.out[i], 0x11111111u << (i & 3));
  const auto all = run("  mov.u32 %r2, 7;\n  match.all.sync.b32 %r0|%p1, %r2, 0xffffffff;\n");
  EXPECT_THAT(all.out, Each(0xffffffffu));
  const auto not_all =
      run("  match.all.sync.b32 %r0|%p1, %r1, 0xffffffff;\n  selp.u32 %r2, 1, 0, %p1;\n  or.b32 "
          "%r0, %r0, %r2;\n");
  EXPECT_THAT(not_all.out, Each(0u));
}

JUDGES(Redux, SumMinimumAndBits, "redux.sync.add.u32", "redux.sync.xor.b32");
TEST(Redux, SumMinimumAndBits) {
  EXPECT_THAT(run("  redux.sync.add.u32 %r0, %r1, 0xffffffff;\n").out, Each(496u));
  EXPECT_THAT(run("  sub.s32 %r2, %r1, 10;\n  redux.sync.min.s32 %r0, %r2, 0xffffffff;\n").out,
              Each(static_cast<std::uint32_t>(-10)));
  EXPECT_THAT(run("  redux.sync.xor.b32 %r0, %r1, 0xffffffff;\n").out, Each(0u));
  EXPECT_THAT(run("  redux.sync.max.u32 %r0, %r1, 0xffffffff;\n").out, Each(31u));
}

// Lane i has i + 0.5, negative for odd i. Lane 7 may have a NaN instead, which is the result with
// .NaN only.
JUDGES(Redux, MinimumAndMaximumOfNumbers, "redux.sync.min.f32", "redux.sync.max.f32",
       "redux.sync.min.abs.f32", "redux.sync.max.NaN.f32", "redux.sync.max.abs.NaN.f32");
TEST(Redux, MinimumAndMaximumOfNumbers) {
  const auto reduced = [](const std::string& how, const std::string& seventh) {
    Machine gpu;
    gpu.load_text(
        testing::module_text(storing_r0(R"(
  .reg .f32 %f<9>;
  cvt.rn.f32.u32 %f1, %r1;
  add.rn.f32 %f1, %f1, 0f3F000000;
  and.b32 %r2, %r1, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 neg.f32 %f1, %f1;
  setp.eq.u32 %p2, %r1, 7;
  @%p2 mov.b32 %f1, )" + seventh + ";\n  redux.sync." +
                                        how + ".f32 %f2, %f1, 0xffffffff;\n  mov.b32 %r0, %f2;"),
                             "sm_100a")
            .replace(9, 3, "8.6"));
    const auto out = gpu.unwritten(32 * 4, "out");
    const Outcome o = gpu.launch("k", 1, 32, out);
    EXPECT_FALSE(o.failed()) << text(o);
    return gpu.fetch<std::uint32_t>(out, 32);
  };
  const auto bits = [](float f) { return std::bit_cast<std::uint32_t>(f); };
  constexpr std::uint32_t kNaN = 0x7fffffff;
  for (const std::string seventh : {"0fC0F00000", "0f7FC00000"}) {  // -7.5, NaN
    const bool nan = seventh == "0f7FC00000";
    EXPECT_THAT(reduced("min", seventh), Each(bits(-31.5f)));
    EXPECT_THAT(reduced("max", seventh), Each(bits(30.5f)));
    EXPECT_THAT(reduced("min.abs", seventh), Each(bits(0.5f)));
    EXPECT_THAT(reduced("max.abs", seventh), Each(bits(31.5f)));
    EXPECT_THAT(reduced("min.NaN", seventh), Each(nan ? kNaN : bits(-31.5f)));
    EXPECT_THAT(reduced("max.NaN", seventh), Each(nan ? kNaN : bits(30.5f)));
    EXPECT_THAT(reduced("max.abs.NaN", seventh), Each(nan ? kNaN : bits(31.5f)));
  }
  EXPECT_THAT(reduced("min", "0fFF800000"), Each(0xff800000u));
  EXPECT_THAT(reduced("min.abs", "0f80000000"), Each(0u)) << "of -0, +0";
}

// The extreme of two numbers in any order by sign and magnitude: -0 is less than +0, subnormals are
// kept, and the assignment to lanes does not matter.
TEST(Redux, MinimumAndMaximumOfEachPairOfNumbers) {
  const std::vector<std::string> ascending = {
      "0fff800000", "0fff7fffff", "0fbf800000", "0f80800000", "0f807fffff",
      "0f80000001", "0f80000000", "0f00000000", "0f00000001", "0f007fffff",
      "0f00800000", "0f3f800000", "0f7f7fffff", "0f7f800000"};
  const auto bits = [](const std::string& number) {
    return static_cast<std::uint32_t>(std::stoul(number.substr(2), nullptr, 16));
  };
  // Result i of the kernel is of numbers i and i + 1, the first in the lower or in the upper lanes.
  for (const bool first_below : {true, false}) {
    for (const bool smaller : {true, false}) {
      std::string body = "  .reg .f32 %f<4>;\n  mov.u32 %r0, 0;\n  setp.lt.u32 %p1, %r1, 16;\n";
      for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
        body += "  selp.f32 %f1, " + ascending[i + !first_below] + ", " +
                ascending[i + first_below] + ", %p1;\n  redux.sync." + (smaller ? "min" : "max") +
                ".f32 %f2, %f1, 0xffffffff;\n  setp.eq.u32 %p2, %r1, " + std::to_string(i) +
                ";\n  @%p2 mov.b32 %r0, %f2;\n";
      }
      Machine gpu;
      gpu.load_text(testing::module_text(storing_r0(body), "sm_100a").replace(9, 3, "8.6"));
      const auto out = gpu.unwritten(32 * 4, "out");
      const Outcome o = gpu.launch("k", 1, 32, out);
      ASSERT_FALSE(o.failed()) << text(o);
      const auto results = gpu.fetch<std::uint32_t>(out, 32);
      for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
        EXPECT_EQ(results[i], bits(ascending[i + !smaller]))
            << (smaller ? "the least of " : "the greatest of ") << ascending[i] << " and "
            << ascending[i + 1];
      }
    }
  }
}

TEST(Masks, ALaneThatItsOwnMaskLeavesOutIsReported) {
  expect_finding(run("  bar.warp.sync 0xff;\n  mov.u32 %r0, 0;\n"), Kind::kInvalidMask, 8);
}

TEST(Masks, AMaskThatNamesLanesWaitingElsewhereIsReported) {
  const auto r = run(R"(
  mov.u32 %r0, 0;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  bar.sync 0;
  bra DONE;
LOW:
  bar.warp.sync 0xffffffff;
DONE:
)");
  expect_finding(r, Kind::kInvalidMask, 0);
  EXPECT_THAT(text(r.outcome), HasSubstr("bar.sync"));
  EXPECT_THAT(text(r.outcome), HasSubstr("0xffff0000"));
}

TEST(Masks, ExitedLanesAreNotWaitedFor) {
  const auto r = run(R"(
  mov.u32 %r0, 0;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 exit;
  bar.warp.sync 0xffffffff;
  vote.sync.ballot.b32 %r0, 1, 0xffffffff;
)");
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  EXPECT_EQ(r.out[20], 0xffff0000u);
}

JUDGES(Barrier, OrdersWarpsOfABlock, "bar.sync");
TEST(Barrier, OrdersWarpsOfABlock) {
  // Each thread reads a word that a thread of another warp wrote.
  for (const std::uint64_t seed : {0, 1, 2, 9}) {
    const auto r = run(R"(
  mov.u32 %r2, s;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  xor.b32 %r5, %r3, 128;
  add.u32 %r6, %r2, %r5;
  ld.shared.u32 %r0, [%r6];
)",
                       128, "  .shared .align 4 .b8 s[512];", seed);
    EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
    for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(r.out[i], i ^ 32);
    EXPECT_EQ(r.outcome.counters.barriers, 1u);
  }
}

JUDGES(Barrier, ReductionsOverTheBlock, "bar.red.popc.u32", "bar.red.and.pred");
TEST(Barrier, ReductionsOverTheBlock) {
  const auto r = run(R"(
  setp.lt.u32 %p1, %r1, 40;
  bar.red.popc.u32 %r2, 0, %p1;
  bar.red.and.pred %p2, 0, %p1;
  bar.red.or.pred %p3, 0, !%p1;
  selp.u32 %r3, 1000, 0, %p2;
  selp.u32 %r4, 2000, 0, %p3;
  add.u32 %r0, %r2, %r3;
  add.u32 %r0, %r0, %r4;
)",
                     96);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  EXPECT_THAT(r.out, Each(2040u));
}

JUDGES(Barrier, ProducersArriveAndConsumersWait, "bar.arrive", "barrier.cta.arrive",
       "barrier.arrive.aligned");
TEST(Barrier, ProducersArriveAndConsumersWait) {
  for (const auto& [arrive, seed] : {std::pair<std::string, std::uint64_t>{"bar", 0},
                                     {"bar", 1},
                                     {"bar", 2},
                                     {"barrier.cta", 0},
                                     {"barrier", 1}}) {
    const std::string aligned = arrive == "barrier" ? ".aligned" : "";
    const auto r = run(R"(
  mov.u32 %r2, s;
  and.b32 %r7, %r1, 31;
  shl.b32 %r3, %r7, 2;
  add.u32 %r4, %r2, %r3;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra CONSUME;
  st.shared.u32 [%r4], %r1;
  membar.cta;
  )" + arrive + ".arrive" + aligned +
                           R"( 1, 64;
  mov.u32 %r0, 0;
  bra DONE;
CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r0, [%r4];
DONE:
)",
                       64, "  .shared .align 4 .b8 s[128];", seed);
    EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
    for (std::uint32_t i = 32; i < 64; ++i) EXPECT_EQ(r.out[i], i - 32);
  }
}

TEST(Barrier, InOneSideOfABranchOfAWarpIsDivergence) {
  const auto r = run(R"(
  mov.u32 %r0, 0;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  bar.sync 0;
  bra DONE;
LOW:
  bar.sync 0;
DONE:
)");
  ASSERT_TRUE(r.outcome.failed());
  EXPECT_EQ(r.outcome.findings[0].kind, Kind::kBarrierDivergence) << text(r.outcome);
  EXPECT_TRUE(r.outcome.findings[0].other.has_value());
}

TEST(Barrier, ThatOnlySomeWarpsReachIsDivergence) {
  const auto r = run(R"(
  mov.u32 %r0, 0;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra FIRST;
  bar.sync 1;
  bra DONE;
FIRST:
  bar.sync 2;
DONE:
)",
                     64);
  ASSERT_TRUE(r.outcome.failed());
  EXPECT_EQ(r.outcome.findings[0].kind, Kind::kBarrierDivergence) << text(r.outcome);
  EXPECT_THAT(text(r.outcome), HasSubstr("warp 1"));
}

JUDGES(Barrier, NonAlignedBarriersMeetFromDifferentPlaces, "barrier.sync");
TEST(Barrier, NonAlignedBarriersMeetFromDifferentPlaces) {
  const auto r = run(R"(
  mov.u32 %r0, 4;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  barrier.sync 0;
  bra DONE;
LOW:
  barrier.sync 0;
DONE:
)",
                     64);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
}

// Thread counts that are no multiple of the warp size, in every barrier instruction with a count,
// as an immediate and in a register.
TEST(Barrier, ACountThatIsNoMultipleOfAWarpIsRefused) {
  for (const std::uint32_t count : {0, 1, 16, 31, 33, 48, 63, 80}) {
    for (const std::string barrier :
         {"bar.sync 1, C", "barrier.sync 1, C", "bar.arrive 1, C", "barrier.cta.arrive 1, C",
          "bar.red.popc.u32 %r5, 1, C, %p1", "bar.red.and.pred %p2, 1, C, %p1",
          "barrier.cta.red.or.pred %p2, 1, C, !%p1"}) {
      for (const bool in_register : {false, true}) {
        std::string instruction = barrier;
        instruction.replace(instruction.find('C'), 1, in_register ? "%r4" : std::to_string(count));
        const Result r = run("  mov.u32 %r0, 0;\n  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r4, " +
                                 std::to_string(count) + ";\n  " + instruction + ";\n",
                             64);
        SCOPED_TRACE(instruction + " with " + std::to_string(count));
        expect_finding(r, Kind::kInvalidInstruction, 0);
        EXPECT_THAT(text(r.outcome),
                    HasSubstr("a barrier for " + std::to_string(count) +
                              " threads: the count must be a positive multiple of 32"));
      }
    }
  }
}

// The third warp of three completes the count, or the count is never reached. Reductions cover the
// warps that arrived.
TEST(Barrier, OfACountIsForAsManyWarps) {
  const auto red = [](std::uint32_t first_warps, std::uint32_t count) {
    return run("  mov.u32 %r0, 7;\n  setp.ge.u32 %p1, %r1, " + std::to_string(32 * first_warps) +
                   ";\n  @%p1 bra DONE;\n  setp.ne.u32 %p2, %r1, 1;\n  bar.red.popc.u32 %r0, 3, " +
                   std::to_string(count) + ", %p2;\n  bar.red.and.pred %p3, 3, " +
                   std::to_string(count) +
                   ", %p2;\n  @%p3 add.u32 %r0, %r0, 1000;\n  bar.red.or.pred %p3, 3, " +
                   std::to_string(count) + ", !%p2;\n  @%p3 add.u32 %r0, %r0, 2000;\nDONE:\n",
               128);
  };
  for (const std::uint32_t warps : {1, 2, 3}) {
    const Result r = red(warps, 32 * warps);
    EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
    for (std::uint32_t i = 0; i < 128; ++i)
      EXPECT_EQ(r.out[i], i < 32 * warps ? 2000 + 32 * warps - 1 : 7)
          << warps << " warps, thread " << i;
    EXPECT_EQ(r.outcome.counters.barriers, 3u);
  }
  // Each warp alone, then two pairs of warps: one barrier used repeatedly.
  const Result alone = red(4, 32);
  EXPECT_FALSE(alone.outcome.failed()) << text(alone.outcome);
  EXPECT_EQ(alone.outcome.counters.barriers, 12u);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(alone.out[i], i < 32 ? 2031u : 1032u);
  EXPECT_EQ(red(4, 64).outcome.counters.barriers, 6u);
  // A count of one warp more than exist, and one warp that skips the barrier.
  for (const auto& [warps, count] :
       {std::pair<std::uint32_t, std::uint32_t>{4, 160}, {2, 96}, {1, 1024}}) {
    const Result r = red(warps, count);
    ASSERT_TRUE(r.outcome.failed()) << warps << " warps at a barrier for " << count;
    EXPECT_EQ(r.outcome.findings[0].kind, Kind::kBarrierDivergence) << text(r.outcome);
  }
}

// Predicates of exited threads must not count.
TEST(Barrier, ReductionsAreOfThreadsThatAreThere) {
  const Result r = run(R"(
  setp.ge.u32 %p1, %r1, 0;
  setp.ge.u32 %p2, %r1, 40;
  mov.u32 %r0, 0;
  @%p2 bra DONE;
  bar.red.popc.u32 %r0, 0, %p1;
  bar.red.and.pred %p3, 0, %p1;
  bar.red.or.pred %p4, 0, !%p1;
  @%p3 add.u32 %r0, %r0, 1000;
  @%p4 add.u32 %r0, %r0, 2000;
  bra STORE;
DONE:
  exit;
STORE:
)",
                       64);
  EXPECT_FALSE(r.outcome.failed()) << text(r.outcome);
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(r.out[i], 1040u);
}

TEST(Barrier, CountsOfOneBarrierAgree) {
  const auto two = [](const std::string& first, const std::string& second) {
    return run("  mov.u32 %r0, 0;\n  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra SECOND;\n  " + first +
                   ";\n  bra DONE;\nSECOND:\n  " + second + ";\nDONE:\n",
               64);
  };
  for (const auto& [first, second, words] :
       {std::tuple<const char*, const char*, const char*>{
            "bar.sync 1, 64", "bar.sync 1, 96",
            "barrier 1 for 96 threads, but others wait there for 64 threads"},
        {"bar.sync 1, 64", "bar.sync 1",
         "barrier 1 for all threads, but others wait there for 64 threads"},
        {"bar.sync 1", "bar.sync 1, 64",
         "barrier 1 for 64 threads, but others wait there for all threads"},
        {"bar.arrive 1, 96", "bar.red.popc.u32 %r5, 1, 64, %p1", "barrier 1 for 64 threads"}}) {
    const Result r = two(first, second);
    ASSERT_TRUE(r.outcome.failed()) << first << " and " << second;
    EXPECT_EQ(r.outcome.findings[0].kind, Kind::kBarrierDivergence) << text(r.outcome);
    EXPECT_THAT(text(r.outcome), HasSubstr(words));
  }
  // Barriers with two numbers are different barriers.
  EXPECT_FALSE(two("bar.sync 1, 32", "bar.sync 2, 32").outcome.failed());
}

}  // namespace collectives_test
}  // namespace lockstep::engine
