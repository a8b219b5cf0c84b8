// After a finding a kernel continues if it can.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

TEST(GoingOn, IsWhatExecDoesWhereAKernelCan) {
  for (const char* mistake : {"race", "unwritten"}) {
    const std::string words = "-- " + program("faulty") + " malloc " + mistake + " sync";
    const Outcome on = run("exec " + words);
    EXPECT_EQ(on.status, 86) << on.err;
    EXPECT_EQ(on.out, "cudaSuccess\n") << on.err;
    EXPECT_TRUE(has(on.err, "The kernel went on.")) << on.err;
    EXPECT_TRUE(has(on.err, ": 1 error,")) << on.err;
    const Outcome stopped = run("exec --stop " + words);
    EXPECT_EQ(stopped.status, 86) << stopped.err;
    EXPECT_EQ(stopped.out, "cudaErrorLaunchFailure\n") << stopped.err;
    EXPECT_FALSE(has(stopped.err, "The kernel went on.")) << stopped.err;
  }
}

TEST(GoingOn, LeavesTheProgramItsResultsAndReportsEachPlaceOnce) {
  const std::string j = scratch("goes_on.json"), t = scratch("goes_on.txt"),
                    s = scratch("goes_on.sarif");
  const Outcome o =
      run("exec --report=" + j + " --report=" + t + " --report=" + s + " -- " + program("goes_on"));
  EXPECT_EQ(o.status, 86) << o.err;
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
  const json report = json::parse(contents(j));
  std::map<std::string, int> kinds;
  int copies = 0;
  for (const json& f : report["findings"]) {
    if (has(f["where"], "cudaMemcpy copies 3 bytes to the host that nobody has written")) {
      ++copies;
      EXPECT_EQ(f["occurrences"], 10) << f["text"];
    }
    if (f["severity"] != "error") continue;
    ++kinds[f["kind"]];
    EXPECT_TRUE(f.value("survived", false)) << f["text"];
    EXPECT_GE(f["occurrences"], 10) << "each was met in every turn\n" << f["text"];
  }
  EXPECT_EQ(kinds,
            (std::map<std::string, int>{
                {"race", 1}, {"uninitialised", 1}, {"inactive-lane", 1}, {"invalid-mask", 1}}))
      << o.err;
  EXPECT_EQ(copies, 1) << "a copy of a structure and its padding is one place\n" << o.err;
  for (const json& kernel : report["kernels"]) EXPECT_EQ(kernel["launches"], 10) << kernel["name"];
  EXPECT_TRUE(has(contents(t), "4 errors")) << contents(t);
  const json log = json::parse(contents(s));
  for (const json& result : log["runs"][0]["results"]) {
    if (result["level"] == "error") {
      EXPECT_GE(result["occurrenceCount"], 10);
    }
  }
  // The harness's mode: the first finding ends the launch and all later ones.
  const Outcome stopped = run("exec --stop -- " + program("goes_on"));
  EXPECT_EQ(stopped.status, 1) << stopped.err;
  EXPECT_TRUE(has(stopped.out, "cudaErrorLaunchFailure")) << stopped.out;
}

TEST(GoingOn, EndsWithWhatNoKernelSurvives) {
  const Outcome o = run("exec -- " + program("faulty") + " malloc race out-of-bounds sync");
  EXPECT_EQ(o.status, 86);
  EXPECT_EQ(o.out, "cudaErrorIllegalAddress\n");
  EXPECT_TRUE(has(o.err, ": 2 errors,")) << o.err;
}

TEST(GoingOn, IsTheSettingOfExecAndOfNobodyElse) {
  const std::string preload = "LD_PRELOAD=" + std::string(std::getenv("SIMULATED_RUNTIME")) + " ";
  const std::string words = program("faulty") + " malloc race sync";
  EXPECT_EQ(shell(preload + words).out, "cudaErrorLaunchFailure\n");
  EXPECT_EQ(shell(preload + "LOCKSTEP_GO_ON=1 " + words).out, "cudaSuccess\n");
  EXPECT_EQ(run("exec -- " + words, "LOCKSTEP_GO_ON=0").out, "cudaErrorLaunchFailure\n");
}

}  // namespace
}  // namespace lockstep
