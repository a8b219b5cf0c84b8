// Every checker against every planted mistake: each is found with its kind and its source line, and no correct twin is accused.
#include <gtest/gtest.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "simulator/extension.h"
#include "tests/checker/checker.h"

namespace lockstep::checker {

std::vector<Pair>& pairs() {
  static std::vector<Pair> the_pairs;
  return the_pairs;
}
bool add(Pair pair) {
  pairs().push_back(pair);
  return true;
}

namespace {

template <class T>
T extension(const char* name) {
  const auto f = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  if (f == nullptr) throw std::runtime_error(std::string("the simulated GPU has no ") + name);
  return f;
}

nlohmann::json run(void (*body)()) {
  extension<lockstepSetQuiet_t>("lockstepSetQuiet")(1);
  body();
  cudaDeviceSynchronize();
  cudaGetLastError();
  extension<lockstepClearError_t>("lockstepClearError")();
  char* text = extension<lockstepTakeFindings_t>("lockstepTakeFindings")();
  nlohmann::json findings = nlohmann::json::parse(text);
  std::free(text);
  return findings;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Lines of a source with the comment "// FAULT name".
std::set<int> marked_lines(const std::string& file, const std::string& name) {
  const char* const root = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  std::ifstream source(root && workspace ? std::string(root) + "/" + workspace + "/tests/checker/" + base_name(file) : file);
  EXPECT_TRUE(source) << file;
  std::set<int> lines;
  std::string line;
  for (int n = 1; std::getline(source, line); ++n) {
    const auto at = line.find("// FAULT ");
    if (at == std::string::npos) continue;
    std::string names = line.substr(at + 9) + " ";
    for (std::size_t space; (space = names.find(' ')) != std::string::npos; names.erase(0, space + 1)) {
      if (names.substr(0, space) == name) lines.insert(n);
    }
  }
  return lines;
}

std::string all_texts(const nlohmann::json& findings) {
  std::string s;
  for (const auto& f : findings) s += f["text"].get<std::string>() + "\n";
  return s;
}

// The line of a finding's side: in the file itself, or where the function of another file was inlined.
bool at_marked_line(const nlohmann::json& side, const Pair& pair, const std::set<int>& lines) {
  if (base_name(side["file"]) == base_name(pair.file)) return lines.count(side["line"].get<int>()) != 0;
  const std::string caller = side["inlined_into"];
  const auto colon = caller.rfind(':');
  return colon != std::string::npos && base_name(caller.substr(0, colon)) == base_name(pair.file) &&
         lines.count(std::atoi(caller.c_str() + colon + 1)) != 0;
}

class Checker : public testing::TestWithParam<Pair> {};

TEST_P(Checker, FindsTheMistakeAtItsLine) {
  const Pair& pair = GetParam();
  const std::set<int> lines = marked_lines(pair.file, pair.name);
  ASSERT_FALSE(lines.empty()) << "no line of " << pair.file << " says FAULT " << pair.name;
  const nlohmann::json findings = run(pair.faulty);
  int errors = 0;
  for (const auto& f : findings) {
    if (f["severity"] == "information") continue;
    ++errors;
    EXPECT_EQ(f["kind"], pair.kind) << f["text"].get<std::string>();
    EXPECT_TRUE(at_marked_line(f, pair, lines)) << f["text"].get<std::string>();
    if (f.contains("other") && f["kind"] == "race") EXPECT_TRUE(at_marked_line(f["other"], pair, lines)) << f["text"].get<std::string>();
  }
  EXPECT_GE(errors, 1) << "nothing was found\n" << all_texts(findings);
}

TEST_P(Checker, AccusesNoCorrectTwin) {
  const Pair& pair = GetParam();
  const nlohmann::json findings = run(pair.correct);
  int informations = 0;
  for (const auto& f : findings) {
    EXPECT_EQ(f["severity"], "information") << f["text"].get<std::string>();
    if (pair.information != nullptr) EXPECT_EQ(f["kind"], pair.information) << f["text"].get<std::string>();
    ++informations;
  }
  if (pair.information != nullptr) {
    EXPECT_GE(informations, 1) << "the information is missing";
  } else {
    EXPECT_EQ(informations, 0) << all_texts(findings);
  }
}

INSTANTIATE_TEST_SUITE_P(, Checker, testing::ValuesIn([] {
                           std::sort(pairs().begin(), pairs().end(), [](const Pair& a, const Pair& b) { return std::string(a.name) < b.name; });
                           return pairs();
                         }()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CheckerSuite, HasAtLeastSixtyPairs) { EXPECT_GE(pairs().size(), 60u) << "120 kernels: each pair has two"; }

TEST(CheckerSuite, CoversEveryKindOfFinding) {
  std::map<std::string, int> kinds;
  for (const Pair& p : pairs()) ++kinds[p.kind];
  for (const char* kind : {"out-of-bounds", "misaligned", "use-after-free", "read-only-write", "uninitialised", "race", "barrier-divergence",
                           "invalid-mask", "inactive-lane", "deadlock", "time-limit", "trap", "assert", "invalid-instruction", "stack-overflow"}) {
    EXPECT_GE(kinds[kind], 1) << kind;
  }
}

}  // namespace
}  // namespace lockstep::checker
