// Runs a grid: blocks over host threads, and the findings of the block that comes first in the
// schedule.
#include "simulator/engine/launch/running.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/run/livelock.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/run/worker.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/race_history.h"
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
      most == 0 ? check::AccessRecords::kMost : launch.races->records().first_number() + most;
  const bool records =
      launch.races->records().first_number() + launch.races->records().made() + kLot > end;
  const check::AccessRecord& r = launch.races->records().first_unrecorded();
  check::Finding f;
  f.kind = check::Kind::kIncompleteCheck;
  f.severity = check::Severity::kInformation;
  f.kernel = launch.kernel->demangled;
  f.access.site = site_of(*launch.program, r.pc);
  f.access.block =
      place_of_block(shape_of(*launch.config, launch.clustered), r.block - launch.first_block);
  f.access.thread = thread_of(launch, r.warp * kWarpSize);
  f.space = "global";
  if (records) {
    f.where = "the search for races has recorded " +
              std::to_string(launch.races->records().made()) +
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

// Accesses of launches that nothing orders before this one have been forgotten.
check::Finding no_room_for_launches(const Launch& launch) {
  check::Finding f;
  f.kind = check::Kind::kIncompleteCheck;
  f.severity = check::Severity::kInformation;
  f.kernel = launch.kernel->demangled;
  f.access.site = site_of(*launch.program, launch.kernel->entry);
  f.space = "global";
  f.where =
      "the search for races remembers the accesses of the latest launches, and nothing orders "
      "this launch after older ones";
  f.detail =
      "Races with these are missed. Streams that are synchronised more often are checked "
      "whole.";
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
  l.units = units_of(config, l.clustered);
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

// Keeps of the launch what messages about its accesses need.
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

std::vector<Worker> make_workers(Launch& l) {
  const LaunchConfig& config = *l.config;
  unsigned count =
      config.host_threads > 0 ? static_cast<unsigned>(config.host_threads) : host_processors();
  count = static_cast<unsigned>(
      std::min({std::uint64_t{count}, l.clusters, l.blocks * l.warps / kWarpsPerThread + 1}));
  if (l.check_races) {
    const auto in_cluster = static_cast<std::uint32_t>(config.cluster.count());
    l.history = &RaceHistory::of(*l.memory);
    l.races = &l.history->races;
    const OperationPlace& at = config.place;
    l.races->start(*l.memory, l.clustered ? in_cluster : 1, count > 1, config.race_records,
                   {at.lane, at.sequence, at.before, at.settled, at.several_streams}, l.blocks);
    remember(l);
    // Blocks of other launches may be met, too, if there are several streams.
    l.between_blocks = l.blocks > 1 || at.several_streams;
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

// Which other blocks got how far than the first failing one depends on the host's threads: what
// they found is left out.
void gather_findings(Launch& l, const std::vector<Worker>& workers,
                     std::vector<check::Finding>& out) {
  l.findings.keep_until(l.stop.load());
  for (const Worker& w : workers) count_again(w, *l.program, l.findings);
  out = l.findings.take();
  if (l.races != nullptr && l.races->exhausted()) out.push_back(no_room_for_races(l));
  if (l.races != nullptr && l.races->grid().launches().missed() &&
      !std::exchange(l.history->reported_missed, true))
    out.push_back(no_room_for_launches(l));
}

}  // namespace

// The config with copies of what its spans name, but for the parameters.
struct Running::OwnConfig : LaunchConfig {
  explicit OwnConfig(LaunchConfig config)
      : LaunchConfig(std::move(config)),
        grids_(running_grids.begin(), running_grids.end()),
        accesses_(concurrent.begin(), concurrent.end()),
        before_(place.before.begin(), place.before.end()),
        settled_(place.settled.begin(), place.settled.end()) {
    running_grids = grids_;
    concurrent = accesses_;
    place.before = before_;
    place.settled = settled_;
  }
  void add(ConcurrentAccess access) {
    accesses_.push_back(std::move(access));
    concurrent = accesses_;
  }
  void forget(std::span<const std::uint32_t> clock) {
    std::erase_if(accesses_, [&](const ConcurrentAccess& a) {
      return a.sequence != 0 && a.lane < clock.size() && clock[a.lane] >= a.sequence;
    });
    concurrent = accesses_;
  }

 private:
  std::vector<RunningGrid> grids_;
  std::vector<ConcurrentAccess> accesses_;
  std::vector<std::uint32_t> before_, settled_;
};

struct Running::Parts {
  Parts(const Kernel& of, LaunchConfig given, memory::DeviceMemory& memory);
  ~Parts();

  bool is_empty() const { return config.block.count() == 0 || config.grid.count() == 0; }
  State run(std::uint64_t budget);
  // The block that comes first in the schedule among those that have begun and not ended.
  Block* first() const;
  // The search for races turns to this launch, and away from it.
  void turn_search_here();
  void put_search_aside();

  OwnConfig config;
  const LoadedKernel& kernel;
  Launch launch;
  std::vector<Worker> workers;
  std::vector<std::unique_ptr<WorkerLoop>> loops;  // by worker
  check::GlobalRaces::Suspended search;            // while another launch may run
  std::uint32_t records_then = 0;                  // when the search was put aside
  bool begun = false;
  bool others = true;        // the host may have had other threads since the last advance() began
  bool interleaved = false;  // other launches have made records in between
};

Running::Parts::Parts(const Kernel& of, LaunchConfig given, memory::DeviceMemory& memory)
    : config(std::move(given)), kernel(static_cast<const LoadedKernel&>(of)) {
  if (is_empty()) return;
  describe(launch, kernel, config, memory);
  if (config.ran != nullptr) config.ran->assign(launch.program->ops.size(), 0);
  lay_out_memory(launch);
  config.parameters = {};
  launch.concurrent_memory.set(config.concurrent);
  workers = make_workers(launch);
  for (std::size_t i = 0; i < workers.size(); ++i)
    loops.push_back(WorkerLoop::make(launch, workers[i], i));
  put_search_aside();
  kernel.begin_launch();
}

Running::Parts::~Parts() {
  if (is_empty()) return;
  kernel.end_launch();
  if (launch.races != nullptr) launch.races->end(search);
  if (launch.grid_workspace != nullptr) launch.memory->release(launch.grid_workspace->base);
  if (launch.parameter_memory != nullptr) launch.memory->release(launch.parameter_memory->base);
}

void Running::Parts::turn_search_here() {
  if (launch.races == nullptr) return;
  interleaved |= launch.memory->race_records() != records_then;
  const bool forgotten = launch.races->resume(search);
  for (std::size_t i = 0; forgotten && i < workers.size(); ++i) {
    workers[i].race_memo = {};
    loops[i]->forget_accesses();
  }
}

void Running::Parts::put_search_aside() {
  if (launch.races == nullptr) return;
  search = launch.races->suspend();
  records_then = launch.memory->race_records();
}

Running::State Running::Parts::run(std::uint64_t budget) {
  if (begun) look_again(launch);
  // A thread may write and end before the launch stands still: what counts is whether it was there.
  // To ask takes longer than many launches do; so the first time one is taken for granted.
  others = !begun || others_run_here();
  begun = true;
  launch.pause = Launch::Pause::kNone;
  turn_search_here();
  {
    const memory::DeviceMemory::Hold hold(*launch.memory);
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < loops.size(); ++i) {
      if (!loops[i]->done()) threads.emplace_back([this, i, budget] { loops[i]->run(budget); });
    }
    if (!loops[0]->done()) loops[0]->run(budget);
    for (std::thread& t : threads) t.join();
  }
  put_search_aside();
  const auto done = [](const auto& loop) { return loop->done(); };
  if (std::all_of(loops.begin(), loops.end(), done)) return State::kDone;
  return launch.pause == Launch::Pause::kStill ? State::kStill : State::kSliced;
}

Block* Running::Parts::first() const {
  Block* first = nullptr;
  for (const auto& loop : loops) {
    Block* const block = loop->first();
    if (block != nullptr && (first == nullptr || block->position < first->position)) first = block;
  }
  return first;
}

Running::Running(const Kernel& kernel, LaunchConfig config, memory::DeviceMemory& memory) {
  if (const program::LoadError* why = kernel.refusal()) throw std::invalid_argument(why->message);
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  if (cluster.count() == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0) {
    throw std::invalid_argument("the cluster does not divide the grid");
  }
  if (config.block.count() > 1024) config.grid = {0, 0, 0};
  parts_ = std::make_unique<Parts>(kernel, std::move(config), memory);
}

Running::~Running() = default;

Running::State Running::advance(std::uint64_t budget) {
  return parts_->is_empty() ? State::kDone : parts_->run(budget);
}

bool Running::host_may_help() const {
  return engine::host_may_help(parts_->launch, parts_->others);
}

bool Running::informed_host() const { return parts_->launch.informed_host; }

void Running::also_concurrent(ConcurrentAccess access) {
  if (!parts_->launch.check_races || parts_->is_empty()) return;
  parts_->config.add(std::move(access));
  parts_->launch.concurrent_memory.set(parts_->config.concurrent);
  for (const auto& loop : parts_->loops) loop->look_beside();
}

void Running::also_known(std::span<const std::uint32_t> clock) {
  if (parts_->is_empty() || parts_->config.concurrent.empty()) return;
  parts_->config.forget(clock);
  parts_->launch.concurrent_memory.set(parts_->config.concurrent);
}

std::uint64_t Running::changes() const {
  std::uint64_t all = 0;
  for (const Worker& w : parts_->workers) all += w.changes;
  return all;
}

check::Finding Running::why_still() const {
  return livelock_of(parts_->launch, *parts_->first()).finding;
}

void Running::fail(const std::string& note, bool host_waits) {
  Livelock livelock = livelock_of(parts_->launch, *parts_->first());
  parts_->launch.abandoned = true;
  if (livelock.block != nullptr) {
    if (host_waits) {
      livelock.finding.kind = check::Kind::kDeadlock;
      // What stands before that is about a host which does not wait.
      std::string& detail = livelock.finding.detail;
      if (const std::size_t rest = detail.find("Everything that still runs"); rest != detail.npos)
        detail.erase(0, rest);
    }
    if (!note.empty()) livelock.finding.detail += "\n    " + note;
    report(*livelock.block, std::move(livelock.finding));
  }
  parts_->run(0);
}

Outcome Running::finish() {
  Outcome outcome;
  if (parts_->is_empty()) return outcome;
  Launch& l = parts_->launch;
  parts_->turn_search_here();
  for (const Worker& w : parts_->workers) outcome.counters.add(w.counters);
  gather_findings(l, parts_->workers, outcome.findings);
  // The records between the two are the launch's alone unless others ran in between.
  if (l.races != nullptr && !parts_->interleaved) {
    outcome.first_record = l.races->records().first_number();
    outcome.end_of_records = l.memory->race_records();
  }
  parts_->put_search_aside();
  outcome.informed_host = l.informed_host;
  outcome.started_dependents = l.dependent_grids.started;
  outcome.waited = l.dependent_grids.waited;
  outcome.waited_before_start = l.dependent_grids.waited_before_start;
  outcome.heap = std::move(l.heap);
  outcome.unwritten_stores = std::move(l.unwritten_stores);
  std::sort(outcome.unwritten_stores.begin(), outcome.unwritten_stores.end(),
            [](const UnwrittenStore& a, const UnwrittenStore& b) { return a.begin < b.begin; });
  return outcome;
}

}  // namespace lockstep::engine
