// Runs a grid: blocks over host threads, and the findings of the block that comes first in the schedule.
#include "simulator/engine/launch.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "simulator/engine/block.h"
#include "simulator/engine/cluster.h"
#include "simulator/engine/control.h"
#include "simulator/engine/module.h"
#include "simulator/engine/report.h"
#include "simulator/engine/standstill.h"
#include "simulator/engine/stuck.h"

namespace lockstep::engine {
namespace {

// Stack of a thread for calls whose depth is not known when the module is decoded (recursion, function pointers, alloca).
constexpr std::uint32_t kUnknownStack = 64 * 1024;
// Blocks that one host thread keeps half run when they wait for one another.
constexpr std::size_t kBlocksInFlight = 64;

// Turns that blocks get which have not ended although some other block has failed.
constexpr int kMostForlorn = 2;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  return x ^ (x >> 33);
}

// The unit (block or cluster) that begins at `position`: all of them once, in another order for every seed. Those of a cooperative launch are all there
// at once, and any may come first. Of other launches, GPUs begin blocks in the order of their index and programs build on it: a block may wait for those
// before it (decoupled look-back does). So each kBlocksInFlight in a row are permuted among themselves only. Then there is room for the first one that
// has not ended: if it has not begun either, all that have begun and not ended lie in its own row, fewer than one host thread can keep half run.
std::uint64_t unit_at(std::uint64_t position, std::uint64_t units, const LaunchConfig& config) {
  const std::uint64_t seed = config.schedule_seed, row = config.cooperative ? units : kBlocksInFlight;
  if (seed == 0) return position;
  const std::uint64_t first = position - position % row, length = std::min(row, units - first);
  const std::uint64_t salt = mix(seed + first * 0x9e3779b97f4a7c15ull);
  std::uint64_t step = salt % length;
  while (std::gcd(step, length) != 1) step = (step + 1) % length;
  const auto product = static_cast<unsigned __int128>(position - first) * step + mix(salt + 1);
  return first + static_cast<std::uint64_t>(product % length);
}

Dim3 place(std::uint64_t index, const Dim3& size) {
  return {static_cast<std::uint32_t>(index % size.x), static_cast<std::uint32_t>(index / size.x % size.y),
          static_cast<std::uint32_t>(index / size.x / size.y)};
}

// Blocks whose memory can serve again, kept by each host thread from launch to launch: small kernels are launched by the thousand.
constexpr std::size_t kSpareBlocks = 4, kSpareBlocksOfClusters = 16;
thread_local std::vector<std::unique_ptr<Block>> spare_blocks;

// The records of the search for races, kept likewise.
thread_local check::GlobalRaces races_of_this_thread;

// The system is asked once: it answers by reading a file.
unsigned host_processors() {
  static const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

// Fewer warps than this in a launch are not worth another host thread.
constexpr std::uint64_t kWarpsPerThread = 32;

std::unique_ptr<Block> take_block() {
  if (spare_blocks.empty()) return std::make_unique<Block>();
  std::unique_ptr<Block> block = std::move(spare_blocks.back());
  spare_blocks.pop_back();
  return block;
}

void begin(std::unique_ptr<Block>& block, Worker& worker, std::uint64_t position) {
  block = take_block();
  block->cluster = nullptr;
  start_block(*block, worker, position);
}
void begin(std::unique_ptr<Cluster>& cluster, Worker& worker, std::uint64_t position) {
  cluster = std::make_unique<Cluster>();
  const auto count = static_cast<std::uint32_t>(worker.launch->config->cluster.count());
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    std::unique_ptr<Block> block = take_block();
    block->cluster = cluster.get();
    start_block(*block, worker, position, rank);
    cluster->blocks.push_back(std::move(block));
  }
  cluster->living = count * worker.launch->threads;
}

Progress run(Block& block) { return run_block(block); }
Progress run(Cluster& cluster) { return run_cluster(cluster); }

Block& first_of(Block& block) { return block; }
Block& first_of(Cluster& cluster) { return *cluster.blocks[0]; }

bool waits(const Block& block) { return block.waits; }
bool waits(const Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(), [](const auto& b) { return b->live_warps == 0 || b->runnable == 0 || b->waits; });
}

bool all_still(Block& block) { return stands_still(block); }
bool all_still(Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(), [](const auto& b) { return b->live_warps == 0 || stands_still(*b); });
}

void end(std::unique_ptr<Block> block) {
  if (spare_blocks.size() < kSpareBlocks) spare_blocks.push_back(std::move(block));
}
void end(std::unique_ptr<Cluster> cluster) {
  for (std::unique_ptr<Block>& block : cluster->blocks) {
    if (spare_blocks.size() < kSpareBlocksOfClusters) spare_blocks.push_back(std::move(block));
  }
}

