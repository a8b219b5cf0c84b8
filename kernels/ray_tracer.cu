#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/ray_tracer.h"

namespace lockstep::kernels {
namespace {

constexpr const char* kWho = "ray_trace";
constexpr int kSide = 16;  // threads on a side of a block
constexpr int kMaxGridY = 65535;
constexpr std::size_t kMostBytes =
    std::numeric_limits<std::int64_t>::max();  // bytes of an addressable image

__constant__ Sphere constant_spheres[kMaxConstantSpheres];

__device__ std::uint8_t channel(float colour, float shade) {
  const float level = __fmul_rn(__fmul_rn(colour, shade), 255.0f);
  return static_cast<std::uint8_t>(__float2int_rn(fminf(fmaxf(level, 0.0f), 255.0f)));
}

// The whole algorithm; the variants differ only in the memory of `spheres`.
__device__ void trace(const Sphere* spheres, int count, std::uint8_t* image, int width, int height,
                      std::size_t pitch) {
  const int px = blockIdx.x * kSide + threadIdx.x;
  if (px >= width) return;
  const float ox = px + 0.5f - width * 0.5f;
  for (int py = blockIdx.y * kSide + threadIdx.y; py < height; py += gridDim.y * kSide) {
    const float oy = py + 0.5f - height * 0.5f;
    uchar4 pixel = make_uchar4(0, 0, 0, 255);
    float highest = -INFINITY;
    for (int i = 0; i < count; ++i) {
      const Sphere s = spheres[i];
      const float dx = __fsub_rn(ox, s.x), dy = __fsub_rn(oy, s.y);
      const float distance = __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
      const float square = __fmul_rn(s.radius, s.radius);
      if (!(s.radius > 0.0f && distance < square)) continue;
      const float dz = __fsqrt_rn(__fsub_rn(square, distance));
      const float here = __fadd_rn(s.z, dz);
      if (!(here > highest)) continue;
      highest = here;
      const float shade = __fdiv_rn(dz, s.radius);
      pixel = make_uchar4(channel(s.r, shade), channel(s.g, shade), channel(s.b, shade), 255);
    }
    *reinterpret_cast<uchar4*>(image + py * pitch + px * sizeof(uchar4)) = pixel;
  }
}

__global__ void __launch_bounds__(kSide* kSide)
    ray_trace_constant(int count, std::uint8_t* image, int width, int height, std::size_t pitch) {
  trace(constant_spheres, count, image, width, height, pitch);
}

__global__ void __launch_bounds__(kSide* kSide)
    ray_trace_global(const Sphere* spheres, int count, std::uint8_t* image, int width, int height,
                     std::size_t pitch) {
  trace(spheres, count, image, width, height, pitch);
}

}  // namespace

LaunchStatus check_ray_trace(RayTracerVariant variant, const Sphere* spheres, int count,
                             const std::uint8_t* image, int width, int height, std::size_t pitch) {
  ArgumentCheck check(kWho);
  check.enumerator("variant", variant, RayTracerVariant::kGlobal);
  check.number("count", count, 0, std::numeric_limits<int>::max());
  check.require(variant != RayTracerVariant::kConstant || count <= kMaxConstantSpheres, [&] {
    return std::to_string(count) + " spheres do not fit constant memory, which holds " +
           std::to_string(kMaxConstantSpheres) + "; use the global variant";
  });
  check.number("width", width, 0, kMaxImageSide);
  check.number("height", height, 0, kMaxImageSide);
  if (!check.ok() || width == 0 || height == 0) return check.status();
  const std::size_t row = sizeof(uchar4) * width;
  const std::size_t most = height == 1 ? kMostBytes : (kMostBytes - row) / (height - 1);
  check.require(pitch >= row && pitch <= most && pitch % alignof(uchar4) == 0, [&] {
    return "the pitch is " + std::to_string(pitch) +
           " bytes; it must be a multiple of 4, at least " + std::to_string(row) + ", and leave " +
           std::to_string(height) + " rows in what can be addressed";
  });
  check.array("image", image, alignof(uchar4));
  if (count == 0) return check.status();
  check.array("spheres", spheres, alignof(Sphere));
  check.apart("image", image, (height - 1) * pitch + row, "spheres", spheres,
              count * sizeof(Sphere));
  return check.status();
}

LaunchStatus ray_trace(RayTracerVariant variant, const Sphere* spheres, int count,
                       std::uint8_t* image, int width, int height, std::size_t pitch,
                       cudaStream_t stream) {
  if (LaunchStatus status = check_ray_trace(variant, spheres, count, image, width, height, pitch);
      !status.ok()) {
    return status;
  }
  if (width == 0 || height == 0) return {};
  const dim3 block(kSide, kSide);
  const dim3 grid((width - 1) / kSide + 1, std::min((height - 1) / kSide + 1, kMaxGridY));
  const std::string tried =
      "launching " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " blocks";
  if (variant == RayTracerVariant::kConstant) {
    if (count > 0) {
      const cudaError_t e = cudaMemcpyToSymbolAsync(
          constant_spheres, spheres, count * sizeof(Sphere), 0, cudaMemcpyDeviceToDevice, stream);
      if (e != cudaSuccess) return status_of(e, kWho, "copying the spheres to constant memory");
    }
    ray_trace_constant<<<grid, block, 0, stream>>>(count, image, width, height, pitch);
  } else {
    ray_trace_global<<<grid, block, 0, stream>>>(spheres, count, image, width, height, pitch);
  }
  return status_of(cudaGetLastError(), kWho, tried);
}

}  // namespace lockstep::kernels
