#include "command/on_suites.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "command/processes.h"

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int kUsage = 2;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// The defaults without options that are among the words.
Words without_those_of(const Words& words, const Words& defaults) {
  Words left;
  for (const std::string& word : defaults) {
    const std::string name = word.substr(0, word.find('=') + 1);
    const auto typed = [&](const std::string& w) { return w.starts_with(name); };
    if (std::none_of(words.begin(), words.end(), typed)) left.push_back(word);
  }
  return left;
}

std::string tool(const char* variable) {
  const char* const path = std::getenv(variable);
  return path != nullptr ? path : "";
}

// Each suite's name and its program below bazel-bin, in the order in which they run, without suites
// that measure a GPU.
std::vector<std::pair<std::string, std::string>> suites_of(const fs::path& checkout) {
  std::vector<std::pair<std::string, std::string>> suites;
  std::ifstream list(checkout / "bazel-bin/tests/suites.tsv");
  for (std::string line; std::getline(list, line);) {
    std::istringstream columns(line);
    std::string name, program, label, kind;
    std::getline(columns, name, '\t');
    std::getline(columns, program, '\t');
    std::getline(columns, label, '\t');
    std::getline(columns, kind, '\t');
    if (kind != "silicon") suites.emplace_back(name, program);
  }
  return suites;
}

Words between_commas(const Words& lists) {
  Words names;
  for (const std::string& list : lists) {
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  }
  return names;
}

int mutate(const CommandLine& line, const fs::path& checkout) {
  const auto suites = suites_of(checkout);
  Words chosen = between_commas(line.run.suites);
  if (chosen.empty()) {
    for (const auto& [name, program] : suites) chosen.push_back(name);
  }
  std::vector<std::pair<std::string, std::string>> judged;
  for (const std::string& name : chosen) {
    const auto known = std::find_if(suites.begin(), suites.end(),
                                    [&](const auto& suite) { return suite.first == name; });
    if (known == suites.end()) {
      std::fprintf(stderr, "lockstep: there is no suite '%s'; ./lockstep list names them\n",
                   name.c_str());
      return kUsage;
    }
    judged.push_back(*known);
  }
  std::error_code error;
  fs::current_path(checkout, error);
  // The number of devices of a suite's run: laws about several devices judge mutants too.
  setenv("LOCKSTEP_DEVICES", "2", 1);
  // Data files of suites are in conform's runfiles: a suite's program has no folder of its own
  // unless it was built as a target.
  setenv("RUNFILES_DIR", (tool("LOCKSTEP_TOOL_CONFORM") + ".runfiles").c_str(), 1);
  int worst = 0;
  for (const auto& [name, program] : judged) {
    std::fprintf(stderr, "lockstep: suite %s\n", name.c_str());
    Words words = {tool("LOCKSTEP_TOOL_EXEC"), "mutate"};
    append(words, without_those_of(
                      line.own_words,
                      {"--first=--cases=8", "--files=(^|/)kernels/", "--callers=lockstep::kernels",
                       "--sources=" + checkout.string(),
                       "--equivalents=" + (checkout / "tests/equivalent_mutants.txt").string(),
                       "--out=lockstep-out/mutation/" + name}));
    append(words, line.own_words);
    append(words, {"--", "bazel-bin/" + program, "--fail-fast"});
    const int status = run(words, ".", Stdout::kStays).status;
    worst = std::max(worst, status);
    if (status > 1) break;
  }
  return worst;
}

}  // namespace

int run_on_suites(const CommandLine& line, const std::string& checkout) {
  if (line.command == Command::kMutate) return mutate(line, checkout);
  const bool coverage = line.command == Command::kCoverage;
  const std::string name = coverage ? "coverage" : "counters",
                    folder = checkout + "/lockstep-out/" + name;
  std::error_code error;
  fs::create_directories(folder, error);
  Words words = {tool("LOCKSTEP_TOOL_EXEC"), name};
  append(words, line.own_words);
  append(words, without_those_of(
                    line.own_words,
                    coverage ? Words{"--check=all", "--only=kernels/", "--source-root=" + checkout,
                                     "--out=" + folder + "/coverage.info",
                                     "--text=" + folder + "/coverage.txt"}
                             : Words{"--report=" + folder + "/counters.json"}));
  append(words, {"--", tool("LOCKSTEP_TOOL_CONFORM"), "run", "--out=" + folder});
  append(words, line.run_words);
  return become(words);
}

}  // namespace lockstep::command
