// The staging family's suspects before its laws.
#include "properties/staging.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/staging.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("staging", staging_suspects(), properties::staging_laws());

}  // namespace
}  // namespace lockstep::known_bad
