// Runs a grid: blocks over host threads, and the findings of the block that comes first in the
// schedule.
#include "simulator/engine/launch/launch.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/launch/per_thread.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/run/worker.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// Stack of a thread for calls whose depth is not known when the module is decoded (recursion,
// function pointers, alloca).
constexpr std::uint32_t kUnknownStack = 64 * 1024;

// The system is asked once: it answers by reading a file.
unsigned host_processors() {
  static const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

// Fewer warps than this in a launch are not worth another host thread.
constexpr std::uint64_t kWarpsPerThread = 32;

// The search for races has recorded all that it can. It has two tables: of records, whose numbers
// are given out in lots, and of words whose bytes were accessed apart.
check::Finding no_room_for_races(const Launch& launch) {
  constexpr std::uint32_t kLot = 64;
  const std::uint32_t most = launch.config->race_records;
  const std::uint32_t end =
      most == 0 ? check::GlobalRaces::kRecords : launch.races->first_number() + most;
  const bool records = launch.races->first_number() + launch.races->recorded() + kLot > end;
  const check::GlobalRaces::Record& r = launch.races->first_unrecorded();
  const auto in_cluster = static_cast<std::uint32_t>(launch.config->cluster.count());
  check::Finding f;
  f.kind = check::Kind::kIncompleteCheck;
  f.severity = check::Severity::kInformation;
  f.kernel = launch.kernel->demangled;
  f.access.site = site_of(*launch.program, r.pc);
  f.access.block = launch.clustered
                       ? place_of_block(launch, r.block / in_cluster, r.block % in_cluster)
                       : place_of_block(launch, r.block, 0);
  f.access.thread = thread_of(launch, r.warp * kWarpSize);
  f.space = "global";
  if (records) {
    f.where = "the search for races has recorded " + std::to_string(launch.races->recorded()) +
              " accesses of this launch, by instruction, warp and epoch between barriers, and has "
              "no room for more";
    f.detail =
        "Accesses from here on were judged against those recorded before, and not against one "
        "another: races among them are missed. A smaller grid is "
        "checked whole.";
  } else {
    f.where = "the search for races distinguishes the bytes of " +
              std::to_string(most == 0 ? check::GlobalRaces::kSplits : most) +
              " words, and has no room for more";
    f.detail =
        "From here on it forgets what is known of a word when single bytes of it are accessed: "
        "races in such words are missed. A smaller grid, or accesses to "
        "whole words, are checked whole.";
  }
  return f;
}

// Memory of the launch's own, with `contents` in its beginning and zeros after them; nullptr: there
// is no room.
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

// Sizes, windows and checks.
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
  l.units = l.clustered ? l.clusters : l.blocks;
  if (config.sample != 0 && !config.cooperative) l.units = std::min(l.units, config.sample);
  l.shared_window = memory.shared_window();
  l.local_window = memory.local_window();
  l.check_bounds = config.checks & check::kBounds;
  l.check_initialisation = config.checks & check::kInitialisation;
  l.check_races = config.checks & check::kRaces;
  l.check_synchronisation = config.checks & check::kSynchronisation;
  l.strict_barriers = config.checks & check::kStrictBarriers;
  l.strict_writes = config.checks & check::kStrictWrites;
  l.strict_libraries = config.checks & check::kStrictLibraries;
}

// The parameters, shared and local memory, and what of the device's memory the launch needs for
// itself.
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

std::vector<Worker> make_workers(Launch& l) {
  const LaunchConfig& config = *l.config;
  unsigned count =
      config.host_threads > 0 ? static_cast<unsigned>(config.host_threads) : host_processors();
  count = static_cast<unsigned>(
      std::min({std::uint64_t{count}, l.clusters, l.blocks * l.warps / kWarpsPerThread + 1}));
  if (l.check_races) {
    const auto in_cluster = static_cast<std::uint32_t>(config.cluster.count());
    // Its records are kept from launch to launch, as workers keep blocks.
    auto& races = per_thread<check::GlobalRaces>();
    races.start(*l.memory, l.clustered ? in_cluster : 1, count > 1, config.race_records);
    l.races = &races;
    l.shared_cells = in_cluster > 1;
  }
  l.quiescence.places = std::vector<QuiescenceBoard<std::atomic>::Place>(count);
  std::vector<Worker> workers(count);
  if (config.coverage != nullptr) {
    config.coverage->prepare(*l.program, count);
    for (std::size_t i = 0; i < count; ++i) workers[i].coverage = &config.coverage->part(i);
  }
  for (Worker& w : workers) {
    w.races = l.races;
    w.between_blocks = l.races != nullptr && l.blocks > 1;
    w.launch = &l;
    w.memory = l.memory;
    w.counting = config.count;
  }
  return workers;
}

