// The roundings of kernels/ray_tracer.h, their neighbours, and pixels where their
// results differ.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/property/rounding_search.h"
#include "kernels/ray_tracer.h"

namespace lockstep::properties {

// One pixel of an image, and what is seen there.
struct PixelOfScene {
  int width = 1, height = 1, px = 0, py = 0;
  std::vector<kernels::Sphere> spheres;
};

using RayTracerRoundings = RoundingSearch<PixelOfScene, std::uint32_t>;

// The stated chain is the reference's, and so another's handwriting than the neighbours'.
const RayTracerRoundings& ray_tracer_roundings();

// A pixel where one rounding decides: whether a sphere is hit, which of two is higher, or what a
// level is rounded to.
PixelOfScene pixel_on_the_edge(Bits& bits);

// The spheres as a reference takes them.
std::uint32_t declared_pixel(const PixelOfScene& p);

}  // namespace lockstep::properties
