// Blocks that begin.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// Makes `block` the one at `position` in the schedule, of `rank` in its cluster; position counts
// clusters where there are any.
void start_block(Block& block, Worker& worker, std::uint64_t position, std::uint32_t rank = 0);

}  // namespace lockstep::engine
