// Findings of programs built by nvcc, in every report format.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

TEST(Findings, AreReportedInEveryForm) {
  const std::string j = scratch("report.json"), s = scratch("report.sarif"),
                    t = scratch("report.txt");
  const Outcome o = run("exec --report=" + j + " --report=" + s + " --report=" + t + " -- " +
                        program("faulty") + " malloc out-of-bounds sync");
  EXPECT_EQ(o.status, 86);
  EXPECT_EQ(o.out, "cudaErrorIllegalAddress\n");
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["exit_status"], 86);
  EXPECT_EQ(report["command"].back(), "sync");
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["kind"], "out-of-bounds");
  EXPECT_EQ(report["findings"][0]["line"], 9);
  EXPECT_EQ(report["kernels"][0]["name"], "store(int*, int)");
  EXPECT_EQ(report["kernels"][0]["launches"], 1);
  const json result = json::parse(contents(s))["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "out-of-bounds");
  EXPECT_TRUE(
      has(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "faulty.cu"));
  EXPECT_TRUE(has(contents(t), "1 launch of 1 kernel on a simulated sm_90: 1 error"));
  EXPECT_TRUE(has(contents(t), "faulty.cu:9"));
  EXPECT_TRUE(has(contents(t), ", just past the end of cudaMalloc #1 (256 bytes)\n"))
      << contents(t);
}

TEST(Findings, OfARaceNameBothThreadsAndBothLinesInEveryForm) {
  struct Side {
    int block, thread, line;
    const char* what;
    std::string who() const {
      return "block (" + std::to_string(block) + ",0,0) thread (" + std::to_string(thread) +
             ",0,0)";
    }
  };
  const struct {
    Side one, other;
  } races[] = {
      {{0, 0, 9, "a write"}, {0, 31, 7, "a read"}},
      {{0, 31, 17, "a write"}, {0, 0, 16, "a read"}},
      {{0, 1, 22, "a write"}, {0, 0, 22, "a write"}},
      {{0, 5, 25, "a write"}, {1, 5, 25, "a write"}},
  };
  for (int i = 0; i < 4; ++i) {
    const auto& [one, other] = races[i];
    const std::string j = scratch("races.json"), s = scratch("races.sarif"),
                      t = scratch("races.txt");
    run("exec --report=" + j + " --report=" + s + " --report=" + t + " -- " + program("races") +
        " " + std::to_string(i));
    const std::string text = contents(t);
    EXPECT_TRUE(has(text, "\n  by " + one.who())) << text;
    EXPECT_TRUE(
        has(text, "\n  against " + std::string(other.what).substr(2) + " by " + other.who()))
        << text;
    for (const Side& side : {one, other})
      EXPECT_TRUE(has(text, "races.cu:" + std::to_string(side.line) + " (")) << text;
    const json found = json::parse(contents(j))["findings"];
    ASSERT_EQ(found.size(), 1u) << text;
    const json result = json::parse(contents(s))["runs"][0]["results"][0];
    const auto is = [](const json& access, const Side& side) {
      return access["block"] == json{side.block, 0, 0} &&
             access["thread"] == json{side.thread, 0, 0};
    };
    EXPECT_TRUE(is(found[0], one) && is(found[0]["other"], other)) << found;
    EXPECT_TRUE(found[0]["line"] == one.line && found[0]["other"]["line"] == other.line) << found;
    EXPECT_TRUE(is(result["properties"], one) && is(result["properties"]["other"], other))
        << result;
    const auto describes = [](const json& location, const char* which, const Side& side) {
      return location["physicalLocation"]["region"]["startLine"] == side.line &&
             location["message"]["text"] ==
                 std::string(which) + " access, " + side.what + ", by " + side.who();
    };
    EXPECT_TRUE(describes(result["locations"][0], "one", one)) << result;
    EXPECT_TRUE(describes(result["relatedLocations"][0], "the other", other)) << result;
  }
}

// The host writes the flag after the launch and then waits for the kernel.
TEST(Findings, OfAKernelThatWaitsForItsHostThereAreNone) {
  const Outcome o = run("exec -- " + program("waits_for_host"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "PASSED\n");
}

TEST(Findings, OfACrashedProgramAreKept) {
  const std::string j = scratch("crash.json");
  const Outcome o =
      run("exec --report=" + j + " -- " + program("faulty") + " malloc out-of-bounds sync abort");
  EXPECT_EQ(o.status, 128 + SIGABRT);
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["exit_status"], 128 + SIGABRT);
  EXPECT_EQ(report["kernels"][0]["launches"], 1);
  EXPECT_FALSE(report["kernels"][0].contains("atomics")) << "counters are known at the end";
}

TEST(Findings, StandBesideTheLaunchesThatWereMade) {
  const std::string words = "exec -- " + program("faulty") + " malloc store store race store";
  EXPECT_TRUE(has(run(words).err, "4 launches of 2 kernels on a simulated sm_90: 1 error"))
      << run(words).err;
  // A signal ends the program; the counts of its launches must survive.
  const Outcome crashed = run(words + " sync abort");
  EXPECT_EQ(crashed.status, 128 + SIGABRT);
  EXPECT_TRUE(has(crashed.err, "4 launches of 2 kernels on a simulated sm_90: 1 error"))
      << crashed.err;
  // A running launch counts.
  const Outcome stopped =
      run("exec --instruction-limit=0 -- timeout 1 " + program("waits_for_host"));
  EXPECT_TRUE(has(stopped.err, " of 1 kernel on a simulated sm_90")) << stopped.err;
}

