// The transaction model, compared with the well-known figures on coalescing.
#include "reference/transactions.h"

#include <gtest/gtest.h>

namespace lockstep::reference {
namespace transactions_test {

// 32 lanes of 4 bytes, lane i at base + i * stride.
Transactions warp(std::uint64_t base, std::uint64_t stride, int lanes = 32, int bytes = 4) {
  return request(
      Addresses::LinSpaced(lanes, 0, static_cast<std::uint64_t>(lanes - 1)) * stride + base, bytes);
}

TEST(Transactions, AlignedConsecutiveWordsAreOneLineOfFourSectors) {
  const Transactions t = warp(4096, 4);
  EXPECT_EQ(t.requests, 1u);
  EXPECT_EQ(t.lines, 1u);
  EXPECT_EQ(t.sectors, 4u);
  EXPECT_DOUBLE_EQ(t.line_efficiency(), 1);
  EXPECT_DOUBLE_EQ(t.sector_efficiency(), 1);
}

TEST(Transactions, OrderIsIrrelevant) {
  Addresses permuted(32);
  for (int i = 0; i < 32; ++i) permuted(i) = 4096 + 4 * (5 * i % 32);
  EXPECT_EQ(request(permuted, 4), warp(4096, 4));
}

TEST(Transactions, MisalignedWordsTouchAFifthSector) {
  for (std::uint64_t shift = 4; shift < 128; shift += 4) {
    const Transactions t = warp(4096 + shift, 4);
    EXPECT_EQ(t.lines, 2u) << shift;
    EXPECT_EQ(t.sectors, shift % 32 == 0 ? 4u : 5u) << shift;
    EXPECT_DOUBLE_EQ(t.line_efficiency(), 0.5);
  }
}

TEST(Transactions, OneAddressMovesASectorForAWord) {
  const Transactions t = warp(4096, 0);
  EXPECT_EQ(t.lines, 1u);
  EXPECT_EQ(t.sectors, 1u);
  EXPECT_DOUBLE_EQ(t.line_efficiency(), 0.03125);
  EXPECT_DOUBLE_EQ(t.sector_efficiency(), 0.125);
}

TEST(Transactions, ScatteredWordsTouchALineEach) {
  const Transactions t = warp(4096, 512);
  EXPECT_EQ(t.lines, 32u);
  EXPECT_EQ(t.sectors, 32u);
}

TEST(Transactions, WideElementsTouchInProportion) {
  EXPECT_EQ(warp(4096, 16, 32, 16).sectors, 16u);
  EXPECT_EQ(warp(4096, 8, 32, 8).lines, 2u);
  EXPECT_EQ(warp(4096, 1, 32, 1).sectors, 1u);
}

TEST(Transactions, NoLaneIsNoRequest) { EXPECT_EQ(request(Addresses(0), 4), Transactions{}); }

TEST(Transactions, Add) {
  Transactions sum = warp(4096, 4);
  sum += warp(8192, 512);
  EXPECT_EQ(sum.requests, 2u);
  EXPECT_EQ(sum.lines, 33u);
  EXPECT_EQ(sum.sectors, 36u);
}

}  // namespace transactions_test
}  // namespace lockstep::reference
