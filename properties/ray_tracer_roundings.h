// The roundings of kernels/ray_tracer.h, their neighbours, and pixels on which their results
// differ.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/property/rounding_search.h"
#include "kernels/ray_tracer.h"

namespace lockstep::properties {

// One pixel of an image, and the spheres seen there.
struct PixelOfScene {
  int width = 1, height = 1, px = 0, py = 0;
  std::vector<kernels::Sphere> spheres;
};

using RayTracerRoundings = RoundingSearch<PixelOfScene, std::uint32_t>;

// The stated chain is the reference's, so it is independent of the neighbours' code.
const RayTracerRoundings& ray_tracer_roundings();

// A pixel at which one rounding matters: whether a sphere is hit, which of two is higher, or how a
// level is rounded.
PixelOfScene pixel_on_the_edge(Bits& bits);

// The pixel's value by the reference's declared chain.
std::uint32_t declared_pixel(const PixelOfScene& p);

}  // namespace lockstep::properties
