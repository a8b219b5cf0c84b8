// The laws of the matmul family, run on its mutants and negative controls.
#include "properties/matmul.h"

#include "tests/known_bad/matmul.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("matmul", matmul_mutants(), of_kernels(properties::matmul_laws()));

}  // namespace
}  // namespace lockstep::known_bad
