// The number of the simulated GPU's own threads that wait for work. None of them writes memory that
// a kernel polls.
#pragma once

#include <atomic>

namespace lockstep::engine {

inline std::atomic<int>& helper_threads() {
  static std::atomic<int> count = 0;
  return count;
}

}  // namespace lockstep::engine
