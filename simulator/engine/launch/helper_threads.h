// Threads of the simulated GPU's own that wait for work. None of them writes what a kernel waits
// for.
#pragma once

#include <atomic>

namespace lockstep::engine {

inline std::atomic<int>& helper_threads() {
  static std::atomic<int> count = 0;
  return count;
}

}  // namespace lockstep::engine
