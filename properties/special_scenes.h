// Scenes that random spheres do not produce: rays that touch spheres, equal heights, and special
// values in every field.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/property/field.h"
#include "kernels/ray_tracer.h"

namespace lockstep::properties {

enum class SpecialScene : std::uint8_t {
  kSpecial,  // one or two fields of each sphere are special values, or near a constant of the chain
  kRims,     // at some pixel, distance^2 equals radius^2 or is one ulp off
  kTies,     // spheres of equal height at many pixels, in different colours
  kLevels,   // channels halfway between two levels, or an ulp off, at some pixel
  kTiny,     // spheres so small that squares of lengths are subnormal
};

// `count` spheres over a width x height image, both at least 1.
std::vector<kernels::Sphere> special_spheres(SpecialScene scene, int count, int width, int height,
                                             std::uint64_t seed);

// `value`, changed by up to two ulps.
float nudged(float value, Bits& bits);

}  // namespace lockstep::properties
