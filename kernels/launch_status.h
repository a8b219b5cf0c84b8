// The result of every launcher: a CUDA error and, if there is one, a sentence that states the
// attempted operation and the remedy.
//
// A launcher checks its arguments before it uses the device. If it refuses them, it returns
// cudaErrorInvalidValue with a message and launches nothing. Zero work is legal: the launcher
// returns success and launches nothing. Success means that the launch was accepted. Errors of the
// running kernel are reported by the next call that synchronises, as always in CUDA. All work goes
// to the given stream, which may be capturing. The launcher waits for nothing, and keeps no state
// between calls.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <utility>

namespace lockstep::kernels {

struct [[nodiscard]] LaunchStatus {
  cudaError_t error = cudaSuccess;
  std::string message;   // empty exactly when error is cudaSuccess
  bool of_cuda = false;  // a CUDA call failed; false: the launcher refused its arguments

  bool ok() const { return error == cudaSuccess; }
};

// The result of a launcher `who` that refuses its arguments; `why` is a sentence about them.
inline LaunchStatus refused(const char* who, const std::string& why) {
  return {cudaErrorInvalidValue, std::string(who) + ": " + why};
}

// The status for `error`, the result of the CUDA call that `tried` describes. Clears CUDA's last
// error: the next launch would otherwise report it as its own.
inline LaunchStatus status_of(cudaError_t error, const char* who, const std::string& tried) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  std::string message = std::string(who) + ": " + tried + ": " + cudaGetErrorName(error) + ", " +
                        cudaGetErrorString(error);
  if (error == cudaErrorNoKernelImageForDevice)
    message += ". Compile for this device, or embed the PTX of an older one, such as compute_75";
  return {error, message, true};
}

// The status of a launch, directly after it.
inline LaunchStatus launched(const char* who, unsigned blocks, int threads) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return {};
  return status_of(
      error, who,
      "launching " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads");
}

}  // namespace lockstep::kernels
