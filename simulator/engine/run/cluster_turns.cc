#include "simulator/engine/run/cluster_turns.h"

#include <string>

#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/lane_groups.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/run/deadlock.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// Rounds over the blocks without an end before another cluster of this worker gets a turn, when
// clusters may wait for one another.
constexpr int kClusterRounds = 512;

// No block can run, and some have not ended.
void report_deadlock(Cluster& c) {
  LaneGroups groups;
  Warp* first_warp = nullptr;
  const WarpSplit* first = nullptr;
  for (const auto& b : c.blocks) {
    groups.add(*b, "block of rank " + std::to_string(b->cluster_rank) + ", ");
    for (Warp& w : b->warps) {
      for (const WarpSplit& f : w.control->splits) {
        const bool waits = f.state == WarpSplit::State::kAtCluster ||
                           f.state == WarpSplit::State::kAtMbarrier ||
                           f.state == WarpSplit::State::kAtPair;
        if (first == nullptr && waits) first = &f, first_warp = &w;
      }
    }
  }
  check::Finding f = finding_at(*first_warp, first->pc, first->mask, check::Kind::kDeadlock);
  f.where = first->state == WarpSplit::State::kAtMbarrier
                ? describe_mbarrier_wait(*first_warp->block, *first_warp, *first)
            : first->state == WarpSplit::State::kAtPair
                ? "the other block of the pair never comes to tcgen05.alloc, or columns are never "
                  "free side by side in both"
                : "some threads of the cluster never come to this barrier: they wait elsewhere";
  f.detail = "Nothing in the cluster can go on. Of its threads" + groups.text();
  report(*first_warp->block, std::move(f));
}

}  // namespace

Progress run_cluster(Cluster& c) {
  const auto count = static_cast<std::uint32_t>(c.blocks.size());
  const Launch& launch = *c.blocks[0]->launch;
  const std::uint64_t seed = launch.config->schedule_seed;
  const std::uint64_t turn =
      seed == 0 ? 0 : (seed + c.blocks[0]->index) * 0x9e3779b97f4a7c15ull >> 32;
  const int patience = launch.config->cooperative ? 1 : kClusterRounds;
  for (int round = 0; round < patience; ++round) {
    bool left = true, ran = false, waits = true, others_first = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      Block& b = *c.blocks[((turn & 1 ? count - 1 - i : i) + (turn >> 1)) % count];
      if (b.live_warps == 0) continue;
      const Progress progress = run_block(b);
      // What fails in one block ends all: the others would wait for it. So does a failure of a
      // cluster before this one.
      if (b.aborted || b.position > launch.stop.load(std::memory_order_relaxed) ||
          launch.abandoned.load(std::memory_order_relaxed)) {
        return Progress::kDone;
      }
      left &= progress == Progress::kDone;
      ran |= progress != Progress::kWaiting;
      others_first |= progress == Progress::kDeferred;
      waits &= progress == Progress::kWaiting || b.waits;
    }
    if (left) return Progress::kDone;
    if (ran && waits) return Progress::kYielded;
    // The others are blocks of this cluster, which have had their turns, and other clusters.
    if (others_first && launch.clusters > 1) return Progress::kDeferred;
    if (ran) continue;
    // Somebody's exit or arrival may have released a block that had its turn before.
    bool runnable = false;
    for (const auto& b : c.blocks) runnable |= b->live_warps != 0 && b->runnable != 0;
    for (const auto& b : c.blocks) runnable |= b->live_warps != 0 && advance_virtual_time(*b);
    if (runnable) continue;
    report_deadlock(c);
    return Progress::kDone;
  }
  return Progress::kYielded;
}

}  // namespace lockstep::engine
