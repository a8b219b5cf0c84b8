// Proofs about wmma.load and wmma.store of global memory.
#include <gtest/gtest.h>

#include <string>

#include "simulator/proof/testing.h"

namespace lockstep::proof {
namespace fragments_test {

using prove_test::kBuffer;
using prove_test::kOther;
using prove_test::Launch;
using prove_test::proved;

// x and y have 64 KiB: four tiles of 16 by 16 floats side by side, and more rows than are used.
const Launch kTiles{.grid = 4, .block = 32, .bytes = kOther};
const std::string kRegisters = ".reg .f32 f<9>;\n.reg .b32 m<9>;\n",
                  kF = "{f1, f2, f3, f4, f5, f6, f7, f8}", kM = "{m1, m2, m3, m4, m5, m6, m7, m8}";
// d2: the block's tile of x, and d4 of y, in rows of `pitch` floats.
std::string tile(int bytes) {
  return kRegisters + "mul.wide.u32 d3, r3, " + std::to_string(bytes) +
         ";\nadd.s64 d2, d1, d3;\nadd.s64 d4, d2, 65536;\n";
}
std::string store(const std::string& address, const std::string& stride = "64") {
  return "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [" + address + "], " + kF + ", " +
         stride + ";\n";
}
std::string load_a(const std::string& address, const std::string& stride = "64") {
  return "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + kM + ", [" + address + "], " +
         stride + ";\n";
}

TEST(Fragments, TilesSideBySideAreApart) {
  const Certificate c = proved(tile(64) + store("d2"), kTiles);
  ASSERT_EQ(c.accesses.size(), 1u);
  const Access& a = c.accesses[0];
  EXPECT_TRUE(a.known && a.in_bounds && a.aligned && a.apart);
  EXPECT_TRUE(a.writes && !a.reads);
  EXPECT_EQ(a.bytes.begin, kBuffer);
  EXPECT_EQ(a.bytes.end, kBuffer + 15 * 256 + 4 * 64);
  EXPECT_TRUE(c.global_apart);
}

TEST(Fragments, TilesThatOverlapAreNot) {
  EXPECT_FALSE(proved(tile(60) + store("d2"), kTiles).global_apart);
  EXPECT_FALSE(proved(tile(64) + store("d2", "60"), kTiles).global_apart) << "the fourth meets the "
                                                                             "next row";
  EXPECT_TRUE(proved(tile(1024) + store("d2", "16"), kTiles).global_apart);
  EXPECT_FALSE(proved(tile(1024 - 64) + store("d2", "16"), kTiles).global_apart);
}

TEST(Fragments, WarpsOfABlockAreThreadsLikeOthers) {
  Launch two = kTiles;
  two.block = 64;
  EXPECT_FALSE(proved(tile(64) + store("d2"), two).global_apart);
  const std::string of_warps =
      tile(64) + "shr.u32 r6, r2, 5;\nmul.wide.u32 d5, r6, 8192;\nadd.s64 d2, d2, d5;\n";
  EXPECT_TRUE(proved(of_warps + store("d2"), two).global_apart);
}

TEST(Fragments, ColumnsAreLinesToo) {
  const std::string store_columns =
      "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [d2], " + kF + ", 64;\n";
  EXPECT_TRUE(proved(tile(64) + store_columns, kTiles).global_apart);
  EXPECT_FALSE(proved(tile(32) + store_columns, kTiles).global_apart);
  // Matrices of 32 rows and 8 columns: by columns they are 128 bytes wide.
  const std::string tall =
      "wmma.store.d.sync.aligned.col.m32n8k16.global.f32 [d2], " + kF + ", 64;\n";
  EXPECT_FALSE(proved(tile(64) + tall, kTiles).global_apart);
  Launch both = kTiles;
  both.grid = 2;
  EXPECT_TRUE(proved(tile(128) + tall, both).global_apart);
}

TEST(Fragments, AMatrixIsInBoundsToItsLastElement) {
  const auto in_bounds = [](std::uint64_t bytes) {
    Launch one = kTiles;
    one.grid = 1;
    one.bytes = bytes;
    return proved(tile(64) + store("d2"), one).accesses[0].in_bounds;
  };
  EXPECT_TRUE(in_bounds(15 * 256 + 64));
  EXPECT_FALSE(in_bounds(15 * 256 + 63));
}

TEST(Fragments, ElementsHaveTheirOwnAlignment) {
  const Certificate c = proved(tile(64) + load_a("d2+2") + store("d4+2"), kTiles);
  ASSERT_EQ(c.accesses.size(), 2u);
  EXPECT_TRUE(c.accesses[0].aligned);
  EXPECT_FALSE(c.accesses[1].aligned);
}

TEST(Fragments, ALoadIsNoWrite) {
  const Certificate c = proved(tile(0) + load_a("d2") + store("d4", "r2"), kTiles);
  ASSERT_EQ(c.accesses.size(), 2u);
  EXPECT_TRUE(c.accesses[0].reads && !c.accesses[0].writes && c.accesses[0].in_bounds);
  EXPECT_FALSE(c.accesses[1].in_bounds) << "the stride differs between threads";
  EXPECT_FALSE(c.contested());
}

TEST(Fragments, WhatIsStoredAndLoadedByOtherLanesIsContested) {
  const auto contested = [](const std::string& body) {
    const auto extents = proved(tile(64) + body, kTiles).contested();
    return extents ? static_cast<int>(extents->always.size() + extents->if_read.size()) : -1;
  };
  EXPECT_EQ(contested(load_a("d2") + store("d4")), 0);
  EXPECT_EQ(contested(load_a("d4") + store("d4")), 2) << "halves, by other lanes";
  EXPECT_EQ(contested("ld.global.u64 d6, [d1];\n" + store("d6")), -1) << "anywhere";
  EXPECT_EQ(contested("ld.global.u64 d6, [d1];\n" + load_a("d6") + store("d4")), 1);
}

TEST(Fragments, IsApartIfAllElementsAre) {
  Launch one = kTiles;
  one.grid = 1;
  const auto apart = [&](int row) {
    const std::string word = "[d2+" + std::to_string(row * 256) + "]";
    return proved(tile(0) + store("d2") + "st.global.f32 " + word + ", f1;\n", one)
        .accesses[0]
        .apart;
  };
  EXPECT_FALSE(apart(0));
  EXPECT_FALSE(apart(8)) << "the first rows are others' than the last ones";
  EXPECT_TRUE(apart(16)) << "all threads store, but none of the matrix";
}

TEST(Fragments, OneThatNoThreadExecutesAccessesNothing) {
  const std::string never = "setp.gt.u32 p1, r2, 4096;\n@p1 bra STORE;\nbra END;\nSTORE:\n";
  const Certificate c = proved(tile(0) + never + store("d2") + "END:\n", kTiles);
  ASSERT_EQ(c.accesses.size(), 1u);
  EXPECT_TRUE(c.accesses[0].apart);
}

TEST(Fragments, InOtherMemoryTheyAreNotFollowed) {
  EXPECT_TRUE(
      proved(tile(0) + "wmma.store.d.sync.aligned.row.m16n16k16.f32 [d2], " + kF + ", 64;", kTiles)
          .others);
  EXPECT_TRUE(proved(tile(0) +
                         "mov.u32 r8, s;\n"
                         "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [r8], " +
                         kF + ", 16;",
                     kTiles)
                  .others);
}

}  // namespace fragments_test
}  // namespace lockstep::proof
