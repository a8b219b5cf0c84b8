// Checks that the page matches the table and the recording, and that the named instructions are
// executed.
#include "simulator/coverage/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/coverage/page.h"

namespace lockstep::coverage {
namespace {

using ::testing::HasSubstr;

std::string page_path, false_judge_path, recording_path;
std::vector<Judge> judges;

TEST(Coverage, ThePageIsCurrent) {
  std::ifstream in(page_path, std::ios::binary);
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  const std::string made = coverage_page(recording_path, judges);
  if (page == made) return;
  std::size_t at = 0;
  while (at < page.size() && at < made.size() && page[at] == made[at]) ++at;
  const std::size_t begin = made.rfind('\n', at) + 1;
  FAIL() << "docs/reference/ptx_coverage.md is out of date: bazel run //simulator/coverage:update. "
            "First difference, as it should be:\n"
         << made.substr(begin, made.find('\n', at) - begin);
}

TEST(Coverage, EveryFormIsExecuted) {
  std::size_t rows = 0;
  for (const RowCoverage& r : measure()) {
    ++rows;
    EXPECT_GT(r.examples, 0u) << r.row->syntax;
    EXPECT_EQ(r.executed, r.examples) << r.row->syntax << ": " << r.first_refusal;
  }
  EXPECT_GT(rows, 300u);
}

TEST(Coverage, EveryRowIsJudged) {
  std::set<const isa::FormRow*> judged;
  for (const Judge& j : judges) {
    for (const Judged& r : j.rows) judged.insert(r.row);
  }
  for (const isa::Form& form : isa::forms()) {
    EXPECT_TRUE(judged.contains(form.row)) << "no test is registered as a judge of '"
                                           << form.row->syntax << "' (" << form.row->choices << ")";
  }
}

// An instruction with a result is no hint, and all tests must classify a row alike.
TEST(Coverage, HintsHaveNoResult) {
  std::map<const isa::FormRow*, bool> hints;
  for (const Judge& j : judges) {
    for (const Judged& r : j.rows) {
      const bool hint = r.how == How::kAsHint;
      EXPECT_EQ(hints.emplace(r.row, hint).first->second, hint)
          << r.row->syntax << ": " << j.test << " contradicts other tests";
    }
  }
  std::size_t seen = 0;
  for (const isa::Form& form : isa::forms()) {
    const auto it = hints.find(form.row);
    if (it == hints.end() || !it->second) continue;
    ++seen;
    for (const auto& operands : form.operands) {
      for (const isa::OperandRule& o : operands)
        EXPECT_FALSE(o.is_destination()) << form.row->syntax;
    }
  }
  EXPECT_GT(seen, 10u);
}

TEST(Judged, RowsAreNamedByASpellingAndOperandsWhereTheseDiffer) {
  ASSERT_EQ(rows_named("activemask.b32").size(), 1u);
  EXPECT_EQ(rows_named("activemask.b32")[0]->syntax, "activemask.b32 d");
  EXPECT_EQ(rows_named("min.f32").size(), 2u);
  ASSERT_EQ(rows_named("min.f32 d, a, b, c").size(), 1u);
  EXPECT_EQ(rows_named("min.f32 d, a, b, c")[0]->sm, 100);
  EXPECT_TRUE(rows_named("min.f32 d, a").empty());
  EXPECT_TRUE(rows_named("min.f31").empty());
}

// Runs some of false_judge.cc's tests. Returns their output, and whether they succeeded.
std::pair<bool, std::string> run_false_judge(const std::string& arguments) {
  // Removes this test's own filter and report from the environment.
  const std::string command = "env -u TESTBRIDGE_TEST_ONLY -u GTEST_FILTER -u XML_OUTPUT_FILE " +
                              false_judge_path + " " + arguments + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string printed;
  for (char part[256]; std::fgets(part, sizeof part, pipe) != nullptr;) printed += part;
  return {pclose(pipe) == 0, printed};
}

// Runs in another process, because the test there must fail.
TEST(Judged, WhoNamesWhatItHasNotExecutedFails) {
  const auto [good, printed] = run_false_judge("");
  EXPECT_FALSE(good);
  for (const std::string passes : {"Honest.Test", "Silent.Test"})
    EXPECT_THAT(printed, HasSubstr("[       OK ] " + passes));
  for (const std::string fails : {"Idle.Test", "Idle.Table", "Otherwise.Spelled", "Unknown.Form"})
    EXPECT_THAT(printed, HasSubstr("[  FAILED  ] " + fails));
  EXPECT_THAT(printed, HasSubstr("registered as a judge of 'add.rn.f64'"));
  EXPECT_THAT(printed, HasSubstr("judge of 'add.f65', which the table of forms does not have"));
  EXPECT_THAT(printed, HasSubstr("registered for the test No.SuchTest, which does not exist"));
  EXPECT_FALSE(run_false_judge("--gtest_filter=Honest.*").first)
      << "a registration without a test counts whatever is run";
  EXPECT_THROW(judged_by(false_judge_path), std::runtime_error) << "a name that is unknown";
}

TEST(Judged, ABinaryThatSaysNothingIsNoJudge) {
  EXPECT_THROW(judged_by("/bin/true"), std::runtime_error);
  EXPECT_THROW(judged_by("/bin/false"), std::runtime_error);
  EXPECT_THROW(judged_by("/bin/echo"), std::runtime_error);
}

// The measurement must detect refused examples.
TEST(Coverage, WhatIsRefusedCountsAsRefused) {
  std::vector<isa::Example> examples = isa::pairwise_examples();
  examples.resize(3);
  examples[1].text = "tex.2dms.v4.f32.s32 {r0, r1, r2, r3}, [d0, {r4, r5, r6, r7}];";
  const RowCoverage r = measure(examples).front();
  EXPECT_EQ(r.examples, 3u);
  EXPECT_EQ(r.executed, 2u);
  EXPECT_NE(r.first_refusal.find("tex.2dms"), std::string::npos) << r.first_refusal;
}

}  // namespace
}  // namespace lockstep::coverage

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 5) return 2;
  lockstep::coverage::page_path = argv[1];
  lockstep::coverage::false_judge_path = argv[2];
  lockstep::coverage::recording_path = argv[3];
  lockstep::coverage::judges =
      lockstep::coverage::judges_of(std::vector<std::string>(argv + 4, argv + argc));
  return RUN_ALL_TESTS();
}
