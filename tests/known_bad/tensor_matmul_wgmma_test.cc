// The laws of the tensor_matmul family, run on the mutants and negative controls of its path by
// wgmma.
#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

// A case multiplies tiles of 64 by 64 at least: fewer of them say as much.
auto laws() {
  auto all = of_kernels(properties::tensor_matmul_wgmma_laws());
  for (auto& law : all) law.options.cost *= 3;
  return all;
}

const bool added = add_mutation_tests("tensor_matmul_wgmma", tensor_matmul_wgmma_mutants(), laws());

}  // namespace
}  // namespace lockstep::known_bad
