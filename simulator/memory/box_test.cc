#include "simulator/memory/box.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace lockstep::memory {
namespace {

std::set<Address> bytes_of(const Box& b) {
  std::set<Address> bytes;
  for (std::uint64_t z = 0; z < b.depth; ++z)
    for (std::uint64_t y = 0; y < b.height; ++y)
      for (std::uint64_t x = 0; x < b.width; ++x)
        bytes.insert(b.begin + z * b.slice + y * b.pitch + x);
  return bytes;
}

Box any_box(std::mt19937& random) {
  const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
  Box b;
  b.begin = 100 + upto(30);
  b.width = 1 + upto(4);
  b.height = 1 + upto(3);
  b.depth = 1 + upto(2);
  b.pitch = b.width + upto(4);
  b.slice = b.height * b.pitch + upto(6);
  return b;
}

TEST(Box, AgreesWithTheSetOfItsBytes) {
  std::mt19937 random(1);
  int overlapping = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Box a = any_box(random), b = any_box(random);
    const std::set<Address> of_a = bytes_of(a), of_b = bytes_of(b);
    bool common = false;
    for (const Address byte : of_a) common |= of_b.count(byte) != 0;
    overlapping += common;
    ASSERT_EQ(a.overlaps(b), common) << i;
    ASSERT_EQ(bytes_of(a.merged()), of_a) << i;
    const Address at = 95 + random() % 60;
    const std::uint64_t size = 1 + random() % 8;
    bool held = false;
    for (Address byte = at; byte < at + size; ++byte) held |= of_a.count(byte) != 0;
    ASSERT_EQ(a.holds_any(at, size), held) << i;
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_LT(overlapping, 19'000);
}

TEST(Box, OneWithoutGapsIsALine) {
  Box b{1000, 4, 8, 2, 4, 32};
  EXPECT_EQ(b.merged(), Box::line(1000, 64));
  b.pitch = 5;
  EXPECT_EQ(b.merged(), b);
}

}  // namespace
}  // namespace lockstep::memory
