// Orthographic ray tracer: one ray per pixel, along z, against a field of spheres; the highest hit
// is shaded.
//
// Pixel (px, py) of a width x height image looks down at ox = px + 0.5 - width / 2, oy = py + 0.5 -
// height / 2 (exact in float for sizes to 2^22). A sphere is hit if dx^2 + dy^2 < radius^2, at
// height z + dz with dz = sqrt(radius^2 - dx^2 - dy^2). The highest hit sets the colour times dz /
// radius; of equal heights, the first in the list. Without a hit the pixel is black. Alpha is
// always 255.
//
// Rounding chain, every operation rounded once to float, so that all variants and devices agree bit
// for bit:
//   dx = ox - x;  dy = oy - y;  s = fma(dx, dx, dy * dy);  q = radius * radius;  hit: s < q
//   dz = sqrt(q - s);  height = z + dz;
//   byte = rint(min(max((colour * (dz / radius)) * 255, 0), 255))
//
// Special values follow from that chain, with NaN neither below nor above anything and max(NaN, 0)
// = 0: a sphere with NaN or an infinity in x or y is not hit, nor is one whose radius is NaN; one
// of infinite radius covers every pixel at height +inf, where dz / radius is NaN and so black; if
// radius^2 overflows, dz is +inf; if it underflows to 0, there is no hit. A height of NaN or -inf
// is below all others, including that of an empty pixel, and is not drawn.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

struct Sphere {
  float r, g, b;  // 0 ... 1; other values are clamped when drawn
  float radius;   // pixels; a radius that is not above 0 is never hit
  float x, y, z;  // pixels, the origin in the middle of the image
};

// The number of spheres that 64 KB of constant memory hold.
inline constexpr int kMaxConstantSpheres = 65536 / sizeof(Sphere);
static_assert(kMaxConstantSpheres == 2340);

enum class RayTracerVariant : std::uint8_t {
  // Spheres copied to __constant__ memory: every lane of a warp reads the same one, a broadcast.
  kConstant,
  kGlobal,  // spheres read from global memory
};

inline constexpr int kMaxImageSide = 1 << 22;  // pixels

// spheres: `count` of them in device memory, aligned to float; 0 ... 2,340 for kConstant, any
// number for kGlobal. image: 8-bit RGBA in device memory; row py begins at byte py * pitch, pitch
// >= 4 * width, image and pitch multiples of 4, the image's last byte less than 2^63 from its
// first; bytes past 4 * width of a row are not written. width, height: 0 ... 2^22; if either is 0
// nothing is launched. image and spheres do not overlap. The device holds one constant copy of the
// spheres: calls of kConstant on different streams must be ordered by the caller. Errors:
// cudaErrorInvalidValue for arguments outside these, otherwise the error that CUDA returned.
LaunchStatus ray_trace(RayTracerVariant variant, const Sphere* spheres, int count,
                       std::uint8_t* image, int width, int height, std::size_t pitch,
                       cudaStream_t stream = nullptr);

// Whether ray_trace would accept these arguments; launches nothing. For kernels with the same
// contract and another implementation.
LaunchStatus check_ray_trace(RayTracerVariant variant, const Sphere* spheres, int count,
                             const std::uint8_t* image, int width, int height, std::size_t pitch);

}  // namespace lockstep::kernels
