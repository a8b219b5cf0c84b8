// The matrix product's kernels against every law of properties/matmul.h.
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/matmul.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

using kernels::matmul;

PROPERTY_CASES(Matmul, MatchesItsReference, 1000, const MatmulCase& c) { matmul_matches_its_reference(matmul, c); }

PROPERTY_CASES(Matmul, VariantsAgreeBitForBit, 200, const MatmulCase& c) {
  matmul_variants_agree_bit_for_bit(matmul, c);
}

PROPERTY_CASES(Matmul, IsExactOnSmallIntegers, 300, const ExactMatmulCase& c) {
  matmul_is_exact_on_small_integers(matmul, c);
}

PROPERTY_CASES(Matmul, ByTheIdentityChangesNothing, 150, const SquareMatmulCase& c) {
  matmul_by_the_identity_changes_nothing(matmul, c);
}

PROPERTY_CASES(Matmul, Transposes, 150, const MatmulCase& c) { matmul_transposes(matmul, c); }

PROPERTY_CASES(Matmul, DistributesOverSums, 150, const ExactMatmulCase& c) { matmul_distributes_over_sums(matmul, c); }

PROPERTY_CASES(Matmul, PassesFreivaldsCheck, 20, const LargeMatmulCase& c) { matmul_passes_freivalds_check(matmul, c); }

PROPERTY_CASES(Matmul, IsDeterministic, 10, const ScheduledMatmulCase& c) { matmul_is_deterministic(matmul, c); }

PROPERTY_CASES(Matmul, RefusesBadArguments, 200, const RefusedMatmulCase& c) {
  matmul_refuses_bad_arguments(matmul, c);
}

PROPERTY_CASES(Matmul, LaunchesNothingForNoWork, 50, const MatmulCase& c) {
  matmul_launches_nothing_for_no_work(matmul, c);
}

TEST(MatmulLaws, AreAllTestsHere) { expect_every_law_is_a_test("Matmul", matmul_laws()); }

}  // namespace
}  // namespace lockstep::properties
