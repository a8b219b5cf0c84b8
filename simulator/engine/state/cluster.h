// The blocks of a cluster, which run together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// The open phase of a cluster's barrier.
struct ClusterBarrier {
  std::uint32_t living = 0;   // threads that have not exited
  std::uint32_t arrived = 0;  // of these, threads that have arrived
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;  // by rank; kept until all of them have ended
  Watched<ClusterBarrier> barrier;
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
