// A replay line quotes its case so that a shell passes on exactly the same text.
#include "harness/property/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace lockstep {
namespace replay_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Replay : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* v : {"TEST_TARGET", "LOCKSTEP_REPLAY", "LOCKSTEP_DEVICE", "LOCKSTEP_SCHEDULE",
                          "LOCKSTEP_CHECKS", "LOCKSTEP_DEVICES", "LD_LIBRARY_PATH"})
      unsetenv(v);
  }
};

std::string through_shell(const std::string& quoted) {
  FILE* pipe = popen(("printf %s " + quoted).c_str(), "r");
  std::string out;
  std::array<char, 256> buffer{};
  while (std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

TEST_F(Replay, ACaseNameParses) {
  CaseName c;
  std::string error;
  ASSERT_TRUE(parse_case_name("Stencil.Matches: n=33 values=uniform:7", c, error)) << error;
  EXPECT_EQ(c, (CaseName{"Stencil.Matches", "n=33 values=uniform:7"}));
  ASSERT_TRUE(parse_case_name("Widths/Stencil.Matches/3: n=0", c, error)) << error;
  EXPECT_EQ(c.property, "Widths/Stencil.Matches/3");
}

TEST_F(Replay, WhatIsNotACaseNameIsRefused) {
  for (const char* bad : {"", "n=33", "Stencil.Matches", "Stencil.Matches:", "Stencil.Matches: ",
                          "Stencil: n=3", ".x: n=3", "A.: n=3", "A b.c: n=3", ": n=3"}) {
    CaseName c{"untouched", "untouched"};
    std::string error;
    EXPECT_FALSE(parse_case_name(bad, c, error)) << bad;
    EXPECT_THAT(error, HasSubstr("the form is  Suite.Name: field=value"));
    EXPECT_EQ(c.property, "untouched");
  }
}

TEST_F(Replay, QuotingSurvivesAShell) {
  for (const char* text :
       {"plain", "n=33 block=32", "it's", "$HOME `id` \\ \"q\" *", "", "a;b&c|d>e", "''"}) {
    EXPECT_EQ(through_shell(shell_quoted(text)), text);
  }
  EXPECT_EQ(shell_quoted("--case=A.b"), "--case=A.b") << "what needs no quotes stays readable";
}

TEST_F(Replay, UnderBazelTheLineIsABazelCommand) {
  setenv("TEST_TARGET", "//tests:stencil_test", 1);
  EXPECT_EQ(replay_line("Stencil.Matches", "n=33 block=32"),
            "bazel test //tests:stencil_test '--test_arg=--case=Stencil.Matches: n=33 block=32'");
  setenv("LOCKSTEP_DEVICE", "sm_80", 1);
  setenv("LOCKSTEP_SCHEDULE", "17", 1);
  EXPECT_THAT(replay_line("A.b", "n=1"),
              EndsWith(" --test_env=LOCKSTEP_DEVICE=sm_80 --test_env=LOCKSTEP_SCHEDULE=17"));
}

TEST_F(Replay, OnItsOwnTheLineIsTheProgram) {
  EXPECT_THAT(replay_line("A.b", "n=1"), StartsWith("/"));
  EXPECT_THAT(replay_line("A.b", "n=1"), EndsWith(" '--case=A.b: n=1'"));
  setenv("LOCKSTEP_SCHEDULE", "17", 1);
  EXPECT_THAT(replay_line("A.b", "n=1"), StartsWith("LOCKSTEP_SCHEDULE=17 /"));
}

// CMake's tests find the simulated GPU by LD_LIBRARY_PATH: without it in the line, the program
// would load NVIDIA's runtime.
TEST_F(Replay, OnItsOwnTheLineFindsTheSameRuntimeAndDevices) {
  setenv("LD_LIBRARY_PATH", "/opt/lock step/lib", 1);
  setenv("LOCKSTEP_DEVICES", "2", 1);
  setenv("LOCKSTEP_CHECKS", "-races", 1);
  EXPECT_THAT(
      replay_line("A.b", "n=1"),
      StartsWith(
          "LD_LIBRARY_PATH='/opt/lock step/lib' LOCKSTEP_DEVICES=2 LOCKSTEP_CHECKS=-races /"));
  // Bazel's tests and conform's suites get their replay command from the process that starts them.
  setenv("LOCKSTEP_REPLAY", "./lockstep run --suite=stencil", 1);
  EXPECT_EQ(replay_line("A.b", "n=1"),
            "LOCKSTEP_CHECKS=-races ./lockstep run --suite=stencil '--case=A.b: n=1'");
  unsetenv("LOCKSTEP_REPLAY");
  setenv("TEST_TARGET", "//tests:stencil_test", 1);
  EXPECT_THAT(replay_line("A.b", "n=1"),
              EndsWith("--case=A.b: n=1' --test_env=LOCKSTEP_CHECKS=-races"));
}

TEST_F(Replay, UnderConformTheLineIsConforms) {
  setenv("TEST_TARGET", "//tests:conform_test", 1);
  setenv("LOCKSTEP_REPLAY", "./lockstep run --suite=stencil", 1);
  EXPECT_EQ(replay_line("A.b", "n=1"), "./lockstep run --suite=stencil '--case=A.b: n=1'");
}

}  // namespace replay_test
}  // namespace lockstep
