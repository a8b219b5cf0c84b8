// The driver's descriptions of copies, in the runtime's words and back.
#pragma once

#include "simulator/driver/call.h"
#include "simulator/runtime/state/arrays.h"

namespace lockstep::driver {

// CUDA_ERROR_INVALID_VALUE for what describes no copy.
CUresult box_of(const CUDA_MEMCPY3D& parameters, cudaMemcpy3DParms* box);
void describe_box(const cudaMemcpy3DParms& box, CUDA_MEMCPY3D* parameters);

}  // namespace lockstep::driver
