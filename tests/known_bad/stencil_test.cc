// The laws of the stencil family, run on its mutants and negative controls.
#include "properties/stencil.h"

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/stencil.h"

namespace lockstep::known_bad {
namespace {

const bool added =
    add_mutation_tests("stencil", stencil_mutants(), of_kernels(properties::stencil_laws()));

}  // namespace
}  // namespace lockstep::known_bad
