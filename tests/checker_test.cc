// Runs every pair of tests/checker under several schedules. Each planted mistake must be reported
// with its kind and source line. No correct negative control may have a finding.
#include "tests/checker/checker.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "harness/device/race_search.h"
#include "simulator/extension.h"

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

// Enables a check, a bit of check::Checks; returns the previously enabled checks.
unsigned with_check(unsigned bit) {
  const auto set = extension<lockstepSetChecks_t>("lockstepSetChecks");
  const unsigned before = set(0);
  set(before | bit);
  return before;
}

}  // namespace

LookForLeaks::LookForLeaks() {
  cudaDeviceReset();
  before_ = with_check(16);
}
LookForLeaks::~LookForLeaks() { extension<lockstepSetChecks_t>("lockstepSetChecks")(before_); }

Strict::Strict(unsigned check) : before_(with_check(check)) {}
Strict::~Strict() { extension<lockstepSetChecks_t>("lockstepSetChecks")(before_); }

namespace {

// Seeds of schedules of blocks, warps and lanes; 0 is the default schedule.
constexpr std::uint64_t kSchedules[] = {0, 1, 2};

nlohmann::json run(void (*body)(), std::uint64_t schedule) {
  extension<lockstepSetQuiet_t>("lockstepSetQuiet")(1);
  extension<lockstepSetSchedule_t>("lockstepSetSchedule")(schedule);
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

// The lines of a source with the comment "// FAULT name". A line with only this comment marks the
// statement that follows: nvcc gives inline PTX the line of one of its operands.
std::set<int> marked_lines(const std::string& file, const std::string& name) {
  const char* const root = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  std::ifstream source(root && workspace ? std::string(root) + "/" + workspace + "/tests/checker/" +
                                               base_name(file)
                                         : file);
  EXPECT_TRUE(source) << file;
  std::set<int> lines;
  std::string line;
  bool in_marked_statement = false;
  for (int n = 1; std::getline(source, line); ++n) {
    if (in_marked_statement) {
      lines.insert(n);
      in_marked_statement = line.find_first_of(";{}", line.size() - 1) == line.npos;
    }
    const auto at = line.find("// FAULT ");
    if (at == std::string::npos) continue;
    std::string names = line.substr(at + 9) + " ";
    for (std::size_t space; (space = names.find(' ')) != std::string::npos;
         names.erase(0, space + 1)) {
      if (names.substr(0, space) != name) continue;
      if (line.find_first_not_of(' ') == at) {
        in_marked_statement = true;
      } else {
        lines.insert(n);
      }
    }
  }
  return lines;
}

std::string all_texts(const nlohmann::json& findings) {
  std::string s;
  for (const auto& f : findings) s += f["text"].get<std::string>() + "\n";
  return s;
}

// The line of one side of a finding: in the file itself, or of the call that was inlined.
bool at_marked_line(const nlohmann::json& side, const Pair& pair, const std::set<int>& lines) {
  if (base_name(side["file"]) == base_name(pair.file) && lines.count(side["line"].get<int>()) != 0)
    return true;
  const std::string caller = side["inlined_into"];
  const auto colon = caller.rfind(':');
  return colon != std::string::npos && base_name(caller.substr(0, colon)) == base_name(pair.file) &&
         lines.count(std::atoi(caller.c_str() + colon + 1)) != 0;
}

// Whether `kind` is what the pair expects under this schedule.
bool is_expected(const std::string& kind, const Pair& pair, std::uint64_t schedule) {
  const std::string kinds = pair.kind;
  if (schedule == 0) return kind == kinds.substr(0, kinds.find(','));
  return (", " + kinds + ",").find(", " + kind + ",") != std::string::npos;
}

class Checker : public testing::TestWithParam<Pair> {};

TEST_P(Checker, FindsTheMistakeAtItsLine) {
  const Pair& pair = GetParam();
  const std::set<int> lines = marked_lines(pair.file, pair.name);
  ASSERT_FALSE(lines.empty()) << "no line of " << pair.file << " says FAULT " << pair.name;
  for (const std::uint64_t schedule : kSchedules) {
    const nlohmann::json findings = run(pair.faulty, schedule);
    int errors = 0;
    for (const auto& f : findings) {
      if (f["severity"] == "information") continue;
      ++errors;
      const std::string text =
          "schedule " + std::to_string(schedule) + ": " + f["text"].get<std::string>();
      EXPECT_TRUE(is_expected(f["kind"], pair, schedule)) << pair.kind << " was expected\n" << text;
      // A call of the host has no line in a kernel. Under a seed it may come second.
      const bool two_sides = f.contains("other") && f["kind"] == "race";
      const bool at_call = two_sides && schedule != 0 && f["instruction"] == "";
      EXPECT_TRUE(at_call || at_marked_line(f, pair, lines)) << text;
      if (two_sides && (at_call || f["other"]["instruction"] != "")) {
        EXPECT_TRUE(at_marked_line(f["other"], pair, lines)) << text;
      }
    }
    EXPECT_GE(errors, 1) << "nothing was found under schedule " << schedule << "\n"
                         << all_texts(findings);
  }
}

TEST_P(Checker, AccusesNoCorrectTwin) {
  const Pair& pair = GetParam();
  for (const std::uint64_t schedule : kSchedules) {
    const nlohmann::json findings = run(pair.correct, schedule);
    for (const auto& f : findings) {
      EXPECT_EQ(f["severity"], "information")
          << "schedule " << schedule << ": " << f["text"].get<std::string>();
      if (pair.information != nullptr) {
        EXPECT_EQ(f["kind"], pair.information) << f["text"].get<std::string>();
      }
    }
    if (pair.information != nullptr) {
      EXPECT_GE(findings.size(), 1u) << "the information is missing";
    } else {
      EXPECT_EQ(findings.size(), 0u) << "schedule " << schedule << ": " << all_texts(findings);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Checker, testing::ValuesIn([] {
                           std::sort(pairs().begin(), pairs().end(),
                                     [](const Pair& a, const Pair& b) {
                                       return std::string(a.name) < b.name;
                                     });
                           return pairs();
                         }()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CheckerSuite, HasEnoughPairs) { EXPECT_GE(pairs().size(), 200u); }

// docs/reference/memory_model.md names pairs for its rules: behind "Pairs:", up to the next item.
TEST(CheckerSuite, TheMemoryModelsPairsExist) {
  const char* const root = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  std::ifstream page(root && workspace
                         ? std::string(root) + "/" + workspace + "/docs/reference/memory_model.md"
                         : "docs/reference/memory_model.md");
  ASSERT_TRUE(page);
  std::set<std::string> there;
  for (const Pair& p : pairs()) there.insert(p.name);
  int named = 0;
  bool of_pairs = false;
  for (std::string line; std::getline(page, line);) {
    if (line.empty() || line[0] != ' ') of_pairs = false;  // an item goes on where it is indented
    const auto begin = line.find("Pairs:");
    if (!of_pairs && begin == line.npos) continue;
    auto at = of_pairs ? 0 : begin;
    of_pairs = true;
    for (; (at = line.find('`', at)) != line.npos; ++at) {
      const auto end = line.find('`', at + 1);
      const std::string name = line.substr(at + 1, end - at - 1);
      at = end;
      ++named;
      EXPECT_EQ(there.count(name), 1u) << "no pair is called " << name;
    }
  }
  EXPECT_GE(named, 120) << "the lists have changed their form";
}

TEST(CheckerSuite, CoversEveryKindOfFinding) {
  std::map<std::string, int> kinds;
  for (const Pair& p : pairs()) {
    const std::string all = p.kind;
    ++kinds[all.substr(0, all.find(','))];
  }
  // Host access ends the process, and an incomplete check is information: program_test and
  // checks_test have these.
  for (const char* kind :
       {"out-of-bounds", "misaligned", "use-after-free", "read-only-write", "uninitialised", "race",
        "barrier-divergence", "invalid-mask", "inactive-lane", "deadlock", "time-limit", "trap",
        "assert", "invalid-instruction", "stack-overflow", "invalid-program-counter",
        "mbarrier-misuse", "missing-proxy-fence", "leak"}) {
    EXPECT_GE(kinds[kind], 1) << kind;
  }
}

std::string where(const char* pair_name) {
  const auto pair = std::find_if(pairs().begin(), pairs().end(),
                                 [&](const Pair& p) { return std::string(p.name) == pair_name; });
  if (pair == pairs().end()) return "there is no such pair";
  const nlohmann::json findings = run(pair->faulty, 0);
  return findings.empty() ? "nothing was found" : findings[0]["where"].get<std::string>();
}

TEST(CheckerSuite, MemoryIsCalledAsInTheSource) {
  EXPECT_EQ(where("shared_past_a_variable"), "just past the end of 's' (128 bytes)");
  EXPECT_EQ(where("device_variable_past_the_end"),
            "just past the end of 'counters' (32 bytes, __device__ variable)");
  EXPECT_NE(where("device_variable").find("bytes into 'shared_by_all' (128 bytes"),
            std::string::npos)
      << where("device_variable");
  EXPECT_EQ(where("host_pointer").find("an address outside device memory: of host memory"), 0u)
      << where("host_pointer");
}

// What laws of the families use for launches that are large.
TEST(CheckerSuite, WithoutTheRaceSearchAllElseIsFound) {
  std::map<std::string, int> found, lost;
  for (const Pair& p : pairs()) {
    const std::string kind = p.kind;
    if (kind != "race" && kind != "out-of-bounds" && kind != "uninitialised") continue;
    const auto finds_it = [&] {
      const nlohmann::json findings = run(p.faulty, 0);
      return std::any_of(findings.begin(), findings.end(),
                         [&](const auto& f) { return f["kind"] == kind; });
    };
    {
      const WithoutRaceSearch quick;
      ++(finds_it() ? found : lost)[kind];
    }
    if (kind == "race") {
      EXPECT_TRUE(finds_it()) << p.name << ", when the search is on again";
    }
  }
  EXPECT_EQ(found["race"], 0);
  EXPECT_GE(lost["race"], 50);
  EXPECT_EQ(lost["out-of-bounds"], 0);
  EXPECT_GE(found["out-of-bounds"], 10);
  EXPECT_EQ(lost["uninitialised"], 0);
  EXPECT_GE(found["uninitialised"], 10);
}

// A finding says where every lane is that can go on no longer.
TEST(CheckerSuite, ADeadlockNamesEveryGroupOfLanes) {
  const auto pair = std::find_if(pairs().begin(), pairs().end(), [](const Pair& p) {
    return std::string(p.name) == "barriers_crossed";
  });
  ASSERT_NE(pair, pairs().end());
  const nlohmann::json findings = run(pair->faulty, 0);
  ASSERT_EQ(findings.size(), 1u);
  const std::string text = findings[0]["text"];
  const std::set<int> lines = marked_lines(pair->file, pair->name);
  ASSERT_EQ(lines.size(), 2u);
  int warp = 0;
  for (const int line : lines) {
    const std::string group =
        "warp " + std::to_string(warp++) +
        " lanes 0xffffffff wait at the barrier tests/checker/synchronisation.cu:" +
        std::to_string(line);
    EXPECT_NE(text.find(group), std::string::npos) << group << "\nis missing in\n" << text;
  }
}

}  // namespace
}  // namespace lockstep::checker
