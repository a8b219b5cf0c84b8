// Runs the laws of the tensor_matmul family on the mutants and negative controls of its wgmma path.
#include <vector>

#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

// A case multiplies tiles of at least 64 x 64, and every mutant fails within the first cases. A
// negative control passes a few cases of each law. Laws about a second device are left out.
auto laws() {
  auto all = of_kernels(properties::tensor_matmul_wgmma_laws(properties::Listed::kOfMutants));
  std::erase_if(all, [](const auto& law) { return law.name == "HoldsOnASecondDevice"; });
  for (auto& law : all) law.options.cost *= 12;
  return all;
}

const bool added = add_mutation_tests("tensor_matmul_wgmma", tensor_matmul_wgmma_mutants(), laws());

}  // namespace
}  // namespace lockstep::known_bad
