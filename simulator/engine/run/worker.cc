#include "simulator/engine/run/worker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/engine/launch/per_thread.h"
#include "simulator/engine/monitor/lane_groups.h"
#include "simulator/engine/run/block.h"
#include "simulator/engine/run/cluster_turns.h"
#include "simulator/engine/run/livelock.h"
#include "simulator/engine/run/scheduler.h"
#include "simulator/engine/run/translated.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// The number of further turns for blocks that have not ended although another block has failed.
constexpr int kMaxStragglers = 2;

// Blocks kept for reuse by each host thread from launch to launch, because small kernels are
// launched in thousands.
constexpr std::size_t kSpareBlocks = 4, kSpareBlocksOfClusters = 16;
struct SpareBlocks : std::vector<std::unique_ptr<Block>> {};

std::unique_ptr<Block> take_block() {
  auto& spare_blocks = per_thread<SpareBlocks>();
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
  cluster->barrier.reset({count * worker.launch->threads, 0});
}

Progress run(Block& block) { return run_block(block); }
Progress run(Cluster& cluster) { return run_cluster(cluster); }

Block& first_of(Block& block) { return block; }
Block& first_of(Cluster& cluster) { return *cluster.blocks[0]; }

bool waits(const Block& block) { return block.waits; }
bool waits(const Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(), [](const auto& b) {
    return b->live_warps == 0 || b->runnable == 0 || b->waits;
  });
}

bool all_still(Block& block) { return makes_no_progress(block); }
bool all_still(Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(),
                     [](const auto& b) { return b->live_warps == 0 || makes_no_progress(*b); });
}

void end_search(Block& block) {
  if (block.launch->check_races) block.races.end_block();
}
void end(std::unique_ptr<Block> block) {
  end_search(*block);
  auto& spare_blocks = per_thread<SpareBlocks>();
  if (spare_blocks.size() < kSpareBlocks) spare_blocks.push_back(std::move(block));
}
void end(std::unique_ptr<Cluster> cluster) {
  auto& spare_blocks = per_thread<SpareBlocks>();
  for (std::unique_ptr<Block>& block : cluster->blocks) {
    end_search(*block);
    if (spare_blocks.size() < kSpareBlocksOfClusters) spare_blocks.push_back(std::move(block));
  }
}

void forget_cells(Block& block) {
  block.first_record = 0;
  std::fill(block.cells.begin(), block.cells.end(), check::GlobalCell());
}
void forget_cells(Cluster& cluster) {
  for (const auto& block : cluster.blocks) forget_cells(*block);
}

void look_beside(Block& block) {
  for (std::uint32_t i = 0; i < block.launch->warps; ++i)
    block.warps[i].overlapped = block.warps[i].exists;
}
void look_beside(Cluster& cluster) {
  for (const auto& block : cluster.blocks) look_beside(*block);
}

// Informs the user that a kernel has been running for a long time.
void notify_if_long(Launch& launch, const Block& b) {
  if (!launch.config->notice) return;
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(
                                   std::chrono::steady_clock::now() - launch.begun)
                                   .count();
  std::int64_t due = launch.next_notice.load(std::memory_order_relaxed);
  if (seconds < due || !launch.next_notice.compare_exchange_strong(due, 2 * due)) return;
  LaneGroups groups;
  groups.add(b);
  launch.config->notice("kernel " + launch.kernel->demangled + " has been running for " +
                        std::to_string(seconds) + " s. Block (" + std::to_string(b.ctaid.x) + "," +
                        std::to_string(b.ctaid.y) + "," + std::to_string(b.ctaid.z) +
                        ") has executed " + std::to_string(b.instructions) +
                        " warp instructions; of its threads" + groups.text());
}

// Unit: the unit of scheduling, a block or a cluster.
template <class Unit>
class LoopOf final : public WorkerLoop {
 public:
  LoopOf(Launch& launch, Worker& worker, std::size_t number)
      : launch_(launch), worker_(worker), watch_(launch, worker, number) {}