// Somebody may wonder whether a kernel will ever end.
void tell_if_long(Launch& launch, const Block& b) {
  if (!launch.config->notice) return;
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - launch.begun).count();
  std::int64_t due = launch.next_notice.load(std::memory_order_relaxed);
  if (seconds < due || !launch.next_notice.compare_exchange_strong(due, 2 * due)) return;
  LaneGroups groups;
  groups.add(b);
  launch.config->notice("kernel " + launch.kernel->demangled + " has been running for " + std::to_string(seconds) + " s. Block (" +
                        std::to_string(b.ctaid.x) + "," + std::to_string(b.ctaid.y) + "," + std::to_string(b.ctaid.z) + ") has executed " +
                        std::to_string(b.instructions) + " warp instructions; of its threads" + groups.text());
}

// The search for races has recorded all that it can.
check::Finding records_used_up(const Launch& launch) {
  const check::GlobalRaces::Record& r = launch.races->first_unrecorded();
  const auto in_cluster = static_cast<std::uint32_t>(launch.config->cluster.count());
  check::Finding f;
  f.kind = check::Kind::kIncompleteCheck;
  f.severity = check::Severity::kInformation;
  f.kernel = launch.kernel->demangled;
  f.access.site = site_of(*launch.program, r.pc);
  f.access.block = launch.clustered ? place_of_block(launch, r.block / in_cluster, r.block % in_cluster) : place_of_block(launch, r.block, 0);
  f.access.thread = thread_of(launch, r.warp * kWarpSize);
  f.space = "global";
  f.where = "the search for races has recorded " + std::to_string(launch.races->recorded()) +
            " accesses of this launch, by instruction, warp and interval between barriers, and has no room for more";
  f.detail = "Accesses from here on were judged against those recorded before, and not against one another: races among them are missed. A smaller grid is "
             "checked whole.";
  return f;
}

// Unit: what is scheduled, a block or a cluster.
template <class Unit>
void work(Launch& launch, Worker& worker, std::size_t number) {
  Standstill standstill(launch, worker, number);
  std::vector<std::unique_ptr<Unit>> active;
  const std::uint64_t units = launch.clustered ? launch.clusters : launch.blocks;
  const bool all_together = launch.config->cooperative;
  const std::uint64_t seed = launch.config->schedule_seed;
  int forlorn = 0;
  for (;;) {
    // Take a new one when there is none, or when those there are wait for somebody.
    const bool room = active.empty() || all_together || active.size() < kBlocksInFlight;
    bool began = false;
    if (room) {
      const std::uint64_t position = launch.next.fetch_add(1);
      began = position < units && position <= launch.stop.load();
      if (began) begin(active.emplace_back(), worker, position);
    }
    if (active.empty()) return;
    bool still = launch.next.load() >= units || !(all_together || active.size() < kBlocksInFlight);
    bool idle = true;
    // With a seed, one that begins may come before those that gave way. The others keep their order, and all of a cooperative launch theirs: whoever has
    // passed a barrier of the grid waits until all have, and what a block does after it is not ordered by chance before what others do there.
    const std::size_t first = seed != 0 && began && !all_together && (mix(seed + first_of(*active.back()).position) & 1) != 0 ? active.size() - 1 : 0;
    for (std::size_t i = 0; i < active.size(); ++i) {
      std::unique_ptr<Unit>& unit = active[first == 0 ? i : i == 0 ? first : i - 1];
      const Progress progress = run(*unit);
      // One that spins may wait for a block that a finding has ended.
      if (progress == Progress::kYielded && launch.stop.load() != ~0ull) ++forlorn;
      if (progress == Progress::kDone || forlorn > kMostForlorn) {
        end(std::move(unit));
        still = idle = false;
      } else {
        idle = idle && waits(*unit);
        still = still && all_still(*unit);
        tell_if_long(launch, first_of(*unit));
      }
    }
    std::erase(active, nullptr);
    if (!active.empty()) standstill.after_turns(still, first_of(*active[0]));
    // The machine may have fewer processors than there are host threads: those that can go on first.
    if (idle && launch.quiescence.places.size() > 1) std::this_thread::yield();
  }
}

}  // namespace

AlignedBytes allocate_aligned(std::size_t bytes) {
  void* p = std::aligned_alloc(64, (std::max<std::size_t>(bytes, 64) + 63) & ~std::size_t{63});
  if (p == nullptr) throw std::bad_alloc();
  return AlignedBytes(static_cast<std::byte*>(p));
}

