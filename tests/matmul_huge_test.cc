// Matrix products with sides of 2,048, and with more rows than a grid covers. They take minutes on
// the simulated GPU: they run there only in the nightly configuration.
#include "properties/matmul.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool registered = register_laws("HugeMatmul", huge_matmul_laws(), Matmul(kernels::matmul));

}  // namespace
}  // namespace lockstep::properties
