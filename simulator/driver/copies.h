// Converts the driver's descriptions of copies to the runtime's, and back.
#pragma once

#include "simulator/driver/call.h"
#include "simulator/runtime/state/arrays.h"

namespace lockstep::driver {

// CUDA_ERROR_INVALID_VALUE if `parameters` describe no valid copy.
CUresult box_of(const CUDA_MEMCPY3D& parameters, cudaMemcpy3DParms* box);
void describe_box(const cudaMemcpy3DParms& box, CUDA_MEMCPY3D* parameters);

// Whether a copy has no extent in some dimension.
inline bool copies_nothing(const CUDA_MEMCPY3D& p) {
  return p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0;
}

}  // namespace lockstep::driver