void run_workers(Launch& l, std::vector<Worker>& workers) {
  const memory::DeviceMemory::Hold hold(*l.memory);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < workers.size(); ++i)
    threads.emplace_back([&l, &workers, i] { run_worker(l, workers[i], i); });
  run_worker(l, workers[0], 0);
  for (std::thread& t : threads) t.join();
}

// Which other blocks got how far than the first failing one depends on the host's threads: what
// they found is left out.
void gather_findings(Launch& l, const std::vector<Worker>& workers,
                     std::vector<check::Finding>& out) {
  const std::uint64_t stop = l.stop.load();
  std::stable_sort(l.findings.begin(), l.findings.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [position, finding] : l.findings) {
    if (position > stop) continue;
    const auto same = [&f = finding](const check::Finding& g) { return check::same_place(f, g); };
    const auto known = std::find_if(out.begin(), out.end(), same);
    if (known == out.end()) {
      out.push_back(std::move(finding));
    } else {
      known->occurrences += finding.occurrences;
    }
  }
  for (const Worker& w : workers) count_again(w, *l.program, out);
  if (l.races != nullptr && l.races->exhausted()) out.push_back(no_room_for_races(l));
}

}  // namespace

void Counters::add(const Counters& o) {
  warp_instructions += o.warp_instructions;
  thread_instructions += o.thread_instructions;
  global_load_requests += o.global_load_requests;
  global_load_sectors += o.global_load_sectors;
  global_load_lines += o.global_load_lines;
  global_store_requests += o.global_store_requests;
  global_store_sectors += o.global_store_sectors;
  global_store_lines += o.global_store_lines;
  shared_load_requests += o.shared_load_requests;
  shared_load_bank_conflicts += o.shared_load_bank_conflicts;
  shared_store_requests += o.shared_store_requests;
  shared_store_bank_conflicts += o.shared_store_bank_conflicts;
  shuffles += o.shuffles;
  votes += o.votes;
  atomics += o.atomics;
  barriers += o.barriers;
}

Outcome launch(const Kernel& kernel, const LaunchConfig& config, memory::DeviceMemory& memory) {
  if (const program::LoadError* why = kernel.refusal()) throw std::invalid_argument(why->message);
  Outcome outcome;
  const std::uint64_t threads = config.block.count();
  if (threads == 0 || threads > 1024 || config.grid.count() == 0) return outcome;
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  if (cluster.count() == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0) {
    throw std::invalid_argument("the cluster does not divide the grid");
  }
  Launch l;
  describe(l, static_cast<const LoadedKernel&>(kernel), config, memory);
  if (config.ran != nullptr) config.ran->assign(l.program->ops.size(), 0);
  lay_out_memory(l);
  std::vector<Worker> workers = make_workers(l);
  run_workers(l, workers);

  for (const Worker& w : workers) outcome.counters.add(w.counters);
  gather_findings(l, workers, outcome.findings);
  if (l.races != nullptr) {
    outcome.first_record = l.races->first_number();
    outcome.end_of_records = memory.race_records();
  }
  outcome.started_dependents = l.dependent_grids.started;
  outcome.waited = l.dependent_grids.waited;
  outcome.waited_before_start = l.dependent_grids.waited_before_start;
  outcome.heap = std::move(l.heap);
  outcome.unwritten_stores = std::move(l.unwritten_stores);
  std::sort(outcome.unwritten_stores.begin(), outcome.unwritten_stores.end(),
            [](const UnwrittenStore& a, const UnwrittenStore& b) { return a.begin < b.begin; });
  if (l.grid_workspace != nullptr) memory.release(l.grid_workspace->base);
  if (l.parameter_memory != nullptr) memory.release(l.parameter_memory->base);
  return outcome;
}

}  // namespace lockstep::engine
