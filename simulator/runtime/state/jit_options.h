// The options that a program passes to the PTX compiler (CUjit_option; cudaJitOption has the same
// numbers). They are checked as an H100's driver (580.159) checks them.
//
// There is no compiler of machine code here. Options with a visible effect are implemented: the
// registers and threads of a kernel, the logs, and the time of linking. Other options are accepted
// and ignored.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace lockstep::runtime {

// Limits that options set for the kernels of a piece of code. 0: none.
struct CodeLimits {
  int registers = 0;          // for each thread
  std::uint32_t threads = 0;  // for each block, as in .maxntid
  bool operator==(const CodeLimits&) const = default;
};

class JitOptions {
 public:
  // `options` and `values` have `count` elements each, and must live until finish().
  JitOptions(unsigned count, const CUjit_option* options, void** values);

  // Checks the options for a device of this compute capability (10 * major + minor). Returns
  // cudaErrorInvalidValue if the driver examines no option and leaves the logs unchanged. Other
  // errors are also written to the error log.
  cudaError_t check(int compute_capability);
  CodeLimits limits() const;
  // Call after the API call: writes the logs and, if the call `linked`, the time since
  // construction. `reason`: why the call failed, for the error log, unless the options are the
  // reason.
  void finish(cudaError_t result, const std::string& reason, bool linked = false) const;

 private:
  void** value(CUjit_option which) const;
  std::uint32_t number(CUjit_option which) const;  // 0 if it is not present
  std::string information() const;

  unsigned count_;
  const CUjit_option* options_;
  void** values_;
  bool looked_at_ = true;
  std::string refusal_;  // the refusal of an option
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep::runtime
