// The end of a program is reported correctly, and no program exceeds its time limit.
#include "harness/conform/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Subprocess : public ::testing::Test {
 protected:
  void SetUp() override {
    output_ = ::testing::TempDir() + "subprocess_test." + std::to_string(getpid());
  }
  void TearDown() override { std::filesystem::remove(output_); }
  Command shell(const std::string& script) const {
    Command c;
    c.argv = {"/bin/sh", "-c", script};
    c.output = output_;
    return c;
  }
  std::string output() const {
    std::ifstream in(output_);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  // Waits a moment for the end.
  static void expect_ended(pid_t process) {
    ASSERT_GT(process, 0);
    for (int i = 0; i < 100 && kill(process, 0) == 0; ++i) usleep(20'000);
    std::ifstream state("/proc/" + std::to_string(process) + "/stat");
    const std::string stat((std::istreambuf_iterator<char>(state)), {});
    EXPECT_TRUE(stat.empty() || stat.find(") Z ") != stat.npos) << "still runs: " << stat;
  }
  std::string output_;
};

TEST_F(Subprocess, ReportsExitStatusAndOutput) {
  const ProcessEnd end = run_process(shell("echo out; echo err >&2; exit 70"));
  EXPECT_EQ(end.how, ProcessEnd::How::kExited);
  EXPECT_EQ(end.describe(), "exit status 70");
  EXPECT_FALSE(end.succeeded());
  EXPECT_EQ(output(), "out\nerr\n");
  EXPECT_TRUE(run_process(shell("exit 0")).succeeded());
}

TEST_F(Subprocess, ReportsSignals) {
  const ProcessEnd end = run_process(shell("kill -SEGV $$"));
  EXPECT_EQ(end.how, ProcessEnd::How::kSignalled);
  EXPECT_EQ(end.status, SIGSEGV);
  EXPECT_EQ(end.describe(), "signal SIGSEGV");
}

TEST_F(Subprocess, ReportsAProgramThatIsNotThere) {
  Command c;
  c.argv = {"/nonexistent/program"};
  const ProcessEnd end = run_process(c);
  EXPECT_EQ(end.how, ProcessEnd::How::kNotStarted);
  EXPECT_THAT(end.describe(), HasSubstr("/nonexistent/program: No such file"));
  c.argv = {"/bin/true"};
  c.output = "/nonexistent/folder/log";
  EXPECT_EQ(run_process(c).how, ProcessEnd::How::kNotStarted)
      << "output that cannot be kept is an error";
}

TEST_F(Subprocess, EndsAtTheTimeLimitWithAllThatItStarted) {
  Command c = shell("sleep 60 & echo $! ; wait");
  c.time_limit = std::chrono::milliseconds(300);
  int ticks = 0;
  const ProcessEnd end = run_process(c, [&](double) { ++ticks; });
  EXPECT_EQ(end.how, ProcessEnd::How::kTimedOut);
  EXPECT_THAT(end.describe(), HasSubstr("time limit"));
  EXPECT_LT(end.seconds, 10);
  EXPECT_GE(ticks, 1);
  expect_ended(std::atoi(output().c_str()));
}

// Not only the program: processes that it started may have files to remove as well.
TEST_F(Subprocess, AllThatItStartedMayCleanUpAtTheTimeLimit) {
  Command c = shell(
      "(trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done) & "
      "trap '' TERM; wait");
  c.time_limit = std::chrono::milliseconds(1000);
  EXPECT_EQ(run_process(c).how, ProcessEnd::How::kTimedOut);
  EXPECT_THAT(output(), AllOf(HasSubstr("ready"), HasSubstr("cleaned")));
}

TEST_F(Subprocess, EndsWhatAProgramLeavesBehind) {
  const ProcessEnd end = run_process(shell("sleep 60 > /dev/null 2>&1 & echo $!"));
  EXPECT_TRUE(end.succeeded()) << end.describe();
  expect_ended(std::atoi(output().c_str()));
}

TEST_F(Subprocess, KillsWhatIgnoresTheFirstSignal) {
  Command c = shell("trap '' TERM; while :; do sleep 0.05; done");
  c.time_limit = std::chrono::milliseconds(100);
  const ProcessEnd end = run_process(c);
  EXPECT_EQ(end.how, ProcessEnd::How::kTimedOut);
  EXPECT_LT(end.seconds, 10);
}

TEST_F(Subprocess, SetsAndRemovesVariables) {
  setenv("LOCKSTEP_T_KEEP", "kept", 1);
  setenv("LOCKSTEP_T_GONE", "gone", 1);
  setenv("LOCKSTEP_T_PRE_1", "gone", 1);
  setenv("LOCKSTEP_T_NEW", "old", 1);
  Command c = shell("echo $LOCKSTEP_T_KEEP-$LOCKSTEP_T_GONE-$LOCKSTEP_T_PRE_1-$LOCKSTEP_T_NEW");
  c.set = {{"LOCKSTEP_T_NEW", "new"}};
  c.unset = {"LOCKSTEP_T_GONE", "LOCKSTEP_T_PRE_*"};
  ASSERT_TRUE(run_process(c).succeeded());
  EXPECT_EQ(output(), "kept---new\n");
}

}  // namespace
}  // namespace lockstep