void Arena::reserve(std::size_t n) {
  if (n <= size) return;
  // A row of lanes may be read past the last variable by whole vectors.
  bytes = allocate_aligned(n + 64);
  written = allocate_aligned(n / 8 + 64);
  std::memset(written.get(), 0, n / 8 + 64);
  size = n;
}

Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank) {
  const LaunchConfig& config = *launch.config;
  if (!launch.clustered) return place(unit_at(position, launch.blocks, config), config.grid);
  const Dim3& size = config.cluster;
  const Dim3 clusters{config.grid.x / size.x, config.grid.y / size.y, config.grid.z / size.z};
  const Dim3 cluster = place(unit_at(position, launch.clusters, config), clusters), within = place(rank, size);
  return {cluster.x * size.x + within.x, cluster.y * size.y + within.y, cluster.z * size.z + within.z};
}

void start_block(Block& b, Worker& worker, std::uint64_t position, std::uint32_t rank) {
  Launch& launch = *worker.launch;
  const LaunchConfig& config = *launch.config;
  b.worker = &worker;
  b.launch = &launch;
  b.program = launch.program;
  b.position = position;
  b.cluster_rank = rank;
  b.ctaid = place_of_block(launch, position, rank);
  b.index = b.ctaid.x + std::uint64_t{config.grid.x} * (b.ctaid.y + std::uint64_t{config.grid.y} * b.ctaid.z);
  b.serial = static_cast<std::uint32_t>(launch.clustered ? position * config.cluster.count() + rank : position);
  if (b.warps.size() != launch.warps) {
    b.warps.resize(launch.warps);
    b.controls.resize(launch.warps);
  }
  const std::size_t bank = (launch.kernel->bank_bytes + 63) & ~std::size_t{63};
  if (b.bank_bytes < bank * launch.warps) {
    b.banks = allocate_aligned(bank * launch.warps);
    // Defined contents: vectors compute on lanes that are not there too.
    std::memset(b.banks.get(), 0, bank * launch.warps);
    b.bank_bytes = bank * launch.warps;
  }
  b.shared.reserve(launch.shared_extent + 16);
  if (launch.check_initialisation && launch.shared_extent > kSharedStart) {
    std::memset(b.shared.written.get(), 0, launch.shared_extent / 8 + 1);
  }
  if (launch.local_stride != 0) b.local.reserve(std::size_t{launch.local_stride} * launch.warps * kWarpSize);
  if (launch.check_races) {
    const bool words = launch.shared_extent > kSharedStart && !launch.shared_cells;
    b.races.start(words ? launch.shared_extent + 64 : 0, launch.kernel->byte_granular ? 0 : 2);
    b.knowledge.start(b.serial);
    if (launch.shared_cells) b.cells.assign(launch.shared_extent / 4 + 32, 0);
  }
  for (Barrier& barrier : b.barriers) barrier = Barrier{};
  b.async.reset();
  b.live_warps = launch.warps;
  b.runnable = launch.warps == 32 ? ~0u : (1u << launch.warps) - 1;
  b.instructions = 0;
  b.aborted = false;
  b.gives_way = b.waits = b.cluster_release = false;
  for (std::uint32_t i = 0; i < launch.warps; ++i) {
    Warp& w = b.warps[i];
    const std::uint32_t left = launch.threads - i * kWarpSize;
    w.bank[0] = b.banks.get() + i * bank;
    w.bank[1] = launch.program->constants.get();
    w.exists = left >= kWarpSize ? kAllLanes : (1u << left) - 1;
    w.index = i;
    w.block = &b;
    w.control = &b.controls[i];
    w.control->gives_way = false;
    start_warp(w);
  }
}

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
  shared_load_conflicts += o.shared_load_conflicts;
  shared_store_requests += o.shared_store_requests;
  shared_store_conflicts += o.shared_store_conflicts;
  shuffles += o.shuffles;
  votes += o.votes;
  atomics += o.atomics;
  barriers += o.barriers;
}

