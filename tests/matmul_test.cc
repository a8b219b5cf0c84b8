// Runs every law of properties/matmul.h on the kernels of the matrix product.
#include "properties/matmul.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Matmul", matmul_laws(), Matmul(kernels::matmul));

}  // namespace
}  // namespace lockstep::properties
