// Values that come from several paths, branches that the launch decides, and memory that is written
// on all paths.
#include <gtest/gtest.h>

#include <string>

#include "simulator/proof/testing.h"

namespace lockstep::proof {
namespace prove_test {

// x[r7], the kernel's only access.
const std::string kSeventh =
    "mul.wide.s32 d2, r7, 4;\nadd.s64 d3, d1, d2;\nld.global.f32 r6, [d3];\n";

TEST(ProvePaths, AParameterDecidesABranch) {
  const std::string body =
      "setp.gt.s32 p1, r1, 1000;\nmov.u32 r7, r5;\n@!p1 bra NEAR;\nadd.s32 r7, r7, "
      "100000;\nNEAR:\n" +
      kSeventh;
  EXPECT_TRUE(in_bounds(body, {.n = 1000, .bytes = 1024}));
  EXPECT_FALSE(in_bounds(body, {.n = 1001, .bytes = 1024}));
}

TEST(ProvePaths, WhatNoThreadExecutesIsProved) {
  const std::string body =
      "setp.gt.s32 p1, r1, 1000;\n@!p1 bra END;\nadd.s32 r7, r5, 100000;\n" + kSeventh + "END:";
  const Certificate c = proved(body, {.n = 1000});
  ASSERT_EQ(c.accesses.size(), 1u);
  EXPECT_TRUE(c.accesses[0].in_bounds && c.accesses[0].aligned && c.accesses[0].apart);
  EXPECT_FALSE(proved(body, {.n = 1001}).accesses.at(0).in_bounds);
}

TEST(ProvePaths, ABranchThatSomeThreadsTakeIsNotDecided) {
  // Only thread 63 adds the large offset.
  const std::string body =
      "setp.lt.s32 p1, r2, 63;\nmov.u32 r7, r5;\n@p1 bra NEAR;\nadd.s32 r7, r7, 100000;\nNEAR:\n" +
      kSeventh;
  EXPECT_FALSE(in_bounds(body));
  EXPECT_TRUE(in_bounds(body, {.block = 63}));
}

TEST(ProvePaths, AnExitIsDecidedByThoseWhoComeThere) {
  // The first 32 threads have left, and all others leave here.
  const std::string body =
      "setp.lt.s32 p1, r2, 32;\n@p1 exit;\nsetp.ge.s32 p2, r2, 32;\n@p2 exit;\nmov.u32 r7, "
      "100000;\n" +
      kSeventh;
  EXPECT_TRUE(in_bounds(body));
  EXPECT_FALSE(
      in_bounds("setp.lt.s32 p1, r2, 32;\n@p1 exit;\nsetp.ge.s32 p2, r2, 33;\n@p2 exit;\n"
                "mov.u32 r7, 100000;\n" +
                kSeventh));
}

TEST(ProvePaths, ConditionsOfParametersAreCombined) {
  const auto body = [](const std::string& how) {
    return "setp.gt.s32 p1, r1, 1000;\nsetp.lt.s32 p2, r1, 300;\n" + how +
           "\nmov.u32 r7, r5;\n@!p3 bra NEAR;\nadd.s32 r7, r7, 100000;\nNEAR:\n" + kSeventh;
  };
  EXPECT_TRUE(in_bounds(body("and.pred p3, p1, p2;")));
  EXPECT_FALSE(in_bounds(body("or.pred p3, p1, p2;")));
  EXPECT_FALSE(in_bounds(body("not.pred p3, p1;")));
  EXPECT_FALSE(in_bounds(body("xor.pred p3, p1, p2;")));
  EXPECT_TRUE(in_bounds(body("setp.lt.and.s32 p3, r1, 300, p1;")));
  EXPECT_FALSE(in_bounds(body("setp.lt.and.s32 p3, r1, 300, !p1;")));
  EXPECT_FALSE(in_bounds(body("setp.lt.or.s32 p3, r1, 300, p1;")));
}

TEST(ProvePaths, ARangeDecidesAComparison) {
  // The index in the grid is 0 to 255.
  const auto is_never = [](const std::string& compared) {
    return in_bounds("setp." + compared +
                     ";\nmov.u32 r7, r5;\n@!p1 bra NEAR;\nadd.s32 r7, r7, 100000;\nNEAR:\n" +
                     kSeventh);
  };
  for (const std::string type : {".s32", ".u32"}) {
    EXPECT_TRUE(is_never("ge" + type + " p1, r5, 256"));
    EXPECT_FALSE(is_never("ge" + type + " p1, r5, 255"));
    EXPECT_TRUE(is_never("gt" + type + " p1, r5, 255"));
    EXPECT_FALSE(is_never("gt" + type + " p1, r5, 254"));
    EXPECT_TRUE(is_never("lt" + type + " p1, r5, 0"));
    EXPECT_FALSE(is_never("lt" + type + " p1, r5, 1"));
    EXPECT_FALSE(is_never("le" + type + " p1, r5, 0"));
    EXPECT_TRUE(is_never("eq" + type + " p1, r5, 256"));
    EXPECT_FALSE(is_never("eq" + type + " p1, r5, 255"));
    EXPECT_FALSE(is_never("eq" + type + " p1, r5, 0"));
    EXPECT_FALSE(is_never("ne" + type + " p1, r5, 0"));
  }
  EXPECT_TRUE(is_never("le.s32 p1, r5, -1"));
  EXPECT_FALSE(is_never("lt.u32 p1, r5, -1"));
}

TEST(ProvePaths, APredicateOfTheThreadSelects) {
  const auto body = [](const std::string& how) {
    return "setp." + how + ".s32 p1, r2, 32;\nsub.s32 r8, r2, 32;\nselp.b32 r7, r2, r8, p1;\n" +
           kSeventh;
  };
  EXPECT_TRUE(in_bounds(body("lt"), {.bytes = 128}));
  EXPECT_FALSE(in_bounds(body("lt"), {.bytes = 127}));
  EXPECT_FALSE(in_bounds(body("ge"), {.bytes = 128}));
}

TEST(ProvePaths, APredicateOfTheThreadLetsAnOperationWrite) {
  const std::string body =
      "setp.ge.s32 p1, r2, 32;\nmov.u32 r7, r2;\n@p1 sub.s32 r7, r2, 32;\n" + kSeventh;
  EXPECT_TRUE(in_bounds(body, {.bytes = 128}));
  EXPECT_FALSE(in_bounds(body, {.bytes = 127}));
}

TEST(ProvePaths, TheThreadsOfEachPathBringItsValue) {
  const auto body = [](const std::string& less) {
    return "setp.ge.s32 p1, r2, 32;\n@p1 bra ELSE;\nmov.u32 r7, r2;\nbra MEET;\nELSE:\n"
           "sub.s32 r7, r2, " +
           less + ";\nMEET:\n" + kSeventh;
  };
  EXPECT_TRUE(in_bounds(body("32"), {.bytes = 128}));
  EXPECT_FALSE(in_bounds(body("31"), {.bytes = 128}));
}

TEST(ProvePaths, UnderAPredicateOfDataEitherMayCome) {
  const auto body = [](const std::string& other) {
    return "ld.global.u32 r6, [d1];\npopc.b32 r9, r6;\nsetp.eq.s32 p1, r6, 0;\n"
           "selp.b32 r7, r2, " +
           other + ", p1;\nmul.wide.s32 d2, r7, 4;\nadd.s64 d3, d1, d2;\nld.global.f32 r8, [d3];";
  };
  const auto second = [&](const std::string& other, std::uint64_t bytes) {
    return proved(body(other), {.bytes = bytes}).accesses.at(1);
  };
  EXPECT_TRUE(second("100", 404).in_bounds);
  EXPECT_FALSE(second("100", 403).in_bounds);
  EXPECT_TRUE(second("100", 404).aligned);
  EXPECT_FALSE(second("-1", 404).in_bounds);
  EXPECT_FALSE(second("100", 404).known) << "the address depends on data";
  EXPECT_FALSE(second("r9", 404).in_bounds) << "of popc nothing is known here";
  // The other value has steps of a block.
  EXPECT_TRUE(second("r5", 1024).in_bounds);
  EXPECT_FALSE(second("r5", 1023).in_bounds);
}

TEST(ProvePaths, ThreadsMayBeGivenTheSameOfTwo) {
  const auto stores = [](const std::string& other) {
    return proved("ld.global.u32 r6, [d1];\nsetp.eq.s32 p1, r6, 0;\nselp.b32 r7, r2, " + other +
                  ", p1;\nshl.b32 r10, r7, 2;\nmov.u32 r11, s;\nadd.s32 r12, r11, r10;\n"
                  "st.shared.u32 [r12], r2;")
        .shared_apart;
  };
  EXPECT_FALSE(stores("100"));
  EXPECT_TRUE(proved("ld.global.u32 r6, [d1];\nsetp.eq.s32 p1, r6, 0;\nadd.s32 r8, r2, 64;\n"
                     "selp.b32 r7, r2, r8, p1;\nshl.b32 r10, r7, 2;\nmov.u32 r11, s;\n"
                     "add.s32 r12, r11, r10;\nst.shared.u32 [r12], r2;")
                  .shared_apart);
}

TEST(ProvePaths, AnUnboundedValueOfOnePathIsNoBound) {
  EXPECT_FALSE(
      in_bounds("setp.lt.s32 p1, r2, 32;\nmov.u32 r7, r2;\n@p1 bra MEET;\n"
                "mul.lo.s32 r7, r5, r5;\nmul.lo.s32 r7, r7, r7;\nMEET:\n" +
                kSeventh));
}

TEST(ProvePaths, AValueComesThroughALoopThatHasPathsOfItsOwn) {
  const std::string body =
      "mov.u32 r7, r5;\nmov.u32 r8, 0;\nLOOP:\nsetp.lt.s32 p1, r2, 7;\n@p1 bra SKIP;\n"
      "add.s32 r9, r9, 1;\nSKIP:\nadd.s32 r8, r8, 1;\nsetp.lt.s32 p2, r8, r1;\n@p2 bra LOOP;\n" +
      kSeventh;
  EXPECT_TRUE(in_bounds(body, {.bytes = 1024}));
  EXPECT_FALSE(in_bounds(body, {.bytes = 1023}));
}

TEST(ProvePaths, AValueThatALoopChangesIsNotWhatItWas) {
  EXPECT_FALSE(in_bounds(
      "mov.u32 r7, r5;\nmov.u32 r8, 0;\nLOOP:\nsetp.lt.s32 p1, r2, 7;\n@p1 bra SKIP;\n"
      "mul.lo.s32 r7, r7, 3;\nSKIP:\nadd.s32 r8, r8, 1;\nsetp.lt.s32 p2, r8, r1;\n@p2 bra LOOP;\n" +
      kSeventh));
}

TEST(ProvePaths, BothConditionsOfALoopBoundIt) {
  const auto loop = [](const std::string& how) {
    return "mov.u32 r7, 0;\nld.global.u32 r6, [d1];\nsetp.eq.s32 p3, r6, 0;\nLOOP:\n"
           "mul.wide.s32 d2, r7, 4;\nadd.s64 d3, d1, d2;\nld.global.f32 r8, [d3];\n"
           "add.s32 r7, r7, 1;\nsetp.lt.s32 p1, r7, r1;\n" +
           how + "\n@p2 bra LOOP;";
  };
  const auto second = [&](const std::string& how, std::uint64_t bytes) {
    return proved(loop(how), {.n = 100, .bytes = bytes}).accesses.at(1).in_bounds;
  };
  EXPECT_TRUE(second("and.pred p2, p1, p3;", 400));
  EXPECT_FALSE(second("and.pred p2, p1, p3;", 399));
  EXPECT_FALSE(second("or.pred p2, p1, p3;", 400));
}

TEST(ProvePaths, AParameterOfAByteIsExtended) {
  // n is 0xff, which is -1 as s8.
  const auto body = [](const std::string& type) {
    return "ld.param." + type + " r7, [n];\nadd.s32 r7, r7, 1;\n" + kSeventh;
  };
  EXPECT_TRUE(in_bounds(body("u8"), {.n = 255, .bytes = 1028}));
  EXPECT_FALSE(in_bounds(body("u8"), {.n = 255, .bytes = 1027}));
  EXPECT_TRUE(in_bounds(body("s8"), {.n = 255, .bytes = 4}));
}

TEST(ProveWritten, AStoreThatNoThreadExecutesWritesNothing) {
  const std::string never = "setp.gt.s32 p1, r1, 1000;\n@!p1 bra SKIP;\n";
  const std::string store = "st.shared.u32 [r12], r2;\n";
  const std::string load = "bar.sync 0;\nld.shared.u32 r6, [r12];\n";
  EXPECT_EQ(initialised(kOwn + never + store + "SKIP:\n" + load), std::vector<bool>{false});
  // Loads that no thread executes, and loads after both, are no problem either.
  EXPECT_EQ(initialised(kOwn + store + never + load + "SKIP:"), std::vector<bool>{true});
  EXPECT_EQ(initialised(kOwn + store + never + "bar.sync 0;\n" + store + "SKIP:\n" + load),
            std::vector<bool>{true});
}

TEST(ProveWritten, AStoreBehindWhereAllPathsMeetIsOneOfAllThreads) {
  const std::string branch = "setp.eq.s32 p1, r3, 0;\n@p1 bra MEET;\n";
  const std::string store = "st.shared.u32 [r12], r2;\n";
  EXPECT_EQ(initialised(kOwn + branch + "mov.u32 r7, 1;\nMEET:\n" + store +
                        "bar.sync 0;\nld.shared.u32 r6, [s+252];"),
            std::vector<bool>{true});
  // The other path reaches the store only after the barrier and the load.
  EXPECT_EQ(initialised(kOwn + branch + "bar.sync 0;\nld.shared.u32 r6, [s];\nMEET:\n" + store),
            std::vector<bool>{false});
}

// Examining the operands of a predicated selp must not recurse into the predicated write.
TEST(Paths, ASelectionUnderAPredicateEnds) {
  EXPECT_TRUE(
      in_bounds("setp.lt.s32 p1, r2, 32;\nsetp.lt.s32 p2, r5, 8;\nmov.u32 r7, 0;\n"
                "@p2 selp.b32 r7, r2, r5, p1;\nmul.wide.s32 d2, r7, 4;\n"
                "add.s64 d3, d1, d2;\nst.global.u32 [d3], r2;\n"));
}

TEST(Paths, ALongChainOfOperationsIsUnknownAndEnds) {
  std::string chain = "mov.u32 r7, r5;\n";
  for (int i = 0; i < 2'000; ++i) chain += "add.s32 r7, r7, 1;\n";
  EXPECT_FALSE(in_bounds(chain + "sub.s32 r7, r7, 2000;\nmul.wide.s32 d2, r7, 4;\n"
                                 "add.s64 d3, d1, d2;\nst.global.u32 [d3], r2;\n"));
}

}  // namespace prove_test
}  // namespace lockstep::proof