  void run(std::uint64_t budget) override;
  void forget_accesses() override {
    for (const auto& unit : active_) forget_cells(*unit);
  }
  void look_beside() override {
    for (const auto& unit : active_) engine::look_beside(*unit);
  }
  bool done() const override { return done_; }
  Block* first() override { return active_.empty() ? nullptr : &first_of(*active_[0]); }

 private:
  // Starts another unit if there is one, and room for it.
  bool begin_another();
  // Gives each unit a turn. `began`: the last one has just started.
  void run_round(bool began);

  Launch& launch_;
  Worker& worker_;
  LivelockWatch watch_;
  std::vector<std::unique_ptr<Unit>> active_;
  int stragglers_ = 0;
  bool done_ = false;
};

template <class Unit>
bool LoopOf<Unit>::begin_another() {
  // Starts a unit if none is active, or if the active ones wait.
  if (!active_.empty() && !launch_.config->cooperative && active_.size() >= kBlocksInFlight)
    return false;
  const std::uint64_t position = launch_.next.position.fetch_add(1);
  if (position >= launch_.units || position > launch_.stop.load()) return false;
  begin(active_.emplace_back(), worker_, position);
  return true;
}

template <class Unit>
void LoopOf<Unit>::run_round(bool began) {
  const bool all_together = launch_.config->cooperative;
  const std::uint64_t seed = launch_.config->schedule_seed;
  // Evaluated before any unit ends, which makes room.
  const bool may_begin_more = all_together || active_.size() < kBlocksInFlight;
  bool still = true, idle = true;
  // With a seed, a unit that starts may come before those that yielded. The others keep their
  // order. So do all units of a cooperative launch: a block that has passed a barrier of the grid
  // waits until all have. Otherwise its later work could be ordered by chance before other blocks'
  // work there.
  const std::size_t first =
      seed != 0 && began && !all_together && comes_first(seed, first_of(*active_.back()).position)
          ? active_.size() - 1
          : 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    std::unique_ptr<Unit>& unit = active_[first == 0 ? i : i == 0 ? first : i - 1];
    translate_if_due(launch_, worker_);
    const Progress progress = engine::run(*unit);
    // A spinning unit may wait for a block that a finding has ended.
    if (progress == Progress::kYielded && launch_.stop.load() != ~0ull) ++stragglers_;
    if (progress == Progress::kDone || stragglers_ > kMaxStragglers) {
      end(std::move(unit));
      still = idle = false;
    } else {
      idle = idle && waits(*unit);
      still = still && all_still(*unit);
      notify_if_long(launch_, first_of(*unit));
    }
  }
  std::erase(active_, nullptr);
  still = still && !(may_begin_more && launch_.next.position.load() < launch_.units);
  if (!active_.empty()) watch_.after_time_slices(still, first_of(*active_[0]));
  // The machine may have fewer processors than there are host threads: threads that can continue
  // run first.
  if (idle && launch_.quiescence.places.size() > 1) std::this_thread::yield();
}

template <class Unit>
void LoopOf<Unit>::run(std::uint64_t budget) {
  worker_.slice = {budget == 0 ? ~std::uint64_t{0} : worker_.counters.warp_instructions + budget,
                   worker_.changes.value()};
  while (launch_.pause.load() == Launch::Pause::kNone) {
    const bool began = begin_another();
    if (active_.empty()) {
      done_ = true;
      watch_.leave();
      return;
    }
    run_round(began);
    if (is_slice_over(worker_)) {
      auto none = Launch::Pause::kNone;
      launch_.pause.compare_exchange_strong(none, Launch::Pause::kSliced);
    }
  }
}

}  // namespace

std::unique_ptr<WorkerLoop> WorkerLoop::make(Launch& launch, Worker& worker, std::size_t number) {
  if (launch.clustered) return std::make_unique<LoopOf<Cluster>>(launch, worker, number);
  return std::make_unique<LoopOf<Block>>(launch, worker, number);
}

}  // namespace lockstep::engine
