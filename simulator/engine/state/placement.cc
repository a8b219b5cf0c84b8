#include "simulator/engine/state/placement.h"

#include <algorithm>
#include <numeric>

#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  return x ^ (x >> 33);
}

// The unit (block or cluster) that starts at `position`: a permutation of all units that depends on
// the seed. In a cooperative launch all units are resident at once, so any order is possible. In
// other launches, GPUs start blocks in the order of their index, and programs rely on it: a block
// may wait for those before it (decoupled look-back does). So only each row of kBlocksInFlight
// units is permuted. Then there is always room for the first unit that has not ended: if it has not
// started either, all units that have started and not ended are in its own row. These are fewer
// than one host thread can keep.
std::uint64_t unit_at(std::uint64_t position, std::uint64_t units, const GridShape& shape) {
  const std::uint64_t seed = shape.seed, row = shape.cooperative ? units : kBlocksInFlight;
  if (seed == 0) return position;
  const std::uint64_t first = position - position % row, length = std::min(row, units - first);
  const std::uint64_t salt = mix(seed + first * 0x9e3779b97f4a7c15ull);
  std::uint64_t step = salt % length;
  while (std::gcd(step, length) != 1) step = (step + 1) % length;
  const auto product = static_cast<unsigned __int128>(position - first) * step + mix(salt + 1);
  return first + static_cast<std::uint64_t>(product % length);
}

// The position in a grid of `all` units of unit `unit` of the `units` that run. In a sample, the
// first half are the first units of the grid, the others the last.
std::uint64_t place_in_grid(std::uint64_t unit, std::uint64_t units, std::uint64_t all) {
  return unit < (units + 1) / 2 ? unit : all - (units - unit);
}

Dim3 place(std::uint64_t index, const Dim3& size) {
  return {static_cast<std::uint32_t>(index % size.x),
          static_cast<std::uint32_t>(index / size.x % size.y),
          static_cast<std::uint32_t>(index / size.x / size.y)};
}

}  // namespace

std::uint64_t units_of(const LaunchConfig& config, bool clustered) {
  const std::uint64_t blocks = config.grid.count(),
                      all = clustered ? blocks / config.cluster.count() : blocks;
  return config.sample != 0 && !config.cooperative ? std::min(all, config.sample) : all;
}

GridShape shape_of(const LaunchConfig& config, bool clustered) {
  return {config.grid, config.cluster,     units_of(config, clustered),
          clustered,   config.cooperative, config.schedule_seed};
}

Dim3 place_of_block(const GridShape& shape, std::uint64_t position, std::uint32_t rank) {
  const std::uint64_t unit = unit_at(position, shape.units, shape);
  if (!shape.clustered)
    return place(place_in_grid(unit, shape.units, shape.grid.count()), shape.grid);
  const Dim3& size = shape.cluster;
  const Dim3 clusters{shape.grid.x / size.x, shape.grid.y / size.y, shape.grid.z / size.z};
  const Dim3 cluster = place(place_in_grid(unit, shape.units, clusters.count()), clusters),
             within = place(rank, size);
  return {cluster.x * size.x + within.x, cluster.y * size.y + within.y,
          cluster.z * size.z + within.z};
}

Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank) {
  return place_of_block(shape_of(*launch.config, launch.clustered), position, rank);
}

Dim3 place_of_block(const GridShape& shape, std::uint32_t number) {
  if (!shape.clustered) return place_of_block(shape, number, 0);
  const auto in_cluster = static_cast<std::uint32_t>(shape.cluster.count());
  return place_of_block(shape, number / in_cluster, number % in_cluster);
}

Dim3 thread_in_block(const Dim3& block, std::uint32_t linear) { return place(linear, block); }

bool comes_first(std::uint64_t seed, std::uint64_t position) {
  return (mix(seed + position) & 1) != 0;
}

}  // namespace lockstep::engine
