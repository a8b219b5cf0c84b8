// Programmatic dependent launch: accesses of a grid before its griddepcontrol.wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace {

using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

constexpr std::uint32_t kThreads = 64;

const std::string kStart = "griddepcontrol.launch_dependents;\n", kWait = "griddepcontrol.wait;\n";
const std::string kWrite = "st.global.u32 [%rd3], %r1;\n", kRead = "ld.global.u32 %r2, [%rd3];\n",
                  kCopy = kRead + "st.global.u32 [%rd4], %r2;\n";

// Launches grids one after another, each of which may start before its predecessor has ended.
// Handles their outcomes as runtime/state/dependent_launches.h does, in small.
class DependentLaunch : public ::testing::Test {
 protected:
  void SetUp() override {
    data_ = gpu_.buffer(std::vector<std::uint32_t>(kThreads, 7), "data");
    more_ = gpu_.buffer(std::vector<std::uint32_t>(kThreads, 7), "more");
  }
  Outcome run(const std::string& body, std::vector<RunningGrid> running = {}) {
    gpu_.load(testing::of_data_and_more("k", body));
    gpu_.config.running_grids = running;
    const Outcome o = gpu_.launch("k", 1, kThreads, data_, more_);
    gpu_.config.running_grids = {};
    return o;
  }
  static RunningGrid running(const Outcome& o, bool until_wait = true) {
    return {"before", o.first_record, o.end_of_records, until_wait};
  }
  // Runs a grid that writes `data`, or executes `before`, and triggers its dependents; then a
  // dependent.
  Outcome after(const std::string& body, const std::string& before = kStart + kWrite) {
    return run(body, {running(run(before))});
  }

  Machine gpu_;
  memory::Address data_ = 0, more_ = 0;
};

void expect_race(const Outcome& o, const std::string& where) {
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kRace) << text(o);
  EXPECT_THAT(o.findings[0].where, HasSubstr(where));
  EXPECT_THAT(o.findings[0].where, HasSubstr("before, which may still run"));
  EXPECT_THAT(o.findings[0].detail, HasSubstr("griddepcontrol.wait"));
}
void expect_clean(const Outcome& o) { EXPECT_TRUE(o.findings.empty()) << text(o); }

TEST_F(DependentLaunch, WhatTheGridBeforeHasWrittenIsReadAfterTheWait) {
  expect_race(after(kCopy), "0 bytes into 'data'");
  expect_clean(after(kWait + kCopy));
  expect_race(after(kRead + kWait + "st.global.u32 [%rd4], %r2;\n"), "written by");
  // Accesses to other memory are not reported.
  expect_clean(after("ld.global.u32 %r2, [%rd4];\n" + kWait + kCopy));
}

TEST_F(DependentLaunch, WhatTheGridBeforeHasReadIsWrittenAfterTheWait) {
  expect_race(after(kWrite, kStart + kCopy), "accessed by");
  expect_clean(after(kWait + kWrite, kStart + kCopy));
  expect_race(after("st.global.u32 [%rd4], %r1;\n", kStart + kCopy), "accessed by");
  expect_clean(after(kRead, kStart + kCopy));
}

TEST_F(DependentLaunch, NarrowAndWideAccessesAreJudgedByTheirBytes) {
  const std::string one_byte = kStart + "st.global.u8 [%rd3+1], %r1;\n";
  expect_race(after("ld.global.u16 %r2, [%rd3];\n", one_byte), "written by");
  expect_clean(after("ld.global.u16 %r2, [%rd3+2];\n", one_byte));
  expect_race(
      after(
          "setp.ne.u32 %p1, %r1, 0;\n@%p1 exit;\nld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3];\n",
          kStart + "setp.ne.u32 %p1, %r1, 3;\n@%p1 exit;\n" + kWrite),
      "written by");
}

TEST_F(DependentLaunch, AThreadThatWaitsWaitsForThoseOrderedAfterIt) {
  const std::string first_waits = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra OVER;\n" + kWait + "OVER:\n";
  expect_clean(after(first_waits + "bar.sync 0;\n" + kCopy));
  expect_race(after(first_waits + kCopy), "written by");
  // The synchronisation covers the thread's own warp only.
  expect_race(after(first_waits + "bar.warp.sync 0xffffffff;\n" + kCopy), "128 bytes into 'data'");
}

// When record numbers start again, records of an earlier grid must not pass for this grid's.
TEST_F(DependentLaunch, RecordsOfAnEarlierGridEndBeforeThisOnes) {
  const RunningGrid forgotten{"before", 1, 1u << 22, true};
  expect_clean(run(kWrite + kCopy, {forgotten}));
}

TEST_F(DependentLaunch, AtomicsOfTwoGridsDoNotRace) {
  const std::string add = "red.global.add.u32 [%rd3], 1;\n";
  expect_clean(after(add, kStart + add));
}

TEST_F(DependentLaunch, TheOutcomeSaysWhatDependentsNeedToKnow) {
  const auto flags = [&](const std::string& body) {
    const Outcome o = run(body);
    return std::string(o.started_dependents ? "S" : "-") + (o.waited ? "W" : "-") +
           (o.waited_before_start ? "F" : "-");
  };
  EXPECT_EQ(flags(kWrite), "---");
  EXPECT_EQ(flags(kStart + kWait), "SW-");
  EXPECT_EQ(flags(kWait + kStart), "SWF");
  EXPECT_EQ(flags(kWait), "-WF");
}

TEST_F(DependentLaunch, AGridThatTheWaitDoesNotReachIsNeverSafe) {
  const Outcome first = run(kStart + kWrite);
  expect_race(run(kWait + kCopy, {running(first, false)}), "written by");
  gpu_.config.checks = check::kAllChecks & ~check::kRaces;
  expect_clean(run(kCopy, {running(first)}));
}

}  // namespace
}  // namespace lockstep::engine
