// Lists name statements of kernels by their text. Each statement must occur in its kernel, so that
// no excuse outlives the code that it excuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "simulator/exec/mutate/statement.h"

namespace lockstep {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The number of sources below kernels/ whose path ends with `name` and that contain `statement`.
int sources_with(const std::string& name, const std::string& statement) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("kernels")) {
    if (!entry.path().string().ends_with(name)) continue;
    found += !exec::places_of(statement, lines_of(entry.path())).empty();
  }
  return found;
}

// Expects each entry of a list to occur. Groups 1 and 2 of the expression `row` are file and
// statement.
void expect_all_stand(const std::string& list, const std::string& row, const std::string& suffix) {
  const std::regex pattern(row);
  int seen = 0;
  for (const std::string& line : lines_of(list)) {
    std::smatch found;
    if (!std::regex_match(line, found, pattern) || found[2] == "*") continue;
    ++seen;
    const std::string name = found[1].str() == "*" ? "" : "/" + found[1].str();
    int sources = sources_with(name.empty() ? "" : name + suffix, found[2]);
    if (!suffix.empty()) sources += sources_with(name + suffix + "h", found[2]);
    EXPECT_GT(sources, 0) << list << ": " << found[1] << ": " << found[2];
  }
  EXPECT_GT(seen, 20) << list;
}

TEST(Anchors, OfEquivalentMutants) {
  expect_all_stand("tests/equivalent_mutants.txt", R"(([^#:][^:]*): (.*?) ~ .*)", "");
}

TEST(Anchors, OfCoverage) {
  expect_all_stand("docs/reference/coverage.md", R"(\| (\w+) \| `(.*)` \| .+ \|)", ".cu");
}

}  // namespace
}  // namespace lockstep
