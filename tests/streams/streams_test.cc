// Checks that every mistake of the cases is reported with both sides, and that no twin has a
// finding.
//
// A mistake counts as found if the default schedule or one of the seeds 1 to 3 shows it. Twins run
// under the default schedule and seeds 1 to 3, if launches are proved seed 1 alone, or to
// STREAMS_SEEDS:
//
//   bazel test //tests/streams:streams_test --test_env=STREAMS_SEEDS=20
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tests/streams/run.h"

namespace lockstep::streams {
namespace {

constexpr const char* kOptions = "--devices=2 --schedule=";

struct Case {
  std::string kind, name, first, second;
};

std::ostream& operator<<(std::ostream& to, const Case& c) { return to << c.name; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> read;
    for (const auto& row : table(run("", "cases --list", testing::TempDir() + "/list").out))
      if (row.size() == 4) read.push_back({row[0], row[1], row[2], row[3]});
    return read;
  }();
  return all;
}

// How often the text contains one of several words, separated by |.
int occurrences(const std::string& text, const std::string& words) {
  int count = 0;
  std::istringstream all(words);
  for (std::string word; std::getline(all, word, '|');)
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Whether the finding is this case's mistake and names both sides.
bool reports(const json& finding, const Case& c) {
  const std::string kind = finding["kind"], text = finding.dump();
  if (finding["severity"] != "error") return false;
  // A use after an unordered release is reported as use-after-free, which names the memory.
  if (c.kind == "allocations" && kind == "use-after-free") return occurrences(text, c.second) >= 1;
  // A finding names a host call by its line.
  static const std::regex line(R"(a call at .*\.(cu|cuh|h):[0-9]+)");
  if (!finding.value("call", "").empty() &&
      !std::regex_search(finding.value("operation", ""), line))
    return false;
  return kind == "race" && occurrences(text, c.first) >= (c.first == c.second ? 2 : 1) &&
         occurrences(text, c.second) >= 1;
}

std::string all_of(const Outcome& o) { return o.text() + o.findings.dump(2); }

class Mistake : public testing::TestWithParam<Case> {};

TEST_P(Mistake, IsFoundWithBothSides) {
  const Case& c = GetParam();
  std::string tried;
  for (const char* seed : {"0", "1", "2", "3"}) {
    const Outcome o =
        run(kOptions + std::string(seed), "cases mistake " + c.name, testing::TempDir() + c.name);
    EXPECT_NE(o.status, 2) << o.text();
    const bool found = std::any_of(o.findings.begin(), o.findings.end(),
                                   [&](const json& f) { return reports(f, c); });
    if (found) {
      EXPECT_EQ(o.status, 86) << all_of(o);
      RecordProperty("seed", seed);
      return;
    }
    tried += "seed " + std::string(seed) + ": " + all_of(o) + "\n";
  }
  FAIL() << c.kind << ": no race of " << c.first << " and " << c.second << "\n" << tried;
}

INSTANTIATE_TEST_SUITE_P(Streams, Mistake, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

struct Twins {
  std::string kind;
  int seed;
};

std::ostream& operator<<(std::ostream& to, const Twins& t) {
  return to << t.kind << " under seed " << t.seed;
}

std::vector<Twins> twins() {
  const int seeds = seeds_or(is_proved() ? 1 : 3);
  std::set<std::string> kinds;
  for (const Case& c : cases()) kinds.insert(c.kind);
  std::vector<Twins> all;
  for (const std::string& kind : kinds)
    for (int seed = 0; seed <= seeds; ++seed) all.push_back({kind, seed});
  return all;
}

class Twin : public testing::TestWithParam<Twins> {};

// All cases of a kind run in one process, one after another.
TEST_P(Twin, IsRightAndNotAccused) {
  const auto& [kind, seed] = GetParam();
  const std::string options = kOptions + std::to_string(seed),
                    scratch = testing::TempDir() + "twin";
  const Outcome o = run(options, "cases twin '" + kind + "'", scratch);
  std::string expected;
  for (const Case& c : cases())
    if (c.kind == kind) expected += c.name + "\tright\n";
  if (o.status == 0 && o.findings.empty() && o.out == expected) return;
  ADD_FAILURE() << o.status << "\n" << all_of(o);
  for (const Case& c : cases()) {
    if (c.kind != kind) continue;
    const Outcome one = run(options, "cases twin " + c.name, scratch);
    if (one.status != 0 || !one.findings.empty() || one.out != c.name + "\tright\n")
      ADD_FAILURE() << "of these: " << c.name << "\n" << all_of(one);
  }
}

INSTANTIATE_TEST_SUITE_P(Streams, Twin, testing::ValuesIn(twins()), [](const auto& info) {
  std::string name = info.param.kind + "_" + std::to_string(info.param.seed);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

// ---- the table of a GPU's answers ---------------------------------------------------------------

TEST(Table, HasEveryCaseAndThePageHasTheTable) {
  EXPECT_GE(cases().size(), 80u);
  const auto rows = table(contents("tests/streams/cases.tsv"));
  const std::string page = contents("docs/journal/streams_silicon.md");
  ASSERT_EQ(rows.size(), cases().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), 4u) << i;
    EXPECT_EQ(rows[i][0], cases()[i].kind);
    EXPECT_EQ(rows[i][1], cases()[i].name);
    EXPECT_TRUE(has(page, "| `" + rows[i][1] + "` | " + rows[i][2] + " | " + rows[i][3] + " |"))
        << rows[i][1];
  }
}

}  // namespace
}  // namespace lockstep::streams
