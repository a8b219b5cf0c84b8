// Reference of the orthographic ray tracer: for every pixel the set of colours that a correct
// kernel may give it.
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
// certainly hit when s + error < q - error, certainly missed when the opposite holds, and undecided
// otherwise. Legal are the colours of every certain or undecided hit whose highest possible height
// reaches the greatest certain lower height, and black when no hit is certain. Nearly everywhere
// that is one sphere and one level a channel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::reference {

// As in kernels/ray_tracer.h, which a reference does not include.
struct Sphere {
  float r, g, b, radius, x, y, z;
};

// One outcome of a pixel: each channel from low to high, both inclusive. Alpha is 255 in all.
struct LegalColour {
  std::array<std::uint8_t, 3> low{}, high{};
  int sphere = -1;  // its index; -1: black
  bool operator==(const LegalColour&) const = default;
};

// All outcomes of pixel (px, py) of a width x height image; never empty. A sphere with a
// coordinate, radius or colour that is not finite is outside what the reference covers (asserted).
std::vector<LegalColour> legal_colours(std::span<const Sphere> spheres, int width, int height,
                                       int px, int py);

// Pixel (px, py) by the declared chain itself, operation by operation in float: the one RGBA value
// that is right, for every value that a float can have.
std::array<std::uint8_t, 4> declared_pixel(std::span<const Sphere> spheres, int width, int height,
                                           int px, int py);

// 0 when the RGBA pixel is one of `legal`; otherwise the largest difference of a channel to the
// outcome that comes nearest (alpha included).
int distance(std::span<const std::uint8_t, 4> rgba, std::span<const LegalColour> legal);

}  // namespace lockstep::reference
