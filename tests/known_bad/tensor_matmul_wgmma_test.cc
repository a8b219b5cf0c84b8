// The laws of the tensor_matmul family, run on the mutants and negative controls of its path by
// wgmma.
#include <vector>

#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

// A case multiplies tiles of 64 by 64 at least, and every mutant falls to the first cases: a
// negative control passes a few of each law. What a second device changes is the launcher's.
auto laws() {
  auto all = of_kernels(properties::tensor_matmul_wgmma_laws());
  std::erase_if(all, [](const auto& law) { return law.name == "HoldsOnASecondDevice"; });
  for (auto& law : all) law.options.cost *= 12;
  return all;
}

const bool added = add_mutation_tests("tensor_matmul_wgmma", tensor_matmul_wgmma_mutants(), laws());

}  // namespace
}  // namespace lockstep::known_bad
