#include "simulator/coverage/judged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace lockstep::coverage {
namespace {

struct Entry {
  std::string source, suite, test;
  How how = How::kExactly;
  std::vector<std::string> names;
  RowList rows = nullptr;
};

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

// The rows and spellings that the current test has executed.
std::map<const isa::FormRow*, std::set<std::string>>& executed() {
  static std::map<const isa::FormRow*, std::set<std::string>> rows;
  return rows;
}

constexpr std::array<std::pair<How, const char*>, 3> kWords{
    {{How::kExactly, "exactly"}, {How::kWithinBound, "bound"}, {How::kAsHint, "hint"}}};

const char* word_of(How how) {
  return std::find_if(kWords.begin(), kWords.end(), [&](const auto& w) { return w.first == how; })
      ->second;
}

// A row that a registration claims. `spelling` is empty if any spelling is sufficient.
struct Claim {
  const isa::FormRow* row = nullptr;
  std::string spelling;
};

// The claims of an entry. Appends names that the table lacks to `unknown`.
std::vector<Claim> claims_of(const Entry& e, std::vector<std::string>& unknown) {
  std::vector<Claim> all;
  if (e.rows != nullptr) {
    for (const isa::FormRow* row : e.rows()) all.push_back({row, {}});
  }
  for (const std::string& name : e.names) {
    const auto rows = rows_named(name);
    if (rows.empty()) unknown.push_back(name);
    for (const isa::FormRow* row : rows) all.push_back({row, name.substr(0, name.find(' '))});
  }
  return all;
}

bool was_executed(const Claim& c) {
  const auto it = executed().find(c.row);
  return it != executed().end() && (c.spelling.empty() || it->second.contains(c.spelling));
}

bool exists(const Entry& e) {
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; e.suite == suite.name() && t < suite.total_test_count(); ++t) {
      if (e.test == suite.GetTestInfo(t)->name()) return true;
    }
  }
  return false;
}

class Checks final : public ::testing::EmptyTestEventListener {
  void OnTestProgramStart(const ::testing::UnitTest&) override {
    for (const Entry& e : entries()) {
      if (!exists(e))
        ADD_FAILURE() << "rows are registered for the test " << e.suite << "." << e.test
                      << ", which does not exist";
    }
  }
  void OnTestStart(const ::testing::TestInfo&) override { executed().clear(); }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    for (const Entry& e : entries()) {
      if (e.suite != test.test_suite_name() || e.test != test.name()) continue;
      std::vector<std::string> unknown;
      for (const Claim& c : claims_of(e, unknown)) {
        if (was_executed(c)) continue;
        ADD_FAILURE() << "the test is registered as a judge of '"
                      << (c.spelling.empty() ? c.row->syntax : c.spelling) << "' (the row '"
                      << c.row->syntax << "'), and has not executed it";
      }
      for (const std::string& name : unknown)
        ADD_FAILURE() << "the test is registered as a judge of '" << name
                      << "', which the table of forms does not have";
    }
  }
};

int print_list() {
  bool good = true;
  for (const Entry& e : entries()) {
    std::vector<std::string> unknown;
    for (const Claim& c : claims_of(e, unknown)) {
      const auto& forms = isa::forms();
      const auto at = std::find_if(forms.begin(), forms.end(),
                                   [&](const isa::Form& f) { return f.row == c.row; });
      std::printf("%s %td %s %s.%s\n", word_of(e.how), at - forms.begin(), e.source.c_str(),
                  e.suite.c_str(), e.test.c_str());
    }
    for (const std::string& name : unknown) {
      std::fprintf(stderr, "%s.%s: the table of forms has no '%s'\n", e.suite.c_str(),
                   e.test.c_str(), name.c_str());
      good = false;
    }
  }
  return good ? 0 : 1;
}

}  // namespace

std::vector<const isa::FormRow*> rows_named(std::string_view name) {
  const std::size_t space = name.find(' ');
  std::vector<const isa::FormRow*> rows;
  for (const isa::Match& m : isa::match_opcode(name.substr(0, space))) {
    const std::string_view syntax = m.form->row->syntax;
    // A row's operands follow its first blank.
    const std::size_t operands = syntax.find(' ');
    if (space != std::string_view::npos &&
        (operands == std::string_view::npos || syntax.substr(operands) != name.substr(space)))
      continue;
    rows.push_back(m.form->row);
  }
  return rows;
}

Registration::Registration(const char* file, const char* suite, const char* test, How how,
                           std::initializer_list<const char*> names) {
  entries().push_back({std::filesystem::path(file).stem(),
                       suite,
                       test,
                       how,
                       {names.begin(), names.end()},
                       nullptr});
}

Registration::Registration(const char* file, const char* suite, const char* test, How how,
                           RowList rows) {
  entries().push_back({std::filesystem::path(file).stem(), suite, test, how, {}, rows});
}

bool judging() { return !entries().empty(); }

void ran(const isa::FormRow& row, const std::string& spelling) {
  executed()[&row].insert(spelling);
}

int run_judging_tests(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--judges") return print_list();
  ::testing::UnitTest::GetInstance()->listeners().Append(new Checks);
  return RUN_ALL_TESTS();
}

std::vector<Judged> judged_by(const std::string& binary) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(binary + " --judges: " + why);
  };
  std::FILE* const pipe = popen(("'" + binary + "' --judges").c_str(), "r");
  if (pipe == nullptr) fail("cannot be started");
  std::vector<Judged> all;
  bool understood = true;
  char word[16] = {}, source[128] = {};
  std::size_t row = 0;
  for (int got; (got = std::fscanf(pipe, "%15s %zu %127s %*s", word, &row, source)) != EOF;) {
    const auto how = std::find_if(kWords.begin(), kWords.end(), [&](const auto& w) {
      return std::string_view(w.second) == word;
    });
    understood = got == 3 && how != kWords.end() && row < isa::forms().size();
    if (!understood) break;
    all.push_back({isa::forms()[row].row, how->first, source});
  }
  if (pclose(pipe) != 0 || !understood) fail("gives no list of registrations");
  if (all.empty()) fail("has no registrations");
  return all;
}

}  // namespace lockstep::coverage
