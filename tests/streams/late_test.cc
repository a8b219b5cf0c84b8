// Runs the programs of late.cu under the default schedule, under seeds, and with each operation
// executed in the call that enqueues it.
//
//   bazel test //tests/streams:late_test --test_env=STREAMS_SEEDS=20
//
// A right program must have the right result and no finding in all of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/streams/run.h"

namespace lockstep::streams {
namespace {

// The seeds are 1 to this number.
int seeds() { return seeds_or(6); }

struct Program {
  std::string name, kind;
};

std::ostream& operator<<(std::ostream& to, const Program& p) { return to << p.name; }

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const auto& row : table(run("", "late --list", testing::TempDir() + "/list").out))
    if (row.size() == 2) all.push_back({row[0], row[1]});
  return all;
}

std::string all_of(const Outcome& o) { return o.text() + o.findings.dump(2); }

bool is_right(const Outcome& o, const Program& p) { return o.out == p.name + "\tright\n"; }

bool has_finding(const Outcome& o, const std::string& kind) {
  return std::any_of(o.findings.begin(), o.findings.end(),
                     [&](const json& f) { return f["kind"] == kind; });
}

void expect(const Program& p, const std::string& options) {
  SCOPED_TRACE(options);
  const Outcome o = run("--stop " + options, "late " + p.name, testing::TempDir() + p.name);
  if (p.kind == "right") {
    EXPECT_EQ(o.status, 0) << all_of(o);
    EXPECT_TRUE(is_right(o, p)) << all_of(o);
    EXPECT_TRUE(o.findings.empty()) << all_of(o);
  } else if (p.kind == "race") {
    EXPECT_TRUE(has_finding(o, "race")) << all_of(o);
    EXPECT_TRUE(is_right(o, p)) << all_of(o);
  } else if (p.kind == "answers") {
    EXPECT_TRUE(is_right(o, p)) << all_of(o);
  } else if (p.kind == "found") {
    EXPECT_TRUE(has_finding(o, "race")) << all_of(o);
  } else if (p.kind == "hint") {
    // Other schedules may execute the input's kernel first.
    EXPECT_TRUE(has_finding(o, "race") || has_finding(o, "uninitialised")) << all_of(o);
    if (options != "--schedule=0") return;
    EXPECT_TRUE(has_finding(o, "uninitialised")) << all_of(o);
    EXPECT_TRUE(has(o.err, "Not executed yet, and not ordered before this kernel: ")) << all_of(o);
    EXPECT_TRUE(has(o.err, "produce(int*, int, long long) in stream 3.")) << all_of(o);
  } else if (p.kind == "left") {
    EXPECT_EQ(o.status, 0) << all_of(o);
    EXPECT_TRUE(o.findings.empty()) << all_of(o);
    if (options != "--schedule=0") return;
    EXPECT_TRUE(has(o.err, "without a wait for 1 host function: 2 operations were not executed"))
        << all_of(o);
  } else if (p.kind == "deadlock") {
    EXPECT_TRUE(has_finding(o, "deadlock")) << all_of(o);
    // The finding names where the stream or the kernel waits, and where the host waits.
    EXPECT_TRUE(has(o.err, "waits for the value") || has(o.err, "await(int*, int)")) << all_of(o);
    EXPECT_TRUE(has(o.err, "by the host, a call at") || has(o.err, "waits for it in a call at"))
        << all_of(o);
    EXPECT_NE(o.err.find("late.cu:"), o.err.npos) << all_of(o);
  } else {
    EXPECT_TRUE(is_right(o, p) || p.kind != "error") << all_of(o);
    EXPECT_TRUE(has_finding(o, "out-of-bounds")) << all_of(o);
  }
}

class Late : public testing::TestWithParam<Program> {};

TEST_P(Late, ByDefault) { expect(GetParam(), "--schedule=0"); }

TEST_P(Late, UnderEverySeed) {
  const Program& p = GetParam();
  // Under a seed the launch call may execute the kernel and return its error. "found" promises a
  // finding under the default schedule alone. Right programs run together.
  if (p.kind == "error" || p.kind == "found" || p.kind == "right") return;
  for (int seed = 1; seed <= seeds(); ++seed) expect(p, "--schedule=" + std::to_string(seed));
}

// Every operation is executed in its call, which then returns the error.
TEST_P(Late, AtOnce) {
  if (GetParam().kind == "error" || GetParam().kind == "found") return;
  setenv("LOCKSTEP_STREAMS", "at-once", 1);
  expect(GetParam(), "");
  unsetenv("LOCKSTEP_STREAMS");
}

INSTANTIATE_TEST_SUITE_P(Programs, Late, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

class RightOnes : public testing::TestWithParam<int> {};

// All in one process: alone, each would take most of its time to start.
TEST_P(RightOnes, UnderASeed) {
  const std::string options = "--schedule=" + std::to_string(GetParam());
  std::string expected;
  for (const Program& p : programs())
    if (p.kind == "right") expected += p.name + "\tright\n";
  const Outcome o = run("--stop " + options, "late right", testing::TempDir() + "right");
  if (o.status == 0 && o.findings.empty() && o.out == expected) return;
  ADD_FAILURE() << all_of(o);
  for (const Program& p : programs())
    if (p.kind == "right") expect(p, options);
}

INSTANTIATE_TEST_SUITE_P(Programs, RightOnes, testing::Range(1, seeds() + 1));

}  // namespace
}  // namespace lockstep::streams
