// Addresses that depend on loaded data with a known range, and atomics.
#include <gtest/gtest.h>

#include <string>

#include "simulator/proof/testing.h"

namespace lockstep::proof {
namespace prove_test {

// The access to x[r7] that follows the load of r6.
Access second(const std::string& load, const std::string& compute, const Launch& launch) {
  const Certificate c = proved(load + "\n" + compute +
                                   "\nmul.wide.s32 d2, r7, 4;\nadd.s64 d3, d1, d2;\n"
                                   "ld.global.f32 r8, [d3];\nEND:",
                               launch);
  EXPECT_EQ(c.accesses.size(), 2u);
  return c.accesses.size() == 2 ? c.accesses[1] : Access();
}
const std::string kWord = "ld.global.u32 r6, [d1];";

// Whether x[r7] is in bounds for `words` words, and not for fewer.
::testing::AssertionResult reaches(const std::string& load, const std::string& compute,
                                   std::uint64_t words, std::int32_t n = 256) {
  if (!second(load, compute, {.n = n, .bytes = 4 * words}).in_bounds)
    return ::testing::AssertionFailure() << "not in bounds of " << words << " words";
  if (second(load, compute, {.n = n, .bytes = 4 * words - 1}).in_bounds)
    return ::testing::AssertionFailure() << "in bounds of less than " << words << " words";
  return ::testing::AssertionSuccess();
}
// Whether x[r7] may lie before x. x has 2^32 words, so it cannot lie behind x.
bool is_below(const std::string& load, const std::string& compute) {
  return !second(load, compute, {.bytes = std::uint64_t{1} << 34}).in_bounds;
}

TEST(ProveData, AByteHasItsRange) {
  EXPECT_TRUE(reaches("ld.global.u8 r6, [d1];", "mov.u32 r7, r6;", 256));
  EXPECT_TRUE(is_below("ld.global.s8 r6, [d1];", "mov.u32 r7, r6;"));
  EXPECT_TRUE(reaches("ld.global.s8 r6, [d1];", "add.s32 r7, r6, 128;", 256));
  EXPECT_FALSE(second("ld.global.u8 r6, [d1];", "mov.u32 r7, r6;", {}).known);
  EXPECT_TRUE(second("ld.global.u8 r6, [d1];", "mov.u32 r7, r6;", {}).aligned);
}

TEST(ProveData, AWordHasNoUsefulRange) { EXPECT_TRUE(is_below(kWord, "mov.u32 r7, r6;")); }

TEST(ProveData, WhatIsComputedOfDataHasARange) {
  EXPECT_TRUE(reaches(kWord, "and.b32 r7, r6, 100;", 101));
  EXPECT_TRUE(is_below(kWord, "and.b32 r7, r6, -4;"));
  EXPECT_TRUE(reaches(kWord, "shr.u32 r7, r6, 24;", 256));
  EXPECT_TRUE(is_below(kWord, "shr.s32 r7, r6, 24;"));
  EXPECT_TRUE(reaches(kWord, "min.u32 r7, r6, 50;", 51));
  EXPECT_TRUE(is_below(kWord, "min.s32 r7, r6, 50;"));
  EXPECT_TRUE(reaches(kWord, "min.s32 r8, r6, 50;\nmax.s32 r7, r8, 0;", 51));
  EXPECT_TRUE(is_below(kWord, "min.s32 r8, r6, 50;\nmax.s32 r7, r8, -1;"));
  EXPECT_TRUE(reaches(kWord, "rem.u32 r7, r6, r1;", 100, 100));
  EXPECT_TRUE(is_below(kWord, "rem.s32 r7, r6, r1;"));
  EXPECT_TRUE(reaches(kWord, "rem.s32 r8, r6, r1;\nadd.s32 r7, r8, 99;", 199, 100));
  EXPECT_TRUE(reaches(kWord, "and.b32 r8, r6, 1023;\ndiv.u32 r7, r8, 10;", 103));
  EXPECT_TRUE(reaches(kWord, "mul.hi.u32 r7, r6, 100;", 100));
  EXPECT_TRUE(reaches(kWord, "and.b32 r8, r6, 15;\nor.b32 r7, r8, 64;", 128));
  EXPECT_TRUE(reaches(kWord, "and.b32 r8, r6, 15;\nxor.b32 r7, r8, r2;", 64));
}

TEST(ProveData, AComparisonBoundsData) {
  EXPECT_TRUE(reaches(kWord, "mov.u32 r7, r6;\nsetp.ge.u32 p1, r6, r1;\n@p1 bra END;", 200, 200));
  EXPECT_TRUE(is_below(kWord, "mov.u32 r7, r6;\nsetp.ge.s32 p1, r6, r1;\n@p1 bra END;"));
  EXPECT_TRUE(reaches(kWord,
                      "mov.u32 r7, r6;\nsetp.ge.s32 p1, r6, r1;\n@p1 bra END;\n"
                      "setp.lt.s32 p2, r6, 0;\n@p2 bra END;",
                      200, 200));
  EXPECT_TRUE(reaches(kWord, "mov.u32 r7, r6;\nsetp.gt.u32 p1, r6, r1;\n@p1 bra END;", 201, 200));
  // Unsigned, -1 is above n.
  EXPECT_TRUE(is_below(kWord, "mov.u32 r7, r6;\nsetp.lt.u32 p1, r6, r1;\n@p1 bra END;"));
  EXPECT_TRUE(is_below(kWord, "mov.u32 r7, r6;\nsetp.ge.u32 p1, r6, -1;\n@p1 bra END;"));
}

TEST(ProveData, AClampOfTwoSelectionsHasARange) {
  const auto clamp = [](const std::string& low) {
    return "setp.lt.s32 p1, r6, 0;\nsetp.lt.s32 p2, r6, r1;\nsub.s32 r8, r1, 1;\n"
           "selp.b32 r9, r6, r8, p2;\nselp.b32 r7, " +
           low + ", r9, p1;";
  };
  EXPECT_TRUE(reaches(kWord, clamp("0"), 200, 200));
  EXPECT_TRUE(is_below(kWord, clamp("-1")));
  EXPECT_TRUE(is_below(kWord,
                       "setp.lt.s32 p1, r6, -5;\nsetp.lt.s32 p2, r6, r1;\n"
                       "selp.b32 r9, r6, 7, p2;\nselp.b32 r7, 0, r9, p1;"));
}

TEST(ProveData, APredicatedResultMayBeTheOldValue) {
  const std::string predicate = "setp.ne.u32 p1, r6, 7;\n";
  EXPECT_TRUE(reaches(kWord, predicate + "mov.u32 r7, 60;\n@p1 rem.u32 r7, r6, 25;", 61));
  // Nothing is known of brev's result.
  EXPECT_TRUE(is_below(kWord, predicate + "brev.b32 r7, r6;\n@p1 rem.u32 r7, r6, 25;"));
  EXPECT_TRUE(is_below("brev.b32 r6, r5;\n@p1 ld.global.u8 r6, [d1];", "mov.u32 r7, r6;"));
}

TEST(ProveData, QuotientAndRemainderOfTheGridsIndex) {
  EXPECT_TRUE(reaches(kWord, "div.s32 r7, r5, 64;", 4));
  EXPECT_TRUE(reaches(kWord, "rem.s32 r7, r5, 64;", 64));
  EXPECT_TRUE(reaches(kWord, "div.u32 r7, r5, 100;", 3));
  EXPECT_TRUE(reaches(kWord, "rem.u32 r7, r5, 100;", 100));
  EXPECT_TRUE(reaches(kWord, "sub.s32 r8, r5, 64;\ndiv.s32 r9, r8, 64;\nadd.s32 r7, r9, 1;", 4));
  EXPECT_TRUE(is_below(kWord, "sub.s32 r8, r5, 64;\nrem.s32 r7, r8, 64;"));
}

TEST(ProveData, EachThreadShiftsByANumberOfItsOwn) {
  EXPECT_TRUE(reaches(kWord, "and.b32 r8, r2, 7;\nmov.u32 r9, 1;\nshl.b32 r7, r9, r8;", 129));
  EXPECT_TRUE(reaches(kWord, "mov.u32 r9, 64;\nshr.u32 r7, r9, r2;", 65));
  // 2^31 and more. Shifts by 32 or more leave nothing, or the sign of a signed number.
  EXPECT_TRUE(reaches(kWord, "add.s32 r8, r2, 32;\nmov.u32 r9, 1;\nshl.b32 r7, r9, r8;", 1));
  EXPECT_TRUE(reaches(kWord, "add.s32 r8, r2, 26;\nmov.u32 r9, -1;\nshr.u32 r7, r9, r8;", 64));
  EXPECT_TRUE(reaches(kWord, "mov.u32 r9, -8;\nshr.s32 r8, r9, r2;\nadd.s32 r7, r8, 8;", 8));
  EXPECT_TRUE(is_below(kWord, "add.s32 r8, r2, 40;\nmov.u32 r9, -8;\nshr.s32 r7, r9, r8;"));
}

TEST(ProveData, AnEndOfALoopThatIsLoadedAnewBoundsTheRoundBeforeAlone) {
  // i continues while it is below this round's byte, which says nothing about the next round's
  // byte.
  const std::string loop =
      "mov.u32 r7, -1;\nLOOP:\nld.global.u8 r6, [d1];\nsub.s32 r8, r7, r6;\nadd.s32 r8, r8, 256;\n"
      "mul.wide.s32 d2, r8, 4;\nadd.s64 d3, d1, d2;\nld.global.f32 r9, [d3];\n"
      "add.s32 r7, r7, 1;\nsetp.lt.s32 p1, r7, r6;\n@p1 bra LOOP;";
  EXPECT_FALSE(proved(loop, {.bytes = 1024}).accesses.at(1).in_bounds);
}

TEST(ProveData, AnInnerLoopsCountBoundsTheRoundBeforeAlone) {
  // i continues while it is below the number of the inner loop's rounds, which depends on data.
  const std::string loops =
      "mov.u32 r7, -1;\nOUTER:\nmov.u32 r8, 0;\nINNER:\nsub.s32 r9, r7, r8;\n"
      "add.s32 r9, r9, 5;\nmul.wide.s32 d2, r9, 4;\nadd.s64 d3, d1, d2;\nld.global.u32 r6, [d3];\n"
      "add.s32 r8, r8, 1;\nsetp.lt.s32 p1, r8, 5;\nsetp.ne.s32 p2, r6, 0;\n"
      "and.pred p3, p1, p2;\n@p3 bra INNER;\nadd.s32 r7, r7, 1;\nsetp.lt.s32 p1, r7, r8;\n"
      "@p1 bra OUTER;";
  EXPECT_FALSE(in_bounds(loops, {.bytes = 36}));
  EXPECT_TRUE(in_bounds(loops, {.bytes = 40}));
}

TEST(ProveData, ValuesOfALoopLieWhereEachRoundPutsThem) {
  const auto chase = [](const std::string& mask, std::uint64_t bytes) {
    return in_bounds(
        "mov.u32 r7, 10;\nmov.u32 r9, 0;\nLOOP:\nmul.wide.s32 d2, r7, 4;\n"
        "add.s64 d3, d1, d2;\nld.global.u32 r6, [d3];\nand.b32 r7, r6, " +
            mask + ";\nadd.s32 r9, r9, 1;\nsetp.lt.s32 p1, r9, r1;\n@p1 bra LOOP;",
        {.bytes = bytes});
  };
  EXPECT_TRUE(chase("63", 256));
  EXPECT_FALSE(chase("63", 255));
  EXPECT_TRUE(chase("7", 44)) << "the first round is at 10";
  EXPECT_FALSE(chase("7", 43));
}

TEST(ProveData, DataLeadsThreadsToOnePlace) {
  const auto apart = [](const std::string& index) {
    return proved(kWord + "\nand.b32 r7, r6, 3;\n" + index +
                      "\nshl.b32 r10, r9, 2;\nmov.u32 r11, s;\nadd.s32 r12, r11, r10;\n"
                      "st.shared.u32 [r12], r2;",
                  {.block = 32})
        .shared_apart;
  };
  EXPECT_FALSE(apart("mov.u32 r9, r7;"));
  EXPECT_TRUE(apart("shl.b32 r8, r2, 2;\nadd.s32 r9, r8, r7;"));
  EXPECT_FALSE(apart("shl.b32 r8, r2, 1;\nadd.s32 r9, r8, r7;"));
}

TEST(ProveData, ABranchOnDataPartsTheThreadsOfABlock) {
  EXPECT_FALSE(proved(kWord + kOwn +
                          "st.shared.u32 [r12], r2;\nsetp.eq.s32 p1, r6, 0;\n@p1 bra SKIP;\n"
                          "bar.sync 0;\nSKIP:\nld.shared.u32 r8, [r12+4];",
                      {.block = 32})
                   .shared_apart);
}

// ---- atomics
// ---------------------------------------------------------------------------------------

bool shared_apart(const std::string& body) { return proved(body).shared_apart; }

TEST(ProveAtomics, ThoseOfOneSizeAreApart) {
  const std::string add = "atom.shared.add.u32 r6, [s], 1;\n";
  EXPECT_TRUE(shared_apart(add));
  EXPECT_TRUE(shared_apart(add + add));
  EXPECT_FALSE(shared_apart(add + "ld.shared.u32 r7, [s];"));
  EXPECT_TRUE(shared_apart(add + "bar.sync 0;\nld.shared.u32 r7, [s];"));
  EXPECT_FALSE(shared_apart("st.shared.u32 [s], r2;\n" + add));
  EXPECT_FALSE(shared_apart("ld.shared.u32 r7, [s];\n" + add));
  EXPECT_FALSE(shared_apart(add + "atom.shared.add.u64 d4, [s], 1;"));
  EXPECT_FALSE(shared_apart("atom.shared.add.u32 r6, [s+2], 1;"));
  EXPECT_FALSE(shared_apart(add + "st.volatile.shared.u32 [s+8], r2;"));
}

TEST(ProveAtomics, AtomicsOfTheGrid) {
  const std::string add = "atom.global.add.u32 r6, [d1], 1;\n";
  EXPECT_TRUE(global_apart(add));
  EXPECT_FALSE(global_apart(add + "ld.global.u32 r7, [d1];"));
  EXPECT_TRUE(global_apart(add + "ld.global.u32 r7, [d1+4];"));
  EXPECT_FALSE(global_apart("atom.cta.global.add.u32 r6, [d1], 1;"));
  EXPECT_FALSE(global_apart(add + "atom.global.add.u64 d4, [d1], 1;"));
  // A load from an unknown address.
  EXPECT_FALSE(global_apart(add + "mul.wide.u32 d2, r6, 4;\nadd.s64 d3, d1, d2;\n"
                                  "ld.global.u32 r7, [d3];"));
}

TEST(ProveAtomics, WhatOrdersAccessesIsSeen) {
  const std::string add = "atom.shared.add.u32 r6, [s], 1;\n";
  EXPECT_TRUE(proved(add).is_shared_silent());
  EXPECT_FALSE(proved(add + "membar.gl;").is_shared_silent());
  EXPECT_FALSE(proved("atom.acq_rel.cta.shared.add.u32 r6, [s], 1;").is_shared_silent());
  EXPECT_TRUE(proved(kOwn + "st.shared.u32 [r12], r2;\nmembar.gl;").is_shared_silent());
  EXPECT_FALSE(proved("st.shared.u32 [s], r2;").is_shared_silent());
}

}  // namespace prove_test
}  // namespace lockstep::proof
