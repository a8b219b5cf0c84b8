// Images with a row pitch beyond 32 bits: they span gibibytes of addresses. The simulated GPU has
// that much memory only in the nightly configuration.
#include "properties/ray_tracer.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool registered =
    register_laws("FarRayTracer", far_ray_tracer_laws(), RayTracer(kernels::ray_trace));

}  // namespace
}  // namespace lockstep::properties
