// The laws of the staging family, run on its mutants and negative controls.
#include "properties/staging.h"

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/staging.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("staging", staging_mutants(), of_kernels(properties::staging_laws()));

}  // namespace
}  // namespace lockstep::known_bad
