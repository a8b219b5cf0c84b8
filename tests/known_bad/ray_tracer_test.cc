// The laws of the ray tracer family, run on its mutants and negative controls.
#include "properties/ray_tracer.h"

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/ray_tracer.h"

namespace lockstep::known_bad {
namespace {

const bool added = add_mutation_tests("ray_tracer", ray_tracer_mutants(),
                                      of_kernels(properties::ray_tracer_laws()));
const bool launchers_added =
    add_mutation_tests("ray_tracer", ray_tracer_launcher_mutants(), properties::ray_tracer_laws());

}  // namespace
}  // namespace lockstep::known_bad
