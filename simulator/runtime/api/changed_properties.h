// What a device says of itself, where a test has given it other values (lockstepSetProperty in
// simulator/extension.h). The device is what it was.
#pragma once

#include <cuda_runtime_api.h>

#include <map>

namespace lockstep::runtime {

// Gives each of these attributes its value where cudaDeviceProp has a field for it.
void change_properties(cudaDeviceProp& prop, const std::map<int, int>& values);

}  // namespace lockstep::runtime
