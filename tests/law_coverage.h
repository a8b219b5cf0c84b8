// A law that no test states would be proved by nobody: the suite must have a test named like each law.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "properties/law.h"

namespace lockstep {

inline bool is_test(const std::string& suite, const std::string& name) {
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& candidate = *all.GetTestSuite(s);
    for (int t = 0; candidate.name() == suite && t < candidate.total_test_count(); ++t) {
      if (candidate.GetTestInfo(t)->name() == name) return true;
    }
  }
  return false;
}

template <class Implementation>
void expect_every_law_is_a_test(const std::string& suite, const std::vector<properties::Law<Implementation>>& laws) {
  for (const auto& law : laws) EXPECT_TRUE(is_test(suite, law.name)) << "no test " << suite << "." << law.name;
}

}  // namespace lockstep
