// Matrix products whose sides are all 2,048; minutes on the simulated GPU, so that it runs there in the nightly
// configuration alone.
#include <gtest/gtest.h>

#include "harness/property.h"
#include "kernels/matmul.h"
#include "properties/matmul.h"

namespace lockstep::properties {
namespace {

PROPERTY_CASES(HugeMatmul, PassesFreivaldsCheck, 1, const HugeMatmulCase& c) {
  matmul_passes_freivalds_check(kernels::matmul, c);
}

}  // namespace
}  // namespace lockstep::properties
