#include "simulator/engine/run/launch_setup.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <thread>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/race_history.h"

namespace lockstep::engine {
namespace {

// Stack of a thread for calls whose depth is not known when the module is decoded (recursion,
// function pointers, alloca).
constexpr std::uint32_t kUnknownStack = 64 * 1024;

// Cached, because the system reads a file for each query.
unsigned host_processors() {
  static const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

// A further host thread is not worthwhile for fewer warps than this, nor for fewer warp
// instructions and searches: to start it takes as long as some hundreds of them. The expected work
// may be far too small, so so many warps always get one.
constexpr std::uint64_t kWarpsPerThread = 32, kWorkPerThread = 10'000, kManyWarps = 256;

// Allocates memory for the launch itself: `contents`, followed by zeros. nullptr if there is no
// room.
const memory::Allocation* make_memory(memory::DeviceMemory& memory, memory::Kind kind,
                                      std::span<const std::byte> contents, std::uint64_t bytes,
                                      const char* name) {
  const memory::Allocation* a = memory.allocate(bytes, 256, kind, 0, name);
  if (a == nullptr) return nullptr;
  std::byte* to = memory.host(*a, a->base);
  std::memset(to, 0, bytes);
  if (!contents.empty()) std::memcpy(to, contents.data(), contents.size());
  memory.mark_written(a->base, bytes);
  return a;
}

// Keeps the data of the launch that messages about its accesses need.
void remember(Launch& l) {
  const check::LaunchOrder& order = l.races->grid().launches();
  l.first_block = order.first_block();
  std::deque<PastLaunch>& launches = l.history->launches;
  if (l.first_block == 0) launches.clear();
  while (!launches.empty() && launches.front().first_block < order.first_remembered())
    launches.pop_front();
  launches.push_back({l.first_block, l.program,
                      static_cast<std::size_t>(l.kernel - l.program->functions.data()),
                      shape_of(*l.config, l.clustered), l.config->block, l.config->place.stream});
}

}  // namespace

void describe(Launch& l, const LoadedKernel& loaded, const LaunchConfig& config,
              memory::DeviceMemory& memory) {
  l.program = &loaded.program();
  l.kernel = &loaded.function();
  l.config = &config;
  l.memory = &memory;
  l.threads = static_cast<std::uint32_t>(config.block.count());
  l.warps = (l.threads + kWarpSize - 1) / kWarpSize;
  l.blocks = config.grid.count();
  l.clusters = l.blocks / config.cluster.count();
  l.clustered = config.cluster.count() > 1 || l.program->cluster_barriers;
  l.units = units_of(config, l.clustered);
  l.shared_window = memory.shared_window();
  l.local_window = memory.local_window();
  l.check_bounds = config.checks & check::kBounds;
  l.check_initialisation = config.checks & check::kInitialisation;
  l.check_races = config.checks & check::kRaces;
  l.check_synchronisation = config.checks & check::kSynchronisation;
  l.strict_barriers = config.checks & check::kStrictBarriers;
  l.strict_writes = config.checks & check::kStrictWrites;
  l.strict_proxies = config.checks & check::kStrictProxies;
  l.strict_libraries = config.checks & check::kStrictLibraries;
}

void lay_out_memory(Launch& l) {
  const LaunchConfig& config = *l.config;
  const std::uint32_t parameter_bytes = l.kernel->parameter_offsets.back();
  l.parameters.assign(config.parameters.begin(), config.parameters.end());
  l.parameters.resize(std::max<std::size_t>(l.parameters.size(), parameter_bytes) + 64);
  if (l.kernel->parameters_in_memory) {
    l.parameter_memory =
        make_memory(*l.memory, memory::Kind::kConstant, {l.parameters.data(), parameter_bytes},
                    std::max<std::uint64_t>(parameter_bytes, 1), "the kernel's parameters");
  }
  if (config.cooperative) {
    constexpr std::uint64_t kWorkspace = 256;
    l.grid_workspace =
        make_memory(*l.memory, memory::Kind::kVariable, {}, kWorkspace, "the grid's barrier");
  }
  l.shared = l.kernel->shared;
  if (l.kernel->reserved_shared)
    l.shared.push_back({"the system's shared memory", 0, program::kReservedShared});
  for (const Range& r : l.shared) l.shared_extent = std::max(l.shared_extent, r.end);
  if (config.dynamic_shared != 0) {
    const std::uint32_t begin = l.kernel->dynamic_shared_begin;
    l.shared.push_back({"dynamic shared memory", begin, begin + config.dynamic_shared});
    l.shared_extent = std::max(l.shared_extent, begin + config.dynamic_shared);
  }
  l.shared_extent = std::max(l.shared_extent, kSharedStart);
  l.local_stride =
      l.kernel->local_total == 0 ? 0 : (l.kernel->local_total + kLocalStart + 63) & ~63u;
  if (l.kernel->uses_alloca || l.kernel->calls) l.local_stride += kUnknownStack;
}

std::vector<Worker> make_workers(Launch& l, std::optional<std::uint64_t> expected_work) {
  const LaunchConfig& config = *l.config;
  std::uint64_t most = host_processors();
  if (config.host_threads > 0) {
    most = static_cast<std::uint64_t>(config.host_threads);
  } else if (expected_work) {
    most = std::min(most,
                    std::max(*expected_work / kWorkPerThread, l.blocks * l.warps / kManyWarps) + 1);
  }
  const auto count =
      static_cast<unsigned>(std::min({most, l.clusters, l.blocks * l.warps / kWarpsPerThread + 1}));
  if (l.check_races) {
    const auto in_cluster = static_cast<std::uint32_t>(config.cluster.count());
    l.history = &RaceHistory::of(*l.memory);
    l.races = &l.history->races;
    const OperationPlace& at = config.place;
    // Some grids that it launches are not ordered after its own threads' later actions.
    const bool several = at.several_streams || l.program->launches_grids || at.descent;
    if (at.several_streams && at.sequence != 0) {
      l.hearing = std::make_shared<check::Hearing>();
      l.hearing->host_knows(at.host);
    }
    l.races->start(
        *l.memory, l.clustered ? in_cluster : 1, count, config.race_records,
        {at.lane, at.sequence, at.before, at.settled, several, l.hearing, at.family, at.descent},
        l.blocks, {config.given, config.given_times});
    remember(l);
    // With several streams, accesses of other launches' blocks may conflict, too.
    l.between_blocks = l.blocks > 1 || several;
    l.shared_cells = in_cluster > 1;
  }
  l.quiescence.places = std::vector<QuiescenceBoard<std::atomic>::Place>(count);
  // A listed store replaces what its cells hold, which must not count any more.
  if (l.deferred != nullptr && l.races->records().counts_earlier_launches()) l.deferred = nullptr;
  if (l.deferred != nullptr) l.deferred->start(count);
  std::vector<Worker> workers(count);
  if (config.coverage != nullptr) {
    config.coverage->prepare(*l.program, count);
    for (std::size_t i = 0; i < count; ++i) workers[i].coverage = &config.coverage->part(i);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Worker& w = workers[i];
    if (l.deferred != nullptr) w.deferred = l.deferred->list(i);
    w.races = l.races;
    w.between_blocks = l.races != nullptr && l.blocks > 1;
    w.launch = &l;
    w.memory = l.memory;
    w.counting = config.count;
  }
  return workers;
}

}  // namespace lockstep::engine
