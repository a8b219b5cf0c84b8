#include "tests/known_bad/court.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <utility>

#include "harness/session.h"

namespace lockstep::known_bad {
namespace {

struct Row {
  Defendant defendant;
  Judgement judgement;
};
std::vector<Row>& rows() {
  static std::vector<Row> rows;
  return rows;
}
std::vector<Defendant>& not_tried() {
  static std::vector<Defendant> all;
  return all;
}

void try_defendant(const Defendant& d) {
  // Without a device every kernel would be rejected, some even for a label that is theirs.
  ASSERT_EQ(device_error(), "") << "no device to judge on";
  if (!d.tried_here) {
    const CaseOutcome clause = run_case([] { require_capability({.capability = Capability::kSimulator}); });
    current_record().verdict = Verdict::kNotApplicable;
    current_record().reason = clause.not_applicable.value();
    not_tried().push_back(d);
    GTEST_SKIP() << "not applicable: " << current_record().reason << "; " << d.not_tried;
  }
  const Judgement j = d.bad ? d.judge(kRoundsToReject) : d.judge(kRoundsToAccept);
  rows().push_back({d, j});
  current_record().cases = j.cases;
  const bool as_it_should =
      d.bad ? std::ranges::find(d.rejected_for, j.label) != d.rejected_for.end() : j.label == kAccepted;
  EXPECT_TRUE(as_it_should) << fmt::format(
      "{} ({}) must be {}, but was {} {} after {} cases\n  minimal case: {}\n{}", d.full_name(), d.trap,
      d.bad ? "rejected for " + fmt::format("{}", fmt::join(d.rejected_for, " or ")) : kAccepted, j.label,
      j.law.empty() ? "" : "by " + j.law, j.cases, j.minimal_case, j.message);
}

class Trial : public ::testing::Test {
 public:
  explicit Trial(Defendant d) : defendant_(std::move(d)) {}
  void TestBody() override { try_defendant(defendant_); }

 private:
  const Defendant defendant_;
};

class Table : public ::testing::Environment {
 public:
  void TearDown() override {
    fmt::print("\n{:<36} {:<58} {:<28} {:>6}  {}\n", "kernel", "trap", "rejected for", "cases", "minimal case");
    for (const auto& [d, j] : rows()) {
      fmt::print("{:<36} {:<58} {:<28} {:>6}  {}\n", d.full_name(), d.trap, j.label, j.cases, j.minimal_case);
    }
    for (const Defendant& d : not_tried())
      fmt::print("{:<36} {:<58} {}\n", d.full_name(), d.trap, "only simulated: " + d.not_tried);
    const auto bad = std::ranges::count_if(rows(), [](const Row& r) { return r.defendant.bad; });
    fmt::print("\n{} known-bad kernels and {} known-good twins judged\n", bad, rows().size() - bad);
    if (!not_tried().empty()) fmt::print("{} known-bad kernels can be judged on the simulated GPU alone\n", not_tried().size());
  }
};

}  // namespace

void bring_to_court(Defendant defendant) {
  [[maybe_unused]] static const auto* table = ::testing::AddGlobalTestEnvironment(new Table);
  const std::string suite = defendant.bad ? "KnownBad" : "KnownGood", name = defendant.family + "_" + defendant.name;
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [d = std::move(defendant)]() -> ::testing::Test* { return new Trial(d); });
}

}  // namespace lockstep::known_bad
