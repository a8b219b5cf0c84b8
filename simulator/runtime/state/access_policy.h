// Windows of memory whose lines stay in the L2 cache for longer (CUDA C++ Programming Guide,
// "Device Memory L2 Access Management"). They change when bytes arrive, and no result: they are
// checked, kept and given back.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/runtime/state/profile.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// cudaDeviceProp::persistingL2CacheMaxSize and accessPolicyMaxWindowSize, in bytes; 0 below compute
// capability 8.0, which has no such windows.
int largest_persisting_l2(const Profile& profile);
int largest_access_window(const Profile& profile);

// cudaErrorInvalidValue for a window that is larger than accessPolicyMaxWindowSize, a ratio outside
// of [0, 1], and properties that a hit or a miss cannot have (cudaAccessPolicyWindow).
cudaError_t check_access_policy(Runtime& runtime, const char* function,
                                const cudaAccessPolicyWindow& window);

}  // namespace lockstep::runtime
