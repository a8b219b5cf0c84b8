// Runs every law of properties/shuffle.h on the warp exchanges.
#include "properties/shuffle.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Shuffle", shuffle_laws(), Shuffle());

}  // namespace
}  // namespace lockstep::properties
