// Runs the programs of this folder under `lockstep exec`. They must be right under every setting,
// and each of their mistakes must be reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

// Instead of a kind: no finding reports the mistake; the program's own check prints FAIL.
constexpr const char* kOwnCheck = "";

struct Entry {
  const char* group;
  const char* name;
  // For each mistake, the kinds of finding that may report it, separated by |; or kOwnCheck. If
  // there are several, the schedule decides which access is reported first.
  std::vector<const char*> mistakes;
  // Kinds of information that the correct program may cause, for example if every thread writes the
  // same flag, or padding is copied to the host.
  std::string information = {};
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {"algorithms", "cub_block", {"race", kOwnCheck}},
      {"algorithms", "cub_device", {"out-of-bounds", kOwnCheck}},
      {"algorithms", "thrust_in_place", {"race"}, "race|uninitialised"},
      {"algorithms", "thrust_segments", {kOwnCheck}},
      {"algorithms", "thrust_statistics", {kOwnCheck}},
      {"algorithms", "thrust_words", {kOwnCheck}},
      {"codes", "aes", {"out-of-bounds", "race"}},
      {"codes", "base64", {"out-of-bounds", "out-of-bounds"}},
      {"codes", "chacha20", {kOwnCheck, "out-of-bounds"}},
      {"codes", "crc32", {"race", "race"}},
      {"codes", "hash_table", {"misaligned", "out-of-bounds"}},
      {"codes", "huffman", {"race", "uninitialised"}},
      {"codes", "lz_matches", {"out-of-bounds"}},
      {"codes", "md5_search", {kOwnCheck, "race"}},
      {"codes", "miller_rabin", {kOwnCheck}},
      {"codes", "run_lengths", {"uninitialised", "barrier-divergence"}},
      {"codes", "sha256", {"uninitialised"}},
      {"codes", "sieve", {"race", kOwnCheck}},
      {"codes", "varint", {"misaligned", "race"}},
      {"debug", "bit_fields_debug", {"uninitialised", "uninitialised"}},
      {"discrete", "bfs", {"race", "uninitialised"}},
      {"discrete", "bitonic_sort", {"race"}},
      {"discrete", "boruvka", {kOwnCheck}},
      {"discrete", "colouring", {"race"}},
      {"discrete", "common_subsequence", {"uninitialised", "uninitialised"}},
      {"discrete", "compaction", {"race", "out-of-bounds"}},
      {"discrete", "components", {"race", kOwnCheck}, "race"},
      {"discrete", "core_numbers", {"race", kOwnCheck}},
      {"discrete", "edit_distance", {"out-of-bounds", kOwnCheck}},
      {"discrete", "floyd_warshall", {"out-of-bounds", "race"}},
      {"discrete", "knapsack", {"race", "out-of-bounds"}},
      {"discrete", "last_block_sum", {"race", "race", "race|barrier-divergence"}},
      {"discrete", "look_back", {"race", "uninitialised"}},
      {"discrete", "merge_sort", {"race"}},
      {"discrete", "needleman_wunsch", {"race", kOwnCheck}},
      {"discrete", "odd_even_sort", {"out-of-bounds", "out-of-bounds"}},
      {"discrete", "pagerank", {kOwnCheck, "uninitialised"}},
      {"discrete", "pathfinder", {kOwnCheck, kOwnCheck}},
      {"discrete", "radix_sort", {"race|out-of-bounds"}},
      {"discrete", "scan_levels", {kOwnCheck, kOwnCheck, "race"}},
      {"discrete", "segmented_sum", {"inactive-lane", "uninitialised"}},
      {"discrete", "selection", {kOwnCheck, "out-of-bounds"}},
      {"discrete", "shortest_paths", {"race", kOwnCheck}, "race"},
      {"discrete", "smith_waterman", {"out-of-bounds", kOwnCheck}},
      {"discrete", "triangles", {kOwnCheck, "invalid-mask"}},
      {"discrete", "viterbi", {"race", "uninitialised"}},
      {"hardware", "async_tiles", {"race", "race"}},
      {"hardware", "bilateral", {"out-of-bounds", kOwnCheck}},
      {"hardware", "bit_fields", {"uninitialised", "uninitialised"}},
      {"hardware", "box_blur", {"uninitialised", "race|uninitialised"}},
      {"hardware", "dct", {"race", "uninitialised"}},
      {"hardware", "equalisation", {"race", "race"}},
      {"hardware", "grid_iterations", {"race|uninitialised", "race|uninitialised"}},
      {"hardware", "median", {kOwnCheck, "uninitialised"}},
      {"hardware", "morphology", {"race", "uninitialised"}},
      {"hardware", "motion_search", {"out-of-bounds", "race"}},
      {"hardware", "packed_records", {"misaligned", "race|out-of-bounds"}},
      {"hardware", "separable_convolution", {"uninitialised", kOwnCheck}},
      {"hardware", "sobel", {"out-of-bounds", kOwnCheck}},
      {"hardware", "special_functions", {kOwnCheck, "out-of-bounds"}},
      {"hardware", "texture_resample", {kOwnCheck, kOwnCheck}},
      {"hardware", "warp_roles", {"race|deadlock"}},
      {"language", "bank_accounts", {"deadlock", "race"}},
      {"language", "calendar", {kOwnCheck, "out-of-bounds"}, "uninitialised"},
      {"language", "extremes", {kOwnCheck, "misaligned"}},
      {"language", "half_precision", {"misaligned", kOwnCheck}},
      {"language", "interpreter", {kOwnCheck, kOwnCheck}},
      {"language", "life", {kOwnCheck, "race"}},
      {"language", "matrix_product", {"misaligned", "race", "race|barrier-divergence"}},
      {"language", "pipeline", {"uninitialised", "use-after-free"}},
      {"language", "queens", {kOwnCheck, "race"}},
      {"language", "quicksort", {"stack-overflow", "race|out-of-bounds"}},
      {"language", "rationals", {kOwnCheck, kOwnCheck}},
      {"language", "shapes", {"uninitialised", "use-after-free"}},
      {"language", "tiles", {"inactive-lane", "invalid-mask"}, "race"},
      {"language", "trees", {"out-of-bounds", "race"}},
      {"numeric", "batched_cholesky", {"race", kOwnCheck}},
      {"numeric", "conjugate_gradients", {"race", "uninitialised"}},
      {"numeric", "fdtd", {"out-of-bounds", "uninitialised"}},
      {"numeric", "fft", {kOwnCheck, "race"}},
      {"numeric", "gauss", {"race", "race"}},
      {"numeric", "givens", {"race", "uninitialised"}},
      {"numeric", "heat", {"out-of-bounds", "uninitialised"}},
      {"numeric", "integration", {kOwnCheck, "uninitialised"}},
      {"numeric", "ising", {"race"}},
      {"numeric", "jacobi", {"race", "uninitialised"}, "race"},
      {"numeric", "lbm", {kOwnCheck}},
      {"numeric", "lennard_jones", {kOwnCheck, "uninitialised"}},
      {"numeric", "lu", {"race", kOwnCheck}},
      {"numeric", "mandelbrot", {kOwnCheck, "out-of-bounds"}},
      {"numeric", "nbody", {"race"}},
      {"numeric", "option_paths", {"out-of-bounds", "uninitialised"}},
      {"numeric", "pi", {kOwnCheck, kOwnCheck}},
      {"numeric", "random_walks", {"out-of-bounds", "race"}},
      {"numeric", "sph", {"race", "out-of-bounds"}},
      {"numeric", "spmv", {"out-of-bounds", kOwnCheck}},
      {"numeric", "stencil_3d", {"out-of-bounds", kOwnCheck}},
      {"numeric", "transpose", {"race", "race|out-of-bounds"}},
      {"numeric", "wave", {"race"}},
      {"unoptimised", "bit_fields_unoptimised", {"uninitialised", "uninitialised"}},
  };
  return all;
}

