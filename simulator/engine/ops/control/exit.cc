#include "simulator/engine/ops/control/exit.h"

#include <algorithm>

#include "simulator/engine/monitor/absent_threads.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/ops/sync/barrier.h"
#include "simulator/engine/ops/sync/cluster.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

namespace {

// Whether nothing but the block's barriers can wait for the warp, none of whose lanes has ended.
bool ends_alone(const Warp& w) {
  const WarpControl& c = *w.control;
  const Block& b = *w.block;
  return *c.exited == 0 && c.frame == 0 && c.arriving == 0 && b.async == nullptr &&
         b.warpgroups == nullptr && b.tensor == nullptr && b.cluster == nullptr;
}

void end_warp(Warp& w) {
  WarpControl& c = *w.control;
  Block& b = *w.block;
  note_exit(w, w.exists);
  c.frames[0].live = 0;
  c.first_free = 1;
  on_order(*b.worker, c.exited) = w.exists;
  w.active = 0;
  w.event = Event::kReschedule;
  --b.live_warps;
  if (b.arrived_at != 0) recheck_barriers(w);
}

}  // namespace

void exit_lanes(Warp& w, LaneMask lanes) {
  if (lanes == w.exists && ends_alone(w)) return end_warp(w);
  WarpControl& c = *w.control;
  if ((*c.exited | lanes) == w.exists) {
    const Block& b = *w.block;
    if (b.async) check_sources_at_exit(w);
    if (b.warpgroups && w.event != Event::kAbort) check_warpgroup_at_exit(w);
    if ((b.tensor || b.cluster != nullptr) && w.event != Event::kAbort)
      check_tensor_memory_at_exit(w);
    if (w.event == Event::kAbort) return;
  }
  note_exit(w, lanes);
  if (w.block->cluster != nullptr) leave_cluster(w, lanes);
  for (std::int32_t f = c.frame; f >= 0; f = c.frames[f].caller) {
    c.frames[f].live &= ~lanes;
    if (c.frames[f].live == 0) c.first_free = std::min(c.first_free, std::max(f, 1));
  }
  on_order(*w.block->worker, c.exited) |= lanes;
  w.active &= ~lanes;
  w.event = Event::kReschedule;
  if (c.arriving != 0) {
    arrive_without_the_ended(w);
    if (w.event == Event::kAbort) return;
  }
  if (*c.exited == w.exists) {
    --w.block->live_warps;
    recheck_barriers(w);
    if (w.event == Event::kAbort) return;
  }
  if (w.block->cluster != nullptr) check_cluster_phase(w);
}

}  // namespace lockstep::engine
