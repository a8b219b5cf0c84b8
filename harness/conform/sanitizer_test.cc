// The harness trusts only a tool that finds the planted fault and reports nothing in its negative
// control.
#include "harness/conform/sanitizer.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace lockstep {
namespace sanitizer_test {

ProcessEnd exited(int status) { return {.how = ProcessEnd::How::kExited, .status = status}; }

// The result of proof_of_life() for a tool with these ends of the two programs.
std::string proof(const ProcessEnd& faulty, const ProcessEnd& correct) {
  Sanitizer s;
  s.program = "/sanitizer";
  s.tool = "racecheck";
  Command base;
  base.set["LOCKSTEP_GPU"] = "required";
  return proof_of_life(s, "/probe", base, [&](const Command& c) {
    EXPECT_EQ(c.argv.front(), "/sanitizer");
    EXPECT_EQ(c.argv[c.argv.size() - 3], "/probe");
    EXPECT_EQ(c.argv[c.argv.size() - 2], "racecheck");
    EXPECT_EQ(c.set.at("LOCKSTEP_GPU"), "required");
    return c.argv.back() == "faulty" ? faulty : correct;
  });
}

TEST(Sanitizer, IsBelievedWhenItFindsTheFaultAndLeavesItsTwinAlone) {
  EXPECT_EQ(proof(exited(kFindings), exited(0)), "");
}

TEST(Sanitizer, IsNotBelievedOtherwise) {
  EXPECT_NE(proof(exited(0), exited(0)).find("answers nothing on the planted fault"),
            std::string::npos);
  EXPECT_NE(
      proof(exited(kFindings), exited(kFindings)).find("answers a finding on the negative control"),
      std::string::npos);
  EXPECT_NE(proof(exited(1), exited(0)), "");
  EXPECT_NE(proof({.how = ProcessEnd::How::kSignalled, .status = 11}, exited(0)), "");
  EXPECT_NE(proof({.how = ProcessEnd::How::kTimedOut}, exited(0)), "");
  EXPECT_NE(proof({.how = ProcessEnd::How::kNotStarted, .error = "no such file"}, exited(0)), "");
  EXPECT_NE(proof(exited(kFindings), exited(3)), "");
}

TEST(Sanitizer, IsFoundOrSaidToBeMissing) {
  EXPECT_NE(find_sanitizer("leakcheck").error.find("none of memcheck, racecheck"),
            std::string::npos);
  setenv("COMPUTE_SANITIZER", "/nowhere/compute-sanitizer", 1);
  EXPECT_NE(find_sanitizer("memcheck").error.find("no program"), std::string::npos);
  setenv("COMPUTE_SANITIZER", "/bin/true", 1);
  const Sanitizer s = find_sanitizer("memcheck");
  EXPECT_EQ(s.error, "");
  EXPECT_EQ(s.prefix()[0], "/bin/true");
  EXPECT_EQ(s.prefix()[2], "memcheck");
  unsetenv("COMPUTE_SANITIZER");
  // Every folder of PATH, with the first and the last.
  const std::string folder = testing::TempDir() + "/sanitizer",
                    tool = folder + "/compute-sanitizer";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(tool);
  std::filesystem::create_symlink("/bin/true", tool);
  for (const std::string& path :
       {folder, folder + ":/nowhere", "/nowhere:" + folder, "/nowhere:" + folder + ":/bin"}) {
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(find_sanitizer("memcheck").program, tool) << path;
  }
  setenv("PATH", "/nowhere", 1);
  setenv("CUDA_PATH", "/nowhere", 1);
  unsetenv("CUDA_HOME");
  // Depends on the toolkit of this machine.
  const Sanitizer other = find_sanitizer("memcheck");
  EXPECT_NE(other.program.empty(), other.error.empty());
}

}  // namespace sanitizer_test
}  // namespace lockstep
