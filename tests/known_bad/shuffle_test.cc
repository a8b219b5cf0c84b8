// The shuffle family's suspects before its laws.
#include "properties/shuffle.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/shuffle.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("shuffle", shuffle_suspects(), properties::shuffle_laws());

}  // namespace
}  // namespace lockstep::known_bad
