// The laws of the matmul family, run on its mutants and negative controls.
#include "properties/matmul.h"

#include "tests/known_bad/matmul.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

// The kernels here ignore the variant: one CoversRowsBeyondTheGrid law is enough.
properties::Laws<properties::Matmul> laws_of_one_variant() {
  auto laws = of_kernels(properties::matmul_laws());
  std::erase_if(laws,
                [](const auto& law) { return law.name == "CoversRowsBeyondTheGridWithoutTiles"; });
  return laws;
}

const bool added = add_mutation_tests("matmul", matmul_mutants(), laws_of_one_variant());

}  // namespace
}  // namespace lockstep::known_bad