bool is_one_of(const std::string& kind, const std::string& kinds) {
  return has("|" + kinds + "|", "|" + kind + "|");
}

struct Reported : Outcome {
  json report;

  bool reported(const std::string& kind, const std::string& kernel) const {
    for (const json& f : report["findings"]) {
      if (f["severity"] == "error" && is_one_of(f["kind"], kind) && has(f["kernel"], kernel))
        return true;
    }
    return false;
  }
  std::string text() const { return "exit status " + std::to_string(status) + "\n" + out + err; }
};

// Every program runs for less than a second. The limit ends one that hangs; the exit status shows
// it.
constexpr const char* kTimeLimit = "timeout 100 ";

// Runs `words`: the name of a group, and its program's words.
Reported run_words(const std::string& setting, const std::string& words) {
  const std::string report = scratch("report.json");
  std::ofstream(report) << "{}";  // overwrites the report of an earlier run
  Reported o{lockstep::run("exec --require-kernels " + setting + " --report=" + report +
                               " -- tests/programs/" + words,
                           kTimeLimit),
             json::parse(contents(report), nullptr, false)};
  if (!o.report.contains("findings")) o.report["findings"] = json::array();
  return o;
}

Reported run(const Entry& e, const std::string& setting, int mistake) {
  std::string words = std::string(e.group) + " " + e.name;
  if (mistake) words += " --mistake=" + std::to_string(mistake);
  return run_words(setting, words);
}

// ---- right --------------------------------------------------------------------------------------

struct Case {
  const Entry* entry;
  std::string setting, label;
  int mistake = 0;
};

