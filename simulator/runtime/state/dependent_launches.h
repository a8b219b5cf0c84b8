// Programmatic dependent launches: which grids before a kernel in its stream may still run when it
// starts (CUDA Programming Guide, "Programmatic Dependent Launch and Synchronization"; PTX
// ISA 9.7.13.13).
//
// A kernel launched with cudaLaunchAttributeProgrammaticStreamSerialization may start when all
// blocks of the kernel before it have executed griddepcontrol.launch_dependents or ended. That
// kernel itself may have started this way, so the kernel before it may still run, too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"

namespace lockstep::runtime {

class DependentLaunches {
 public:
  // The grids that may still run when a kernel that is put into `stream` now starts. Empty unless
  // it is launched `programmatically` and the device's last operation is a kernel in the same
  // stream. The result is valid until the next call.
  const std::vector<engine::RunningGrid>& before(cudaStream_t stream, bool programmatically);
  // Call after the kernel has been run.
  void ran(cudaStream_t stream, const std::string& kernel, const engine::Outcome& outcome);
  // Call when another operation was executed.
  void forget();

  // The present chain: kernels put until the next call of end_chain() belong to it. Within a chain,
  // no other operation was put and the host has not waited.
  std::uint64_t chain() const { return chain_; }
  // Call when another operation was put into a stream, or the host has waited.
  void end_chain() { ++chain_; }
  // Call before a kernel of this chain is executed.
  void begin(std::uint64_t chain) {
    if (chain != of_last_) forget();
    of_last_ = chain;
  }

 private:
  cudaStream_t stream_ = nullptr;
  bool known_ = false;                       // the last operation was a kernel in stream_
  std::vector<engine::RunningGrid> beside_;  // the grids beside which the last kernel ran
  std::vector<engine::RunningGrid> next_;    // the grids beside which the next kernel may run
  std::uint64_t chain_ = 0, of_last_ = 0;
};

}  // namespace lockstep::runtime
