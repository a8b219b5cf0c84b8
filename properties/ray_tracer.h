// The ray tracer's laws. A law is a statement about every case. It takes the implementation under
// test as an argument, so that a broken or rewritten kernel can replace the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/ray_tracer.h"
#include "properties/law.h"

namespace lockstep::properties {

// A function with the launcher's signature and contract (kernels/ray_tracer.h).
using RayTracer = std::function<decltype(kernels::ray_trace)>;
using Spheres = std::vector<kernels::Sphere>;

// Renders a scene with the kernel under test, under the memory contract. Returns width * height
// RGBA pixels. Call inside a running case.
std::vector<std::uint32_t> render(const RayTracer& tracer, kernels::RayTracerVariant variant,
                                  const Spheres& spheres, int width, int height);

// In the order in which mutants are judged.
Laws<RayTracer> ray_tracer_laws();
// Images with sides beyond 16 bits, by both variants. Not for mutants: these laws would take most
// of their time.
Laws<RayTracer> large_ray_tracer_laws();
// Rows further apart than 32 bits count; they need several GiB of addresses.
Laws<RayTracer> far_ray_tracer_laws();

}  // namespace lockstep::properties
