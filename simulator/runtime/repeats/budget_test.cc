#include "simulator/runtime/repeats/budget.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace {

TEST(RepeatsBudget, AProcessMaySpendLittleBeforeAnyLaunchHasEnded) {
  const RepeatsBudget budget;
  EXPECT_TRUE(budget.allows(0.019, 0));
  EXPECT_FALSE(budget.allows(0.021, 0));
}

TEST(RepeatsBudget, TheFirstRecordsOfAKernelMayCostATenthOfWhatLaunchesTake) {
  RepeatsBudget budget;
  budget.executed(10);
  EXPECT_TRUE(budget.allows(1.0, 7));
  EXPECT_FALSE(budget.allows(1.1, 7));
}

TEST(RepeatsBudget, AfterEightRecordsInVainTheyMayCostAFiftieth) {
  RepeatsBudget budget;
  budget.executed(10);
  EXPECT_TRUE(budget.allows(0.2, 8));
  EXPECT_FALSE(budget.allows(0.3, 8));
}

TEST(RepeatsBudget, AfterSixtyFourRecordsOfAnyKernelsInVainTheyMayCostAFiftieth) {
  RepeatsBudget budget;
  budget.executed(10);
  for (int i = 0; i < 63; ++i) budget.recorded();
  EXPECT_TRUE(budget.allows(1.0, 0));
  budget.recorded();
  EXPECT_TRUE(budget.allows(0.2, 0));
  EXPECT_FALSE(budget.allows(0.3, 0));
  budget.gained(0);
  EXPECT_TRUE(budget.allows(1.0, 0));
}

TEST(RepeatsBudget, HalfOfWhatRepetitionsHaveSavedMayBeSpent) {
  RepeatsBudget budget;
  budget.gained(10);
  EXPECT_TRUE(budget.allows(5.0, 8));
  EXPECT_FALSE(budget.allows(5.1, 8));
}

TEST(RepeatsBudget, WhatIsSpentIsGone) {
  RepeatsBudget budget;
  budget.executed(10);
  budget.spent(1.0);
  EXPECT_TRUE(budget.allows(0.01, 0));
  EXPECT_FALSE(budget.allows(0.1, 0));
}

}  // namespace
}  // namespace lockstep::runtime
