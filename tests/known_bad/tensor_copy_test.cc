// The laws of the tensor copies, run on their mutants and negative controls.
#include "properties/tensor_copy.h"

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_copy.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("tensor_copy", tensor_copy_mutants(),
                                      of_kernels(properties::tensor_copy_laws()));

}  // namespace
}  // namespace lockstep::known_bad
