// Where the threads of a launch may race in global memory: Certificate::contested().
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simulator/proof/testing.h"

namespace lockstep::proof {
namespace contested_test {

using prove_test::kAddress;
using prove_test::kBuffer;
using prove_test::kOther;
using prove_test::Launch;
using prove_test::proved;

// The contested allocations, x and y (at kOther), or "anywhere". In brackets: if they are read.
std::string contested(const std::string& body, const Launch& launch = {}) {
  const auto extents = proved(body, launch).contested();
  if (!extents) return "anywhere";
  std::string all;
  for (const char* name : {"x", "y"}) {
    const std::uint64_t begin = kBuffer + (*name == 'y' ? kOther : 0);
    const auto is_in = [&](const Extent& e) {
      return e.begin >= begin && e.begin < begin + launch.bytes;
    };
    const auto &always = extents->always, &if_read = extents->if_read;
    if (std::any_of(always.begin(), always.end(), is_in)) all += name;
    if (std::any_of(if_read.begin(), if_read.end(), is_in)) all += "(" + std::string(name) + ")";
  }
  return all;
}

// d3: the thread's own word of x. y is at [d3+65536].
const std::string kStore = "st.global.u32 [d3], r5;\n",
                  kStoreToY = "st.global.u32 [d3+65536], r5;\n",
                  kLoad = "ld.global.u32 r6, [d3];\n";
// d6: a word that r6, loaded from the thread's word of x, selects.
const std::string kAnywhere = kLoad + "mul.wide.u32 d5, r6, 4;\nadd.s64 d6, d1, d5;\n";
// d6 as above, but within x.
const std::string kWithinX =
    kLoad + "and.b32 r6, r6, 1023;\nmul.wide.u32 d5, r6, 4;\nadd.s64 d6, d1, d5;\n";

TEST(Contested, WordsOfEachThreadsOwnAreNot) {
  EXPECT_EQ(contested(kAddress + kLoad + kStore + kStoreToY), "");
}

TEST(Contested, AWordOfAllThreadsIsWithItsWholeAllocation) {
  EXPECT_EQ(contested(kAddress + kStoreToY + "st.global.u32 [d1], r5;"), "x");
  EXPECT_EQ(contested(kAddress + kLoad + "st.global.u32 [d1+65536], r5;"), "y");
}

TEST(Contested, WhatAllThreadsReadIsNot) {
  EXPECT_EQ(contested(kAddress + kStoreToY + "ld.global.u32 r6, [d1];"), "");
}

TEST(Contested, ALoadFromAnywhereContestsWhatIsWritten) {
  const std::string load = kAddress + kAnywhere + "ld.global.u32 r7, [d6];\n";
  EXPECT_EQ(contested(load), "");
  EXPECT_EQ(contested(load + kStoreToY), "(y)");
  EXPECT_EQ(contested(load + kStore), "(x)");
}

TEST(Contested, ALoadFromAnywhereIsNotTheOnlyReason) {
  const std::string load = kAddress + kAnywhere + "ld.global.u32 r7, [d6];\n";
  EXPECT_EQ(contested(load + kStoreToY + "st.global.u32 [d1+65536], r5;"), "y")
      << "all threads store there";
  EXPECT_EQ(contested(load + kStoreToY + "fence.acq_rel.gpu;"), "y") << "an order may count";
  EXPECT_EQ(contested(load + "st.volatile.global.u32 [d3+65536], r5;"), "y");
  EXPECT_EQ(contested(load + "atom.global.add.u32 r7, [d3+65536], 1;"), "y");
}

TEST(Contested, ALoadWithinOneAllocationContestsNoOther) {
  const std::string load = kAddress + kWithinX + "ld.global.u32 r7, [d6];\n";
  EXPECT_EQ(contested(load + kStoreToY), "");
  EXPECT_EQ(contested(load + kStore), "x");
}

TEST(Contested, AStoreToAnywhereContestsAllMemory) {
  EXPECT_EQ(contested(kAddress + kAnywhere + "st.global.u32 [d6], r5;"), "anywhere");
  EXPECT_EQ(contested(kAddress + kWithinX + "st.global.u32 [d6], r5;"), "x");
}

TEST(Contested, AtomicsOfOneSizeAreNotUnlessTheyMayOrder) {
  const std::string atomic = kAddress + kWithinX + "atom.global.add.u32 r7, [d6+65536], 1;\n";
  EXPECT_EQ(contested(atomic), "");
  EXPECT_EQ(contested(atomic + "fence.acq_rel.gpu;"), "y");
  EXPECT_EQ(contested(atomic + "membar.cta;"), "y");
  EXPECT_EQ(contested(kAddress + "atom.global.add.u32 r7, [d1], 1;\nld.global.u32 r6, [d1];"), "x");
  EXPECT_EQ(contested(kAddress + "atom.acq_rel.gpu.global.add.u32 r7, [d1], 1;"), "x");
}

TEST(Contested, AtomicsToAnywhereContestWhatOthersAccess) {
  const std::string atomic = kAddress + kAnywhere + "atom.global.add.u32 r7, [d6], 1;\n";
  EXPECT_EQ(contested(atomic), "x");
  EXPECT_EQ(contested(atomic + kStoreToY), "xy");
  EXPECT_EQ(contested(atomic + "ld.relaxed.gpu.global.u32 r8, [d3+65536];"), "xy");
  EXPECT_EQ(contested(atomic + "red.global.max.u32 [d6+4], 1;"), "x");
  EXPECT_EQ(contested(atomic + "red.global.add.u32 [d3+65536], 1;"), "x") << "of one size";
  EXPECT_EQ(contested(atomic + "red.global.add.u64 [d1+65536], 1;"), "xy") << "of another";
  EXPECT_EQ(contested(atomic + "red.global.add.u32 [d3+65538], 1;"), "xy") << "misaligned";
}

TEST(Contested, SomeAtomicsToAnywhereContestAllMemory) {
  const std::string atomic = kAddress + kAnywhere + "atom.global.add.u32 r7, [d6], 1;\n",
                    contests = "anywhere";
  EXPECT_EQ(contested(atomic + "red.global.add.u64 [d6+8], 1;"), contests) << "of two sizes";
  EXPECT_EQ(contested(atomic + "red.cta.global.add.u32 [d6], 1;"), contests) << "for a block";
  EXPECT_EQ(contested(atomic + "st.global.u32 [d6], r5;"), contests);
  EXPECT_EQ(contested(atomic + "ld.global.u32 r8, [d6];"), contests);
  EXPECT_EQ(contested(atomic + "fence.acq_rel.gpu;"), contests) << "they may order anything";
}

TEST(Contested, AFenceContestsNoWeakAccess) {
  EXPECT_EQ(contested(kAddress + kLoad + "fence.acq_rel.gpu;\n" + kStoreToY), "");
}

TEST(Contested, AStrongLoadFromAnywhereMayOrderAnything) {
  const std::string load = kAddress + kAnywhere + "ld.relaxed.gpu.global.u32 r7, [d6];\n";
  EXPECT_EQ(contested(load), "");
  EXPECT_EQ(contested(load + "fence.acq_rel.gpu;"), "anywhere");
  EXPECT_EQ(contested(kAddress + kAnywhere + "ld.acquire.gpu.global.u32 r7, [d6];"), "anywhere");
}

TEST(Contested, AKernelThatIsNotFollowedContestsAllMemory) {
  EXPECT_EQ(contested("ld.u32 r6, [d1];"), "anywhere") << "a generic address";
  EXPECT_EQ(contested("brkpt;"), "anywhere");
}

TEST(Contested, AStoreOfNoThreadContestsNothing) {
  EXPECT_EQ(contested("setp.gt.u32 p1, r2, 4096;\n" + kAddress + "@p1 st.global.u32 [d1], r5;"),
            "");
}

}  // namespace contested_test
}  // namespace lockstep::proof
