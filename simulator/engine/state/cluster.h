// The blocks of a cluster, which run together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;  // by rank; kept until all of them have ended
  std::uint32_t living = 0;                    // threads that have not exited
  // Of these, threads that have arrived at the open phase of the cluster's barrier.
  std::uint32_t arrived = 0;
};

// Whether lanes of the block wait for what other blocks of the cluster may do: at its barrier, or
// at an mbarrier.
inline bool waits_for_cluster(const Block& b) {
  for (const WarpControl& c : b.controls) {
    for (const WarpSplit& f : c.splits) {
      if (f.state == WarpSplit::State::kAtCluster || f.state == WarpSplit::State::kAtMbarrier)
        return true;
    }
  }
  return false;
}

}  // namespace lockstep::engine
