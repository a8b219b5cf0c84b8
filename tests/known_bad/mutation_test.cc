#include "tests/known_bad/mutation_test.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <utility>

#include "harness/ledger/session.h"

namespace lockstep::known_bad {
namespace {

struct Row {
  MutationTest test;
  MutationResult result;
};
std::vector<Row>& rows() {
  static std::vector<Row> rows;
  return rows;
}
std::vector<MutationTest>& not_run_here() {
  static std::vector<MutationTest> all;
  return all;
}

void run(const MutationTest& t) {
  // Without a device the laws would reject every kernel, some even with an expected label.
  ASSERT_EQ(device_error(), "") << "no device to run on";
  if (!t.runs_here) {
    const CaseOutcome clause =
        run_case([] { require_capability({.capability = Capability::kSimulator}); });
    current_record().verdict = Verdict::kNotApplicable;
    current_record().reason = clause.not_applicable.value();
    not_run_here().push_back(t);
    GTEST_SKIP() << "not applicable: " << current_record().reason << "; " << t.why_not_here;
  }
  const MutationResult r = t.has_fault ? t.run(kRoundsToReject) : t.run(kRoundsToAccept);
  rows().push_back({t, r});
  current_record().cases = r.cases;
  const bool as_it_should = t.has_fault
                                ? std::ranges::find(t.rejected_for, r.label) != t.rejected_for.end()
                                : r.label == kAccepted;
  EXPECT_TRUE(as_it_should) << fmt::format(
      "{} ({}) must be {}, but was {} {} after {} cases\n  minimal case: {}\n{}", t.full_name(),
      t.change,
      t.has_fault ? "rejected for " + fmt::format("{}", fmt::join(t.rejected_for, " or "))
                  : kAccepted,
      r.label, r.law.empty() ? "" : "by " + r.law, r.cases, r.minimal_case, r.message);
}

class RegisteredTest : public ::testing::Test {
 public:
  explicit RegisteredTest(MutationTest test) : test_(std::move(test)) {}
  void TestBody() override { run(test_); }

 private:
  const MutationTest test_;
};

class Table : public ::testing::Environment {
 public:
  void TearDown() override {
    fmt::print("\n{:<36} {:<58} {:<28} {:>6}  {}\n", "kernel", "change", "rejected for", "cases",
               "minimal case");
    for (const auto& [t, r] : rows()) {
      fmt::print("{:<36} {:<58} {:<28} {:>6}  {}\n", t.full_name(), t.change, r.label, r.cases,
                 r.minimal_case);
    }
    for (const MutationTest& t : not_run_here())
      fmt::print("{:<36} {:<58} {}\n", t.full_name(), t.change,
                 "only simulated: " + t.why_not_here);
    const auto mutants =
        std::ranges::count_if(rows(), [](const Row& row) { return row.test.has_fault; });
    const auto controls = static_cast<std::ptrdiff_t>(rows().size()) - mutants;
    fmt::print("\n{} mutant{} and {} negative control{} run\n", mutants, mutants == 1 ? "" : "s",
               controls, controls == 1 ? "" : "s");
    if (!not_run_here().empty())
      fmt::print("{} mutants can be killed on the simulated GPU alone\n", not_run_here().size());
  }
};

}  // namespace

void register_mutation_test(MutationTest test) {
  [[maybe_unused]] static const auto* table = ::testing::AddGlobalTestEnvironment(new Table);
  const std::string suite = test.has_fault ? "KnownBad" : "KnownGood",
                    name = test.family + "_" + test.name;
  ::testing::RegisterTest(
      suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [t = std::move(test)]() -> ::testing::Test* { return new RegisteredTest(t); });
}

}  // namespace lockstep::known_bad
