// Scenes of what random spheres never are: rays that touch, equal heights, and special values in
// every field.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/property/field.h"
#include "kernels/ray_tracer.h"

namespace lockstep::properties {

enum class SpecialScene : std::uint8_t {
  kSpecial,  // one or two fields of each sphere are special values, or near a constant of the chain
  kRims,     // at some pixel distance^2 equals radius^2, or is one ulp away
  kTies,     // spheres of equal height at many pixels, in different colours
  kLevels,   // channels halfway between two levels, or an ulp away, at some pixel
  kTiny,     // spheres so small that squares of lengths are subnormal
};

// `count` spheres over a width x height image, both at least 1.
std::vector<kernels::Sphere> special_spheres(SpecialScene scene, int count, int width, int height,
                                             std::uint64_t seed);

// `value` moved by up to two ulps, either way.
float nudged(float value, Bits& bits);

}  // namespace lockstep::properties
