// Addresses of shared memory: which variable they lie in.
#pragma once

#include "simulator/engine/launch/launch_state.h"
#include "simulator/engine/schedule/block.h"

namespace lockstep::engine {

// The variable that holds [low, end); nullptr when none does.
inline const Range* shared_range(const Launch& launch, std::uint64_t low, std::uint64_t end) {
  for (const Range& range : launch.shared) {
    if (low >= range.begin && end <= range.end) return &range;
  }
  return nullptr;
}

}  // namespace lockstep::engine
