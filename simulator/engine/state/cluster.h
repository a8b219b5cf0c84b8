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

// Whether lanes of the block wait for other blocks of the cluster: at its barrier, at an mbarrier,
// or for the other block of a pair to allocate tensor memory.
inline bool waits_for_cluster(const Block& b) {
  for (const WarpControl& c : b.controls) {
    for (const WarpSplit& f : c.splits) {
      if (f.state == WarpSplit::State::kAtCluster || f.state == WarpSplit::State::kAtMbarrier ||
          f.state == WarpSplit::State::kAtPair)
        return true;
    }
  }
  return false;
}

// The other block of a pair: its rank differs in the last bit (PTX ISA 9.7.16.5.1). nullptr if
// there is none.
inline Block* partner_of(const Block& b) {
  const std::uint32_t rank = b.cluster_rank ^ 1;
  return b.cluster != nullptr && rank < b.cluster->blocks.size() ? b.cluster->blocks[rank].get()
                                                                 : nullptr;
}

}  // namespace lockstep::engine
