// What a program asks of the compiler of PTX (CUjit_option; cudaJitOption has the same numbers):
// checked as an H100's driver (580.159) checks it.
//
// There is no compiler of machine code here. What can be seen of an option without one is there:
// how many registers and threads a kernel has, the logs, the time of linking. The others are taken,
// and change nothing.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace lockstep::runtime {

// Bounds that options put to the kernels of a piece of code. 0: none.
struct CodeLimits {
  int registers = 0;          // of a thread
  std::uint32_t threads = 0;  // of a block, as .maxntid has it
  bool operator==(const CodeLimits&) const = default;
};

class JitOptions {
 public:
  // `options` and `values`: `count` each, which must live until finish().
  JitOptions(unsigned count, const CUjit_option* options, void** values);

  // Whether they can be obeyed on a device of this compute capability, 10 * major + minor.
  // cudaErrorInvalidValue where the driver does not look at any option, and so leaves the logs as
  // they were; other errors stand in the log of errors.
  cudaError_t check(int compute_capability);
  CodeLimits limits() const;
  // After the call: writes the logs, and the time since these were made if the call `linked`.
  // `reason`: why it failed, for the log of errors, unless these options are why.
  void finish(cudaError_t result, const std::string& reason, bool linked = false) const;

 private:
  void** value(CUjit_option which) const;
  std::uint32_t number(CUjit_option which) const;  // 0 where it is not given
  std::string information() const;

  unsigned count_;
  const CUjit_option* options_;
  void** values_;
  bool looked_at_ = true;
  std::string refusal_;  // of an option
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep::runtime
