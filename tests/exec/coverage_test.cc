// `lockstep coverage` on programs/covered.cu, whose line numbers the test names, and genhtml's
// output for its tracefile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

constexpr const char* kSource = "tests/exec/programs/covered.cu";

// The outcome of one run, and the records of its tracefile.
struct Covered {
  Outcome outcome;
  std::string text;                // the output of --text
  std::vector<std::string> lines;  // of the tracefile

  bool has_record(const std::string& record) const {
    return std::find(lines.begin(), lines.end(), record) != lines.end();
  }
  // The number of threads that executed a line; -1: the line has no code.
  long count(int line) const {
    const std::string begin = "DA:" + std::to_string(line) + ",";
    for (const std::string& record : lines) {
      if (record.starts_with(begin)) return std::stol(record.substr(begin.size()));
    }
    return -1;
  }
  // The counts "true/false" of each branch of a line.
  std::multiset<std::string> branches(int line) const {
    std::map<std::string, std::string> blocks;
    const std::string begin = "BRDA:" + std::to_string(line) + ",";
    for (const std::string& record : lines) {
      if (!record.starts_with(begin)) continue;
      std::string& ways =
          blocks[record.substr(begin.size(), record.find(',', begin.size()) - begin.size())];
      ways += (ways.empty() ? "" : "/") + record.substr(record.rfind(',') + 1);
    }
    std::multiset<std::string> all;
    for (const auto& [block, ways] : blocks) all.insert(ways);
    return all;
  }
  // Whether the comment with this begin lists the line.
  bool listed(const std::string& begin, int line) const {
    const auto it = std::find_if(lines.begin(), lines.end(),
                                 [&](const auto& record) { return record.starts_with(begin); });
    EXPECT_NE(it, lines.end()) << begin;
    std::istringstream ranges(it == lines.end() ? "" : it->substr(begin.size()));
    for (std::string range; std::getline(ranges, range, ',');) {
      const std::size_t dash = range.find('-');
      const int first = std::stoi(range),
                last = dash == range.npos ? first : std::stoi(range.substr(dash + 1));
      if (first <= line && line <= last) return true;
    }
    return false;
  }
};

Covered cover(const std::string& words, const std::string& options = "") {
  const char* tool = std::getenv("LOCKSTEP_EXEC");
  EXPECT_NE(tool, nullptr);
  const std::string tracefile = scratch("coverage.info"), text = scratch("coverage.txt");
  std::remove(tracefile.c_str());
  Covered c;
  c.outcome = shell(std::string(tool) + " coverage --out=" + tracefile + " --text=" + text + " " +
                    options + " -- " + words);
  c.text = contents(text);
  std::istringstream in(contents(tracefile));
  for (std::string line; std::getline(in, line);) c.lines.push_back(line);
  return c;
}

const std::string kProgram = "tests/exec/covered";

TEST(Coverage, CountsTheThreadsOfEveryLine) {
  const Covered c = cover(kProgram);
  EXPECT_EQ(c.outcome.status, 0) << c.outcome.err;
  EXPECT_EQ(c.count(16), 104) << "64 threads and 40";
  EXPECT_EQ(c.count(18), 90) << "50 of them, and 40";
  EXPECT_EQ(c.count(19), 90);
  EXPECT_EQ(c.count(20), 0) << "n is never above 1000";
  EXPECT_EQ(c.count(10), 180) << "two calls of what was inlined";
  EXPECT_EQ(c.count(21), 90);
  EXPECT_EQ(c.count(22), 90);
  EXPECT_EQ(c.count(26), 0) << "of a kernel that is never launched";
  EXPECT_EQ(c.count(31), 96) << "of two instantiations";
  EXPECT_EQ(c.count(35), -1) << "the host's code";
}

TEST(Coverage, CountsBothWaysOfABranchInEveryPlace) {
  const Covered c = cover(kProgram);
  EXPECT_EQ(c.branches(17).size(), 1u);
  EXPECT_TRUE(c.branches(17).contains("14/90") || c.branches(17).contains("90/14")) << "i >= n";
  EXPECT_EQ(c.branches(19).size(), 1u);
  EXPECT_TRUE(c.branches(19).contains("0/90") || c.branches(19).contains("90/0"))
      << "n > 1000, never so";
  // i - 10 is positive for 39 threads of the first launch and 29 of the second; i + 1 is always.
  EXPECT_EQ(c.branches(10).size(), 2u);
  EXPECT_TRUE(c.branches(10).contains("68/22") || c.branches(10).contains("22/68"));
  EXPECT_TRUE(c.branches(10).contains("90/0") || c.branches(10).contains("0/90"));
  EXPECT_TRUE(has(c.text, "covered.cu:19: 1 of 1\n")) << c.text;
  EXPECT_TRUE(has(c.text, "covered.cu:10: 1 of 2\n")) << c.text;
  EXPECT_FALSE(has(c.text, "covered.cu:17:")) << c.text;
}

TEST(Coverage, NamesKernelsAndHowManyThreadsEnteredThem) {
  const Covered c = cover(kProgram);
  EXPECT_TRUE(c.has_record("FNDA:104,partly(int const*; int*; int)"));
  EXPECT_TRUE(c.has_record("FNDA:0,never(int*)"));
  EXPECT_TRUE(c.has_record("FNDA:64,void whole<1; 2>(int*)"));
  EXPECT_TRUE(c.has_record("FNDA:32,void whole<3; 4>(int*)"));
  EXPECT_TRUE(c.has_record("FNF:4"));
  EXPECT_TRUE(c.has_record("FNH:3"));
}

