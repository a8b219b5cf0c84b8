// A log of the operations that the program requests, in the order of its calls, each with the
// stream that it named: lockstepWatchOperations and lockstepReadOperations. Nothing is recorded
// unless a program requests it.
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
  // Clears the log and starts or stops recording.
  void watch(bool on);
  // Adds a call. Calls of several threads are in the order in which they were made.
  void note(const lockstepOperation& operation);
  // Copies the first `room` operations. Returns the number of all.
  std::size_t read(lockstepOperation* to, std::size_t room) const;

  bool watched() const { return watched_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> watched_ = false;
  std::vector<lockstepOperation> kept_;
};

}  // namespace lockstep::runtime