std::ostream& operator<<(std::ostream& to, const Case& c) {
  return to << c.entry->name << " " << c.setting;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.entry->name + info.param.label;
}

// The programs in the order of blocks of one host thread; GroupOfRight runs them in others.
std::vector<Case> right_cases() {
  std::vector<Case> all;
  for (const Entry& e : entries()) all.push_back({&e, "--threads=1 --schedule=0", ""});
  return all;
}

void expect_right(const Entry& e, const std::string& setting) {
  const Reported o = run(e, setting, 0);
  EXPECT_EQ(o.status, 0) << o.text();
  EXPECT_TRUE(has(o.out, std::string("PASS ") + e.name + ": ")) << o.text();
  for (const json& f : o.report["findings"]) {
    EXPECT_EQ(f["severity"], "information") << f.dump(2);
    EXPECT_TRUE(is_one_of(f["kind"], e.information)) << f.dump(2);
  }
  int launches = 0;
  for (const json& kernel : o.report["kernels"]) launches += kernel.value("launches", 0);
  EXPECT_GT(launches, 0) << o.text();
}

class Right : public testing::TestWithParam<Case> {};

TEST_P(Right, PassesItsOwnCheckAndNothingIsFound) {
  expect_right(*GetParam().entry, GetParam().setting);
}

INSTANTIATE_TEST_SUITE_P(Program, Right, testing::ValuesIn(right_cases()), name_of);

struct Group {
  std::string name, setting;
};

std::ostream& operator<<(std::ostream& to, const Group& g) { return to << g.name << g.setting; }

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const Entry& e : entries()) {
    if (!all.empty() && all.back().name == e.group) continue;
    for (const char* schedule : {"0", "1", "2"})
      all.push_back({e.group, std::string("--threads=2 --schedule=") + schedule});
  }
  return all;
}

// Whether programs of the group may cause the finding: the one whose kernel it names, or any if it
// names a library's kernel or none.
bool may_cause(const std::vector<const Entry*>& group, const json& finding) {
  if (finding["severity"] != "information") return false;
  std::vector<const Entry*> suspects;
  for (const Entry* e : group)
    if (has(finding["kernel"], std::string(e->name) + "::")) suspects.push_back(e);
  if (suspects.empty()) suspects = group;
  return std::any_of(suspects.begin(), suspects.end(),
                     [&](const Entry* e) { return is_one_of(finding["kind"], e->information); });
}

class GroupOfRight : public testing::TestWithParam<Group> {};

// All programs of a group run in one process: alone, each would take most of its time to start.
TEST_P(GroupOfRight, PassesItsChecksInEveryOrder) {
  std::vector<const Entry*> group;
  for (const Entry& e : entries())
    if (GetParam().name == e.group) group.push_back(&e);
  const Reported o = run_words(GetParam().setting, GetParam().name);
  bool right = o.status == 0 && !o.report["kernels"].empty();
  for (const Entry* e : group) right &= has(o.out, std::string("PASS ") + e->name + ": ");
  for (const json& f : o.report["findings"]) right &= may_cause(group, f);
  if (right) return;
  ADD_FAILURE() << o.text();
  for (const Entry* e : group) expect_right(*e, GetParam().setting);
}

INSTANTIATE_TEST_SUITE_P(Program, GroupOfRight, testing::ValuesIn(groups()), [](const auto& info) {
  return info.param.name + "_schedule_" + info.param.setting.back();
});

// A program whose tiles look back at earlier tiles must be right for any order of blocks and any
// number of host threads.
TEST(LookBack, HoldsInOtherOrdersAndOnSeveralHostThreads) {
  for (const Entry& e : entries()) {
    if (std::string(e.name) != "thrust_segments") continue;
    for (const char* setting : {"--threads=2 --check=none", "--threads=8 --check=none",
                                "--threads=1 --schedule=5", "--threads=3 --schedule=6"}) {
      const Reported o = run(e, setting, 0);
      EXPECT_EQ(o.status, 0) << setting << "\n" << o.text();
      EXPECT_TRUE(has(o.out, "PASS thrust_segments: 0 of 10000 ")) << setting << "\n" << o.text();
    }
    return;
  }
  FAIL() << "thrust_segments is not in the table";
}

// Known findings in NVIDIA's libraries (docs/reference/checks.md) are errors with strict-libraries.
// Otherwise they end no kernel.
TEST(Libraries, AreHeldToTheirOwnMistakesWhenAsked) {
  const auto known = std::find_if(entries().begin(), entries().end(), [](const Entry& e) {
    return std::string(e.name) == "thrust_in_place";
  });
  ASSERT_NE(known, entries().end());
  const Reported strict = run(*known, "--check=all,strict-libraries", 0);
  EXPECT_EQ(strict.status, 86) << strict.text();
  EXPECT_TRUE(strict.reported("race", "cub::")) << strict.text();
  EXPECT_TRUE(strict.reported("uninitialised", "cub::")) << strict.text();
  const Reported stopping = run(*known, "--stop", 0);
  EXPECT_EQ(stopping.status, 0) << stopping.text();
  EXPECT_TRUE(has(stopping.out, "PASS")) << stopping.text();
}

