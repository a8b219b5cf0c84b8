// The laws of the histogram family, run on its mutants and negative controls.
#include "properties/histogram.h"

#include "tests/known_bad/histogram.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

const bool added =
    add_mutation_tests("histogram", histogram_mutants(), of_kernels(properties::histogram_laws()));

}  // namespace
}  // namespace lockstep::known_bad
