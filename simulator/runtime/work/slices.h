// Executes kernels, those that may wait for others in slices.
//
// A kernel that only reads while it waits stands still, which the engine notices. A kernel that
// changes memory while it waits (a progress counter, a ring of commands) never stands still. So a
// kernel with strong accesses is interrupted after a number of warp instructions, in which it has
// changed memory. Then others go on: the host, or operations that nothing orders after the kernel.
// An interrupted kernel does not wait for memory: it is no reason for a deadlock.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {

// The call for which a kernel is executed, and so what interrupts the kernel.
enum class Turn : std::uint8_t {
  kWait,  // the host waits: interrupted if it polls, and something else can go on meanwhile
  kPut,   // the host goes on after a launch: interrupted if it polls
  kLook,  // the host looks, by queries or in memory: interrupted whether it polls or not
};

// Executes a kernel and the grids that descend from it. *done: false if one waits, or was
// interrupted (Pending::interrupted).
cudaError_t run_kernel(Runtime& runtime, Device& device, const KernelWork& work, Pending& p,
                       Turn turn, bool* done);

// Whether an operation was interrupted when it was last executed, and has not ended.
bool any_is_interrupted(const Runtime& runtime);

}  // namespace lockstep::runtime
