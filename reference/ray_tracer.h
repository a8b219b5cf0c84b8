// Reference of the orthographic ray tracer: the set of colours of every pixel that a correct kernel
// may produce.
//
// Computed in double, with a bound on the error of every rounding of the declared float chain
// (kernels/ray_tracer.h):
//   s = dx^2 + dy^2         two squares of once-rounded differences, one product and one fma:
//                           relative error gamma(4)
//   q = radius^2            relative error gamma(1)
//   m = q - s               |error| <= E = gamma(5) s + gamma(2) q, plus underflow
//   dz = sqrt(m)            between sqrt(max(m - E, 0)) and sqrt(m + E), widened by gamma(1)
//   height = z + dz         widened by u |height|
//   level = c * (dz / radius) * 255
//                           widened by gamma(3), then rounded to an integer and clamped: an
//                           interval of at most a few levels
// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapters 2 and 3.) A sphere is
// certainly hit if s + error < q - error, certainly missed if the opposite holds, and undecided
// otherwise. The legal colours are those of every certain or undecided hit whose highest possible
// height reaches the greatest lower height of a certain hit, and black if no hit is certain. For
// almost all pixels this is one sphere and one level per channel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::reference {

// As in kernels/ray_tracer.h, which a reference must not include.
struct Sphere {
  float r, g, b, radius, x, y, z;
};

// One legal outcome of a pixel: each channel from low to high, both inclusive. Alpha is always 255.
struct LegalColour {
  std::array<std::uint8_t, 3> low{}, high{};
  int sphere = -1;  // its index; -1: black
  bool operator==(const LegalColour&) const = default;
};

// All legal outcomes of pixel (px, py) of a width x height image; never empty. Coordinates, radii
// and colours of spheres must be finite (asserted).
std::vector<LegalColour> legal_colours(std::span<const Sphere> spheres, int width, int height,
                                       int px, int py);

// Executes the declared chain for pixel (px, py), operation by operation in float. Returns the one
// correct RGBA value, also for special values.
std::array<std::uint8_t, 4> declared_pixel(std::span<const Sphere> spheres, int width, int height,
                                           int px, int py);

// 0 if the RGBA pixel is one of `legal`; otherwise the largest difference of a channel (alpha
// included) to the nearest outcome.
int distance(std::span<const std::uint8_t, 4> rgba, std::span<const LegalColour> legal);

}  // namespace lockstep::reference
