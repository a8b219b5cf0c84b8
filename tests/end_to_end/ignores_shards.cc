// A test program with GoogleTest's own main(). GoogleTest 1.12 does not support
// TEST_SHARD_STATUS_FILE, so under Bazel 4 this program never shows that it supports sharding. The
// harness's own main() must differ from it in this.
#include <gtest/gtest.h>

TEST(IgnoresShards, Passes) {}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
