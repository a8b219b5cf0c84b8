#include "simulator/exec/run_record.h"

#include <gtest/gtest.h>

#include <fstream>

#include "simulator/runtime/state/record_mark.h"

namespace lockstep::exec {
namespace run_record_test {

RunRecord read(const std::string& lines) {
  const std::string path = testing::TempDir() + "/record";
  std::ofstream(path) << lines;
  return read_run_record(path);
}

constexpr const char* kStart =
    R"x({"pid":1,"device":"sm_80","schedule":7,"checks":"bounds, races"})x"
    "\n";
constexpr const char* kError =
    R"x({"pid":1,"finding":{"kind":"race","severity":"error"},"suppressed":false})x"
    "\n";

TEST(RunRecord, GathersWhatAProcessDid) {
  const RunRecord r =
      read(std::string(kStart) +
           R"x({"pid":1,"kernel":"f(int*)","launches":                   2})x"
           "\n\n"
           R"x({"pid":1,"kernel":"f(int*)","launches":1})x"
           "\n" +
           kError +
           R"x({"pid":1,"finding":{"kind":"race","severity":"information"},"suppressed":false})x"
           "\n"
           R"x({"pid":1,"finding":{"kind":"misaligned","severity":"error"},"suppressed":true})x"
           "\n"
           R"x({"pid":1,"totals":[{"kernel":"f(int*)","device":0,"atomics":5},)x"
           R"x({"kernel":"f(int*)","device":1,"atomics":1}]})x"
           "\n");
  EXPECT_EQ(r.device, "sm_80");
  EXPECT_EQ(r.schedule, 7u);
  EXPECT_EQ(r.checks, "bounds, races");
  EXPECT_EQ(r.kernels, std::vector<std::string>{"f(int*)"});
  EXPECT_EQ(r.findings.size(), 2u);
  EXPECT_EQ(r.errors(), 1u);
  EXPECT_EQ(r.suppressed.size(), 1u);
  EXPECT_EQ(r.totals.at("f(int*)").launches, 3u) << "over all devices";
  EXPECT_EQ(r.launches(), 3u);
  EXPECT_EQ(r.totals.at("f(int*)").counters.at("atomics"), 6u);
  EXPECT_EQ(r.totals.at("f(int*)").counters.count("device"), 0u);
  EXPECT_TRUE(r.untaken_errors);
  EXPECT_EQ(r.unfinished, 0);
  EXPECT_FALSE(r.lossy);
}

TEST(RunRecord, AddsUpLaunchesOfWhichTheSameWasProved) {
  const auto line = [](int pid, int grid, int launches) {
    return "{\"pid\":" + std::to_string(pid) + ",\"certificate\":{\"kernel\":\"f\",\"grid\":[" +
           std::to_string(grid) + ",1,1]},\"launches\":   " + std::to_string(launches) + "}\n";
  };
  const RunRecord r = read(kStart + line(1, 4, 2) + line(1, 5, 1) + line(2, 4, 3));
  ASSERT_EQ(r.certificates.size(), 2u);
  EXPECT_EQ(r.certificates[0]["grid"][0], 4);
  EXPECT_EQ(r.certificates[0]["launches"], 5);
  EXPECT_EQ(r.certificates[1]["launches"], 1);
}

TEST(RunRecord, AddsUpTheTimeOfAnInstruction) {
  const std::string line =
      R"x({"pid":1,"profile":[{"kernel":"f()","ptx_line":7,"spent":{"races":0.5,"loop":1.0}},)x"
      R"x({"kernel":"f()","ptx_line":8,"spent":{"loop":2.0}}]})x"
      "\n";
  const RunRecord r = read(kStart + line + line);
  ASSERT_EQ(r.profile.size(), 2u);
  EXPECT_EQ(r.profile[0]["ptx_line"], 7);
  EXPECT_EQ(r.profile[0]["spent"]["races"], 1.0);
  EXPECT_EQ(r.profile[0]["spent"]["loop"], 2.0);
  EXPECT_EQ(r.profile[1]["spent"]["loop"], 4.0);
}

// A missing finding may have been an error.
TEST(RunRecord, ShowsWhatCouldNotBeRecorded) {
  EXPECT_FALSE(read(std::string(runtime::kRecordMark) + kStart).lossy);
  std::string marked(runtime::kRecordMark);
  marked[runtime::kRecordMarkAt] = '1';
  EXPECT_TRUE(read(marked + kStart).lossy);
  EXPECT_TRUE(read(std::string(kStart) + R"x({"pid":1,"find)x").lossy)
      << "a line that was not written whole";
  EXPECT_TRUE(read(std::string(kStart) +
                   R"x({"pid":1,"find)x"
                   "\n" +
                   kError)
                  .untaken_errors)
      << "and the lines behind it count";
  EXPECT_TRUE(read_run_record("/nonexistent").lossy);
}

TEST(RunRecord, ErrorsThatTheirProcessTookAreItsOwn) {
  EXPECT_FALSE(read(std::string(kError) + R"x({"pid":1,"taken":true})x"
                                          "\n")
                   .untaken_errors);
  EXPECT_TRUE(read(std::string(kError) + R"x({"pid":2,"taken":true})x"
                                         "\n")
                  .untaken_errors);
  EXPECT_TRUE(read(std::string(R"x({"pid":1,"taken":true})x"
                               "\n") +
                   kError)
                  .untaken_errors);
}

TEST(RunRecord, OfAFindingTheLastLineCounts) {
  const std::string first =
      R"x({"pid":1,"finding":{"kind":"api-error","severity":"error","occurrences":1},)x"
      R"x("number":4,"suppressed":false})x"
      "\n";
  const std::string later =
      R"x({"pid":1,"finding":{"kind":"api-error","severity":"information","occurrences":9},)x"
      R"x("number":4,"suppressed":false})x"
      "\n";
  const RunRecord looked_at =
      read(first + later +
           R"x({"pid":1,"totals":[],"refused_launches":2,"repeated_launches":7})x"
           "\n");
  ASSERT_EQ(looked_at.findings.size(), 1u);
  EXPECT_EQ(looked_at.findings[0]["occurrences"], 9);
  EXPECT_FALSE(looked_at.untaken_errors);
  EXPECT_EQ(looked_at.refused_launches, 2u);
  EXPECT_EQ(looked_at.repeated_launches, 7u);
  EXPECT_TRUE(read(later + first).untaken_errors);
  // Each process numbers its own findings; 0 is no number.
  EXPECT_EQ(
      read(first + R"x({"pid":2,"finding":{"severity":"error"},"number":4,"suppressed":false})x"
                   "\n")
          .findings.size(),
      2u);
  EXPECT_EQ(read(std::string(kError) + kError).findings.size(), 2u);
}

// Neither information nor suppressed findings affect whether an error was handled, in any order.
TEST(RunRecord, InformationBesideAnErrorChangesNothing) {
  const std::string information =
      R"x({"pid":1,"finding":{"kind":"race","severity":"information"},"suppressed":false})x"
      "\n";
  const std::string suppressed =
      R"x({"pid":1,"finding":{"kind":"race","severity":"error"},"suppressed":true})x"
      "\n";
  for (const std::string& lines :
       {information + kError, kError + information, kError + suppressed + information,
        information + kError + information}) {
    const RunRecord r = read(lines);
    EXPECT_TRUE(r.untaken_errors) << lines;
    EXPECT_EQ(r.errors(), 1u) << lines;
  }
  for (const std::string& lines :
       {information, suppressed, information + suppressed, suppressed + information}) {
    const RunRecord r = read(lines);
    EXPECT_FALSE(r.untaken_errors) << lines;
    EXPECT_EQ(r.errors(), 0u) << lines;
  }
}

TEST(RunRecord, ACrashLeavesItsLaunchesWithoutCounters) {
  const RunRecord r = read(R"x({"pid":1,"kernel":"f","launches":5})x"
                           "\n"
                           R"x({"pid":2,"kernel":"f","launches":1})x"
                           "\n"
                           R"x({"pid":2,"totals":[]})x"
                           "\n");
  EXPECT_EQ(r.unfinished, 1);
  EXPECT_EQ(r.kernels.size(), 1u);
  EXPECT_EQ(r.launches(), 6u);
  EXPECT_TRUE(r.totals.at("f").counters.empty());
}

TEST(RunRecord, NothingIsNothing) {
  const RunRecord r = read_run_record("/nonexistent");
  EXPECT_TRUE(r.device.empty());
  EXPECT_FALSE(r.untaken_errors);
}

}  // namespace run_record_test
}  // namespace lockstep::exec
