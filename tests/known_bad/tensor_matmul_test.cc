// Runs the laws of the tensor_matmul family on the mutants and negative controls of its mma path.
#include "tests/known_bad/tensor_matmul.h"

#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests(
    "tensor_matmul_mma", tensor_matmul_mma_mutants(),
    of_kernels(properties::tensor_matmul_mma_laws(properties::Listed::kOfMutants)));

}  // namespace
}  // namespace lockstep::known_bad
