// A test program with GoogleTest's usual main(). GoogleTest 1.12 does not know
// TEST_SHARD_STATUS_FILE, so under Bazel 4 this program never shows that it knows about shards: the
// shape that the harness's own main() must not have.
#include <gtest/gtest.h>

TEST(IgnoresShards, Passes) {}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
