#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/stencil.h"

namespace lockstep::kernels {
namespace {

constexpr const char* kWho = "stencil_1d";
constexpr int kMaxBlock = 1024;

__constant__ float constant_coefficients[kStencilRadius + 1];
__device__ float global_coefficients[kStencilRadius + 1];

// x[i] for -radius <= i < n + radius.
__device__ float element(const float* x, std::int64_t n, std::int64_t i, StencilBoundary boundary) {
  if (i >= 0 && i < n) return x[i];
  switch (boundary) {
    case StencilBoundary::kPadded: return x[i];
    case StencilBoundary::kClamp: return x[i < 0 ? 0 : n - 1];
    case StencilBoundary::kPeriodic: {
      const std::int64_t r = i % n;  // one period may not be enough: n can be smaller than the halo
      return x[r < 0 ? r + n : r];
    }
    case StencilBoundary::kZero: break;
  }
  return 0.0f;
}

// Stages a tile whose halo is inside the signal, so that no element needs a boundary check. All
// loads come before the first use.
__device__ void stage_inner_tile(float* tile, const float* tile_of_x) {
  const int block = blockDim.x, length = kStencilItems * block;
  float mine[kStencilItems];
#pragma unroll
  for (int k = 0; k < kStencilItems; ++k) mine[k] = tile_of_x[threadIdx.x + k * block];
  for (int j = threadIdx.x; j < 2 * kStencilRadius; j += block) {
    const int at = j < kStencilRadius ? j : length + j;
    tile[at] = tile_of_x[at - kStencilRadius];
  }
#pragma unroll
  for (int k = 0; k < kStencilItems; ++k) tile[kStencilRadius + threadIdx.x + k * block] = mine[k];
}

// The whole algorithm; the variants differ only in `coefficient(k)`. Dynamic shared memory: a tile
// and its halo.
template <class Coefficient>
__device__ void stencil_tiles(const float* x, std::int64_t n, float* y, StencilBoundary boundary,
                              Coefficient coefficient) {
  extern __shared__ float tile[];  // tile[j] is x[first - radius + j]
  const auto sum_at = [&](int j) {
    const float* here = tile + kStencilRadius + j;
    float sum = 0.0f;
#pragma unroll
    for (int k = 1; k <= kStencilRadius; ++k) {
      sum = __fmaf_rn(coefficient(k), __fsub_rn(here[k], here[-k]),
                      sum);  // intrinsics pin the rounding chain
    }
    return sum;
  };
  const int block = blockDim.x, length = kStencilItems * block;
  for (std::int64_t first = std::int64_t{blockIdx.x} * length; first < n;
       first += std::int64_t{gridDim.x} * length) {
    const int count = static_cast<int>(n - first < length ? n - first : length);
    if (first >= kStencilRadius && first + length + kStencilRadius <= n) {
      stage_inner_tile(tile, x + first);
    } else {
      for (int j = threadIdx.x; j < count + 2 * kStencilRadius; j += block) {
        tile[j] = element(x, n, first + j - kStencilRadius, boundary);
      }
    }
    __syncthreads();
    if (count == length) {
#pragma unroll
      for (int k = 0; k < kStencilItems; ++k)
        y[first + threadIdx.x + k * block] = sum_at(threadIdx.x + k * block);
    } else {
      for (int j = threadIdx.x; j < count; j += block) y[first + j] = sum_at(j);
    }
    __syncthreads();  // the next tile overwrites data that slower threads still read
  }
}

__global__ void __launch_bounds__(kMaxBlock)
    stencil_constant(const float* __restrict__ x, std::int64_t n, float* __restrict__ y,
                     StencilBoundary boundary) {
  stencil_tiles(x, n, y, boundary, [](int k) { return constant_coefficients[k]; });
}

__global__ void __launch_bounds__(kMaxBlock)
    stencil_global(const float* __restrict__ x, std::int64_t n, float* __restrict__ y,
                   StencilBoundary boundary, const float* __restrict__ coefficients) {
  stencil_tiles(x, n, y, boundary, [=](int k) { return coefficients[k]; });
}

__global__ void __launch_bounds__(kMaxBlock)
    stencil_read_only(const float* __restrict__ x, std::int64_t n, float* __restrict__ y,
                      StencilBoundary boundary, const float* coefficients) {
  stencil_tiles(x, n, y, boundary, [=](int k) { return __ldg(coefficients + k); });
}

}  // namespace

LaunchStatus check_stencil_1d(StencilVariant variant, const float* x, std::int64_t n,
                              const float* y, StencilBoundary boundary, const StencilShape& shape) {
  constexpr std::int64_t kMostElements =
      std::numeric_limits<std::int64_t>::max() / sizeof(float) - 2 * kStencilRadius;
  const std::uint64_t halo = boundary == StencilBoundary::kPadded ? kStencilRadius : 0;
  ArgumentCheck check(kWho);
  check.number("n", n, 0, kMostElements);
  check.block(shape.block);
  check.number("max_blocks", shape.max_blocks, 1, std::numeric_limits<int>::max());
  check.enumerator("variant", variant, StencilVariant::kReadOnly);
  check.enumerator("boundary", boundary, StencilBoundary::kPeriodic);
  if (n == 0) return check.status();
  check.array("x", x, alignof(float));
  check.array("y", y, alignof(float));
  check.apart("x (with its halo)", x - halo, (n + 2 * halo) * sizeof(float), "y", y,
              n * sizeof(float));
  return check.status();
}

LaunchStatus stencil_1d(StencilVariant variant, const float* x, std::int64_t n, float* y,
                        const StencilCoefficients& coefficients, StencilBoundary boundary,
                        const StencilShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_stencil_1d(variant, x, n, y, boundary, shape);
      !status.ok() || n == 0)
    return status;

  const bool constant = variant == StencilVariant::kConstant;
  void* device_coefficients = nullptr;
  cudaError_t error = constant ? cudaGetSymbolAddress(&device_coefficients, constant_coefficients)
                               : cudaGetSymbolAddress(&device_coefficients, global_coefficients);
  if (error != cudaSuccess) return status_of(error, kWho, "finding the coefficients' symbol");
  error = constant
              ? cudaMemcpyToSymbolAsync(constant_coefficients, coefficients.data(),
                                        sizeof coefficients, 0, cudaMemcpyHostToDevice, stream)
              : cudaMemcpyToSymbolAsync(global_coefficients, coefficients.data(),
                                        sizeof coefficients, 0, cudaMemcpyHostToDevice, stream);
  if (error != cudaSuccess) return status_of(error, kWho, "copying the coefficients");

  const int tile = kStencilItems * shape.block;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((n - 1) / tile + 1, shape.max_blocks));
  const std::size_t shared = (tile + 2 * kStencilRadius) * sizeof(float);
  const auto* c = static_cast<const float*>(device_coefficients);
  switch (variant) {
    case StencilVariant::kConstant:
      stencil_constant<<<blocks, shape.block, shared, stream>>>(x, n, y, boundary);
      break;
    case StencilVariant::kGlobal:
      stencil_global<<<blocks, shape.block, shared, stream>>>(x, n, y, boundary, c);
      break;
    case StencilVariant::kReadOnly:
      stencil_read_only<<<blocks, shape.block, shared, stream>>>(x, n, y, boundary, c);
      break;
  }
  return launched(kWho, blocks, shape.block);
}

}  // namespace lockstep::kernels
