// The laws of the memory access family, run on its mutants and negative controls.
#include "properties/memory_access.h"

#include "tests/known_bad/memory_access.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("memory_access", memory_access_mutants(),
                                      of_kernels(properties::memory_access_laws()));

}  // namespace
}  // namespace lockstep::known_bad
