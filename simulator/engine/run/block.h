// The start of blocks.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// Initialises `block` as the one at `position` in the schedule, with `rank` in its cluster. With
// clusters, position counts clusters.
void start_block(Block& block, Worker& worker, std::uint64_t position, std::uint32_t rank = 0);

}  // namespace lockstep::engine
