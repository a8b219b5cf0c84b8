// The ray tracer's laws. A law is a sentence about every case; it takes the implementation that it
// judges, so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/ray_tracer.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/ray_tracer.h).
using RayTracer = std::function<decltype(kernels::ray_trace)>;
using Spheres = std::vector<kernels::Sphere>;

// The picture of a scene by the kernel under test, under the memory contract: width * height RGBA
// pixels. Inside a running case.
std::vector<std::uint32_t> render(const RayTracer& tracer, kernels::RayTracerVariant variant,
                                  const Spheres& spheres, int width, int height);

// In the order in which a mutant meets them.
Laws<RayTracer> ray_tracer_laws();
// Images whose sides 16 bits do not count, by both variants. Not for mutants: it would be most of
// their time.
Laws<RayTracer> large_ray_tracer_laws();
// Rows that lie further apart than 32 bits count; several GiB of addresses.
Laws<RayTracer> far_ray_tracer_laws();

}  // namespace lockstep::properties