TEST(Findings, CountInWhateverTheProgramStarts) {
  EXPECT_EQ(run("exec -- sh -c '" + program("faulty") + " malloc out-of-bounds; true'").status, 86);
  EXPECT_EQ(run("exec -- sh -c '" + program("faulty") + " malloc store; true'").status, 0);
}

TEST(Findings, CanBeSuppressed) {
  const std::string file = scratch("suppressions");
  std::ofstream(file) << "# known\nrace   race(*\n";
  const std::string words = " -- " + program("faulty") + " malloc race sync";
  EXPECT_EQ(run("exec" + words).status, 86);
  const Outcome suppressed = run("exec --suppressions=" + file + words);
  EXPECT_EQ(suppressed.status, 0) << suppressed.err;
  EXPECT_EQ(suppressed.out, "cudaSuccess\n") << "the kernel goes on";
  EXPECT_EQ(run("exec --stop --suppressions=" + file + words).out, "cudaSuccess\n")
      << "a suppressed finding stops nothing";
  std::ofstream(file) << "out-of-bounds  store(*\n";
  EXPECT_EQ(run("exec --suppressions=" + file + words).status, 86)
      << "another kind in another kernel";
  const std::string j = scratch("suppressed.json");
  const Outcome ended = run("exec --suppressions=" + file + " --report=" + j + " -- " +
                            program("faulty") + " malloc out-of-bounds sync");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "cudaErrorIllegalAddress\n") << "no kernel survives a bad address";
  EXPECT_FALSE(has(ended.err, "out-of-bounds:")) << ended.err;
  EXPECT_EQ(json::parse(contents(j))["suppressed"].size(), 1u);
}

// Information does not change the exit status and hides no error: in one kernel, in an earlier one
// or in a later one.
TEST(Findings, ThatAreInformationChangeNoStatus) {
  const auto exec = [](const std::string& what, const std::string& file) {
    return run("exec --stop --report=" + file + " -- " + program("faulty") + " malloc " + what);
  };
  const std::string j = scratch("beside.json"), s = scratch("beside.sarif");
  const Outcome alone = exec("same-value sync", j);
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(alone.out, "cudaSuccess\n");
  EXPECT_TRUE(has(alone.err, ": 0 errors, 1 for information, 0 suppressed")) << alone.err;
  EXPECT_EQ(json::parse(contents(j))["exit_status"], 0);
  for (const char* what : {"same-value-and-out-of-bounds sync", "same-value out-of-bounds sync"}) {
    const Outcome both = exec(what, s);
    EXPECT_EQ(both.status, 86) << both.err;
    EXPECT_EQ(both.out, "cudaErrorIllegalAddress\n") << what;
    EXPECT_TRUE(has(both.err, ": 1 error, 1 for information, 0 suppressed")) << both.err;
    std::map<std::string, std::string> levels;
    const json log = json::parse(contents(s));
    for (const json& result : log["runs"][0]["results"]) levels[result["ruleId"]] = result["level"];
    EXPECT_EQ(levels,
              (std::map<std::string, std::string>{{"race", "note"}, {"out-of-bounds", "error"}}))
        << what;
  }
  const Outcome after = exec("too-many-threads race same-value sync", j);
  EXPECT_EQ(after.status, 86) << after.err;
  const Outcome looked_at = exec("race too-many-threads last same-value", j);
  EXPECT_EQ(looked_at.status, 86) << looked_at.err;
}

TEST(Findings, DependOnTheChecks) {
  EXPECT_EQ(run("exec --check=-races -- " + program("faulty") + " malloc race").status, 0);
  EXPECT_EQ(run("exec --check=races -- " + program("faulty") + " malloc race").status, 86);
}

TEST(Findings, GoToStdoutWhenAsked) {
  const Outcome o =
      run("exec --quiet --report=- -- " + program("faulty") + " malloc out-of-bounds");
  EXPECT_EQ(o.status, 86);
  EXPECT_TRUE(has(o.out, "out-of-bounds: st.global.u32")) << o.out;
  EXPECT_TRUE(has(o.out, "1 launch of 1 kernel on a simulated sm_90: 1 error")) << o.out;
}

TEST(Findings, AreNotMissedUnnoticedWhereChecksAreOff) {
  const std::string words = " -- " + program("faulty") + " malloc race";
  EXPECT_TRUE(has(run("exec" + words, "LOCKSTEP_CHECKS=none").err,
                  " on a simulated sm_90 without checks: 0 errors"));
  EXPECT_TRUE(has(run("exec --check=bounds,leaks" + words).err,
                  " on a simulated sm_90 with the checks bounds, leaks: "));
}

}  // namespace
}  // namespace lockstep
