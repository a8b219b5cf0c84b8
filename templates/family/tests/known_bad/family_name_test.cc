// The laws of family_name, run on its mutants and negative controls.
#include "properties/family_name.h"

#include "tests/known_bad/family_name.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("family_name", family_name_mutants(),
                                      of_kernels(properties::family_name_laws()));

}  // namespace
}  // namespace lockstep::known_bad
