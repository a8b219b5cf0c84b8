// The histogram family's suspects before its laws.
#include "properties/histogram.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/histogram.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("histogram", histogram_suspects(), properties::histogram_laws());

}  // namespace
}  // namespace lockstep::known_bad
