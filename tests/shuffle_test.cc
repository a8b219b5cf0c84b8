// The warp exchanges against every law of properties/shuffle.h.
#include "kernels/shuffle.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/shuffle.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const Shuffle shuffle;  // the real launchers

PROPERTY_CASES(Shuffle, MatchesItsDefinition, 3000, const ExchangeCase& c) {
  exchange_matches_its_definition(shuffle, c);
}

PROPERTY_CASES(Shuffle, MatchesItsDefinitionForEveryOperand, 2, const LanesCase& c) {
  exchange_matches_its_definition_for_every_operand(shuffle, c);
}

PROPERTY_CASES(Shuffle, ExchangingTwiceByXorChangesNothing, 300, const LanesCase& c) {
  exchanging_twice_by_xor_changes_nothing(shuffle, c);
}

PROPERTY_CASES(Shuffle, DownAfterUpRestoresTheInterior, 300, const LanesCase& c) {
  down_after_up_restores_the_interior(shuffle, c);
}

PROPERTY_CASES(Shuffle, RotationHasTheOrderOfItsWidth, 100, const LanesCase& c) {
  rotation_has_the_order_of_its_width(shuffle, c);
}

PROPERTY_CASES(Shuffle, LanesAndWarpsAreNumberedAlongXFirst, 300, const ExchangeCase& c) {
  lanes_and_warps_are_numbered_along_x_first(shuffle, c);
}

PROPERTY_CASES(Shuffle, CollectiveMatchesItsReference, 1500, const CollectiveCase& c) {
  collective_matches_its_reference(shuffle, c);
}

PROPERTY_CASES(Shuffle, IsDeterministic, 20, const ExchangeCase& c) { exchange_is_deterministic(shuffle, c); }

PROPERTY_CASES(Shuffle, CollectiveIsDeterministic, 15, const CollectiveCase& c) {
  collective_is_deterministic(shuffle, c);
}

PROPERTY_CASES(Shuffle, RefusesBadArguments, 200, const RefusedExchangeCase& c) {
  exchange_refuses_bad_arguments(shuffle, c);
}

TEST(ShuffleLaws, AreAllTestsHere) { expect_every_law_is_a_test("Shuffle", shuffle_laws()); }

}  // namespace
}  // namespace lockstep::properties
