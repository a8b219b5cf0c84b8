#include "properties/scenes.h"

#include "harness/property/field.h"

namespace lockstep::properties {

using kernels::Sphere;

std::vector<Sphere> random_spheres(int count, int width, int height, std::uint64_t seed) {
  Bits bits(seed);
  const auto between = [&](int low, int high) {  // multiples of 1/64
    return static_cast<float>(static_cast<std::int64_t>(
                                  bits.below(static_cast<std::uint64_t>(64 * (high - low) + 1))) +
                              64 * low) /
           64;
  };
  const int side = width < height ? width : height;
  std::vector<Sphere> spheres(static_cast<std::size_t>(count));
  for (Sphere& s : spheres) {
    s.r = between(0, 1), s.g = between(0, 1), s.b = between(0, 1);
    s.radius = between(1, 2 + side / 4);
    s.x = between(-width / 2 - 4, width / 2 + 4), s.y = between(-height / 2 - 4, height / 2 + 4),
    s.z = between(0, side);
  }
  return spheres;
}

std::vector<Scene> scenes() {
  const Sphere red = {1, 0, 0, 12, 0, 0, 0};
  const auto field = [](std::string name, int width, int height, int count, std::uint64_t seed) {
    return Scene{std::move(name), width, height, seed, random_spheres(count, width, height, seed)};
  };
  return {
      field("random_field", 96, 64, 60, 1),
      field("random_field_odd", 61, 37, 40, 2),
      field("wide", 131, 5, 30, 3),
      field("tall", 7, 90, 30, 4),
      {"overlaps",
       64,
       64,
       0,
       {{1, 0, 0, 20, -8, 0, 0}, {0, 1, 0, 20, 8, 0, 0}, {0, 0, 1, 20, 0, 8, 10}}},
      {"cut_by_the_border",
       48,
       32,
       0,
       {{1, 1, 0, 14, -24, -16, 0}, {0, 1, 1, 14, 24, 0, 0}, {1, 0, 1, 14, 0, 16, 0}}},
      {"tangent",
       51,
       51,
       0,
       {{1, 0, 0, 12, -12, 0, 0}, {0, 1, 0, 12, 12, 0, 0}, {0, 0, 1, 13, 0, 25, 0}}},
      {"one_pixel", 1, 1, 0, {red}},
      {"one_pixel_missed", 1, 1, 0, {{1, 0, 0, 1, 5, 0, 0}}},
      {"coincident_depths",
       41,
       41,
       0,
       {{1, 0, 0, 15, 0, 0, 0}, {0, 0, 1, 15, 0, 0, 0}, {0, 1, 0, 10, 0, 0, 5}}},
      {"no_spheres", 20, 10, 0, {}},
      {"radius_zero", 9, 9, 0, {{1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, -4, 0, 0, 0}}},
      {"colours_out_of_range", 33, 33, 0, {{4, -1, 0.5f, 15, 0, 0, 0}}},
      field("most_constant_spheres", 40, 30, kernels::kMaxConstantSpheres, 5),
  };
}

}  // namespace lockstep::properties
