// Which suites a run begins with.
#include "harness/conform/choice.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace choice_test {

using ::testing::ElementsAre;

std::vector<Suite> suites(const std::vector<std::string>& families) {
  std::vector<Suite> all;
  for (const std::string& family : families) all.emplace_back().family = family;
  return all;
}

Passport passport(const std::vector<std::pair<std::string, double>>& seconds) {
  Passport p;
  for (const auto& [family, s] : seconds) {
    p.suites.emplace_back().family = family;
    p.suites.back().seconds = s;
  }
  return p;
}

TEST(Choice, TheSuiteThatTookLongestBeginsFirst) {
  const Passport earlier = passport({{"gone", 100}, {"a", 1}, {"b", 7}, {"c", 3}});
  EXPECT_THAT(longest_first(suites({"a", "b", "c"}), earlier), ElementsAre(1, 2, 0));
  EXPECT_THAT(longest_first(suites({"a", "new", "b"}), earlier), ElementsAre(1, 2, 0));
}

TEST(Choice, WithoutAnEarlierRunTheyBeginInTheirOwnOrder) {
  EXPECT_THAT(longest_first(suites({"a", "b", "c"}), {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(longest_first({}, {}), ElementsAre());
}

// Each verdict separately. A run that ended early leaves properties that did not run.
TEST(Choice, WhatFailedOrDidNotRunIsRunAgain) {
  const std::map<Verdict, bool> again = {{Verdict::kPass, false},
                                         {Verdict::kFail, true},
                                         {Verdict::kWaived, false},
                                         {Verdict::kNotApplicable, false},
                                         {Verdict::kNotRun, true}};
  for (const auto& [verdict, wanted] : again) {
    Passport p = passport({{"a", 1}});
    p.suites.back().properties["A.Holds"].verdict = verdict;
    const LastFailed last = last_failed(p);
    EXPECT_EQ(last.none(), !wanted) << name(verdict);
    EXPECT_EQ(last.properties.contains("A.Holds"), wanted) << name(verdict);
    EXPECT_TRUE(last.suites.empty()) << name(verdict);
  }
}

TEST(Choice, ASuiteWithoutALedgerIsRunAgainAsAWhole) {
  const LastFailed last = last_failed(passport({{"a", 1}}));
  EXPECT_THAT(last.suites, ElementsAre("a"));
  EXPECT_TRUE(last.properties.empty());
}

}  // namespace choice_test
}  // namespace lockstep
