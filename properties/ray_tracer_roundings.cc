#include "properties/ray_tracer_roundings.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "harness/property/rounded.h"
#include "properties/special_scenes.h"
#include "reference/ray_tracer.h"

namespace lockstep::properties {
namespace {

using kernels::Sphere;
using enum Rounding;

// The steps of the chain; a neighbour replaces one.
struct Steps {
  using Two = float (*)(float, float);
  Two difference = [](float a, float b) { return rounded_sub(a, b); };
  Two distance = [](float dx, float dy) { return rounded_fma(dx, dx, rounded_mul(dy, dy)); };
  Two square = [](float radius, float) { return rounded_mul(radius, radius); };
  bool (*hit)(float, float) = [](float distance, float square) { return distance < square; };
  // Arguments: square, distance and radius.
  float (*depth)(float, float, float) = [](float q, float s, float) {
    return rounded_sqrt(rounded_sub(q, s));
  };
  Two height = [](float z, float dz) { return rounded_add(z, dz); };
  bool (*higher)(float, float) = [](float here, float highest) { return here > highest; };
  Two shade = [](float dz, float radius) { return rounded_div(dz, radius); };
  Two level = [](float colour, float shade) {
    return rounded_mul(rounded_mul(colour, shade), 255.0f);
  };
  float (*whole)(float) = [](float level) { return std::nearbyint(level); };
};

std::uint32_t pixel_by(const Steps& step, const PixelOfScene& p) {
  const float ox = static_cast<float>(p.px) + 0.5f - static_cast<float>(p.width) * 0.5f,
              oy = static_cast<float>(p.py) + 0.5f - static_cast<float>(p.height) * 0.5f;
  std::array<std::uint8_t, 4> pixel = {0, 0, 0, 255};
  float highest = -std::numeric_limits<float>::infinity();
  for (const Sphere& s : p.spheres) {
    const float dx = step.difference(ox, s.x), dy = step.difference(oy, s.y);
    const float distance = step.distance(dx, dy), square = step.square(s.radius, 0);
    if (!(s.radius > 0 && step.hit(distance, square))) continue;
    const float dz = step.depth(square, distance, s.radius), here = step.height(s.z, dz);
    if (!step.higher(here, highest)) continue;
    highest = here;
    const float shade = step.shade(dz, s.radius);
    const auto byte = [&](float colour) {
      return static_cast<std::uint8_t>(
          step.whole(std::fmin(std::fmax(step.level(colour, shade), 0.0f), 255.0f)));
    };
    pixel = {byte(s.r), byte(s.g), byte(s.b), 255};
  }
  return std::bit_cast<std::uint32_t>(pixel);
}

std::vector<RayTracerRoundings::Neighbour> neighbours() {
  std::vector<RayTracerRoundings::Neighbour> all;
  const auto add = [&](const char* name, const Steps& steps) {
    all.push_back({name, [steps](const PixelOfScene& p) { return pixel_by(steps, p); }});
  };
  add("dx and dy rounded to zero",
      {.difference = [](float a, float b) { return rounded_sub(a, b, kZero); }});
  add("dx and dy rounded down",
      {.difference = [](float a, float b) { return rounded_sub(a, b, kDown); }});
  add("dx * dx rounded, dy * dy fused",
      {.distance = [](float dx, float dy) { return rounded_fma(dy, dy, rounded_mul(dx, dx)); }});
  add("both squares rounded", {.distance = [](float dx, float dy) {
        return rounded_add(rounded_mul(dx, dx), rounded_mul(dy, dy));
      }});
  add("the sum of squares rounded to zero", {.distance = [](float dx, float dy) {
        return rounded_fma(dx, dx, rounded_mul(dy, dy), kZero);
      }});
  add("dy * dy rounded up", {.distance = [](float dx, float dy) {
        return rounded_fma(dx, dx, rounded_mul(dy, dy, kUp));
      }});
  add("radius * radius rounded to zero",
      {.square = [](float radius, float) { return rounded_mul(radius, radius, kZero); }});
  add("a hit where both are equal",
      {.hit = [](float distance, float square) { return distance <= square; }});
  add("q - s fused with the radius' square", {.depth = [](float, float s, float radius) {
        return rounded_sqrt(rounded_fma(radius, radius, -s));
      }});
  add("q - s rounded to zero",
      {.depth = [](float q, float s, float) { return rounded_sqrt(rounded_sub(q, s, kZero)); }});
  add("the square root rounded to zero",
      {.depth = [](float q, float s, float) { return rounded_sqrt(rounded_sub(q, s), kZero); }});
  add("the square root rounded up",
      {.depth = [](float q, float s, float) { return rounded_sqrt(rounded_sub(q, s), kUp); }});
  add("the height rounded to zero",
      {.height = [](float z, float dz) { return rounded_add(z, dz, kZero); }});
  add("the height rounded up",
      {.height = [](float z, float dz) { return rounded_add(z, dz, kUp); }});
  add("of equal heights the last",
      {.higher = [](float here, float highest) { return here >= highest; }});
  add("the reciprocal of the radius for the quotient",
      {.shade = [](float dz, float radius) { return rounded_mul(dz, rounded_div(1.0f, radius)); }});
  add("the quotient rounded to zero",
      {.shade = [](float dz, float radius) { return rounded_div(dz, radius, kZero); }});
  add("the quotient rounded up",
      {.shade = [](float dz, float radius) { return rounded_div(dz, radius, kUp); }});
  add("colour * 255 first", {.level = [](float colour, float shade) {
        return rounded_mul(rounded_mul(colour, 255.0f), shade);
      }});
  add("shade * 255 first", {.level = [](float colour, float shade) {
        return rounded_mul(rounded_mul(shade, 255.0f), colour);
      }});
  add("the product with the shade rounded to zero", {.level = [](float colour, float shade) {
        return rounded_mul(rounded_mul(colour, shade, kZero), 255.0f);
      }});
  add("the level rounded to zero", {.level = [](float colour, float shade) {
        return rounded_mul(rounded_mul(colour, shade), 255.0f, kZero);
      }});
  add("half a level rounded away from zero",
      {.whole = [](float level) { return std::round(level); }});
  add("half a level rounded down", {.whole = [](float level) { return std::ceil(level - 0.5f); }});
  return all;
}

// Any value of [-side, side) with all the bits of a float.
float any_float(float side, Bits& bits) {
  return (static_cast<float>(bits.below(1 << 24)) * 0x1p-23f - 1) * side;
}

// A z whose height is that of `at` at its pixel, or a few ulps off.
float z_for_height(float height, float depth, Bits& bits) { return nudged(height - depth, bits); }

}  // namespace

std::uint32_t declared_pixel(const PixelOfScene& p) {
  std::vector<reference::Sphere> spheres;
  for (const Sphere& s : p.spheres) spheres.push_back({s.r, s.g, s.b, s.radius, s.x, s.y, s.z});
  return std::bit_cast<std::uint32_t>(
      reference::declared_pixel(spheres, p.width, p.height, p.px, p.py));
}

const RayTracerRoundings& ray_tracer_roundings() {
  static const RayTracerRoundings search(declared_pixel, neighbours());
  return search;
}

PixelOfScene pixel_on_the_edge(Bits& bits) {
  PixelOfScene p;
  p.width = static_cast<int>(1 + bits.below(20)), p.height = static_cast<int>(1 + bits.below(3));
  p.px = static_cast<int>(bits.below(p.width)), p.py = static_cast<int>(bits.below(p.height));
  const float ox = static_cast<float>(p.px) + 0.5f - static_cast<float>(p.width) * 0.5f,
              oy = static_cast<float>(p.py) + 0.5f - static_cast<float>(p.height) * 0.5f;
  const float reach = std::ldexp(1.0f, static_cast<int>(bits.below(5)) - 2);
  Sphere s = {1, 1, 1, 0, any_float(reach, bits), any_float(reach, bits), any_float(4, bits)};
  const float dx = ox - s.x, dy = oy - s.y, side = std::sqrt(dx * dx + dy * dy);
  if (bits.chance(40)) {  // the rim of a sphere
    s.radius = nudged(side, bits);
    const Sphere below = {
        0, 1, 0,     1000,
        0, 0, -10000};  // visible if the rim is no hit; at a depth of 0 a hit is black
    p.spheres = {s, below};
    return p;
  }
  s.radius = side * (1 + static_cast<float>(1 + bits.below(1 << 20)) * 0x1p-18f);
  const float depth = std::sqrt(s.radius * s.radius - side * side);
  if (bits.chance(50)) {  // two levels
    const float shade = depth / s.radius;
    s.r = s.g = s.b = nudged((static_cast<float>(bits.below(255)) + 0.5f) / 255 / shade,
                             bits);  // each has separate code
    p.spheres = {s};
    return p;
  }
  // Two heights: one red, one green.
  Sphere other = s;
  s.g = s.b = 0, other.r = other.b = 0;
  other.radius = side * (1 + static_cast<float>(1 + bits.below(1 << 20)) * 0x1p-18f);
  other.z = z_for_height(s.z + depth, std::sqrt(other.radius * other.radius - side * side), bits);
  p.spheres = {s, other};
  return p;
}

}  // namespace lockstep::properties
