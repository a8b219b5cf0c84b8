// The stencil's kernels against every law of properties/stencil.h.
#include "kernels/stencil.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/stencil.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

using kernels::stencil_1d;

PROPERTY_CASES(Stencil, MatchesItsReference, 6000, const StencilCase& c) {
  stencil_matches_its_reference(stencil_1d, c);
}

PROPERTY_CASES(Stencil, VariantsAgreeBitForBit, 1000, const StencilCase& c) {
  stencil_variants_agree_bit_for_bit(stencil_1d, c);
}

PROPERTY_CASES(Stencil, IsExactOnSmallIntegers, 1000, const ExactStencilCase& c) {
  stencil_is_exact_on_small_integers(stencil_1d, c);
}

PROPERTY_CASES(Stencil, IsLinear, 500, const LinearStencilCase& c) { stencil_is_linear(stencil_1d, c); }

PROPERTY_CASES(Stencil, ScalesByPowersOfTwo, 500, const ScaledStencilCase& c) {
  stencil_scales_by_powers_of_two(stencil_1d, c);
}

PROPERTY_CASES(Stencil, IsNegatedByReversal, 500, const StencilCase& c) {
  stencil_is_negated_by_reversal(stencil_1d, c);
}

PROPERTY_CASES(Stencil, MapsConstantsToZero, 500, const ConstantStencilCase& c) {
  stencil_maps_constants_to_zero(stencil_1d, c);
}

PROPERTY_CASES(Stencil, DifferentiatesPolynomials, 500, const PolynomialStencilCase& c) {
  stencil_differentiates_polynomials(stencil_1d, c);
}

PROPERTY_CASES(Stencil, CommutesWithShifts, 500, const ShiftedStencilCase& c) {
  stencil_commutes_with_shifts(stencil_1d, c);
}

PROPERTY_CASES(Stencil, IsDeterministic, 20, const ScheduledStencilCase& c) { stencil_is_deterministic(stencil_1d, c); }

PROPERTY_CASES(Stencil, RefusesBadArguments, 300, const RefusedStencilCase& c) {
  stencil_refuses_bad_arguments(stencil_1d, c);
}

PROPERTY_CASES(Stencil, LaunchesNothingForNoWork, 100, const StencilCase& c) {
  stencil_launches_nothing_for_no_work(stencil_1d, c);
}

TEST(StencilLaws, AreAllTestsHere) { expect_every_law_is_a_test("Stencil", stencil_laws()); }

}  // namespace
}  // namespace lockstep::properties
