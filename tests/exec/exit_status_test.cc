// The exit status of `lockstep exec`, and the messages for wrong usage.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

TEST(ExitStatus, IsTheProgramsOwnUnlessItIsZero) {
  EXPECT_EQ(run("exec -- " + program("faulty") + " malloc out-of-bounds exit3").status, 3);
  EXPECT_EQ(run("exec -- " + program("faulty") + " exit3").status, 3);
  EXPECT_EQ(run("exec -- " + program("faulty") + " malloc store").status, 0);
}

TEST(ExitStatus, NoKernelIsAFailureOnRequest) {
  EXPECT_EQ(run("exec -- " + program("faulty") + " malloc").status, 0);
  const Outcome o = run("exec --require-kernels -- " + program("faulty") + " malloc");
  EXPECT_EQ(o.status, 87);
  EXPECT_TRUE(has(o.err, "no kernel")) << o.err;
  EXPECT_EQ(run("exec --require-kernels -- true").status, 87);
}

TEST(ExitStatus, WrongUsageRunsNothing) {
  for (const char* words :
       {"", "exec", "exec --", "exec --device=sm90 -- ", "exec --check=everything -- ",
        "exec --no-such-option -- ", "exec --suppressions=/nonexistent -- ", "execute -- ",
        "--frobnicate exec -- ", "--frobnicate=1 counters -- ", "exec counters -- ",
        "exec --check= -- ", "exec --check=races, -- ", "exec --check=races --check=bounds -- ",
        "exec --devices=x -- ", "exec --report -- "}) {
    const std::string text = words;
    const Outcome o = run(text.ends_with(" ") ? text + program("vector_add") : text);
    EXPECT_EQ(o.status, 2) << words << "\n" << o.err;
    EXPECT_FALSE(has(o.out, "PASSED")) << words;
  }
}

TEST(ExitStatus, WrongUsageIsNamed) {
  const std::pair<const char*, const char*> said[] = {
      {"--frobnicate exec", "there is no option --frobnicate"},
      {"--check=races exec", "options of a command stand behind it: exec --check=races"},
      {"exec --check=racs", "there is no check 'racs'; did you mean races?"},
      {"exec --check=-racs", "there is no check 'racs'; did you mean races?"},
      {"exec --device=sm_91", "there is no device 'sm_91'"},
      {"exec --check=races --check=bounds", "--check is given more than once"},
      {"exec --check=", "--check needs a value"},
      {"exec --devices=x", "--devices='x' is not a whole number from 0 to 64"},
      {"exec --suppressions=/nonexistent",
       "--suppressions='/nonexistent' is not a file that can be read"},
      {"exec run", "exec does not take 'run'"},
  };
  for (const auto& [words, sentence] : said) {
    const Outcome o = run(std::string(words) + " -- " + program("vector_add"));
    EXPECT_EQ(o.status, 2) << words;
    EXPECT_TRUE(has(o.err, sentence)) << words << "\n" << o.err;
  }
}

TEST(ExitStatus, TheDashesBeforeAProgramMayBeLeftOut) {
  for (const char* options :
       {"", "--check=races --quiet", "--schedule 3", "--require-kernels --device sm_100"}) {
    const Outcome o = run(std::string("exec ") + options + " " + program("vector_add"));
    EXPECT_EQ(o.status, 0) << options << "\n" << o.err;
  }
  // The program's own arguments are passed on, even those that look like options.
  const Outcome own = run("exec sh -c 'echo $0' --check=none");
  EXPECT_EQ(own.out, "--check=none\n") << own.err;
  EXPECT_TRUE(has(run("exec --no-such-option ./program").err, "exec has no option"));
}

// The names of checks are defined twice: for options and for the environment.
TEST(ExitStatus, ChecksHaveTheSameNamesInOptionsAndEnvironment) {
  const std::string err =
      run("exec -- " + program("vector_add"), "LOCKSTEP_CHECKS=none,no-such-check").err;
  const std::string before = "comma-separated list of ";
  ASSERT_TRUE(has(err, before)) << err;
  std::string names = "all, none, " + err.substr(err.find(before) + before.size());
  names.resize(names.find(" ("));
  EXPECT_TRUE(has(run("exec --check=no-such-check -- true").err, "the checks are " + names + "\n"))
      << names;
}

TEST(ExitStatus, AReportThatCannotBeWrittenIsNoSuccess) {
  const Outcome o = run("exec --report=/dev/full -- " + program("vector_add"));
  EXPECT_EQ(o.status, 88);
  EXPECT_TRUE(has(o.err, "/dev/full cannot be written: No space left on device")) << o.err;
  const std::string gone = scratch("gone");
  const Outcome removed =
      run("exec --report=" + gone + "/r.json -- rm -r " + gone, "mkdir -p " + gone + ";");
  EXPECT_EQ(removed.status, 88);
  EXPECT_TRUE(has(removed.err, "/r.json cannot be written: No such file or directory\n"))
      << removed.err;
  // An unusable path is reported before the program runs.
  for (const std::string& words :
       {std::string("exec --report=/nonexistent/r.json"), "exec --report=" + scratch(""),
        std::string("counters --report=/proc/r.json"), std::string("coverage --out=/nonexistent/c"),
        "coverage --text=/nonexistent/c --out=" + scratch("c")}) {
    const Outcome early = run(words + " -- " + program("vector_add"));
    EXPECT_EQ(early.status, 88) << words << early.err;
    EXPECT_EQ(early.out, "") << words;
    EXPECT_TRUE(has(early.err, "nothing was run")) << words << early.err;
  }
}

TEST(ExitStatus, WhatIsPrintedMustArrive) {
  const char* tool = std::getenv("LOCKSTEP_EXEC");
  for (const char* command : {"counters", "coverage --out=/dev/null"}) {
    const Outcome o = shell("sh -c '" + std::string(tool) + " " + command + " -- " +
                            program("vector_add") + " > /dev/full'");
    EXPECT_EQ(o.status, 88) << command << o.err;
    EXPECT_TRUE(has(o.err, "stdout cannot be written: No space left on device")) << o.err;
  }
}

// A shell names the signals of its own children only.
TEST(ExitStatus, ASignalOfAFailureIsNamed) {
  const auto ended_by = [](const std::string& options, const char* signal) {
    return run("exec " + options + " -- /bin/sh -c 'kill -" + signal + " $$'");
  };
  const Outcome crash = ended_by("", "SEGV");
  EXPECT_EQ(crash.status, 128 + SIGSEGV);
  EXPECT_TRUE(has(crash.err, "lockstep: /bin/sh: ended by signal 11 (Segmentation fault)\n"))
      << crash.err;
  EXPECT_FALSE(has(ended_by("--quiet", "SEGV").err, "signal"));
  const Outcome asked = ended_by("", "TERM");
  EXPECT_EQ(asked.status, 128 + SIGTERM);
  EXPECT_FALSE(has(asked.err, "signal")) << asked.err;
}

TEST(ExitStatus, QuietSaysNothing) {
  const Outcome o = run("exec --quiet -- " + program("faulty") + " malloc out-of-bounds");
  EXPECT_EQ(o.status, 86);
  EXPECT_FALSE(has(o.err, "out-of-bounds")) << o.err;
}

}  // namespace
}  // namespace lockstep
