// Memory windows whose lines stay longer in the L2 cache (CUDA C++ Programming Guide, "Device
// Memory L2 Access Management"). They affect performance only, so they are checked, stored and
// returned, but have no effect.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/runtime/state/profile.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// cudaDeviceProp::persistingL2CacheMaxSize and accessPolicyMaxWindowSize, in bytes; 0 below compute
// capability 8.0, which has no such windows.
int largest_persisting_l2(const Profile& profile);
int largest_access_window(const Profile& profile);

// Returns cudaErrorInvalidValue for a window larger than accessPolicyMaxWindowSize, a ratio outside
// [0, 1], and properties that a hit or a miss cannot have (cudaAccessPolicyWindow).
cudaError_t check_access_policy(Runtime& runtime, const char* function,
                                const cudaAccessPolicyWindow& window);

}  // namespace lockstep::runtime
