// The laws of cube, run on its mutants and negative controls.
#include "properties/cube.h"

#include "tests/known_bad/cube.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("cube", cube_mutants(), of_kernels(properties::cube_laws()));

}  // namespace
}  // namespace lockstep::known_bad
