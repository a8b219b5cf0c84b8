// The order in which a launch's blocks begin, and where each lies in the grid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/engine/launch/launch.h"

namespace lockstep::engine {

struct Launch;

// What the place of a block depends on.
struct GridShape {
  Dim3 grid, cluster{1, 1, 1};
  std::uint64_t units = 0;  // blocks or clusters that run: all, or a sample of them
  bool clustered = false;   // a cluster is what is scheduled, be it of one block
  bool cooperative = false;
  std::uint64_t seed = 0;
};
std::uint64_t units_of(const LaunchConfig& config, bool clustered);
GridShape shape_of(const LaunchConfig& config, bool clustered);

// Blocks that one host thread keeps half run when they wait for one another.
inline constexpr std::size_t kBlocksInFlight = 64;

// Where the block of `rank` in the unit (block or cluster) at `position` of the schedule lies in
// the grid. With schedule seed 0 units come in the order of their index; any other seed permutes
// them, so that a block still only waits for units that can have begun.
Dim3 place_of_block(const GridShape& shape, std::uint64_t position, std::uint32_t rank);
Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank);
// The same of the block with this number in the schedule, where blocks of a cluster are numbered
// one after another.
Dim3 place_of_block(const GridShape& shape, std::uint32_t number);
// The index of thread `linear` in a block of this size.
Dim3 thread_in_block(const Dim3& block, std::uint32_t linear);

// Whether, by the seed, the unit that begins at `position` comes before those that gave way.
bool comes_first(std::uint64_t seed, std::uint64_t position);

}  // namespace lockstep::engine
