#include "simulator/engine/ops/sync/cluster.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "simulator/engine/monitor/absent_threads.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// The value of WarpControl::cluster_arrive_pc if lanes have arrived separately, or not at all.
constexpr std::uint32_t kNoArrival = ~0u;

// Whether every remaining thread of the block has released with its arrival and waits immediately
// after it. Then the phase is also a barrier of the block and starts the block's next epoch.
bool arrived_as_a_barrier(const Block& b) {
  for (const Warp& w : b.warps) {
    const WarpControl& c = *w.control;
    const LaneMask live = living(w);
    if (live == 0) continue;
    if ((live & ~c.cluster_released) != 0 || c.cluster_arrive_pc == kNoArrival) return false;
    const std::uint32_t wait = c.cluster_arrive_pc + 1;
    LaneMask waiting = 0;
    for (const WarpSplit& f : c.splits)
      waiting |= f.state == WarpSplit::State::kAtCluster && f.pc == wait ? f.mask : 0;
    // The warp whose arrival completes the phase is about to execute its wait.
    const bool next = w.pc == wait && b.program->ops[wait].action == Action::kClusterWait;
    if ((live & ~(next ? waiting | w.active : waiting)) != 0) return false;
  }
  return true;
}

// What the block's threads release to the cluster at the end of a phase, and whether the block's
// next epoch has started.
check::Knowledge end_phase(Block& b, bool& barrier) {
  check::Knowledge all;
  std::swap(all, b.cluster_arrivals);
  all.own.block = b.serial;
  barrier = b.live_warps == 0 || arrived_as_a_barrier(b);
  if (barrier && b.live_warps != 0) passed_barrier(b, b.races.block_barrier(false));
  if (barrier) {
    all.own = {b.serial, b.races.epoch() + (b.live_warps == 0), {}};
    all.others.join(b.races.known_to_all(), b.races.grid());
  }
  b.races.publish(all.own);
  return all;
}

// Lanes that wait, or have waited, for a completed phase learn what was released at it.
void learn_phase(Warp& w, LaneMask lanes) {
  Block& b = *w.block;
  for (const auto& releases : b.cluster_released)
    b.races.learn(w.index, lanes, lanes == living(w), *releases);
}

// Call when all remaining threads have arrived. Returns false if others have ended without arriving
// and that finding ends the launch.
bool all_came(Warp& acting, const Cluster& c) {
  AbsentThreads absent;
  const Warp* at = &acting;
  WarpSplit split{acting.pc - 1, acting.active, acting.control->frame, WarpSplit::State::kRunnable,
                  false};
  bool waits = false;
  for (const auto& block : c.blocks) {
    for (const Warp& w : block->warps) {
      absent.add(w, w.exists & *w.control->exited & ~w.control->cluster_left);
      for (const WarpSplit& f : w.control->splits) {
        if (waits || f.state != WarpSplit::State::kAtCluster) continue;
        waits = true;
        at = &w;
        split = f;
      }
    }
  }
  return absent.empty() || !begins_to_miss(acting, split.pc) ||
         report_absent(acting, *at, split, absent, "the cluster");
}

// Call when all threads have arrived: those that wait continue, and the next phase opens.
void complete_phase(Cluster& c) {
  ++c.blocks[0]->worker->counters.barriers;
  on_order(*c.blocks[0]->worker, c.barrier).arrived = 0;
  const bool check_races = c.blocks[0]->launch->check_races;
  std::vector<std::shared_ptr<const check::Knowledge>> releases;
  std::vector<bool> barrier;
  for (const auto& block : c.blocks) {
    if (!check_races) break;
    bool whole = false;
    releases.push_back(std::make_shared<const check::Knowledge>(end_phase(*block, whole)));
    barrier.push_back(whole);
  }
  for (const auto& block : c.blocks) {
    Block& b = *block;
    if (check_races) {
      b.cluster_released.clear();
      for (std::size_t i = 0; i < releases.size(); ++i) {
        // Its own epoch orders its threads already.
        if (releases[i]->own.block == b.serial && barrier[i]) continue;
        if (barrier[b.cluster_rank]) {
          b.races.learn(*releases[i]);
        } else {
          b.cluster_released.push_back(releases[i]);
        }
      }
      if (!barrier[b.cluster_rank])
        b.cluster_released.push_back(std::make_shared<const check::Knowledge>(b.block_arrivals));
      b.block_arrivals = {};
    }
    for (Warp& w : b.warps) {
      WarpControl& control = *w.control;
      control.cluster_passed = living(w);
      control.cluster_arrived = control.cluster_released = control.cluster_left = 0;
      control.cluster_arrive_pc = kNoArrival;
      LaneMask waited = 0;
      for (WarpSplit& f : control.splits) {
        if (f.state != WarpSplit::State::kAtCluster) continue;
        f.state = WarpSplit::State::kRunnable;
        ++f.pc;
        waited |= f.mask;
        b.runnable |= 1u << w.index;
      }
      control.cluster_passed &= ~waited;
      if (waited != 0 && check_races) learn_phase(w, waited);
    }
  }
}

void report_misuse(Warp& w, LaneMask lanes, const char* what) {
  check::Finding f = finding_at(w, w.pc - 1, lanes, check::Kind::kInvalidInstruction);
  f.where = what;
  f.detail =
      "Every thread of a cluster must execute barrier.cluster.arrive and barrier.cluster.wait in "
      "turns.";
  report(w, std::move(f));
}

