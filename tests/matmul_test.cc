// The matrix product's kernels against every law of properties/matmul.h.
#include "properties/matmul.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Matmul", matmul_laws(), Matmul(kernels::matmul));

}  // namespace
}  // namespace lockstep::properties
