// The scenes of the golden images: small pictures of the cases that ray tracers get wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ray_tracer.h"

namespace lockstep::properties {

struct Scene {
  std::string name;
  int width = 0, height = 0;
  std::uint64_t seed = 0;  // of random scenes; otherwise 0
  std::vector<kernels::Sphere> spheres;
};

// `count` spheres of random colour, place and radius, over a width x height image and slightly
// beyond. Every value is a multiple of 1/64, so that it is the same on every machine.
std::vector<kernels::Sphere> random_spheres(int count, int width, int height, std::uint64_t seed);

// In the order of the manifest; names are unique.
std::vector<Scene> scenes();

// The version of the ray tracer's contract that the goldens show; incremented when the contract
// changes.
inline constexpr int kRayTracerReference = 1;

}  // namespace lockstep::properties
