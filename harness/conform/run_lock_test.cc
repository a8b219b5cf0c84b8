// Two runs that would write to the same folder.
#include "harness/conform/run_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace lockstep {
namespace run_lock_test {

std::string fresh_folder(const char* name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(RunLock, NamesTheRunThatHasIt) {
  const std::string folder = fresh_folder("held");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/.lock") << "12345678901234567890";  // of an earlier run, and longer
  RunLock first, second;
  EXPECT_EQ(first.take(folder), "");
  const std::string refused = second.take(folder);
  EXPECT_NE(refused.find("another run (process " + std::to_string(getpid()) + ") writes"),
            std::string::npos)
      << refused;
  EXPECT_NE(refused.find("--out="), std::string::npos) << refused;
}

TEST(RunLock, EndsWithItsRunThoughAProgramThatItStartedGoesOn) {
  const std::string folder = fresh_folder("left");
  std::optional<RunLock> first(std::in_place);
  ASSERT_EQ(first->take(folder), "");
  pid_t child = 0;
  char program[] = "/bin/sleep", seconds[] = "60";
  char* const argv[] = {program, seconds, nullptr};
  ASSERT_EQ(posix_spawn(&child, program, nullptr, nullptr, argv, nullptr), 0);
  first.reset();
  RunLock second;
  EXPECT_EQ(second.take(folder), "");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(RunLock, SaysWhyAFolderCannotBeMade) {
  const std::string folder = fresh_folder("file");
  std::ofstream(folder) << "a file";
  RunLock lock;
  EXPECT_NE(lock.take(folder + "/below").find("cannot be made"), std::string::npos);
}

}  // namespace run_lock_test
}  // namespace lockstep