// The offset of an address in the shared memory of any block. Returns false if the address is not
// in shared memory.
bool shared_address(const Warp& w, const Op& op, int lane, std::uint32_t& address) {
  const std::uint64_t a = op.width == 8 ? source<std::uint64_t>(w, op.src[0])[lane]
                                        : source<std::uint32_t>(w, op.src[0])[lane];
  if (static_cast<isa::Space>(op.space) != isa::Space::kGeneric) {
    address = static_cast<std::uint32_t>(a);
    return true;
  }
  address = static_cast<std::uint32_t>(a - w.block->launch->shared_window);
  return a - w.block->launch->shared_window < (1ull << 32);
}

void report_not_shared(Warp& w, LaneMask lanes) {
  check::Finding f = finding_at(w, w.pc - 1, lanes, check::Kind::kInvalidInstruction);
  f.where = "the address lies in no shared memory, so no block of the cluster has it";
  report(w, std::move(f));
}

}  // namespace

void leave_cluster(Warp& w, LaneMask lanes) {
  Cluster& c = *w.block->cluster;
  lanes &= living(w);
  ClusterBarrier& barrier = on_order(*w.block->worker, c.barrier);
  barrier.living -= static_cast<std::uint32_t>(std::popcount(lanes));
  barrier.arrived -= static_cast<std::uint32_t>(std::popcount(lanes & w.control->cluster_arrived));
  w.control->cluster_left |= lanes & w.control->cluster_arrived;
  w.control->cluster_arrived &= ~lanes;
  w.control->cluster_released &= ~lanes;
}

void check_cluster_phase(Warp& w) {
  Cluster& c = *w.block->cluster;
  if (c.barrier->arrived == 0 || c.barrier->arrived != c.barrier->living) return;
  const bool some_exited =
      std::any_of(c.blocks.begin(), c.blocks.end(), [](const auto& b) { return b->some_exited; });
  if (!some_exited || all_came(w, c)) complete_phase(c);
}

void run_cluster_arrive(Warp& w, const Op& op, LaneMask mask) {
  WarpControl& control = *w.control;
  const LaneMask again = mask & (control.cluster_arrived | control.cluster_passed);
  if (again != 0 && w.block->launch->check_synchronisation) {
    report_misuse(w, again, "the thread arrives again without having waited since it last arrived");
    return;
  }
  const LaneMask fresh = mask & ~control.cluster_arrived;
  control.cluster_passed &= ~fresh;
  control.cluster_arrived |= fresh;
  on_order(*w.block->worker, w.block->cluster->barrier).arrived +=
      static_cast<std::uint32_t>(std::popcount(fresh));
  control.cluster_arrive_pc = fresh == living(w) ? w.pc - 1 : kNoArrival;
  if (op.as<MemoryFields>().has(kRelease)) control.cluster_released |= fresh;
  if (w.block->launch->check_races && fresh != 0) {
    Block& b = *w.block;
    b.cluster_arrivals.own.block = b.serial;
    if (op.as<MemoryFields>().has(kRelease)) {
      b.cluster_arrivals.join(
          *b.races.message_of(w.index, fresh, fresh == w.exists, check::Scope::kCluster).what,
          b.races.grid());
      released(w);
    } else {
      check::Messages fenced;
      each(fresh, [&](int l) {
        const std::uint32_t thread = w.index * kWarpSize + static_cast<std::uint32_t>(l);
        if (b.races.has_fenced(thread)) b.races.leave(thread, fenced);
      });
      b.block_arrivals.own.block = b.serial;
      for (const check::Message& m : fenced) {
        (m.scope == check::Scope::kBlock ? b.block_arrivals : b.cluster_arrivals)
            .join(*m.what, b.races.grid());
      }
    }
  }
  check_cluster_phase(w);
}

void run_cluster_wait(Warp& w, const Op&, LaneMask mask) {
  WarpControl& control = *w.control;
  const LaneMask never = mask & ~(control.cluster_arrived | control.cluster_passed);
  if (never != 0 && w.block->launch->check_synchronisation) {
    report_misuse(w, never, "the thread waits without having arrived");
    return;
  }
  const LaneMask passed = mask & control.cluster_passed;
  if (passed != 0 && w.block->launch->check_races) learn_phase(w, passed);
  control.cluster_passed &= ~mask;
  const LaneMask waiting = mask & control.cluster_arrived;
  if (waiting != 0) park(w, waiting, WarpSplit::State::kAtCluster);
}

void run_map_address(Warp& w, const Op& op, LaneMask mask) {
  const std::uint32_t* ranks = source<std::uint32_t>(w, op.src[1]);
  const bool generic = static_cast<isa::Space>(op.space) == isa::Space::kGeneric;
  LaneMask bad = 0;
  each(mask, [&](int l) {
    std::uint32_t a;
    if (!shared_address(w, op, l, a)) {
      bad |= 1u << l;
      return;
    }
    const std::uint32_t mapped = named(std::min(ranks[l], kNoRank), a);
    if (op.width == 8) {
      destination<std::uint64_t>(w, op.dst)[l] =
          mapped + (generic ? w.block->launch->shared_window : 0);
    } else {
      destination<std::uint32_t>(w, op.dst)[l] = mapped;
    }
  });
  if (bad != 0) report_not_shared(w, bad);
}

void run_rank_of_address(Warp& w, const Op& op, LaneMask mask) {
  auto* d = destination<std::uint32_t>(w, op.dst);
  LaneMask bad = 0;
  each(mask, [&](int l) {
    std::uint32_t a;
    if (shared_address(w, op, l, a)) {
      d[l] = rank_named(*w.block, a);
    } else {
      bad |= 1u << l;
    }
  });
  if (bad != 0) report_not_shared(w, bad);
}

}  // namespace lockstep::engine
