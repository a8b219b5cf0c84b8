// FILL IN: what the kernel computes, as a formula, and the rounding chain of each element.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

struct FamilyNameShape {
  int block = 256;              // threads, 1 ... 1024
  int max_blocks = 0x7fffffff;  // the grid has at most these and strides over the rest; at least 1
};

// FILL IN: y[i] = ... of x.
//
// x and y: n floats of device memory each, aligned to float, that do not overlap. n >= 0; n = 0
// launches nothing, and x and y may then be null. Errors: cudaErrorInvalidValue for arguments
// outside these, else what CUDA returned.
LaunchStatus family_name(const float* x, std::int64_t n, float* y,
                         const FamilyNameShape& shape = {}, cudaStream_t stream = nullptr);

// Whether family_name would take these arguments; launches nothing. For kernels that keep its
// contract in another way.
LaunchStatus check_family_name(const float* x, std::int64_t n, const float* y,
                               const FamilyNameShape& shape);

}  // namespace lockstep::kernels
