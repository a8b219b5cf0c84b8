// Data files are found beside the program, and what is not there is not.
#include "harness/ledger/runfiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace runfiles_test
}  // namespace lockstep
