// The laws of the memory spaces family, run on its mutants and negative controls.
#include "properties/memory_spaces.h"

#include "tests/known_bad/memory_spaces.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("memory_spaces", memory_space_mutants(),
                                      of_kernels(properties::memory_space_laws()));

}  // namespace
}  // namespace lockstep::known_bad
