// Compares the coverage of kernels/*.cu by the suites with the table of docs/reference/coverage.md.
// Every executable line and every direction of every branch must be executed, except those of lines
// that the table names with a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simulator/exec/mutate/statement.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using Line = std::pair<std::string, std::string>;  // family; statement of its source

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(contents(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The rows of the table: "| family | `statement` | reason |".
std::set<Line> excused() {
  static const std::regex kRow(R"(\| (\w+) \| `(.*)` \| .+ \|)");
  std::set<Line> all;
  for (const std::string& line : lines_of("docs/reference/coverage.md")) {
    std::smatch row;
    if (std::regex_match(line, row, kRow)) all.emplace(row[1], row[2]);
  }
  return all;
}

// The lines of kernels/<family>.cu or .cuh.
std::vector<std::string> source_of(const std::string& family) {
  const std::vector<std::string> lines = lines_of("kernels/" + family + ".cu");
  return lines.empty() ? lines_of("kernels/" + family + ".cuh") : lines;
}

// The line numbers in "27-30, 205"; empty for "none".
std::vector<std::size_t> numbers_in(const std::string& ranges) {
  static const std::regex kRange(R"((\d+)(?:-(\d+))?)");
  std::vector<std::size_t> numbers;
  for (std::sregex_iterator i(ranges.begin(), ranges.end(), kRange), end; i != end; ++i) {
    const std::size_t first = std::stoul((*i)[1]),
                      last = (*i)[2].matched ? std::stoul((*i)[2]) : first;
    for (std::size_t n = first; n <= last; ++n) numbers.push_back(n);
  }
  return numbers;
}

TEST(KernelCoverage, WhatTheSuitesDoNotExecuteIsInTheTable) {
  const std::string out = scratch("coverage"), text = out + ".txt";
  // Without the nightly configuration's tenfold cases, which add no coverage.
  const Outcome o = run("coverage --check=all --only=kernels/ --out=" + out +
                            ".info --text=" + text + " -- harness/conform/conform run --out=" + out,
                        "env -u LOCKSTEP_SCALE");
  ASSERT_EQ(o.status, 0) << o.out << o.err;
  static const std::regex kFile(R"((?:.*/)?kernels/(\w+)\.cuh?)"),
      kBranch(R"(    \S*kernels/(\w+)\.cuh?:(\d+): \d+ of \d+)");
  static const std::string kUnexecuted = "  lines that nobody executed: ";
  const std::set<Line> known = excused();
  std::set<std::string> families;
  std::string family;  // the family of the statement
  const auto expect_excused = [&](const std::string& of, std::size_t number,
                                  const std::string& line) {
    const std::vector<std::string> source = source_of(of);
    ASSERT_LE(number, source.size());
    EXPECT_TRUE(std::any_of(known.begin(), known.end(),
                            [&](const Line& excuse) {
                              return excuse.first == of &&
                                     exec::stands_at(excuse.second, source, number);
                            }))
        << line << "\n"
        << source[number - 1];
  };
  for (const std::string& line : lines_of(text)) {
    std::smatch found;
    if (std::regex_match(line, found, kFile)) families.insert(family = found[1]);
    if (line.starts_with(kUnexecuted)) {
      const std::string ranges = line.substr(kUnexecuted.size());
      EXPECT_EQ(numbers_in(ranges).empty(), ranges == "none") << line;
      for (const std::size_t number : numbers_in(ranges)) expect_excused(family, number, line);
    }
    if (std::regex_match(line, found, kBranch))
      expect_excused(found[1], std::stoul(found[2]), line);
  }
  EXPECT_GE(families.size(), 8u) << o.out << o.err;
}

}  // namespace
}  // namespace lockstep
