// A test binary follows the conventions of Bazel's test runner, in a prepared environment.
#include "harness/ledger/bazel_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lockstep {
namespace bazel_protocol_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BazelProtocolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* v : {"TEST_TARGET", "TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX",
                          "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE",
                          "TEST_WARNINGS_OUTPUT_FILE", "TEST_INFRASTRUCTURE_FAILURE_FILE",
                          "XML_OUTPUT_FILE", "BUILD_WORKSPACE_DIRECTORY", "CUDA_CACHE_PATH"}) {
      unsetenv(v);
    }
    dir_ = fs::path(::testing::TempDir()) / ("bazel_protocol." + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string file(const char* name) const { return (dir_ / name).string(); }
  static std::string read(const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  static void shard(const char* index, const char* total) {
    setenv("TEST_SHARD_INDEX", index, 1);
    setenv("TEST_TOTAL_SHARDS", total, 1);
  }

  fs::path dir_;
};

TEST_F(BazelProtocolTest, WithoutARunnerThereIsOneShard) {
  const BazelProtocol b = BazelProtocol::from_environment();
  EXPECT_FALSE(b.sharded());
  EXPECT_FALSE(b.is_test);
  EXPECT_EQ(announce(b), "");
  EXPECT_EQ(std::getenv("GTEST_TOTAL_SHARDS"), nullptr);
}

TEST_F(BazelProtocolTest, TouchesTheStatusFileAndHandsTheShardToGoogleTest) {
  shard("1", "3");
  setenv("TEST_SHARD_STATUS_FILE", file("status").c_str(), 1);
  const BazelProtocol b = BazelProtocol::from_environment();
  EXPECT_FALSE(fs::exists(file("status"))) << "reading the environment must not touch it";
  EXPECT_EQ(announce(b), "");
  EXPECT_TRUE(fs::exists(file("status")));
  EXPECT_TRUE(b.sharded());
  EXPECT_STREQ(std::getenv("GTEST_TOTAL_SHARDS"), "3");
  EXPECT_STREQ(std::getenv("GTEST_SHARD_INDEX"), "1");
}

TEST_F(BazelProtocolTest, ZeroShardsMeansOff) {
  shard("0", "0");
  const BazelProtocol b = BazelProtocol::from_environment();
  EXPECT_EQ(announce(b), "");
  EXPECT_FALSE(b.sharded());
}

TEST_F(BazelProtocolTest, RefusesShardsThatCannotBe) {
  const struct {
    const char *index, *total;
  } bad[] = {{"3", "3"}, {"-1", "3"}, {"x", "3"}, {"0", ""}, {"", "3"}, {"1", "0"}};
  for (const auto& c : bad) {
    shard(c.index, c.total);
    EXPECT_THAT(announce(BazelProtocol::from_environment()), HasSubstr("which is none"))
        << c.index << " of " << c.total;
  }
}

TEST_F(BazelProtocolTest, TouchesTheStatusFileEvenWhenTheShardIsWrong) {
  shard("5", "3");
  setenv("TEST_SHARD_STATUS_FILE", file("status").c_str(), 1);
  EXPECT_NE(announce(BazelProtocol::from_environment()), "");
  EXPECT_TRUE(fs::exists(file("status")));
}

TEST_F(BazelProtocolTest, AStatusFileThatCannotBeWrittenIsAnError) {
  setenv("TEST_SHARD_STATUS_FILE", file("no/such/folder/status").c_str(), 1);
  EXPECT_THAT(announce(BazelProtocol::from_environment()), HasSubstr("cannot be written"));
}

TEST_F(BazelProtocolTest, DistinguishesATestFromBazelRun) {
  setenv("TEST_TARGET", "//tests:a_test", 1);
  EXPECT_TRUE(BazelProtocol::from_environment().is_test);
  setenv("BUILD_WORKSPACE_DIRECTORY", "/somewhere", 1);
  EXPECT_FALSE(BazelProtocol::from_environment().is_test);
}

TEST_F(BazelProtocolTest, PointsTheDriversCacheIntoTheTemporaryFolder) {
  setenv("TEST_TMPDIR", dir_.c_str(), 1);
  EXPECT_EQ(announce(BazelProtocol::from_environment()), "");
  EXPECT_EQ(std::getenv("CUDA_CACHE_PATH"), dir_.string());
  setenv("CUDA_CACHE_PATH", "/chosen", 1);
  announce(BazelProtocol::from_environment());
  EXPECT_STREQ(std::getenv("CUDA_CACHE_PATH"), "/chosen") << "a cache that the user chose stays";
}

TEST_F(BazelProtocolTest, AppendsWarningsAndInfrastructureFailures) {
  setenv("TEST_WARNINGS_OUTPUT_FILE", file("warnings").c_str(), 1);
  setenv("TEST_INFRASTRUCTURE_FAILURE_FILE", file("infrastructure").c_str(), 1);
  const BazelProtocol b = BazelProtocol::from_environment();
  warn_runner(b, "one");
  warn_runner(b, "two");
  blame_infrastructure(b, "GPU", "no device");
  EXPECT_EQ(read(file("warnings")), "one\ntwo\n");
  EXPECT_EQ(read(file("infrastructure")), "GPU\nno device\n");
}

}  // namespace bazel_protocol_test
}  // namespace lockstep
