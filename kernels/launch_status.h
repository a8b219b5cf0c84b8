// What every launcher answers: a CUDA error and, where there is one, a sentence that says what was
// tried and what to change.
//
// A launcher checks its arguments before it touches the device. What it refuses is
// cudaErrorInvalidValue with a message, and nothing was launched. Zero work is legal: success, and
// nothing was launched. A success says that the launch was accepted; what happens while the kernel
// runs is reported by the next call that synchronises, as everywhere in CUDA. All work goes to the
// stream that was given, which may be one that is being captured; the launcher waits for nothing,
// and keeps nothing from one call to the next.
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

// The launcher `who` will not launch; `why` is a sentence about its arguments.
inline LaunchStatus refused(const char* who, const std::string& why) {
  return {cudaErrorInvalidValue, std::string(who) + ": " + why};
}

// The status for `error`, the result of the CUDA call that `tried` describes. An error is taken
// from CUDA's last error too: left pending, the next launch would report it as its own.
inline LaunchStatus status_of(cudaError_t error, const char* who, const std::string& tried) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  return {error,
          std::string(who) + ": " + tried + ": " + cudaGetErrorName(error) + ", " +
              cudaGetErrorString(error),
          true};
}

// What a launch has returned, just after it.
inline LaunchStatus launched(const char* who, unsigned blocks, int threads) {
  return status_of(
      cudaGetLastError(), who,
      "launching " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads");
}

}  // namespace lockstep::kernels
