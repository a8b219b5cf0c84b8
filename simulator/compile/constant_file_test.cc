#include "simulator/compile/constant_file.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::compile {
namespace constant_file_test {

std::uint64_t lane(const program::Program& p, program::Slot slot, int lane, int bytes) {
  std::uint64_t v = 0;
  std::memcpy(&v, p.constants.get() + (slot & ~1u) + static_cast<std::size_t>(lane * bytes),
              static_cast<std::size_t>(bytes));
  return v;
}

TEST(ConstantFile, HoldsAValueInEveryLane) {
  ConstantFile file;
  const auto a = file.value(0x1234567890ull, 8), b = file.value(0xffff1234u, 2);
  program::Program p;
  file.finish(p);
  EXPECT_TRUE(program::is_constant(a));
  for (int i = 0; i < program::kWarpSize; ++i) {
    EXPECT_EQ(lane(p, a, i, 8), 0x1234567890ull);
    EXPECT_EQ(lane(p, b, i, 2), 0x1234u) << "only the low bytes count";
  }
}

TEST(ConstantFile, KeepsEqualValuesOfOneWidthOnce) {
  ConstantFile file;
  EXPECT_EQ(file.value(7, 4), file.value(7, 4));
  EXPECT_NE(file.value(7, 4), file.value(7, 8));
  EXPECT_EQ(file.value(0x100000007ull, 4), file.value(7, 4));
  EXPECT_NE(file.predicate(true), file.predicate(false));
}

TEST(ConstantFile, APredicateIsAMaskOfAllLanes) {
  ConstantFile file;
  const auto yes = file.predicate(true), no = file.predicate(false);
  program::Program p;
  file.finish(p);
  EXPECT_EQ(lane(p, yes, 0, 4), 0xffffffffu);
  EXPECT_EQ(lane(p, no, 0, 4), 0u);
}

TEST(ConstantFile, TheUpperHalfOfSixteenBytesIsZero) {
  ConstantFile file;
  const auto q = file.value(~0ull, 16);
  program::Program p;
  file.finish(p);
  EXPECT_EQ(lane(p, q, 0, 8), ~0ull);
  EXPECT_EQ(lane(p, q, 1, 8), 0u);
}

}  // namespace constant_file_test
}  // namespace lockstep::compile
