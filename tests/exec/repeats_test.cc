// Launches that repeat an earlier one: when exec leaves them out, and what it reports of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

json report_of(const std::string& options, const std::string& environment) {
  const std::string j = scratch("repeats.json");
  const Outcome o =
      run("exec " + options + " --report=" + j + " -- " + program("repeats"), environment);
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "PASSED\n");
  json report = json::parse(contents(j));
  report["summary"] = o.err;
  return report;
}

TEST(Repeats, AreLeftOutAndCounted) {
  const json executed = report_of("", "LOCKSTEP_REPEATS=off");
  EXPECT_EQ(executed["repeated_launches"], 0);
  EXPECT_FALSE(has(executed["summary"], "repeated"));
  const json left_out = report_of("", "LOCKSTEP_REPEATS=always");
  // Each of the two kernels is executed once.
  EXPECT_EQ(left_out["repeated_launches"], 998);
  EXPECT_TRUE(has(left_out["summary"],
                  "1000 launches of 2 kernels on a simulated sm_90, 998 "
                  "repeated an earlier one: 0 errors"))
      << left_out["summary"];
  EXPECT_EQ(left_out["kernels"], executed["kernels"]) << "counters count repetitions";
  EXPECT_EQ(report_of("", "LOCKSTEP_REPEATS=compare")["repeated_launches"], 998);
}

TEST(Repeats, AreExecutedWhereEachExecutionCounts) {
  const std::string always = "LOCKSTEP_REPEATS=always ";
  EXPECT_EQ(report_of("--schedule=1", always)["repeated_launches"], 0);
  EXPECT_EQ(report_of("--certificate=" + scratch("proved.json"), always)["repeated_launches"], 0);
  EXPECT_EQ(report_of("", always + "LOCKSTEP_PROOF=compare")["repeated_launches"], 0);
  EXPECT_EQ(report_of("", always + "LOCKSTEP_TRANSLATE=compare")["repeated_launches"], 0);
  EXPECT_EQ(report_of("", always + "LOCKSTEP_STREAMS=at-once")["repeated_launches"], 0);
}

}  // namespace
}  // namespace lockstep
