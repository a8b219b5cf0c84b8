// Matrix products whose sides are all 2,048, and more rows than a grid covers; minutes on the
// simulated GPU, so that it runs there in the nightly configuration alone.
#include "properties/matmul.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool registered = register_laws("HugeMatmul", huge_matmul_laws(), Matmul(kernels::matmul));

}  // namespace
}  // namespace lockstep::properties
