#include "simulator/engine/ops/sync/dependent_grids.h"

#include <algorithm>

#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

void run_start_dependents(Warp& w, const Op&, LaneMask) {
  w.block->started_dependents = true;
  w.block->launch->dependent_grids.started = true;
}

void run_wait_for_grids(Warp& w, const Op&, LaneMask mask) {
  Block& b = *w.block;
  DependentGrids& grids = b.launch->dependent_grids;
  grids.waited = true;
  if (!b.started_dependents) grids.waited_before_start = true;
  if ((w.overlapped & mask) == 0) return;
  w.waited |= mask;
  const auto& running = b.launch->config->running_grids;
  if (b.launch->config->concurrent.empty() &&
      std::all_of(running.begin(), running.end(),
                  [](const RunningGrid& grid) { return grid.until_wait; }))
    w.overlapped &= ~mask;
  // Threads that are ordered after this one need not wait themselves.
  check::Side side;
  side.order = &b.races;
  side.block = b.serial;
  side.warp = w.index;
  std::lock_guard lock(grids.mutex);
  grids.waits.push_back({check::AccessRecord::of(side), mask});
}

}  // namespace lockstep::engine
