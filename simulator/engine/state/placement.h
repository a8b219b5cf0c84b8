// The order in which a launch's blocks start, and the position of each in the grid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/engine/launch/launch.h"

namespace lockstep::engine {

struct Launch;

// The parameters that determine the position of a block.
struct GridShape {
  Dim3 grid, cluster{1, 1, 1};
  std::uint64_t units = 0;  // blocks or clusters that run: all, or a sample
  bool clustered = false;   // clusters are scheduled, even if they have one block
  bool cooperative = false;
  std::uint64_t seed = 0;
};
std::uint64_t units_of(const LaunchConfig& config, bool clustered);
GridShape shape_of(const LaunchConfig& config, bool clustered);

// The most started blocks that one host thread keeps while they wait for each other.
inline constexpr std::size_t kBlocksInFlight = 64;

// The position in the grid of the block of `rank` in the unit (block or cluster) at `position` of
// the schedule. With schedule seed 0, units are in the order of their index. Any other seed
// permutes them, but a block still waits only for units that can have started.
Dim3 place_of_block(const GridShape& shape, std::uint64_t position, std::uint32_t rank);
Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank);
// The position of the block with this number in the schedule. The blocks of a cluster have
// consecutive numbers.
Dim3 place_of_block(const GridShape& shape, std::uint32_t number);
// The thread index of thread `linear` in a block of this size.
Dim3 thread_in_block(const Dim3& block, std::uint32_t linear);

// Whether, by the seed, the unit at `position` starts before started units continue that have
// yielded.
bool comes_first(std::uint64_t seed, std::uint64_t position);

}  // namespace lockstep::engine
