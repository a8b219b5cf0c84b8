// The staging kernels against every law of properties/staging.h.
#include "kernels/staging.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/staging.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const Staging staging;  // the real launchers

PROPERTY_CASES(Staging, ThreadMapMatchesItsReference, 1000, const LineCase& c) {
  thread_map_matches_its_reference(staging, c);
}

PROPERTY_CASES(Staging, TileMapMatchesItsReference, 1500, const LineCase& c) {
  tile_map_matches_its_reference(staging, c);
}

PROPERTY_CASES(Staging, TransposeMatchesItsReference, 600, const TransposeCase& c) {
  transpose_matches_its_reference(staging, c);
}

PROPERTY_CASES(Staging, ReversingTwiceChangesNothing, 200, const LineCase& c) {
  reversing_twice_changes_nothing(staging, c);
}

PROPERTY_CASES(Staging, RotatingABlockTimesChangesNothing, 50, const ScheduledLineCase& c) {
  rotating_a_block_times_changes_nothing(staging, c);
}

PROPERTY_CASES(Staging, TransposingTwiceChangesNothing, 150, const TransposeCase& c) {
  transposing_twice_changes_nothing(staging, c);
}

PROPERTY_CASES(Staging, TransposeVariantsAgree, 150, const TransposeCase& c) { transpose_variants_agree(staging, c); }

PROPERTY_CASES(Staging, PaddingRemovesEveryBankConflict, 50, const TransposeCase& c) {
  padding_removes_every_bank_conflict(staging, c);
}

PROPERTY_CASES(Staging, IsDeterministic, 15, const ScheduledLineCase& c) { staging_is_deterministic(staging, c); }

PROPERTY_CASES(Staging, TransposeIsDeterministic, 10, const TransposeCase& c) {
  transpose_is_deterministic(staging, c);
}

PROPERTY_CASES(Staging, RefusesBadArguments, 200, const RefusedLineCase& c) {
  staging_refuses_bad_arguments(staging, c);
}

PROPERTY_CASES(Staging, LaunchesNothingForNoWork, 50, const LineCase& c) {
  staging_launches_nothing_for_no_work(staging, c);
}

TEST(StagingLaws, AreAllTestsHere) { expect_every_law_is_a_test("Staging", staging_laws()); }

}  // namespace
}  // namespace lockstep::properties
