// The stencil family's suspects before its laws.
#include "properties/stencil.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/stencil.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("stencil", stencil_suspects(), properties::stencil_laws());

}  // namespace
}  // namespace lockstep::known_bad