// ---- wrong --------------------------------------------------------------------------------------

// Mistakes run in the default order with one host thread, and in another with two, in turn;
// with --config=nightly all run in both.
std::vector<Case> mistakes() {
  const bool nightly = std::getenv("LOCKSTEP_SCALE") != nullptr;
  std::vector<Case> all;
  bool in_another = false;
  for (const Entry& e : entries()) {
    for (std::size_t i = 0; i < e.mistakes.size(); ++i, in_another = !in_another) {
      const int n = static_cast<int>(i) + 1;
      const std::string label = "_" + std::to_string(n);
      if (nightly || !in_another) all.push_back({&e, "--threads=1 --schedule=0", label, n});
      if (nightly || in_another)
        all.push_back({&e, "--threads=2 --schedule=1", label + "_schedule_1", n});
    }
  }
  return all;
}

class Mistake : public testing::TestWithParam<Case> {};

TEST_P(Mistake, IsFound) {
  const Entry& e = *GetParam().entry;
  const std::string kind = e.mistakes[static_cast<std::size_t>(GetParam().mistake) - 1];
  const Reported o = run(e, GetParam().setting, GetParam().mistake);
  const bool failed = has(o.out, std::string("FAIL ") + e.name + ": ");
  if (kind == kOwnCheck) {
    EXPECT_EQ(o.status, 1) << o.text();
    EXPECT_TRUE(failed) << o.text();
    for (const json& f : o.report["findings"]) EXPECT_EQ(f["severity"], "information") << f.dump(2);
    return;
  }
  // The program may print its own FAIL, or be right in spite of the mistake: then exec ends with
  // 86.
  EXPECT_EQ(o.status, failed ? 1 : 86) << o.text();
  const bool of_the_library = std::string(e.group) == "algorithms";
  EXPECT_TRUE(o.reported(kind, std::string(e.name) + "::") ||
              (of_the_library && o.reported(kind, "cub::")))
      << kind << "\n"
      << o.text();
}

INSTANTIATE_TEST_SUITE_P(Program, Mistake, testing::ValuesIn(mistakes()), name_of);

// ---- the table ----------------------------------------------------------------------------------

TEST(Programs, AreAllInTheTableWithTheirMistakes) {
  std::map<std::string, std::string> listed;  // by group
  for (const Entry& e : entries())
    listed[e.group] += std::string(e.name) + " " + std::to_string(e.mistakes.size()) + "\n";
  for (const auto& [group, lines] : listed) {
    // The program needs a runtime library to start; exec finds one.
    const Outcome list = lockstep::run("exec --quiet -- tests/programs/" + group + " --list");
    ASSERT_EQ(list.status, 0) << group;
    EXPECT_EQ(list.out, lines) << group;
  }
}

TEST(Programs, AreAtLeastFortyWithFortyMistakes) {
  std::size_t mistakes = 0;
  for (const Entry& e : entries()) mistakes += e.mistakes.size();
  EXPECT_GE(entries().size(), 40u);
  EXPECT_GE(mistakes, 40u);
}

TEST(Programs, HaveMistakesOfEveryKindOfFinding) {
  for (const char* kind :
       {"race", "out-of-bounds", "uninitialised", "misaligned", "barrier-divergence", "deadlock",
        "invalid-mask", "inactive-lane", "use-after-free", "stack-overflow", kOwnCheck}) {
    int count = 0;
    for (const Entry& e : entries())
      count +=
          static_cast<int>(std::count(e.mistakes.begin(), e.mistakes.end(), std::string(kind)));
    EXPECT_GE(count, 1) << kind;
  }
}

TEST(Programs, AreCountedInTheirPage) {
  const std::string page = contents("docs/reference/programs.md");
  EXPECT_TRUE(has(page, "holds " + std::to_string(entries().size()) + " CUDA programs"))
      << entries().size();
  std::map<std::string, int> counts;
  for (const Entry& e : entries()) {
    for (const std::string kinds : e.mistakes) {
      std::string words = kinds == kOwnCheck ? "the program's own check" : "`" + kinds + "`";
      if (const auto bar = words.find('|'); bar != words.npos) words.replace(bar, 1, "` or `");
      ++counts[words];
    }
  }
  for (const auto& [words, count] : counts) {
    const std::string row = "| " + words + " | " + std::to_string(count) + " |";
    EXPECT_TRUE(has(page, row)) << row;
  }
}

}  // namespace
}  // namespace lockstep
