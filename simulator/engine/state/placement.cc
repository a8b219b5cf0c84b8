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

// The unit (block or cluster) that begins at `position`: all of them once, in another order for
// every seed. Those of a cooperative launch are all there at once, and any may come first. Of other
// launches, GPUs begin blocks in the order of their index and programs build on it: a block may
// wait for those before it (decoupled look-back does). So each kBlocksInFlight in a row are
// permuted among themselves only. Then there is room for the first one that has not ended: if it
// has not begun either, all that have begun and not ended lie in its own row, fewer than one host
// thread can keep half run.
std::uint64_t unit_at(std::uint64_t position, std::uint64_t units, const LaunchConfig& config) {
  const std::uint64_t seed = config.schedule_seed,
                      row = config.cooperative ? units : kBlocksInFlight;
  if (seed == 0) return position;
  const std::uint64_t first = position - position % row, length = std::min(row, units - first);
  const std::uint64_t salt = mix(seed + first * 0x9e3779b97f4a7c15ull);
  std::uint64_t step = salt % length;
  while (std::gcd(step, length) != 1) step = (step + 1) % length;
  const auto product = static_cast<unsigned __int128>(position - first) * step + mix(salt + 1);
  return first + static_cast<std::uint64_t>(product % length);
}

// Of a sample, the first half are the first of the grid and the others the last.
std::uint64_t place_in_grid(std::uint64_t unit, const Launch& launch, std::uint64_t units) {
  return unit < (launch.units + 1) / 2 ? unit : units - (launch.units - unit);
}

Dim3 place(std::uint64_t index, const Dim3& size) {
  return {static_cast<std::uint32_t>(index % size.x),
          static_cast<std::uint32_t>(index / size.x % size.y),
          static_cast<std::uint32_t>(index / size.x / size.y)};
}

}  // namespace

Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank) {
  const LaunchConfig& config = *launch.config;
  const std::uint64_t unit = unit_at(position, launch.units, config);
  if (!launch.clustered) return place(place_in_grid(unit, launch, launch.blocks), config.grid);
  const Dim3& size = config.cluster;
  const Dim3 clusters{config.grid.x / size.x, config.grid.y / size.y, config.grid.z / size.z};
  const Dim3 cluster = place(place_in_grid(unit, launch, launch.clusters), clusters),
             within = place(rank, size);
  return {cluster.x * size.x + within.x, cluster.y * size.y + within.y,
          cluster.z * size.z + within.z};
}

bool comes_first(std::uint64_t seed, std::uint64_t position) {
  return (mix(seed + position) & 1) != 0;
}

}  // namespace lockstep::engine
