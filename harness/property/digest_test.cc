// A digest changes with every bit, the order and the length, and is equal on all machines.
#include "harness/property/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace lockstep {
namespace digest_test {

TEST(Digest, ChangesWithEveryBit) {
  std::vector<unsigned char> bytes(37);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(7 * i);
  std::set<std::uint64_t> seen = {digest_of(bytes.data(), bytes.size())};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    EXPECT_TRUE(seen.insert(digest_of(bytes.data(), bytes.size())).second) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
  }
}

TEST(Digest, ChangesWithOrderAndLength) {
  const std::uint64_t zeros[3] = {}, words[2] = {1, 2};
  std::set<std::uint64_t> seen;
  for (std::size_t n = 0; n <= sizeof zeros; ++n)
    EXPECT_TRUE(seen.insert(digest_of(zeros, n)).second) << n;
  const std::uint64_t forward = digest_of(words + 1, 8, digest_of(words, 8));
  EXPECT_NE(forward, digest_of(words, 8, digest_of(words + 1, 8)));
  EXPECT_NE(forward, digest_of(words, 16)) << "two outputs are not one";
}

TEST(Digest, IsTheSameEverywhere) {
  EXPECT_NE(digest_of(nullptr, 0), 0u);
  EXPECT_EQ(digest_of("lockstep", 8),
            12620297416344563635u);  // passports of different machines compare it
}

}  // namespace digest_test
}  // namespace lockstep
