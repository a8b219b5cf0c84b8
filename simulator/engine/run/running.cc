// Runs a grid: blocks on host threads, and the findings of the block that is first in the schedule.
#include "simulator/engine/launch/running.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/run/certify.h"
#include "simulator/engine/run/launch_setup.h"
#include "simulator/engine/run/livelock.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/run/sampler.h"
#include "simulator/engine/run/translated.h"
#include "simulator/engine/run/worker.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/race_history.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// The finding for an exhausted search for races. It has two tables: records, whose numbers are
// given out in lots, and words whose bytes were accessed separately.
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

// The finding for forgotten accesses of launches that are unordered with this one.
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

// How far blocks other than the first failing one got depends on the host's threads, so their
// findings are omitted.
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

// The config with copies of the data that its spans refer to, except the parameters.
struct Running::OwnConfig : LaunchConfig {
  explicit OwnConfig(LaunchConfig config)
      : LaunchConfig(std::move(config)),
        grids_(running_grids.begin(), running_grids.end()),
        accesses_(concurrent.begin(), concurrent.end()),
        before_(place.before.begin(), place.before.end()),
        settled_(place.settled.begin(), place.settled.end()),
        host_(place.host.begin(), place.host.end()) {
    running_grids = grids_;
    concurrent = accesses_;
    place.before = before_;
    place.settled = settled_;
    place.host = host_;
  }
  // An access that continues the host's last one, or repeats it, replaces it.
  void add(ConcurrentAccess access) {
    if (access.host && !accesses_.empty()) {
      const ConcurrentAccess& last = accesses_.back();
      if (last.host && last.caller == access.caller && last.writes == access.writes &&
          (last.box == access.box || access.box.covers_line(last.box)))
        accesses_.pop_back();
    }
    accesses_.push_back(std::move(access));
    concurrent = accesses_;
  }
  void forget_host() {
    std::erase_if(accesses_, [](const ConcurrentAccess& a) { return a.host; });
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
  std::vector<std::uint32_t> before_, settled_, host_;
};

struct Running::Parts {
  Parts(const Kernel& of, LaunchConfig given, memory::DeviceMemory& memory);
  ~Parts();

  bool is_empty() const { return config.block.count() == 0 || config.grid.count() == 0; }
  State run(std::uint64_t budget);
  // The first block in the schedule that has started and not ended.
  Block* first() const;
  // Switch the search for races to this launch, and away from it.
  void turn_search_here();
  void put_search_aside();

  OwnConfig config;
  const LoadedKernel& kernel;
  Launch launch;
  std::vector<Worker> workers;
  std::vector<std::unique_ptr<WorkerLoop>> loops;  // by worker
  std::optional<LaunchSamples> samples;            // LaunchConfig::time_profile
  check::GlobalRaces::Suspended search;            // while another launch may run
  std::uint32_t records_then = 0;                  // when the search was suspended
  bool begun = false;
  bool others = true;        // the host may have had other threads since the last advance() started
  bool interleaved = false;  // other launches have made records in between
};

Running::Parts::Parts(const Kernel& of, LaunchConfig given, memory::DeviceMemory& memory)
    : config(std::move(given)), kernel(static_cast<const LoadedKernel&>(of)) {
  if (is_empty()) return;
  describe(launch, kernel, config, memory);
  if (config.ran != nullptr) config.ran->assign(launch.program->ops.size(), 0);
  lay_out_memory(launch);
  certify(launch, kernel);
  translate_kernel(launch, kernel);
  config.parameters = {};
  config.closed = nullptr;
  launch.concurrent_memory.set(config.concurrent);
  workers = make_workers(launch, kernel.expected_work(launch.blocks * launch.warps));
  for (std::size_t i = 0; i < workers.size(); ++i)
    loops.push_back(WorkerLoop::make(launch, workers[i], i));
  if (config.time_profile != nullptr) samples.emplace(launch, workers);
  put_search_aside();
  kernel.begin_launch();
}

Running::Parts::~Parts() {
  if (is_empty()) return;
  samples.reset();
  std::uint64_t instructions = 0, searched = 0;
  for (const Worker& w : workers) {
    instructions += w.counters.warp_instructions;
    searched += w.search_work;
  }
  kernel.end_launch(instructions, searched, launch.blocks * launch.warps);
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
  // A thread may write and end before the launch is still, so its presence at the start counts. The
  // query takes longer than many launches, so the first advance() assumes that there is another
  // thread.
  others = !begun || others_run_here();
  begun = true;
  launch.pause = Launch::Pause::kNone;
  turn_search_here();
  {
    const memory::DeviceMemory::Hold hold(*launch.memory);
    const auto run_loop = [this, budget](std::size_t i) {
      const DoingFor begins(workers[i], Doing::kLoop);
      loops[i]->run(budget);
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < loops.size(); ++i) {
      if (!loops[i]->done()) threads.emplace_back(run_loop, i);
    }
    if (!loops[0]->done()) run_loop(0);
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

bool Running::polls() const { return parts_->launch.polls; }

bool Running::reads_host_flags() const { return parts_->launch.reads_host_flags; }

void Running::also_concurrent(ConcurrentAccess access) {
  if (!parts_->launch.check_races || parts_->is_empty()) return;
  // What the host had done before the launch read a flag is known to it.
  if (access.host && parts_->launch.informed_by_host.exchange(false)) parts_->config.forget_host();
  parts_->config.add(std::move(access));
  parts_->launch.concurrent_memory.set(parts_->config.concurrent);
  for (const auto& loop : parts_->loops) loop->look_beside();
}

void Running::host_knows(std::span<const std::uint32_t> clock) {
  if (parts_->launch.hearing) parts_->launch.hearing->host_knows(clock);
}

bool Running::heard_host() const {
  return parts_->launch.hearing && parts_->launch.hearing->has_heard();
}

void Running::also_known(std::span<const std::uint32_t> clock) {
  if (parts_->is_empty() || parts_->config.concurrent.empty()) return;
  parts_->config.forget(clock);
  parts_->launch.concurrent_memory.set(parts_->config.concurrent);
}

std::uint64_t Running::changes() const {
  std::uint64_t all = 0;
  for (const Worker& w : parts_->workers) all += w.changes.value();
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
      // The text before that is about a host that does not wait.
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
  // These records belong to this launch only, unless other launches ran in between.
  if (l.races != nullptr && !parts_->interleaved) {
    outcome.first_record = l.races->records().first_number();
    outcome.end_of_records = l.memory->race_records();
  }
  parts_->put_search_aside();
  outcome.informed_host = l.informed_host;
  outcome.heard_host = heard_host();
  outcome.started_dependents = l.dependent_grids.started;
  outcome.waited = l.dependent_grids.waited;
  outcome.waited_before_start = l.dependent_grids.waited_before_start;
  outcome.heap = std::move(l.heap);
  outcome.launches = std::move(l.launches);
  if (!l.device_order.crosses_blocks()) {
    std::stable_sort(
        outcome.launches.begin(), outcome.launches.end(),
        [](const DeviceLaunch& a, const DeviceLaunch& b) { return a.by_block < b.by_block; });
  }
  outcome.unwritten_stores = std::move(l.unwritten_stores);
  std::sort(outcome.unwritten_stores.begin(), outcome.unwritten_stores.end(),
            [](const UnwrittenStore& a, const UnwrittenStore& b) { return a.begin < b.begin; });
  return outcome;
}

}  // namespace lockstep::engine
