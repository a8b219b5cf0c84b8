// Races between launches. LaunchConfig::place defines which launches are ordered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/check/launch_order.h"
#include "simulator/engine/launch/history.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace {

using ::testing::HasSubstr;
using testing::Machine;
using testing::of_data_and_more;
using testing::text;

constexpr std::uint32_t kWidth = 64;

class Launches : public ::testing::Test {
 protected:
  void SetUp() override {
    gpu_.load(of_data_and_more("write", "st.global.u32 [%rd3], %r1;") +
              of_data_and_more("read", "ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd4], %r2;") +
              of_data_and_more("byte",
                               "cvt.u64.u32 %rd5, %r1;\nadd.u64 %rd5, %rd5, %rd1;\n"
                               "st.global.u8 [%rd5], %r1;") +
              of_data_and_more("count",
                               "atom.global.add.u32 %r2, [%rd1], 1;\nst.global.u32 [%rd4], %r2;") +
              of_data_and_more("reset", "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd1], 0;") +
              of_data_and_more("publish",
                               "st.global.u32 [%rd3], %r1;\nbar.sync 0;\n"
                               "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 1;\n"
                               "@%p1 st.release.gpu.global.u32 [%rd2], %r2;") +
              of_data_and_more(
                  "take", "ld.acquire.gpu.global.u32 %r2, [%rd2];\nld.global.u32 %r3, [%rd3];"));
    data_ = gpu_.buffer(std::vector<std::uint32_t>(kWidth, 7), "data");
    more_ = gpu_.buffer(std::vector<std::uint32_t>(kWidth, 7), "more");
    other_ = gpu_.buffer(std::vector<std::uint32_t>(kWidth, 7), "other");
  }
  // Runs an operation of `lane`; `before` holds, by lane, the operations ordered before it.
  Outcome run(const char* name, std::uint32_t lane, std::vector<std::uint32_t> before,
              std::vector<std::uint32_t> settled = {}) {
    if (before.size() <= lane) before.resize(lane + 1);
    const std::uint32_t sequence = ++last_[lane];
    before[lane] = sequence;
    gpu_.config.place = {lane, sequence, before, settled, {StreamName::Kind::kCreated, lane + 3},
                         true};
    Outcome o = gpu_.launch(name, 1, kWidth, data_, std::string(name) == "read" ? other_ : more_);
    gpu_.config.place = {};
    return o;
  }

  Machine gpu_;
  memory::Address data_ = 0, more_ = 0, other_ = 0;
  std::uint32_t last_[8] = {};
};

void expect_no_finding(const Outcome& o) { EXPECT_TRUE(o.findings.empty()) << text(o); }
void expect_race_with(const Outcome& o, const std::string& other) {
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kRace) << text(o);
  ASSERT_TRUE(o.findings[0].other.has_value()) << text(o);
  EXPECT_EQ(o.findings[0].other->operation, other);
}

TEST_F(Launches, OfTwoLanesRace) {
  expect_no_finding(run("write", 0, {}));
  const Outcome o = run("read", 1, {});
  expect_race_with(o, "write in stream 3");
  EXPECT_EQ(o.findings[0].access.operation, "read in stream 4");
  EXPECT_TRUE(o.findings[0].other->is_write);
}

TEST_F(Launches, OfOneLaneAreOrdered) {
  expect_no_finding(run("write", 0, {}));
  expect_no_finding(run("read", 0, {}));
}

TEST_F(Launches, ThatAreOrderedDoNotRace) {
  expect_no_finding(run("write", 0, {}));
  expect_no_finding(run("read", 1, {1}));
  expect_no_finding(run("write", 0, {0, 1}));
}

TEST_F(Launches, AWriteMeetsTheReadOfAnotherLane) {
  expect_no_finding(run("read", 0, {}));
  expect_race_with(run("write", 1, {}), "read in stream 3");
}

