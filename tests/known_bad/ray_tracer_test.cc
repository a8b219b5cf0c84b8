// The ray tracer family's suspects before its laws.
#include "properties/ray_tracer.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/ray_tracer.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("ray_tracer", ray_tracer_suspects(), properties::ray_tracer_laws());

}  // namespace
}  // namespace lockstep::known_bad
