// The cube of each element: y[i] = x[i]^3.
//
// Rounding chain of an element: square = x * x, then y = square * x, two roundings; the same for
// every schedule.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace solids::kernels {
using namespace lockstep;
using namespace lockstep::kernels;

struct CubeShape {
  int block = 256;  // threads, 1 ... 1024
  int max_blocks =
      0x7fffffff;  // the grid is at most that; blocks stride over the elements; at least 1
};

// y[i] = x[i] * x[i] * x[i].
//
// x and y: n floats of device memory each, aligned to float, that do not overlap. n >= 0; n = 0
// launches nothing, and x and y may then be null. Errors: cudaErrorInvalidValue for arguments
// outside these, else what CUDA returned.
LaunchStatus cube(const float* x, std::int64_t n, float* y, const CubeShape& shape = {},
                  cudaStream_t stream = nullptr);

// Whether cube would take these arguments; launches nothing. For kernels that keep its contract in
// another way.
LaunchStatus check_cube(const float* x, std::int64_t n, const float* y, const CubeShape& shape);

}  // namespace solids::kernels