TEST_F(Launches, ReadsDoNotRace) {
  expect_no_finding(run("read", 0, {}));
  gpu_.config.checks = check::kAllChecks;
  std::swap(other_, more_);
  const Outcome o = run("read", 1, {});
  std::swap(other_, more_);
  expect_no_finding(o);
}

// The unordered reader must be remembered beside the ordered one.
TEST_F(Launches, AWriteAfterOneOfTwoReadersMeetsTheOther) {
  const memory::Address results = other_;
  expect_no_finding(run("read", 0, {}));
  other_ = more_;
  expect_no_finding(run("read", 1, {}));
  other_ = results;
  expect_race_with(run("write", 2, {0, 1}), "read in stream 3");
}

TEST_F(Launches, BytesOfAWordAreDistinguished) {
  expect_no_finding(run("byte", 0, {}));
  expect_race_with(run("byte", 1, {}), "byte in stream 3");
  const memory::Address data = data_;
  data_ += kWidth;
  expect_no_finding(run("byte", 2, {}));
  data_ = data;
}

TEST_F(Launches, AtomicsOfTwoLanesDoNotRaceAndAPlainWriteDoes) {
  expect_no_finding(run("count", 0, {}));
  more_ = other_;
  expect_no_finding(run("count", 1, {}));
  expect_race_with(run("reset", 2, {}), "count in stream 4");
}

// A flag synchronises two launches as it synchronises two blocks.
TEST_F(Launches, AFlagOrders) {
  expect_no_finding(run("publish", 0, {}));
  expect_no_finding(run("take", 1, {}));
  expect_race_with(run("read", 2, {}), "publish in stream 3");
}

TEST_F(Launches, WhatIsSettledIsForgotten) {
  expect_no_finding(run("write", 0, {}));
  expect_no_finding(run("read", 1, {1}, {1}));
  expect_no_finding(run("write", 2, {1, 1}, {1, 1}));
  expect_race_with(run("write", 3, {1, 1}, {1, 1}), "write in stream 5");
}

TEST_F(Launches, ManyInOneLaneAreForgottenAndReported) {
  const std::vector<std::uint32_t> nothing;
  expect_no_finding(run("write", 1, {}));
  data_ = other_;
  for (std::size_t i = 0; i < check::LaunchOrder::kMost + 2; ++i)
    ASSERT_TRUE(run("write", 0, {}).findings.size() <= 1);
  const Outcome o = run("reset", 2, {});
  bool known = false;
  for (const check::Finding& f : o.findings) known |= f.kind == check::Kind::kRace;
  EXPECT_TRUE(known) << "the latest launches are remembered: " << text(o);
}

TEST_F(Launches, ACopyMeetsTheAccessesOfLaunches) {
  expect_no_finding(run("write", 0, {}));
  const std::vector<std::uint32_t> after{1}, nothing;
  const memory::Box box = memory::Box::line(data_ + 4 * 5, 4);
  const auto ask = [&](const std::vector<std::uint32_t>& before, const memory::Box& bytes,
                       bool writes) {
    OperationPlace place;
    place.lane = 1;
    place.sequence = 1;
    place.before = before;
    return find_unordered_access(gpu_.memory, place, bytes, writes);
  };
  const auto met = ask(nothing, box, false);
  ASSERT_TRUE(met.has_value());
  EXPECT_EQ(met->access.thread, (Dim3{5, 0, 0}));
  EXPECT_EQ(met->access.operation, "write in stream 3");
  EXPECT_FALSE(ask(after, box, true).has_value());
  EXPECT_FALSE(ask(nothing, memory::Box::line(other_, 4), true).has_value());
  expect_no_finding(run("read", 0, {}));
  const auto read = ask({1}, box, true);
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->access.is_write);
  EXPECT_FALSE(ask({1}, box, false).has_value()) << "two reads";
}

}  // namespace
}  // namespace lockstep::engine
