// Mutants and negative controls of the ray tracer family; see mutant.h.
#pragma once

#include "kernels/ray_tracer.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

using RayTracerLauncher = decltype(kernels::ray_trace);

Mutants<RayTracerLauncher> ray_tracer_mutants();

// Mutants that accept a wrong number of spheres.
Mutants<RayTracerLauncher> ray_tracer_launcher_mutants();

}  // namespace lockstep::known_bad
