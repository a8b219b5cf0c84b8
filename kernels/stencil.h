// One-dimensional stencil of radius 4 (nine points), the first derivative of a sampled function
// with suitable coefficients:
//
//   y[i] = sum over k = 1..4 of c[k] * (x[i + k] - x[i - k]),   0 <= i < n
//
// Rounding chain, the same in every variant, so that they agree bit for bit: sum = +0; for k = 1,
// 2, 3, 4: sum = fma(c[k], x[i + k] - x[i - k], sum), each difference and each fma rounded once to
// float, subnormals kept. Results do not depend on the launch's shape or schedule.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

inline constexpr int kStencilRadius = 4;

// c[0] belongs to the point itself; a first derivative does not use it, whatever its value.
using StencilCoefficients = std::array<float, kStencilRadius + 1>;

// The memory from which the kernel reads the coefficients.
enum class StencilVariant : std::uint8_t {
  kConstant,  // __constant__ memory, written by cudaMemcpyToSymbol
  kGlobal,    // global memory through const float* __restrict__
  kReadOnly,  // global memory through __ldg
};

// The value of x[i] for i outside [0, n).
enum class StencilBoundary : std::uint8_t {
  kPadded,    // the caller's values: x[-4 ... n + 3] is readable
  kZero,      // +0
  kClamp,     // the nearest element, x[0] or x[n - 1]
  kPeriodic,  // x[i mod n]; n may be smaller than the radius
};

// The number of elements of a tile per thread, `block` elements apart: all their loads are in
// flight before the thread waits for the first. On an H100, one at a time leaves half of its
// bandwidth unused (docs/journal/timing.md).
inline constexpr int kStencilItems = 4;

// Each block computes tiles of kStencilItems * block elements; a grid smaller than the number of
// tiles strides over them.
struct StencilShape {
  int block = 256;              // threads, 1 ... 1024
  int max_blocks = 0x7fffffff;  // the grid is min(tiles, max_blocks); at least 1
};

// x and y: device memory, aligned to float, that does not overlap (the padding of x included). n >=
// 0; n = 0 launches nothing, and x and y may then be null. Coefficients are pageable host memory,
// copied before the call returns; in a stream that is being captured, at each launch of the graph,
// which they must then outlive. The device holds one set of them: calls on different streams must
// be ordered by the caller. Errors: cudaErrorInvalidValue for arguments outside these, otherwise
// the error that CUDA returned.
LaunchStatus stencil_1d(StencilVariant variant, const float* x, std::int64_t n, float* y,
                        const StencilCoefficients& coefficients, StencilBoundary boundary,
                        const StencilShape& shape = {}, cudaStream_t stream = nullptr);

// Whether stencil_1d would accept these arguments; launches nothing. For kernels with the same
// contract and another implementation.
LaunchStatus check_stencil_1d(StencilVariant variant, const float* x, std::int64_t n,
                              const float* y, StencilBoundary boundary, const StencilShape& shape);

}  // namespace lockstep::kernels
