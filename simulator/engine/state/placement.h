// The order in which a launch's blocks begin, and where each lies in the grid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

// Blocks that one host thread keeps half run when they wait for one another.
inline constexpr std::size_t kBlocksInFlight = 64;

// Where the block of `rank` in the unit (block or cluster) at `position` of the schedule lies in
// the grid. With schedule seed 0 units come in the order of their index; any other seed permutes
// them, so that a block still only waits for units that can have begun.
Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank);

// Whether, by the seed, the unit that begins at `position` comes before those that gave way.
bool comes_first(std::uint64_t seed, std::uint64_t position);

}  // namespace lockstep::engine
