// Ray tracers under suspicion; see suspect.h.
#pragma once

#include "kernels/ray_tracer.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using RayTracerLauncher = decltype(kernels::ray_trace);

Suspects<RayTracerLauncher> ray_tracer_suspects();

}  // namespace lockstep::known_bad
