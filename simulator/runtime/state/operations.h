// The operations that the program requests of the simulated GPUs, in the order of its calls, each
// with the stream that it named: lockstepWatchOperations and lockstepReadOperations. Nothing is
// recorded until a program asks for it.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "simulator/extension.h"

namespace lockstep::runtime {

class Operations {
 public:
  // Forgets what was kept, and keeps what comes from now on, or no more.
  void watch(bool on);
  // The calls since then, in their order; of a process's threads in the order in which they called.
  void note(const lockstepOperation& operation);
  // Copies the first `room` of them; how many there are.
  std::size_t read(lockstepOperation* to, std::size_t room) const;

  bool watched() const { return watched_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> watched_ = false;
  std::vector<lockstepOperation> kept_;
};

}  // namespace lockstep::runtime
