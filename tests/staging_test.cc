// Runs every law of properties/staging.h on the staging kernels.
#include "properties/staging.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Staging", staging_laws(), Staging());

}  // namespace
}  // namespace lockstep::properties