Outcome launch(const Kernel& kernel, const LaunchConfig& config, memory::DeviceMemory& memory) {
  const auto& loaded = static_cast<const LoadedKernel&>(kernel);
  Outcome outcome;
  Launch l;
  l.program = &loaded.program();
  l.kernel = &loaded.function();
  l.config = &config;
  l.memory = &memory;
  l.threads = static_cast<std::uint32_t>(config.block.count());
  l.warps = (l.threads + kWarpSize - 1) / kWarpSize;
  l.blocks = config.grid.count();
  if (l.threads == 0 || l.threads > 1024 || l.blocks == 0) return outcome;
  if (config.ran != nullptr) config.ran->assign(l.program->ops.size(), 0);
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  if (cluster.count() == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    throw std::invalid_argument("the cluster does not divide the grid");
  }
  l.clusters = l.blocks / cluster.count();
  l.clustered = cluster.count() > 1 || l.program->cluster_barriers;
  l.shared_window = memory.shared_window();
  l.local_window = memory.local_window();
  l.check_bounds = config.checks & check::kBounds;
  l.check_initialisation = config.checks & check::kInitialisation;
  l.check_races = config.checks & check::kRaces;
  l.check_synchronisation = config.checks & check::kSynchronisation;
  l.parameters.assign(config.parameters.begin(), config.parameters.end());
  l.parameters.resize(std::max<std::size_t>(l.parameters.size(), l.kernel->parameter_offsets.back()) + 64);
  if (l.kernel->parameters_in_memory) {
    const std::uint64_t bytes = std::max<std::uint64_t>(l.kernel->parameter_offsets.back(), 1);
    l.parameter_memory = memory.allocate(bytes, 256, memory::Kind::kConstant, 0, "the kernel's parameters");
    if (l.parameter_memory != nullptr) {
      std::memcpy(memory.host(*l.parameter_memory, l.parameter_memory->base), l.parameters.data(), bytes);
      memory.mark_written(l.parameter_memory->base, bytes);
    }
  }
  if (config.cooperative) {
    constexpr std::uint64_t kWorkspace = 256;
    l.grid_workspace = memory.allocate(kWorkspace, 256, memory::Kind::kVariable, 0, "the grid's barrier");
    if (l.grid_workspace != nullptr) {
      std::memset(memory.host(*l.grid_workspace, l.grid_workspace->base), 0, kWorkspace);
      memory.mark_written(l.grid_workspace->base, kWorkspace);
    }
  }
  l.shared = l.kernel->shared;
  for (const Range& r : l.shared) l.shared_extent = std::max(l.shared_extent, r.end);
  if (config.dynamic_shared != 0) {
    l.shared.push_back({"dynamic shared memory", l.program->dynamic_shared_begin, l.program->dynamic_shared_begin + config.dynamic_shared});
    l.shared_extent = l.program->dynamic_shared_begin + config.dynamic_shared;
  }
  l.shared_extent = std::max(l.shared_extent, kSharedStart);
  l.local_stride = l.kernel->local_total == 0 ? 0 : (l.kernel->local_total + kLocalStart + 63) & ~63u;
  if (l.kernel->uses_alloca || l.kernel->calls) l.local_stride += kUnknownStack;

  unsigned workers = config.host_threads > 0 ? static_cast<unsigned>(config.host_threads) : host_processors();
  workers = static_cast<unsigned>(std::min({std::uint64_t{workers}, l.clusters, l.blocks * l.warps / kWarpsPerThread + 1}));
  if (l.check_races) {
    races_of_this_thread.start(memory, l.clustered ? static_cast<std::uint32_t>(cluster.count()) : 1, workers > 1, config.race_records);
    l.races = &races_of_this_thread;
    l.shared_cells = cluster.count() > 1;
  }
  std::vector<Worker> states(workers);
  l.quiescence.places = std::vector<QuiescenceBoard<std::atomic>::Place>(workers);
  for (Worker& w : states) {
    w.races = l.races;
    w.between_blocks = l.races != nullptr && l.blocks > 1;
    w.launch = &l;
    w.memory = &memory;
    w.counting = config.count;
  }
  const memory::DeviceMemory::Hold hold(memory);
  const auto run_all = [&](unsigned i) { l.clustered ? work<Cluster>(l, states[i], i) : work<Block>(l, states[i], i); };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < workers; ++i) threads.emplace_back(run_all, i);
  run_all(0);
  for (std::thread& t : threads) t.join();

  for (const Worker& w : states) outcome.counters.add(w.counters);
  // Which other blocks got how far depends on the host's threads: what they found is left out.
  const std::uint64_t stop = l.stop.load();
  std::stable_sort(l.findings.begin(), l.findings.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [position, finding] : l.findings) {
    if (position > stop) continue;
    const auto same = [&f = finding](const check::Finding& g) { return check::same_place(f, g); };
    const auto known = std::find_if(outcome.findings.begin(), outcome.findings.end(), same);
    if (known == outcome.findings.end()) {
      outcome.findings.push_back(std::move(finding));
    } else {
      known->occurrences += finding.occurrences;
    }
  }
  for (const Worker& w : states) count_again(w, *l.program, outcome.findings);
  if (l.races != nullptr && l.races->exhausted()) outcome.findings.push_back(records_used_up(l));
  outcome.heap = std::move(l.heap);
  outcome.unwritten_stores = std::move(l.unwritten_stores);
  std::sort(outcome.unwritten_stores.begin(), outcome.unwritten_stores.end(),
            [](const UnwrittenStore& a, const UnwrittenStore& b) { return a.begin < b.begin; });
  if (l.grid_workspace != nullptr) memory.release(l.grid_workspace->base);
  if (l.parameter_memory != nullptr) memory.release(l.parameter_memory->base);
  return outcome;
}

}  // namespace lockstep::engine
