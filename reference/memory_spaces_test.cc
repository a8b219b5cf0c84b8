// The references of the memory spaces, compared with values derived by hand.
#include "reference/memory_spaces.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::reference {
namespace memory_spaces_test {

using Vector = std::vector<std::uint32_t>;

Vector list(const SpaceWords& w) { return {w.begin(), w.end()}; }

TEST(MemorySpacesReference, RotatesEveryThreadsOwnArray) {
  EXPECT_EQ(list(local_rotation(2, 4, 100, 0)), (Vector{100, 101, 102, 103, 105, 106, 107, 104}));
  EXPECT_EQ(list(local_rotation(1, 4, 0, 7)), (Vector{3, 0, 1, 2}));
  EXPECT_EQ(list(local_rotation(1, 2, 0xffffffffu, 0)), (Vector{0xffffffffu, 0}));
}

TEST(MemorySpacesReference, SumsByBlocks) {
  EXPECT_EQ(list(block_sums(Vector{1, 2, 3, 4}, 2)), (Vector{3, 3, 7, 7}));
  EXPECT_EQ(list(block_sums(Vector{0xffffffffu, 2}, 2)), (Vector{1, 1}));
}

}  // namespace memory_spaces_test
}  // namespace lockstep::reference
