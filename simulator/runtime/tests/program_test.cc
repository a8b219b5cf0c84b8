// Whole programs on the simulated GPU: exit status, environment, and refused programs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace lockstep::runtime {
namespace {

struct Outcome {
  int status = -1;  // exit status, or 128 + the signal
  std::string out;  // stdout and stderr together
};

// Runs the program whose path is in the environment variable `which`.
Outcome run(const char* which, const std::string& arguments, const std::string& environment = "") {
  const char* program = std::getenv(which);
  EXPECT_NE(program, nullptr) << which;
  Outcome outcome;
  const std::string command = "exec env " + environment + " " +
                              (program == nullptr ? "false" : program) + " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    outcome.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

bool says(const Outcome& o, const std::string& text) {
  return o.out.find(text) != std::string::npos;
}

TEST(ExitStatus, IsTheProgramsOwnWhenNothingWasFound) {
  const Outcome o = run("PROGRAM", "fine sync");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_EQ(o.out, "sync 0\n");
}

TEST(ExitStatus, Is86WhenAProgramIgnoresAnError) {
  const Outcome o = run("PROGRAM", "oob");
  EXPECT_EQ(o.status, 86) << o.out;
  EXPECT_TRUE(says(o, "out-of-bounds")) << o.out;
  EXPECT_TRUE(says(o, "kernels.cu") || says(o, "PTX line")) << o.out;
}

TEST(ExitStatus, Is86EvenWhenTheErrorCodeWasSeen) {
  const Outcome o = run("PROGRAM", "oob sync");
  EXPECT_EQ(o.status, 86);
  EXPECT_TRUE(says(o, "sync 700")) << o.out;
}

TEST(ExitStatus, IsTheProgramsOwnWhenItTookTheFindings) {
  EXPECT_EQ(run("PROGRAM", "oob sync take").status, 0);
}

TEST(ExitStatus, IsNeverMadeBetter) { EXPECT_EQ(run("PROGRAM", "oob exit3").status, 3); }

// As on an H100: an object constructed before the first CUDA call is destroyed after the runtime.
constexpr char kLate[] =
    ": malloc 0 memset 0 copy 0 value 16843009 launch 0 free 0 again 1 last 1\n";

TEST(Destructors, OfGlobalObjectsMayComeAfterTheRuntime) {
  const Outcome o = run("PROGRAM", "late");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_TRUE(says(o, std::string("after") + kLate)) << o.out;
  EXPECT_TRUE(says(o, "before: malloc 4 memset 4 copy 4 value 0 launch 4 free 4 again 4 last 4\n"))
      << o.out;
  EXPECT_TRUE(
      says(o, "lockstep: cudaMalloc: the process ends, and the runtime is no longer there: "))
      << o.out;
}

TEST(Destructors, OfAThreadsVariablesWorkWithTheGpu) {
  const Outcome o = run("PROGRAM", "thread", "LOCKSTEP_QUIET=1");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_EQ(o.out, std::string("thread") + kLate + "thread" + kLate);
}

TEST(HostAccess, KillsTheProgramAndNamesTheMemory) {
  const Outcome o = run("PROGRAM", "host");
  EXPECT_EQ(o.status, 128 + 11) << o.out;
  EXPECT_TRUE(says(o, "host-access")) << o.out;
  EXPECT_TRUE(says(o, "cudaMalloc #1 (40 bytes)")) << o.out;
}

TEST(Environment, QuietPrintsNoFindingsButKeepsTheStatus) {
  const Outcome o = run("PROGRAM", "oob", "LOCKSTEP_QUIET=1");
  EXPECT_EQ(o.status, 86);
  EXPECT_FALSE(says(o, "out-of-bounds")) << o.out;
}

TEST(Environment, BlockingLaunchesReturnTheErrorThemselves) {
  EXPECT_TRUE(says(run("PROGRAM", "oob last"), "last 0"));
  EXPECT_TRUE(says(run("PROGRAM", "oob last", "CUDA_LAUNCH_BLOCKING=1"), "last 700"));
}

TEST(Environment, ChecksCanBeLeftOut) {
  EXPECT_EQ(run("PROGRAM", "fine sync", "LOCKSTEP_CHECKS=bounds").out, "sync 0\n");
}

TEST(Leaks, AreNotLookedForByDefault) {
  EXPECT_EQ(run("PROGRAM", "fine sync").status, 0);
  EXPECT_EQ(run("PROGRAM", "fine sync", "LOCKSTEP_CHECKS=all").status, 0);
}

TEST(Leaks, AreFoundWhenTheProcessEnds) {
  const Outcome o = run("PROGRAM", "fine sync", "LOCKSTEP_CHECKS=all,leaks");
  EXPECT_EQ(o.status, 86) << o.out;
  EXPECT_TRUE(says(o,
                   "leak: cudaMalloc #1 (40 bytes) was never freed\n  by the host\n  allocated "
                   "with cudaMalloc by a call at "))
      << o.out;
  EXPECT_TRUE(says(o, "addr2line -Cfe ")) << o.out;
}

TEST(Leaks, OfOnePlaceInTheProgramAreOneFinding) {
  const Outcome o = run("PROGRAM", "free more", "LOCKSTEP_CHECKS=leaks");
  EXPECT_EQ(o.status, 86) << o.out;
  EXPECT_TRUE(says(o,
                   "leak: 3 allocations of 3000 bytes together were never freed, the first is "
                   "managed allocation #2 (1000 bytes)"))
      << o.out;
  EXPECT_FALSE(says(o, "#1")) << o.out;
}

TEST(Leaks, OfMemoryThatIsFreedThereAreNone) {
  const Outcome o = run("PROGRAM", "fine sync free", "LOCKSTEP_CHECKS=all,leaks");
  EXPECT_EQ(o.status, 0) << o.out;
}

TEST(Leaks, AreFoundOnceWhenTheDeviceIsReset) {
  const Outcome o = run("PROGRAM", "fine reset sync", "LOCKSTEP_CHECKS=all,leaks");
  EXPECT_EQ(o.status, 86) << o.out;
  const std::size_t at = o.out.find("leak: cudaMalloc #1");
  ASSERT_NE(at, std::string::npos) << o.out;
  EXPECT_LT(at, o.out.find("sync 0")) << o.out;
  EXPECT_EQ(o.out.find("leak: ", at + 1), std::string::npos) << o.out;
}

TEST(Leaks, OfAProgramWhoseDeviceHasFailedAreNotItsFault) {
  const Outcome o = run("PROGRAM", "oob free", "LOCKSTEP_CHECKS=all,leaks");
  EXPECT_FALSE(says(o, "leak")) << o.out;
}

TEST(Environment, DevicesDiffer) {
  const Outcome sm90 = run("PROGRAM", "properties");
  EXPECT_TRUE(
      says(sm90, "count 0 1\nname Lockstep simulated GPU (sm_90)\ncc 9.0\nSMs 132\noptin 232448\n"))
      << sm90.out;
  const Outcome sm120 =
      run("PROGRAM", "properties", "LOCKSTEP_DEVICE=sm_120 LOCKSTEP_DEVICES=3 LOCKSTEP_MEMORY=2");
  EXPECT_TRUE(says(sm120,
                   "count 0 3\nname Lockstep simulated GPU (sm_120)\ncc 12.0\nSMs 170\noptin "
                   "101376\nmemory 2147483648\n"))
      << sm120.out;
}

TEST(Environment, NoDeviceIsNoDevice) {
  const Outcome o = run("PROGRAM", "malloc properties", "LOCKSTEP_DEVICES=0");
  EXPECT_TRUE(says(o, "malloc 100\ncount 100 0\n")) << o.out;
}

TEST(Environment, AMistypedSettingMakesEveryCallFail) {
  const Outcome o = run("PROGRAM", "malloc fine sync", "LOCKSTEP_DEVICE=sm90");
  EXPECT_TRUE(says(o, "malloc 3\n")) << o.out;
  EXPECT_TRUE(says(o, "sync 3\n")) << o.out;
  EXPECT_TRUE(says(o, "sm_75, sm_80, sm_89, sm_90")) << o.out;
}

TEST(Output, OfKernelsComesInOrder) {
  const Outcome o = run("PROGRAM", "malloc print sync");
  EXPECT_EQ(o.out, "malloc 0\nthread 0 of 2\nthread 1 of 2\nsync 0\n");
}

TEST(Module, WithoutPtxIsRefusedWithTheFlagToAdd) {
  const Outcome o = run("MACHINE_CODE_ONLY", "fine last sync");
  EXPECT_TRUE(says(o, "last 209")) << o.out;
  EXPECT_TRUE(says(o, "compute_90")) << o.out;
  EXPECT_TRUE(says(o, "sync 0")) << "not sticky";
  EXPECT_TRUE(says(o, "refused: the program holds machine code")) << o.out;
  EXPECT_EQ(o.status, 86) << "its kernel never ran, whatever the program makes of that";
}

TEST(Module, ThatIsRefusedIsTheProgramsOwnWhenItTookTheFindings) {
  EXPECT_EQ(run("MACHINE_CODE_ONLY", "fine take").status, 0);
}

TEST(Module, ForANewerDeviceIsRefused) {
  const Outcome o = run("PROGRAM", "fine last", "LOCKSTEP_DEVICE=sm_80");
  EXPECT_TRUE(says(o, "last 209")) << o.out;
  EXPECT_EQ(o.status, 86);
}

}  // namespace
}  // namespace lockstep::runtime
