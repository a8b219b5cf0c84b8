// A family instantiated from the template: laws that hold for every kernel pass; parts to be filled
// in fail and name the missing part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace {

using ::testing::HasSubstr;

std::map<std::string, Record> records_of(const Ended& ended) {
  std::map<std::string, Record> records;
  for (const Record& r : ended.ledger.records) records[r.property] = r;
  return records;
}

TEST(NewFamily, FailsForTheRightReasonUntilItIsFilledIn) {
  const Ended suite = run("tests/new_family/sample_suite");
  EXPECT_EQ(suite.status, 1) << suite.output;
  ASSERT_EQ(suite.no_ledger, "");
  const auto records = records_of(suite);
  ASSERT_EQ(records.size(), 16u) << suite.output;
  for (const char* done :
       {"Sample.RefusesBadArguments", "Sample.LaunchesNothingForNoWork", "Sample.IsDeterministic",
        "Sample.TakesWhatItPromises", "Sample.WorksOnItsStream", "Sample.CanBeCaptured",
        "Sample.KeepsNoState", "Sample.KeepsNoStateOfArguments", "Sample.LaunchesTheGridItPromises",
        "Sample.GivesTheSameUnderEachSchedule", "Sample.NeedsNoOtherProperty",
        "SampleLaws.AreAllTestsHere"}) {
    ASSERT_TRUE(records.contains(done)) << suite.output;
    EXPECT_EQ(records.at(done).verdict, Verdict::kPass) << done << "\n" << suite.output;
  }
  ASSERT_TRUE(records.contains("Sample.MatchesItsReference")) << suite.output;
  const Record& missing = records.at("Sample.MatchesItsReference");
  EXPECT_EQ(missing.verdict, Verdict::kFail);
  EXPECT_THAT(missing.message, HasSubstr("reference::sample is not written yet"));
}

TEST(NewFamily, ItsMutationTestAcceptsNothingUntilItIsFilledIn) {
  const Ended ended = run("tests/new_family/sample_mutation_test");
  EXPECT_EQ(ended.status, 1) << ended.output;
  const auto records = records_of(ended);
  for (const char* variant :
       {"KnownBad.sample_leaves_out_the_last", "KnownGood.sample_one_thread"}) {
    ASSERT_TRUE(records.contains(variant)) << ended.output;
    EXPECT_EQ(records.at(variant).verdict, Verdict::kFail);
  }
  EXPECT_THAT(ended.output, HasSubstr("reference::sample is not written yet"));
}

}  // namespace
}  // namespace lockstep::end_to_end
