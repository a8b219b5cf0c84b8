// Runs every law of properties/stencil.h on the stencil's kernels.
#include "properties/stencil.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Stencil", stencil_laws(), Stencil(kernels::stencil_1d));

}  // namespace
}  // namespace lockstep::properties
