// Proofs about small kernels and, above all, their limits. Expectations are derived by hand from
// the PTX manual: addresses, wrap-around, barriers.
#include "simulator/proof/prove.h"

#include <gtest/gtest.h>

#include <string>

#include "simulator/proof/testing.h"

namespace lockstep::proof {
namespace prove_test {

TEST(Prove, AnIndexOfTheGridIsInBoundsUpToTheLastByte) {
  EXPECT_TRUE(in_bounds(kAddress + "ld.global.f32 r6, [d3];", {.bytes = 1024}));
  EXPECT_FALSE(in_bounds(kAddress + "ld.global.f32 r6, [d3];", {.bytes = 1023}));
  EXPECT_FALSE(in_bounds(kAddress + "ld.global.f32 r6, [d3+4];", {.bytes = 1024}));
  EXPECT_FALSE(in_bounds(kAddress + "ld.global.f32 r6, [d3+-4];", {.bytes = 1024}));
  EXPECT_FALSE(in_bounds(kAddress + "ld.global.f32 r6, [d3];", {.grid = 5, .bytes = 1024}));
}

TEST(Prove, AGuardByNBoundsTheIndex) {
  const std::string body = kGuard + kAddress + "ld.global.f32 r6, [d3];\nEND:";
  EXPECT_TRUE(in_bounds(body, {.n = 200, .bytes = 800}));
  EXPECT_FALSE(in_bounds(body, {.n = 201, .bytes = 800}));
}

TEST(Prove, AGuardOnTheOtherSideBoundsNothing) {
  const std::string body =
      "setp.lt.s32 p1, r5, r1;\n@p1 bra END;\n" + kAddress + "ld.global.f32 r6, [d3];\nEND:";
  EXPECT_FALSE(in_bounds(body, {.n = 200, .bytes = 800}));
  EXPECT_TRUE(in_bounds(body, {.n = 200, .bytes = 1024}));
}

TEST(Prove, AGuardEndsWhereThePathsMeet) {
  const std::string body = "setp.ge.s32 p1, r5, r1;\n@p1 bra MEET;\nadd.s32 r7, r5, 1;\nMEET:\n" +
                           kAddress + "ld.global.f32 r6, [d3];";
  EXPECT_FALSE(in_bounds(body, {.n = 200, .bytes = 800}));
}

TEST(Prove, APredicatedAccessIsOfTheThreadsThatExecuteIt) {
  const std::string body = "setp.lt.s32 p1, r5, r1;\n" + kAddress + "@p1 ld.global.f32 r6, [d3];";
  EXPECT_TRUE(in_bounds(body, {.n = 200, .bytes = 800}));
  EXPECT_FALSE(in_bounds("setp.lt.s32 p1, r5, r1;\n" + kAddress + "@!p1 ld.global.f32 r6, [d3];",
                         {.n = 200, .bytes = 800}));
}

TEST(Prove, AnIndexThatMayWrapIsNotFollowed) {
  // 2^26 blocks of 64 threads: the index passes 2^31 (9.7.1: integers wrap).
  const std::string body = kGuard + kAddress + "ld.global.f32 r6, [d3];\nEND:";
  EXPECT_FALSE(in_bounds(body, {.grid = 1u << 26, .n = 200, .bytes = 800}));
}

TEST(Prove, AnUnsignedIndexBelowZeroIsLarge) {
  const std::string body =
      "sub.s32 r7, r5, 1;\nmul.wide.u32 d2, r7, 4;\nadd.s64 d3, d1, d2;\nld.global.f32 r6, [d3];";
  EXPECT_FALSE(in_bounds(body));
}

TEST(Prove, LoadedDataGivesNoBound) {
  const Certificate c = proved(kAddress +
                               "ld.global.u32 r6, [d3];\nmul.wide.s32 d4, r6, 4;\n"
                               "add.s64 d5, d1, d4;\nld.global.u32 r7, [d5];");
  ASSERT_EQ(c.accesses.size(), 2u);
  EXPECT_TRUE(c.accesses[0].in_bounds);
  EXPECT_FALSE(c.accesses[1].in_bounds);
  EXPECT_FALSE(c.accesses[1].known);
}

TEST(Prove, ARegisterWrittenUnderAPredicateMayHaveEitherValue) {
  const std::string body =
      "setp.ge.s32 p1, r5, r1;\n@p1 mov.u32 r5, 2000;\n" + kAddress + "ld.global.f32 r6, [d3];";
  EXPECT_FALSE(in_bounds(body, {.n = 255}));
  EXPECT_TRUE(in_bounds(body, {.n = 256})) << "no thread has an index of 256";
  EXPECT_TRUE(in_bounds(body, {.n = 255, .bytes = 8004}));
}

TEST(Prove, AWideAccessIsAlignedByItsWholeSize) {
  const std::string wide = "ld.global.v2.f32 {r6, r7}, [d3];";
  const Certificate c = proved(kAddress + wide);
  ASSERT_EQ(c.accesses.size(), 1u);
  EXPECT_EQ(c.accesses[0].size, 8u);
  EXPECT_FALSE(c.accesses[0].aligned) << "neighbours are four bytes apart";
  const Certificate by_eight = proved("mul.wide.s32 d2, r5, 8;\nadd.s64 d3, d1, d2;\n" + wide);
  EXPECT_TRUE(by_eight.accesses.at(0).aligned);
  EXPECT_FALSE(proved("mul.wide.s32 d2, r5, 8;\nadd.s64 d3, d1, d2;\n" + wide, {.x = kBuffer + 4})
                   .accesses.at(0)
                   .aligned);
}

TEST(Prove, AGridStrideLoopIsBoundedByItsCondition) {
  const std::string loop =
      kGuard + "mov.u32 r8, %nctaid.x;\nmul.lo.s32 r9, r8, r4;\nLOOP:\n" + kAddress +
      "ld.global.f32 r6, [d3];\nadd.s32 r5, r5, r9;\nsetp.lt.s32 p2, r5, r1;\n@p2 bra LOOP;\nEND:";
  EXPECT_TRUE(in_bounds(loop, {.n = 1000, .bytes = 4000}));
  EXPECT_FALSE(in_bounds(loop, {.n = 1001, .bytes = 4000}));
  // Without the guard, the first round of every second index lies behind n.
  EXPECT_FALSE(
      in_bounds("shl.b32 r5, r5, 1;\n" + loop.substr(kGuard.size()), {.n = 400, .bytes = 1600}));
  EXPECT_FALSE(in_bounds(loop.substr(kGuard.size()) + "\n", {.n = 100, .bytes = 400}));
}

TEST(Prove, ALoopCountsToItsEnd) {
  const auto loop = [](const std::string& condition) {
    return "mov.u32 r8, 0;\nmov.b64 d4, d1;\nLOOP:\nld.global.f32 r6, [d4];\nadd.s64 d4, d4, 4;\n"
           "add.s32 r8, r8, 1;\n" +
           condition + "\n@p2 bra LOOP;";
  };
  // Sixteen rounds: bytes 0 to 63.
  EXPECT_TRUE(in_bounds(loop("setp.ne.s32 p2, r8, 16;"), {.bytes = 64}));
  EXPECT_FALSE(in_bounds(loop("setp.ne.s32 p2, r8, 17;"), {.bytes = 64}));
  EXPECT_TRUE(in_bounds(loop("setp.lt.s32 p2, r8, 16;"), {.bytes = 64}));
  EXPECT_FALSE(in_bounds(loop("setp.le.s32 p2, r8, 16;"), {.bytes = 64}));
  EXPECT_FALSE(in_bounds(loop("setp.gt.s32 p2, r8, -1;"), {.bytes = 64}));
  EXPECT_FALSE(in_bounds(loop("ld.param.u32 r7, [n];\nsetp.ne.s32 p2, r7, 16;"), {.bytes = 64}));
}

TEST(Prove, TheLoopOfAnotherPathBoundsNothing) {
  // The loop is entered only if n > 0. After the loop the index is the grid's again.
  const std::string body =
      "setp.ge.s32 p1, r5, r1;\n@p1 bra AFTER;\nmov.u32 r8, r5;\nLOOP:\nadd.s32 r8, r8, 64;\n"
      "setp.lt.s32 p2, r8, r1;\n@p2 bra LOOP;\nAFTER:\n" +
      kAddress + "ld.global.f32 r6, [d3];";
  EXPECT_FALSE(in_bounds(body, {.n = 100, .bytes = 400}));
}

TEST(Prove, ThreadsWithWordsOfTheirOwnAreApart) {
  EXPECT_TRUE(proved(kOwn + "st.shared.u32 [r12], r2;\nld.shared.u32 r6, [r12];").shared_apart);
}

TEST(Prove, ABarrierPartsAWriteFromItsNeighboursRead) {
  const std::string write = kOwn + "st.shared.u32 [r12], r2;\n";
  EXPECT_TRUE(proved(write + "bar.sync 0;\nld.shared.u32 r6, [r12+4];").shared_apart);
  EXPECT_FALSE(proved(write + "ld.shared.u32 r6, [r12+4];").shared_apart);
  EXPECT_FALSE(proved(write + "bar.sync 1;\nld.shared.u32 r6, [r12+4];").shared_apart)
      << "barrier 1 is not followed";
  EXPECT_FALSE(proved(write + "bar.sync 0, 32;\nld.shared.u32 r6, [r12+4];").shared_apart)
      << "32 of 64 threads";
  EXPECT_FALSE(proved(write + "bar.warp.sync -1;\nld.shared.u32 r6, [r12+4];").shared_apart);
}

TEST(Prove, OverlapsOfPartOfAWordAreRaces) {
  EXPECT_FALSE(proved("mov.u32 r11, s;\nshl.b32 r10, r2, 1;\nadd.s32 r12, r11, r10;\n"
                      "cvt.u16.u32 h1, r2;\nst.shared.u16 [r12], h1;\nld.shared.u16 h2, [r12+2];")
                   .shared_apart);
  EXPECT_TRUE(proved("mov.u32 r11, s;\nshl.b32 r10, r2, 1;\nadd.s32 r12, r11, r10;\n"
                     "cvt.u16.u32 h1, r2;\nst.shared.u16 [r12], h1;\nld.shared.u16 h2, [r12];")
                  .shared_apart);
}

TEST(Prove, ABarrierThatSomeThreadsPassPartsNothing) {
  EXPECT_FALSE(proved(kOwn + "st.shared.u32 [r12], r2;\nsetp.lt.u32 p1, r2, 32;\n@p1 bra SKIP;\n"
                             "bar.sync 0;\nSKIP:\nld.shared.u32 r6, [r12+4];")
                   .shared_apart);
  EXPECT_FALSE(proved(kOwn + "st.shared.u32 [r12], r2;\nsetp.lt.u32 p1, r2, 32;\n@p1 exit;\n"
                             "bar.sync 0;\nld.shared.u32 r6, [r12+4];")
                   .shared_apart);
}

TEST(Prove, TwoRoundsOfALoopNeedABarrierAtTheirEnd) {
  const auto loop = [](const std::string& end) {
    return kOwn +
           "mov.u32 r8, 0;\nLOOP:\nst.shared.u32 [r12], r2;\nbar.sync 0;\n"
           "ld.shared.u32 r6, [r12+4];\n" +
           end + "add.s32 r8, r8, 1;\nsetp.ne.s32 p2, r8, 4;\n@p2 bra LOOP;";
  };
  EXPECT_TRUE(proved(loop("bar.sync 0;\n")).shared_apart);
  EXPECT_FALSE(proved(loop("")).shared_apart);
}

TEST(Prove, ACounterInAnAddressReachesAllItsRounds) {
  // Thread t writes words t and t + 1.
  const std::string body = kOwn +
                           "mov.u32 r8, 0;\nLOOP:\nst.shared.u32 [r12], r2;\nadd.s32 r12, r12, 4;\n"
                           "add.s32 r8, r8, 1;\nsetp.ne.s32 p2, r8, 2;\n@p2 bra LOOP;";
  EXPECT_FALSE(proved(body).shared_apart);
  // Thread t writes words t and t + 64.
  std::string apart = body;
  apart.replace(apart.find("r12, r12, 4"), 11, "r12, r12, 256");
  EXPECT_TRUE(proved(apart).shared_apart);
}

TEST(Prove, AnotherAccessThatMayBeAnywhereTakesTheProofAway) {
  const std::string own = kOwn + "st.shared.u32 [r12], r2;\n";
  EXPECT_FALSE(proved(own + "ld.shared.u32 r6, [r12];\nadd.s32 r7, r6, r11;\n"
                            "st.shared.u32 [r7], r2;")
                   .shared_apart)
      << "at a place that was loaded";
  EXPECT_FALSE(proved(own + "st.u32 [d1], r2;").shared_apart) << "by a generic address";
  EXPECT_FALSE(proved(own + "atom.shared.add.u32 r6, [r12], 1;").shared_apart)
      << "strong accesses order others";
  EXPECT_FALSE(proved(own + "ld.volatile.shared.u32 r6, [r12];").shared_apart);
  EXPECT_FALSE(proved(own + "mbarrier.init.shared.b64 [s], 1;").shared_apart);
}

TEST(Prove, ABitMaskAndAShiftPartLanesFromWarps) {
  // Word 32 * w + l for lane l of warp w, computed from tid with `and` and `shr`.
  const std::string place =
      "and.b32 r8, r2, 31;\nshr.u32 r9, r2, 5;\nshl.b32 r9, r9, 5;\nadd.s32 r9, r9, r8;\n"
      "shl.b32 r9, r9, 2;\nmov.u32 r11, s;\nadd.s32 r12, r11, r9;\n";
  EXPECT_TRUE(proved(place + "st.shared.u32 [r12], r2;").shared_apart);
  std::string lanes = place;
  lanes.replace(lanes.find("r9, r2, 5"), 9, "r9, r2, 6");
  EXPECT_FALSE(proved(lanes + "st.shared.u32 [r12], r2;").shared_apart);
}

TEST(Prove, AnIndexPast2To31IsNegative) {
  // Block index times 2^30 overflows 32 bits from block 2 on, unlike the sum.
  EXPECT_FALSE(
      in_bounds("shl.b32 r6, r3, 30;\nmul.wide.s32 d2, r6, 4;\nadd.s64 d3, d1, d2;\n"
                "ld.global.f32 r7, [d3];",
                {.grid = 8, .bytes = std::uint64_t{1} << 36}));
}

TEST(Prove, APredicateOfTheThreadLeavesTheOthers) {
  const std::string other = "setp.lt.u32 p1, r2, 32;\n" + kAddress + "@!p1 ld.global.f32 r6, [d3";
  EXPECT_FALSE(in_bounds(other + "];", {.grid = 1, .bytes = 128}));
  EXPECT_TRUE(in_bounds(other + "+-128];", {.grid = 1, .bytes = 128}));
}

TEST(Prove, ARegisterKeepsItsValueWhereThePredicateIsFalse) {
  EXPECT_FALSE(in_bounds(
      "setp.ge.s32 p1, r5, r1;\n@p1 mov.u32 r5, 0;\n" + kAddress + "ld.global.f32 r6, [d3];",
      {.bytes = 4}));
}

TEST(Prove, EveryByteOfAnAccessCounts) {
  // The upper half of the next thread's word.
  EXPECT_FALSE(proved(kOwn + "st.shared.u32 [r12], r2;\nld.shared.u16 h1, [r12+6];").shared_apart);
}

TEST(Prove, AKernelThatCallsIsNotFollowed) {
  const compile::testing::Compiled compiled(
      ".func f()\n{\nret;\n}\n.entry k(.param .u64 x)\n{\n.reg .b64 d<4>;\n.reg .b32 r<4>;\n"
      "ld.param.u64 d1, [x];\nld.global.u32 r1, [d1];\ncall f, ();\nret;\n}\n");
  ASSERT_NE(compiled.program, nullptr);
  const Certificate c = prove(*compiled.program, compiled.program->functions[1], {}, {});
  EXPECT_TRUE(c.accesses.empty());
  EXPECT_FALSE(c.shared_apart);
}

// ---- what would be claimed by a slip ------------------------------------------------------------

TEST(Prove, OnlyOneOfThePathsHasTheCondition) {
  EXPECT_FALSE(in_bounds("setp.lt.s32 p1, r5, r1;\n@p1 bra MEET;\nadd.s32 r7, r5, 1;\nMEET:\n" +
                             kAddress + "ld.global.f32 r6, [d3];",
                         {.n = 200, .bytes = 800}));
}

TEST(Prove, OfTwoConditionsBothOrEither) {
  const auto guarded = [](const std::string& how) {
    return "setp.eq.s32 p2, r2, 63;\nsetp.lt." + how + ".s32 p1, r5, r1, p2;\n@!p1 bra END;\n" +
           kAddress + "ld.global.f32 r6, [d3];\nEND:";
  };
  EXPECT_TRUE(in_bounds(guarded("and"), {.n = 200, .bytes = 800}));
  EXPECT_FALSE(in_bounds(guarded("or"), {.n = 200, .bytes = 800})) << "thread 63 of block 3";
}

TEST(Prove, TheUpperHalfOfAProductIsNotTheLower) {
  // 2^16 * 2^26: the high half is 1024, the low half 0.
  EXPECT_FALSE(
      in_bounds("mov.u32 r6, 65536;\nmul.hi.u32 r7, r6, 67108864;\nmul.wide.s32 d2, r7, 4;\n"
                "add.s64 d3, d1, d2;\nld.global.f32 r8, [d3];"));
}

TEST(Prove, LowBitsAndQuotientsOfABlocksNumberDifferByBlock) {
  const std::string load = "mul.wide.s32 d2, r6, 4;\nadd.s64 d3, d1, d2;\nld.global.f32 r7, [d3];";
  EXPECT_FALSE(in_bounds("and.b32 r6, r3, 1;\n" + load, {.bytes = 4}));
  EXPECT_FALSE(in_bounds("shr.u32 r6, r3, 1;\n" + load, {.bytes = 4}));
}

TEST(Prove, BelowZeroIsAboveAllUnsignedNumbers) {
  // Thread 0 compares 2^32 - 1.
  EXPECT_FALSE(
      in_bounds("sub.s32 r7, r2, 1;\nsetp.gt.u32 p1, r7, 5;\nmul.wide.s32 d2, r2, 4;\n"
                "add.s64 d3, d1, d2;\n@p1 ld.global.f32 r6, [d3+-28];",
                {.grid = 1}));
}

TEST(Prove, ThreadsLeaveALoopWithCountsOfTheirOwn) {
  // Threads that count beyond 5 pass two barriers, the others one.
  EXPECT_FALSE(proved(kOwn + "mov.u32 r8, 0;\nLOOP:\nadd.s32 r8, r8, 1;\nsetp.lt.s32 p2, r8, r2;\n"
                             "@p2 bra LOOP;\nsetp.gt.s32 p1, r8, 5;\n@p1 bra MORE;\nbar.sync 0;\n"
                             "st.shared.u32 [r12], r2;\nbra END;\nMORE:\nbar.sync 0;\nbar.sync 0;\n"
                             "ld.shared.u32 r6, [r12+4];\nEND:")
                   .shared_apart);
}

TEST(Prove, AStepOfEachThreadsOwnIsNotFollowed) {
  EXPECT_FALSE(
      in_bounds("mov.u32 r8, 0;\nmov.u32 r9, 0;\nLOOP:\nmul.wide.s32 d2, r9, 4;\n"
                "add.s64 d3, d1, d2;\nld.global.f32 r6, [d3];\nadd.s32 r9, r9, r2;\n"
                "add.s32 r8, r8, 1;\nsetp.ne.s32 p2, r8, 16;\n@p2 bra LOOP;",
                {.bytes = 1024}));
}

TEST(Prove, ACounterThatPassesItsRegistersEndGoesOn) {
  // 0, 2^30, -2^31, ...: always below 2^31 - 1.
  EXPECT_FALSE(
      in_bounds("mov.u32 r8, 0;\nmov.b64 d4, d1;\nLOOP:\nld.global.f32 r6, [d4];\n"
                "add.s64 d4, d4, 4;\nadd.s32 r8, r8, 1073741824;\n"
                "setp.lt.s32 p2, r8, 2147483647;\n@p2 bra LOOP;"));
}

TEST(Prove, EveryBlockAndRoundIsAligned) {
  EXPECT_FALSE(proved("mul.wide.s32 d2, r3, 2;\nadd.s64 d3, d1, d2;\nld.global.u32 r6, [d3];")
                   .accesses.at(0)
                   .aligned);
  EXPECT_TRUE(proved("mul.wide.s32 d2, r3, 8;\nadd.s64 d3, d1, d2;\nld.global.u32 r6, [d3];")
                  .accesses.at(0)
                  .aligned);
}

TEST(Prove, AnAddressBelowZeroIsInNoVariable) {
  // Addresses from -76 to 180; the variable begins at 1024.
  EXPECT_FALSE(proved(kOwn + "st.shared.u32 [r12+-1100], r2;").accesses.at(0).in_bounds);
}

TEST(Prove, ABarrierUnderAPredicatePartsNothing) {
  EXPECT_FALSE(proved(kOwn + "st.shared.u32 [r12], r2;\nsetp.lt.u32 p1, r2, 32;\n"
                             "@p1 bar.sync 0;\nld.shared.u32 r6, [r12+4];")
                   .shared_apart);
}

// ---- threads of the grid, in global memory ------------------------------------------------------

const std::string kStore = "st.global.u32 [d3], r2;";

TEST(ProveGlobal, ThreadsOfTheGridWithWordsOfTheirOwnAreApart) {
  EXPECT_TRUE(global_apart(kAddress + kStore));
  EXPECT_TRUE(global_apart(kAddress + "ld.global.u32 r6, [d3];\n" + kStore)) << "in place";
  EXPECT_FALSE(global_apart("mul.wide.s32 d2, r2, 4;\nadd.s64 d3, d1, d2;\n" + kStore))
      << "every block writes the same words";
  EXPECT_TRUE(global_apart("mul.wide.s32 d2, r2, 4;\nadd.s64 d3, d1, d2;\n" + kStore, {.grid = 1}));
  EXPECT_TRUE(global_apart("mul.wide.s32 d2, r2, 4;\nadd.s64 d3, d1, d2;\nld.global.u32 r6, [d3];"))
      << "all read";
}

TEST(ProveGlobal, ANeighboursWordIsNotOnesOwn) {
  EXPECT_FALSE(global_apart(kAddress + "ld.global.u32 r6, [d3+4];\n" + kStore, {.bytes = 4096}));
  EXPECT_FALSE(
      global_apart(kAddress + "bar.sync 0;\nld.global.u32 r6, [d3+4];\nbar.sync 0;\n" + kStore))
      << "barriers order no other block";
  EXPECT_FALSE(global_apart("mul.wide.s32 d2, r5, 2;\nadd.s64 d3, d1, d2;\n" + kStore))
      << "each overlaps half of the next";
  // Two buffers of 1024 bytes; the second is read with a halo.
  EXPECT_TRUE(global_apart(
      kAddress + "ld.global.u32 r6, [d3+1028];\nld.global.u32 r7, [d3+1032];\n" + kStore));
}

TEST(ProveGlobal, BlocksThatOverlapByOneThreadAreNotApart) {
  // Block b begins at word 63 * b.
  const std::string body =
      "mad.lo.s32 r6, r3, 63, r2;\nmul.wide.s32 d2, r6, 4;\nadd.s64 d3, d1, d2;\n";
  EXPECT_FALSE(global_apart(body + kStore));
  EXPECT_TRUE(global_apart("setp.lt.u32 p1, r2, 63;\n" + body + "@p1 " + kStore));
}

TEST(ProveGlobal, ATileOfAMatrixIsApartFromItsNeighbours) {
  // Tiles of 8 x 8 words: %tid.x and %ctaid.x run along a row of 32 words, %tid.y down.
  const auto tile = [](const std::string& pitch) {
    return "mov.u32 r6, %tid.y;\nmad.lo.s32 r7, r3, r4, r2;\nmad.lo.s32 r8, r6, " + pitch +
           ", r7;\nmul.wide.s32 d2, r8, 4;\nadd.s64 d3, d1, d2;\n" + kStore;
  };
  EXPECT_TRUE(global_apart(tile("32"), {.block = 8, .block_y = 8}));
  EXPECT_FALSE(global_apart(tile("31"), {.block = 8, .block_y = 8}));
  EXPECT_FALSE(global_apart(tile("8"), {.block = 8, .block_y = 8}));
}

TEST(ProveGlobal, ALoopsRoundsAreOfTheirThread) {
  const auto loop = [](const std::string& step, const std::string& first) {
    return first + "mov.u32 r8, 0;\nLOOP:\n" + kStore + "\nadd.s64 d3, d3, " + step +
           ";\nadd.s32 r8, r8, 1;\nsetp.ne.s32 p2, r8, 2;\n@p2 bra LOOP;";
  };
  // 256 threads, each with two adjacent words, then words a grid apart.
  const std::string own = "mul.wide.s32 d2, r5, 8;\nadd.s64 d3, d1, d2;\n";
  EXPECT_TRUE(global_apart(loop("4", own)));
  EXPECT_FALSE(global_apart(loop("8", own))) << "the second word is the next thread's first";
  EXPECT_TRUE(global_apart(loop("1024", kAddress)));
  EXPECT_FALSE(global_apart(loop("512", kAddress)));
}

TEST(ProveGlobal, AnAccessThatMayBeAnywhereTakesTheProofAway) {
  const std::string loaded =
      "ld.global.u32 r6, [d1];\nmul.wide.s32 d4, r6, 4;\nadd.s64 d5, d1, d4;\n";
  EXPECT_FALSE(global_apart(kAddress + kStore + loaded + "ld.global.u32 r7, [d5];"));
  const Certificate c =
      proved(kAddress + "ld.global.u32 r8, [d3];\n" + loaded + "st.global.u32 [d5], r6;");
  ASSERT_EQ(c.accesses.size(), 3u);
  EXPECT_FALSE(c.accesses[0].apart) << "a store may go there";
  EXPECT_FALSE(global_apart(kAddress + "red.global.add.u32 [d3], 1;\nld.global.u32 r6, [d3];"))
      << "atomics are strong";
  EXPECT_FALSE(global_apart(kAddress + kStore + "\nst.u32 [d1], r2;")) << "a generic address";
}

TEST(ProveGlobal, ALoadThatMayBeAnywhereTakesTheProofOfAStoreAway) {
  const Certificate c = proved(kAddress + kStore +
                               "\nld.global.u32 r6, [d1+2048];\nmul.wide.s32 d4, r6, 4;\n"
                               "add.s64 d5, d1, d4;\nld.global.u32 r7, [d5];");
  ASSERT_EQ(c.accesses.size(), 3u);
  EXPECT_FALSE(c.accesses[0].apart);
  EXPECT_TRUE(c.accesses[1].apart) << "nobody stores there";
}

TEST(ProveGlobal, BlocksWithOtherStridesMeet) {
  // Block 1 reads from word 128 on; block 2 writes these words.
  EXPECT_FALSE(
      global_apart(kAddress +
                   "mad.lo.s32 r6, r3, 128, r2;\nmul.wide.s32 d4, r6, 4;\nadd.s64 d5, d1, d4;\n"
                   "ld.global.u32 r7, [d5];\n" +
                   kStore));
}

TEST(ProveGlobal, LanesOfSeveralWarpsMeet) {
  EXPECT_FALSE(global_apart(
      "and.b32 r6, r2, 31;\nmul.wide.s32 d2, r6, 4;\nadd.s64 d3, d1, d2;\n" + kStore, {.grid = 1}));
}

TEST(ProveGlobal, OneThreadOfEachBlockHasAWord) {
  const std::string result =
      "setp.ne.s32 p1, r2, 0;\n@p1 bra END;\nmul.wide.s32 d2, r3, 4;\nadd.s64 d3, d1, d2;\n" +
      kStore + "\nEND:";
  EXPECT_TRUE(global_apart(result));
  std::string two = result;
  two.replace(two.find("setp.ne.s32 p1, r2, 0"), 21, "setp.gt.s32 p1, r2, 1");
  EXPECT_FALSE(global_apart(two));
}

// ---- what has been written ----------------------------------------------------------------------

TEST(ProveWritten, WhatTheHostHasWrittenIsInitialised) {
  const std::string load = kAddress + "ld.global.u32 r6, [d3];";
  EXPECT_EQ(initialised(load, 1024), Loads{true});
  EXPECT_EQ(initialised(load, 1023), Loads{false});
  EXPECT_EQ(initialised(load + "\nst.global.u32 [d3], r6;", 1024), Loads{true});
}

TEST(ProveWritten, AStoreOfAnUnwrittenValueTakesTheProofAway) {
  // Word t + 256 is unwritten, and is stored where the other load reads.
  const std::string copy = kAddress + "ld.global.u32 r6, [d3+1024];\nld.global.u32 r7, [d3];\n";
  EXPECT_EQ(initialised(copy + "st.global.u32 [d3], r6;", 1024), (Loads{false, false}));
  EXPECT_EQ(initialised(copy + "st.global.u32 [d3+2048], r6;", 1024), (Loads{false, true}));
  EXPECT_EQ(initialised(kAddress + "ld.global.u32 r6, [d3];\nst.global.u32 [d3], r9;"),
            Loads{false})
      << "nothing writes r9";
  EXPECT_EQ(initialised(kAddress + "setp.eq.s32 p1, r2, 0;\n@p1 mov.u32 r9, 0;\n"
                                   "ld.global.u32 r6, [d3];\nst.global.u32 [d3], r9;"),
            Loads{false})
      << "nothing writes r9 where p1 is false";
  EXPECT_EQ(initialised(kAddress + "setp.eq.s32 p1, r2, 0;\n@p1 bra SKIP;\nmov.u32 r9, 0;\nSKIP:\n"
                                   "ld.global.u32 r6, [d3];\nst.global.u32 [d3], r9;"),
            Loads{false})
      << "nothing writes r9 on one path";
}

TEST(ProveWritten, AStoreOfEveryThreadBeforeABarrierIsReadByAll) {
  const std::string write = kOwn + "st.shared.u32 [r12], r2;\n";
  EXPECT_EQ(initialised(write + "ld.shared.u32 r6, [r12];"), Loads{true}) << "its own";
  EXPECT_EQ(initialised(write + "bar.sync 0;\nld.shared.u32 r6, [s+252];"), Loads{true});
  EXPECT_EQ(initialised(kOwn + "cvt.u16.u32 h1, r2;\nst.shared.u16 [r12], h1;\n"
                               "ld.shared.u32 r6, [r12];"),
            Loads{false})
      << "half of it";
  EXPECT_EQ(initialised(write + "bar.sync 0;\nld.shared.u32 r6, [s+256];"), Loads{false});
  EXPECT_EQ(initialised(write + "ld.shared.u32 r6, [s+252];"), Loads{false}) << "no barrier";
  EXPECT_EQ(initialised(write + "ld.shared.u32 r6, [s+252];\nbar.sync 0;"), Loads{false})
      << "the barrier comes later";
  EXPECT_EQ(initialised(write + "bar.sync 1;\nld.shared.u32 r6, [s+252];"), Loads{false});
  EXPECT_EQ(initialised(kOwn + "bar.sync 0;\nld.shared.u32 r6, [r12];\nst.shared.u32 [r12], r2;"),
            Loads{false})
      << "the store comes later";
  EXPECT_EQ(initialised(kOwn + "bar.sync 0;\nst.shared.u32 [r12], r2;\nld.shared.u32 r6, [s];"),
            Loads{false})
      << "the store comes behind the barrier";
}

TEST(ProveWritten, AStoreOfSomeThreadsIsReadByThese) {
  const std::string write = kOwn + "setp.lt.u32 p1, r2, 16;\n@p1 st.shared.u32 [r12], r2;\n";
  EXPECT_EQ(initialised(write + "bar.sync 0;\nld.shared.u32 r6, [s+60];"), Loads{true});
  EXPECT_EQ(initialised(write + "bar.sync 0;\nld.shared.u32 r6, [s+64];"), Loads{false});
  EXPECT_EQ(initialised(write + "ld.shared.u32 r6, [r12];"), Loads{false});
  EXPECT_EQ(initialised(write + "@p1 ld.shared.u32 r6, [r12];"), Loads{true});
  const std::string branch =
      kOwn +
      "setp.ge.u32 p1, r2, 16;\n@p1 bra SKIP;\nst.shared.u32 [r12], r2;\nSKIP:\nbar.sync 0;\n";
  EXPECT_EQ(initialised(branch + "ld.shared.u32 r6, [s+60];"), Loads{true});
  EXPECT_EQ(initialised(branch + "ld.shared.u32 r6, [s+64];"), Loads{false});
  EXPECT_EQ(initialised(kOwn + "setp.ge.u32 p1, r2, r1;\nld.global.u32 r8, [d1];\n"
                               "setp.eq.u32 p1, r8, 0;\n@p1 bra SKIP;\nst.shared.u32 [r12], r2;\n"
                               "SKIP:\nbar.sync 0;\nld.shared.u32 r6, [s];"),
            (Loads{true, false}))
      << "data decides";
}

TEST(ProveWritten, AKernelThatReadsItsLocalMemoryIsNotFollowed) {
  EXPECT_EQ(initialised(".local .align 4 .b8 l[16];\nld.local.u32 r9, [l];\n" + kAddress +
                        "ld.global.u32 r6, [d3];\nst.global.u32 [d3], r9;"),
            Loads{false});
}

}  // namespace prove_test
}  // namespace lockstep::proof