TEST(Coverage, SaysWhereNoWarpPartedAndWhereOnlyFullWarpsCame) {
  const Covered c = cover(kProgram);
  constexpr const char* kTogether = "# no warp ever parted: ";
  constexpr const char* kFull = "# only full warps: ";
  EXPECT_TRUE(c.listed(kTogether, 16)) << c.text;
  for (const int line : {17, 18, 10})
    EXPECT_FALSE(c.listed(kTogether, line)) << "line 17 sends some lanes away\n" << c.text;
  EXPECT_FALSE(c.listed(kFull, 16)) << "the second launch has a warp of 8\n" << c.text;
  for (const char* kind : {kTogether, kFull}) {
    EXPECT_TRUE(c.listed(kind, 31)) << kind << c.text;
    EXPECT_FALSE(c.listed(kind, 20)) << "nobody came\n" << kind << c.text;
  }
  EXPECT_TRUE(has(c.text, "lines that only full warps executed: 30-32\n")) << c.text;
}

TEST(Coverage, AddsUpProcesses) {
  const Covered c = cover(kProgram + " fork");
  EXPECT_EQ(c.outcome.status, 0) << c.outcome.err;
  EXPECT_EQ(c.count(16), 2 * 104);
  EXPECT_EQ(c.count(20), 0);
  EXPECT_EQ(
      cover("sh -c '" + kProgram + "; " + kProgram + " nothing; " + kProgram + " reset'").count(31),
      2 * 96);
}

TEST(Coverage, LeavesTheProgramItsStatus) {
  const Covered c = cover(kProgram + " fails");
  EXPECT_EQ(c.outcome.status, 3);
  EXPECT_EQ(c.count(16), 104);
}

TEST(Coverage, OfKernelsThatWereNeverLaunchedIsZero) {
  const Covered c = cover(kProgram + " nothing");
  EXPECT_EQ(c.outcome.status, 0) << c.outcome.err;
  EXPECT_EQ(c.count(16), 0);
  EXPECT_EQ(c.count(31), 0);
  EXPECT_TRUE(c.has_record("FNH:0"));
}

TEST(Coverage, SaysSoWhenThereIsNothingToReport) {
  const Covered without = cover("tests/exec/covered_without_lines");
  EXPECT_EQ(without.outcome.status, 88);
  EXPECT_TRUE(has(without.outcome.err, "compile them with nvcc -lineinfo")) << without.outcome.err;
  EXPECT_TRUE(without.lines.empty());
  const Covered nobody = cover("true");
  EXPECT_EQ(nobody.outcome.status, 88);
  EXPECT_TRUE(has(nobody.outcome.err, "no kernel was launched")) << nobody.outcome.err;
  const Covered left = cover(kProgram + " leaves");
  EXPECT_EQ(left.outcome.status, 88);
  EXPECT_TRUE(has(left.outcome.err, "did not end normally")) << left.outcome.err;
  const Covered elsewhere = cover(kProgram, "--only=nowhere/");
  EXPECT_EQ(elsewhere.outcome.status, 88);
  EXPECT_TRUE(has(elsewhere.outcome.err, "none of the ")) << elsewhere.outcome.err;
}

TEST(Coverage, ReportsTheToolkitsHeadersWhenAsked) {
  EXPECT_EQ(cover(kProgram).outcome.out.find(".h"), std::string::npos);
  EXPECT_TRUE(has(cover(kProgram, "--toolkit").outcome.out, ".h"));
}

// The suites run in processes that conform starts.
TEST(Coverage, OfSuitesComesFromTheirProcesses) {
  const std::string manifest = scratch("suites.tsv");
  std::ofstream(manifest) << "right\ttests/end_to_end/right\t//tests/end_to_end:right\n";
  const Covered c = cover(
      "harness/conform/conform run --manifest=" + manifest + " --cases=5 --out=" + scratch("run"),
      "--check=all --only=tests/");
  EXPECT_EQ(c.outcome.status, 0) << c.outcome.out << c.outcome.err;
  EXPECT_TRUE(has(c.outcome.out, "Every ledger closes and all is green.")) << c.outcome.out;
  EXPECT_TRUE(std::any_of(c.lines.begin(), c.lines.end(), [](const auto& l) {
    return l.starts_with("SF:") && has(l, "tests/end_to_end/faults.cu");
  })) << c.outcome.out;
}

TEST(Coverage, IsReadByGenhtml) {
  ASSERT_EQ(shell("command -v genhtml").status, 0)
      << "This test needs genhtml, of Debian's package lcov: apt-get install lcov";
  const Covered c = cover(kProgram);
  const std::string folder = scratch("html");
  const Outcome made =
      shell("genhtml --branch-coverage --prefix=$PWD --output-directory=" + folder + " " +
            scratch("coverage.info"));
  EXPECT_EQ(made.status, 0) << made.out << made.err;
  EXPECT_TRUE(has(made.out, "lines......: ")) << made.out;
  EXPECT_TRUE(has(made.out, "branches...: 75.0% (6 of 8 branches)")) << made.out;
  const std::string page = contents(folder + "/" + kSource + ".gcov.html");
  EXPECT_TRUE(has(page, "atomicAdd(sum, 1000);")) << "the source\n" << made.out;
  const std::string functions = contents(folder + "/" + kSource + ".func.html");
  EXPECT_TRUE(has(functions, "void whole&lt;3; 4&gt;(int*)")) << functions;
}

}  // namespace
}  // namespace lockstep
