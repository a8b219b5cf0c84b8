// The kernel cube against every law of properties/cube.h.
#include "properties/cube.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Cube", cube_laws(), Cube(kernels::cube));

}  // namespace
}  // namespace lockstep::properties
