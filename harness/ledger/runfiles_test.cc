// Data files are found beside the program; absent files are not.
#include "harness/ledger/runfiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lockstep {
namespace runfiles_test {

TEST(Runfiles, FindWhatTheTargetDeclares) {
  const std::string path = runfile("harness/ledger/waivers.json");
  ASSERT_THAT(path, ::testing::StartsWith("/"));
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(text, ::testing::StartsWith("["));
}

TEST(Runfiles, AreEmptyForWhatIsNotThere) {
  EXPECT_EQ(runfile("harness/absent.json"), "");
  EXPECT_EQ(runfile("elsewhere/waivers.json"), "");
}

TEST(Runfiles, OfAnotherWorkspaceAreFoundByItsName) {
  const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "runfiles_test";
  std::filesystem::create_directories(root / "somebodys_kernels/cube");
  std::ofstream(root / "somebodys_kernels/cube/cube_test") << "a program";
  const char* const before = std::getenv("RUNFILES_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("RUNFILES_DIR", root.c_str(), 1);
  EXPECT_EQ(runfile("cube/cube_test"), "");
  setenv("LOCKSTEP_WORKSPACE", "somebodys_kernels", 1);
  EXPECT_EQ(runfile("cube/cube_test"), (root / "somebodys_kernels/cube/cube_test").string());
  EXPECT_EQ(runfile("cube/absent_test"), "");
  unsetenv("LOCKSTEP_WORKSPACE");
  before == nullptr ? unsetenv("RUNFILES_DIR") : setenv("RUNFILES_DIR", kept.c_str(), 1);
}

}  // namespace runfiles_test
}  // namespace lockstep
