// Device properties that a test has overridden (lockstepSetProperty in simulator/extension.h). Only
// the reported values change, not the device.
#pragma once

#include <cuda_runtime_api.h>

#include <map>

namespace lockstep::runtime {

// Sets each of these attributes in `prop`, if cudaDeviceProp has a field for it.
void change_properties(cudaDeviceProp& prop, const std::map<int, int>& values);

}  // namespace lockstep::runtime
