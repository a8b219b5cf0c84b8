// The laws of the tensor_matmul family, run on the mutants and negative controls of its path by wgmma.
#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("tensor_matmul_wgmma", tensor_matmul_wgmma_mutants(),
                                      of_kernels(properties::tensor_matmul_wgmma_laws()));

}  // namespace
}  // namespace lockstep::known_bad
