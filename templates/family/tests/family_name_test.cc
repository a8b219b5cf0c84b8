// The kernel family_name against every law of properties/family_name.h.
#include "kernels/family_name.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/family_name.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

using kernels::family_name;

PROPERTY_CASES(FamilyName, MatchesItsReference, 1500, const FamilyNameCase& c) {
  family_name_matches_its_reference(family_name, c);
}

PROPERTY_CASES(FamilyName, IsDeterministic, 20, const ScheduledFamilyNameCase& c) {
  family_name_is_deterministic(family_name, c);
}

PROPERTY_CASES(FamilyName, RefusesBadArguments, 300, const RefusedFamilyNameCase& c) {
  family_name_refuses_bad_arguments(family_name, c);
}

PROPERTY_CASES(FamilyName, LaunchesNothingForNoWork, 100, const FamilyNameCase& c) {
  family_name_launches_nothing_for_no_work(family_name, c);
}

TEST(FamilyNameLaws, AreAllTestsHere) { expect_every_law_is_a_test("FamilyName", family_name_laws()); }

}  // namespace
}  // namespace lockstep::properties
