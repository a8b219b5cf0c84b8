// What several shares of a program say together.
#include "simulator/exec/mutate/shares.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "simulator/exec/mutate/judgement.h"

namespace lockstep::exec {
namespace {

using Lines = std::vector<std::string>;

Share share(const std::string& name, const Lines& lines, bool whole = true) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << "\n";
  return {path, whole};
}

// The trace of a mutant as the joined lines have it.
Trace joined(const std::vector<Share>& shares, std::size_t* killed_by = nullptr) {
  const JoinedLines all = joined_lines(shares, {7}, 0, false);
  const std::string path = testing::TempDir() + "/joined";
  {
    std::ofstream file(path);
    for (const std::string& line : all.lines) file << line << "\n";
  }
  if (killed_by != nullptr && !all.killed_by.empty()) *killed_by = all.killed_by[0].second;
  Traces traces(path);
  const auto& known = traces.read();
  return known.contains(7) ? known.at(7) : Trace();
}

constexpr const char *kEnd = R"({"id":7,"end":0,"felt":"01"})", *kDied = R"({"id":7,"died":0})";

TEST(Shares, ASurvivorHasSurvivedEach) {
  const Trace both =
      joined({share("a", {kEnd, kDied}), share("b", {R"({"id":7,"end":0,"felt":"6"})", kDied})});
  EXPECT_TRUE(both.died);
  EXPECT_EQ(judge_trace(both, 0, false, "").verdict, Verdict::kSurvived);
  EXPECT_EQ(both.felt, "61");
  // A share that has come to its end without a word did not come to the mutant.
  EXPECT_TRUE(joined({share("a", {kEnd, kDied}), share("b", {})}).died);
  EXPECT_FALSE(joined({share("a", {kEnd, kDied}), share("b", {}, false)}).died);
  EXPECT_FALSE(joined({share("a", {}), share("b", {})}).died);
  // What is not known in a share is not known.
  EXPECT_FALSE(
      joined({share("a", {kEnd, kDied}), share("b", {R"({"id":7,"end":0})", kDied})}).felt);
}

TEST(Shares, OneKillsAndTheEarliestIsNamed) {
  const Lines early = {R"({"id":7,"end":1,"part":3})", R"({"id":7,"died":256,"part":2})"},
              late = {R"({"id":7,"died":9,"late":true,"part":8})"};
  std::size_t by = 9;
  EXPECT_EQ(judge_trace(joined({share("a", {kEnd, kDied}), share("b", early)}, &by), 0, false, "")
                .verdict,
            Verdict::kKilledByLaw);
  EXPECT_EQ(by, 1u);
  EXPECT_EQ(judge_trace(joined({share("a", late), share("b", early)}, &by), 0, false, "").verdict,
            Verdict::kKilledByLaw);
  EXPECT_EQ(by, 1u);
  EXPECT_EQ(
      judge_trace(joined({share("a", early, false), share("b", {}, false)}, &by), 0, false, "")
          .verdict,
      Verdict::kKilledByLaw);
  EXPECT_EQ(by, 0u);
}

TEST(Shares, OneThatWasSkippedIsSkippedUnlessKilled) {
  const Lines skipped = {R"({"id":7,"skipped":"threads"})"}, killed = {R"({"id":7,"died":256})"};
  EXPECT_EQ(joined({share("a", {kEnd, kDied}), share("b", skipped)}).skipped, "threads");
  EXPECT_EQ(joined({share("a", killed), share("b", skipped)}).skipped, "");
}

Mutant mutant(const std::string& code) {
  Mutant m;
  m.code = code;
  return m;
}

TEST(Shares, SurveysAreJoined) {
  Survey a, b;
  a.mutants = {mutant("1"), mutant("3")};
  a.at = {4, 0};
  a.sets = {"1", "0"};
  a.parts = {0, 1};
  a.instructions = 5;
  a.part_count = 8;
  a.counters = "01";
  b.mutants = {mutant("1"), mutant("2"), mutant("3")};
  b.at = {2, 1, 0};
  b.sets = {"02", "0"};
  b.parts = {0, 0, 1};
  b.instructions = 9;
  b.part_count = 8;
  b.counters = "1";
  const Survey all = joined_surveys({a, b});
  ASSERT_EQ(all.mutants.size(), 3u);
  EXPECT_EQ(all.mutants[1].code, "2");
  EXPECT_EQ(all.at, (std::vector<std::uint64_t>{4, 1, 0}));
  EXPECT_EQ(all.sets[all.parts[0]], "12");
  EXPECT_EQ(all.sets[all.parts[1]], "02");
  EXPECT_EQ(all.sets[all.parts[2]], "0");
  EXPECT_EQ(all.instructions, 9u);
  EXPECT_EQ(all.counters, "11");
}

}  // namespace
}  // namespace lockstep::exec
