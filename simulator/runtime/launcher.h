// Launching a kernel: what must be true of the configuration, and what becomes of the outcome.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "simulator/runtime/runtime.h"

namespace lockstep::runtime {

struct LaunchRequest {
  dim3 grid, block;
  dim3 cluster{0, 0, 0};      // {0,0,0}: as the kernel asks, or none
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
};

// Checks a launch of `kernel` against the device, without running it. Says what is wrong.
cudaError_t check_launch(Runtime& runtime, Device& device, const char* function, const KernelEntry& entry, const engine::Kernel& kernel,
                         LaunchRequest& request);

// Runs a kernel. `arguments` points to one pointer a parameter. The kernel's own errors are kept for the next call (Device::error) unless
// CUDA_LAUNCH_BLOCKING is set.
cudaError_t launch(Runtime& runtime, Device& device, const char* function, const void* kernel, LaunchRequest request, void** arguments);

// The most dynamic shared memory a launch of the kernel may ask for, as set by cudaFuncSetAttribute or by default.
std::size_t dynamic_shared_limit(const Runtime& runtime, const KernelEntry& entry, const engine::Kernel& kernel, int device);

}  // namespace lockstep::runtime
