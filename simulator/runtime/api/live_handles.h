// The number of streams, events and instantiated graphs that the program has created and not
// destroyed, for lockstepLiveObjects (simulator/extension.h). Guarded by the device lock.
#pragma once

#include <cstddef>

namespace lockstep::runtime {

inline std::size_t& live_handles() {
  static std::size_t count = 0;
  return count;
}

}  // namespace lockstep::runtime
