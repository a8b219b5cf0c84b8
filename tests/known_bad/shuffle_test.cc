// The laws of the shuffle family, run on its mutants and negative controls.
#include "properties/shuffle.h"

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/shuffle.h"

namespace lockstep::known_bad {
namespace {

const bool added =
    add_mutation_tests("shuffle", shuffle_mutants(), of_kernels(properties::shuffle_laws()));

}  // namespace
}  // namespace lockstep::known_bad
