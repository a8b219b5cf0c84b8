// Images whose rows lie further apart than 32 bits count: gibibytes of addresses, so that the
// simulated GPU does it in the nightly configuration alone, where it is given as many.
#include "properties/ray_tracer.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool registered =
    register_laws("FarRayTracer", far_ray_tracer_laws(), RayTracer(kernels::ray_trace));

}  // namespace
}  // namespace lockstep::properties
