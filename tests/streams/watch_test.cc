// Runs the programs of watch.cu and its parts. Right ones must have the right result and no finding
// under the default schedule, under seeds, and with each operation executed in its call. The others
// must be reported with the line of the host code.
//
// If launches are proved, the programs run by default and under a seed alone: a proof leaves out
// searches, and in the other ways only right programs are searched.
//
//   bazel test //tests/streams:watch_test --test_env=STREAMS_SEEDS=20
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/streams/run.h"

namespace lockstep::streams {
namespace {

struct Program {
  std::string name, kind;
};

std::ostream& operator<<(std::ostream& to, const Program& p) { return to << p.name; }

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const auto& row : table(run("", "watch --list", testing::TempDir() + "/list").out))
    if (row.size() == 2) all.push_back({row[0], row[1]});
  return all;
}

std::string all_of(const Outcome& o) { return o.text() + o.findings.dump(2); }

Outcome run_one(const Program& p, const std::string& options) {
  return run(options, "watch " + p.name, testing::TempDir() + p.name);
}

void expect_right(const Program& p, const std::string& options) {
  SCOPED_TRACE(options);
  const Outcome o = run_one(p, options);
  EXPECT_EQ(o.status, 0) << all_of(o);
  EXPECT_EQ(o.out, p.name + "\tright\n") << all_of(o);
  EXPECT_TRUE(o.findings.empty()) << all_of(o);
}

bool is_right(const Program& p) { return p.kind == "right" || p.kind == "late"; }

bool is_expected(const Program& p, const json& finding) {
  const std::string text = finding.dump();
  if (finding["severity"] != "error") return false;
  if (p.kind == "deadlock" || p.kind == "time-limit")
    return finding["kind"] == p.kind && has(text, ".cu:");
  return finding["kind"] == "race" && has(text, ".cu:") &&
         (p.kind == "kernels" || has(text, "the host"));
}

class Watched : public testing::TestWithParam<Program> {};

TEST_P(Watched, ByDefault) {
  const Program& p = GetParam();
  if (is_right(p)) return expect_right(p, "");
  const Outcome o = run_one(p, p.kind == "time-limit" ? "--instruction-limit=1000000" : "");
  EXPECT_TRUE(std::any_of(o.findings.begin(), o.findings.end(), [&](const json& f) {
    return is_expected(p, f);
  })) << all_of(o);
}

TEST_P(Watched, AtOnce) {
  if (GetParam().kind != "right" || is_proved()) return;
  setenv("LOCKSTEP_STREAMS", "at-once", 1);
  expect_right(GetParam(), "");
  unsetenv("LOCKSTEP_STREAMS");
}

// With host access checks off there are no protected pages and no findings.
TEST_P(Watched, SwitchedOff) {
  if (is_proved()) return;
  const Program& p = GetParam();
  if (!is_right(p) && p.kind != "race") return;
  setenv("LOCKSTEP_HOST_ACCESSES", "ignore", 1);
  const Outcome o = run_one(p, "");
  unsetenv("LOCKSTEP_HOST_ACCESSES");
  EXPECT_EQ(o.status, 0) << all_of(o);
  if (is_right(p)) EXPECT_EQ(o.out, p.name + "\tright\n") << all_of(o);
  EXPECT_TRUE(o.findings.empty()) << all_of(o);
}

INSTANTIATE_TEST_SUITE_P(Programs, Watched, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

// The right programs run in one process, one after another.
TEST(RightOnes, UnderEverySeed) {
  const int seeds = seeds_or(is_proved() ? 1 : 3);
  std::string expected;
  for (const Program& p : programs())
    if (p.kind == "right") expected += p.name + "\tright\n";
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::string options = "--schedule=" + std::to_string(seed);
    const Outcome o = run(options, "watch right", testing::TempDir() + "right");
    if (o.status == 0 && o.findings.empty() && o.out == expected) continue;
    ADD_FAILURE() << options << "\n" << all_of(o);
    for (const Program& p : programs())
      if (p.kind == "right") expect_right(p, options);
  }
}

}  // namespace
}  // namespace lockstep::streams
