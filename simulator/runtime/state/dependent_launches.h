// Programmatic dependent launches: which grids before a kernel in its stream may still run when it
// starts (CUDA Programming Guide, "Programmatic Dependent Launch and Synchronization"; PTX
// ISA 9.7.13.13).
//
// A kernel that is launched with cudaLaunchAttributeProgrammaticStreamSerialization may start when
// all blocks of the kernel before it have executed griddepcontrol.launch_dependents or ended. That
// kernel itself may have started so, and the one before it may run still.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"

namespace lockstep::runtime {

class DependentLaunches {
 public:
  // What a kernel put into `stream` now may run beside: nothing unless it is launched
  // `programmatically` and the last that the device was given is a kernel in the same stream. The
  // grids stay until the next call.
  const std::vector<engine::RunningGrid>& before(cudaStream_t stream, bool programmatically);
  // It has been run.
  void ran(cudaStream_t stream, const std::string& kernel, const engine::Outcome& outcome);
  // Something else was executed.
  void forget();

  // Kernels that are put before the next call of end_chain() are of this chain: nothing else was
  // put between them, and nobody has waited.
  std::uint64_t chain() const { return chain_; }
  // Something else was put into a stream, or the host has waited.
  void end_chain() { ++chain_; }
  // A kernel of this chain is executed next.
  void begin(std::uint64_t chain) {
    if (chain != of_last_) forget();
    of_last_ = chain;
  }

 private:
  cudaStream_t stream_ = nullptr;
  bool known_ = false;                       // the last operation was a kernel in stream_
  std::vector<engine::RunningGrid> beside_;  // what the last kernel ran beside
  std::vector<engine::RunningGrid> next_;    // what the next one may run beside
  std::uint64_t chain_ = 0, of_last_ = 0;
};

}  // namespace lockstep::runtime
