// The staging references, compared with values derived by hand and with their inverses.
#include "reference/staging.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::reference {
namespace staging_test {

using Vector = std::vector<std::uint32_t>;

Vector list(const Words& w) { return {w.begin(), w.end()}; }

TEST(StagingReference, MapsModuloTwoToThe32) {
  EXPECT_EQ(list(thread_map(Vector{0, 1, 0x80000000u}, 3, 5)), (Vector{5, 8, 0x80000005u}));
}

TEST(StagingReference, TreatsAPartialTileAsATileOfItsOwn) {
  const Vector x = {1, 2, 4, 8, 16, 32, 64};
  EXPECT_EQ(list(reverse_tiles(x, 3)), (Vector{4, 2, 1, 32, 16, 8, 64}));
  EXPECT_EQ(list(rotate_tiles(x, 3)), (Vector{2, 4, 1, 16, 32, 8, 64}));
  EXPECT_EQ(list(difference_tiles(x, 3)), (Vector{1, 1, 2, 8, 8, 16, 64}));
  const Vector two = {1, 2, 4, 8, 16};
  EXPECT_EQ(list(reverse_tiles(two, 3)), (Vector{4, 2, 1, 16, 8}));
  EXPECT_EQ(list(rotate_tiles(two, 3)), (Vector{2, 4, 1, 16, 8}));
  EXPECT_EQ(list(difference_tiles(two, 3)), (Vector{1, 1, 2, 8, 8}));
}

TEST(StagingReference, LeavesTilesOfOneAlone) {
  const Vector x = {7, 9};
  for (const Words& y : {reverse_tiles(x, 1), rotate_tiles(x, 1), difference_tiles(x, 1)})
    EXPECT_EQ(list(y), x);
}

TEST(StagingReference, Transposes) {
  const Vector x = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(list(transpose(x, 2, 3)), (Vector{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(list(transpose(list(transpose(x, 2, 3)), 3, 2)), x);
  EXPECT_TRUE(list(transpose({}, 0, 5)).empty());
}

}  // namespace staging_test
}  // namespace lockstep::reference
