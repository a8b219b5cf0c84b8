#include "simulator/engine/ops/sync/barrier.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "simulator/engine/monitor/absent_threads.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

bool waits_at_barrier(const WarpSplit& f) { return f.state == WarpSplit::State::kAtBarrier; }

// Releases the warps that wait at barrier `id`.
void release(Block& b, int id) {
  Barrier& barrier = on_order(*b.worker, b.barriers[id]);
  ++b.worker->counters.barriers;
  for (std::uint32_t waiting = barrier.waiting; waiting != 0; waiting &= waiting - 1) {
    Warp& w = b.warps[std::countr_zero(waiting)];
    for (WarpSplit& f : w.control->splits) {
      if (f.state != WarpSplit::State::kAtBarrier) continue;
      const Op& op = b.program->ops[f.pc];
      const auto predicate = [&](bool value) {
        LaneMask& p = *parked_result<LaneMask>(w, f, op.dst);
        p = value ? p | f.mask : p & ~f.mask;
      };
      switch (op.as<program::BarrierFields>().kind()) {
        case kBarRedAnd: predicate(barrier.red_and); break;
        case kBarRedOr: predicate(barrier.red_or != 0); break;
        case kBarRedPopc:
          each(f.mask,
               [&](int l) { parked_result<std::uint32_t>(w, f, op.dst)[l] = barrier.red_count; });
          break;
        default: break;
      }
      f.state = WarpSplit::State::kRunnable;
      ++f.pc;
    }
    w.control->barrier = -1;
    b.runnable |= 1u << w.index;
  }
  if (b.launch->check_races) {
    std::uint32_t live = 0;
    for (const Warp& w : b.warps) live |= std::uint32_t{living(w) != 0} << w.index;
    // A count that equals the warps left covers the whole block only if no warp has ended: ended
    // warps were not counted.
    const bool all = barrier.expected == 0 ||
                     live == (b.launch->warps == 32 ? ~0u : (1u << b.launch->warps) - 1);
    bool knows_more = false;
    if (all && barrier.waiting == live && barrier.warps == live) {
      knows_more = b.races.block_barrier();
    } else {
      knows_more = b.races.complete(id, barrier.waiting);
    }
    passed_barrier(b, knows_more);
  }
  barrier = Barrier{};
  b.arrived_at &= ~(1u << id);
}

// Call when the barrier of all threads is complete. Returns false if threads have ended without it
// and that finding ends the launch.
bool all_came(Warp& acting, const Barrier& barrier) {
  Block& b = *acting.block;
  const Warp& at = b.warps[std::countr_zero(barrier.waiting)];
  const WarpSplit& split =
      *std::find_if(at.control->splits.begin(), at.control->splits.end(), waits_at_barrier);
  if (!begins_to_miss(acting, split.pc)) return true;
  AbsentThreads absent;
  for (const Warp& w : b.warps) absent.add(w, w.exists & *w.control->exited);
  return report_absent(acting, at, split, absent, "the block");
}

// Call after an action of `acting`, a warp of the block.
void release_if_complete(Warp& acting, int id) {
  Block& b = *acting.block;
  const Barrier& barrier = *b.barriers[id];
  if (barrier.warps == 0) return;
  if (barrier.expected != 0) {
    if (barrier.arrived >= barrier.expected) release(b, id);
    return;
  }
  if (std::popcount(barrier.warps) < static_cast<int>(b.live_warps)) return;
  for (const Warp& w : b.warps) {
    if (living(w) != 0 && !(barrier.warps >> w.index & 1)) return;
  }
  if (b.some_exited && !all_came(acting, barrier)) return;
  release(b, id);
}

// The thread count that the operation names; 0: all threads.
std::uint32_t count_of(const Warp& w, const WarpSplit& f) {
  const Op& op = w.block->program->ops[f.pc];
  return op.src[1] == kNoSlot
             ? 0
             : parked_operand<std::uint32_t>(w, f, op.src[1])[std::countr_zero(f.mask)];
}

// A whole warp arrives at the barrier of `f`, for `count` threads, waiting or not. `came_before`:
// lanes that have arrived, and may have ended since.
bool arrive(Warp& w, const WarpSplit& f, int id, std::uint32_t count, bool waits,
            LaneMask came_before) {
  Block& b = *w.block;
  const Barrier& before = *b.barriers[id];
  const Op& op = b.program->ops[f.pc];
  if (op.src[1] != kNoSlot && (count % kWarpSize != 0 || count == 0)) {
    check::Finding finding = finding_at(w, f.pc, f.mask, check::Kind::kInvalidInstruction);
    finding.where = "a barrier for " + std::to_string(count) +
                    " threads: the count must be a positive multiple of 32";
    report(w, std::move(finding));
    return false;
  }
  if (before.warps != 0 && before.expected != count) {
    check::Finding finding = finding_at(w, f.pc, f.mask, check::Kind::kBarrierDivergence);
    const auto text = [](std::uint32_t n) {
      return n ? std::to_string(n) + " threads" : std::string("all threads");
    };
    finding.where = "barrier " + std::to_string(id) + " for " + text(count) +
                    ", but others wait there for " + text(before.expected);
    report(w, std::move(finding));
    return false;
  }
  // A barrier of all threads is checked when it is complete. A barrier with a count counts only the
  // warps that arrive; .aligned requires whole warps.
  const LaneMask gone = w.exists & *w.control->exited & ~came_before;
  if (gone != 0 && count != 0 && op.as<program::BarrierFields>().is_aligned() &&
      begins_to_miss(w, f.pc)) {
    AbsentThreads absent;
    absent.add(w, gone);
    if (!report_absent(w, w, f, absent, "a warp that it counts")) return false;
  }
  Barrier& barrier = on_order(*b.worker, b.barriers[id]);
  if (barrier.warps == 0) barrier.pc = f.pc;
  barrier.expected = count;
  barrier.arrived += kWarpSize;
  barrier.warps |= 1u << w.index;
  b.arrived_at |= 1u << id;
  if (waits) barrier.waiting |= 1u << w.index;
  // Lanes that do not wait have arrived one by one before.
  if (b.launch->check_races && count != 0 && waits)
    b.races.arrive(w.index, id, living(w), living(w) == w.exists);
  return true;
}

// The warp arrives once all its lanes that are left have executed barrier.arrive.
void complete_arrival(Warp& w, int id) {
  PartialArrival& arrival = w.control->arrivals[id];
  if ((living(w) & ~arrival.lanes) != 0) return;
  const PartialArrival all = std::exchange(arrival, {});
  w.control->arriving &= ~(1u << id);
  const WarpSplit here{all.pc, all.lanes, 0, WarpSplit::State::kRunnable, false};
  if (arrive(w, here, id, all.count, false, all.lanes)) release_if_complete(w, id);
}

// The number of the barrier at which a split waits.
int id_of(const Warp& w, const WarpSplit& f) {
  const Op& op = w.block->program->ops[f.pc];
  return static_cast<int>(parked_operand<std::uint32_t>(w, f, op.src[0])[std::countr_zero(f.mask)]);
}

// Whether all waiting splits may wait together with `first`, at barrier `id`. Returns false after a
// finding.
bool at_the_same_barrier(Warp& w, const WarpSplit& first, int id) {
  const Block& b = *w.block;
  for (const WarpSplit& f : w.control->splits) {
    if (!waits_at_barrier(f)) continue;
    const bool aligned = (b.program->ops[f.pc].as<program::BarrierFields>().is_aligned() ||
                          b.program->ops[first.pc].as<program::BarrierFields>().is_aligned());
    if (id_of(w, f) == id && (f.pc == first.pc || !aligned)) continue;
    if (id_of(w, f) == id && (!b.launch->check_synchronisation ||
                              already_reported(w, check::Kind::kBarrierDivergence, f.pc)))
      continue;
    check::Finding finding = finding_at(w, f.pc, f.mask, check::Kind::kBarrierDivergence);
    finding.where = id_of(w, f) == id
                        ? "other lanes of the same warp wait at another barrier instruction"
                        : "other lanes of the same warp wait at barrier " + std::to_string(id);
    finding.access.is_write = false;
    check::Access other;
    other.site = site_of(*b.program, first.pc);
    other.block = b.ctaid;
    other.thread = thread_of(*b.launch, w.index * kWarpSize + std::countr_zero(first.mask));
    finding.other = other;
    finding.detail =
        "All threads of a warp must execute the same bar.sync; the condition around it differs "
        "between threads.";
    if (id_of(w, f) == id) {
      first_time(w, check::Kind::kBarrierDivergence, f.pc);
      if (!report_unless_suppressed(w, std::move(finding))) continue;
    } else {
      report(w, std::move(finding));
    }
    return false;
  }
  return true;
}

// Adds the predicates of the lanes `here` to a barrier that reduces them.
void reduce(Warp& w, int id, LaneMask here) {
  const Block& b = *w.block;
  LaneMask yes = 0;
  for (const WarpSplit& f : w.control->splits) {
    const Op& op = b.program->ops[f.pc];
    if (waits_at_barrier(f) && op.src[2] != kNoSlot)
      yes |= *parked_operand<LaneMask>(w, f, op.src[2]) & f.mask;
  }
  Barrier& barrier = on_order(*b.worker, w.block->barriers[id]);
  barrier.red_or |= yes;
  barrier.red_and &= yes == here;
  barrier.red_count += static_cast<std::uint32_t>(std::popcount(yes));
}

}  // namespace

void arrive_without_the_ended(Warp& w) {
  for (std::uint32_t ids = w.control->arriving; ids != 0 && w.event != Event::kAbort;
       ids &= ids - 1)
    complete_arrival(w, std::countr_zero(ids));
}

void recheck_barriers(Warp& w) {
  const Block& b = *w.block;
  for (std::uint32_t ids = b.arrived_at; ids != 0; ids &= ids - 1) {
    const int id = std::countr_zero(ids);
    if (b.barriers[id]->expected == 0) release_if_complete(w, id);
  }
}

namespace {

// All threads of the warp that are left have just parked, at a barrier of all threads of the block
// that reduces nothing: they arrive without a look at other splits.
void arrive_together(Warp& w, int id) {
  Block& b = *w.block;
  Barrier& barrier = on_order(*b.worker, b.barriers[id]);
  if (barrier.warps == 0) barrier.pc = w.pc - 1;
  barrier.arrived += kWarpSize;
  barrier.warps |= 1u << w.index;
  barrier.waiting |= 1u << w.index;
  b.arrived_at |= 1u << id;
  w.control->barrier = id;
  if (std::popcount(barrier.warps) >= static_cast<int>(b.live_warps)) release_if_complete(w, id);
}

}  // namespace

void run_bar(Warp& w, const Op& op, LaneMask mask) {
  const auto* ids = source<std::uint32_t>(w, op.src[0]);
  const std::uint32_t id = ids[std::countr_zero(mask)];
  LaneMask differ = 0;
  if (!program::is_constant(op.src[0]))
    each(mask, [&](int l) { differ |= LaneMask{ids[l] != id} << l; });
  if (id > 15 || differ) {
    check::Finding f =
        finding_at(w, w.pc - 1, differ ? differ : mask, check::Kind::kInvalidInstruction);
    f.where = id > 15 ? "barrier " + std::to_string(id) + ": there are 16, from 0"
                      : "lanes of one warp name different barriers";
    report(w, std::move(f));
    return;
  }
  if (op.as<program::BarrierFields>().kind() == kBarArrive) {
    const WarpSplit here{w.pc - 1, mask, w.control->frame, WarpSplit::State::kRunnable, false};
    PartialArrival& arrival = w.control->arrivals[id];
    arrival = {arrival.lanes | mask, here.pc, count_of(w, here)};
    w.control->arriving |= 1u << id;
    if (w.block->launch->check_races)
      w.block->races.arrive(w.index, static_cast<int>(id), mask, mask == w.exists);
    complete_arrival(w, static_cast<int>(id));
    return;
  }
  park(w, mask, WarpSplit::State::kAtBarrier);
  const bool together =
      w.control->splits.size() == 1 && mask == living(w) && w.control->barrier < 0;
  if (together && op.src[1] == kNoSlot && !op.as<program::BarrierFields>().reduces() &&
      (w.block->barriers[id]->warps == 0 || w.block->barriers[id]->expected == 0))
    arrive_together(w, static_cast<int>(id));
}

bool warp_reaches_barrier(Warp& w) {
  WarpControl& c = *w.control;
  Block& b = *w.block;
  if (c.barrier >= 0) return false;
  const WarpSplit* first = nullptr;
  LaneMask here = 0;
  bool together = true;
  for (const WarpSplit& f : c.splits) {
    if (!waits_at_barrier(f)) continue;
    together = first == nullptr;
    if (together) first = &f;
    here |= f.mask;
  }
  if (first == nullptr || here != living(w)) return false;
  const DoingFor synchronises(*w.block->worker, Doing::kSynchronisation);
  const int id = id_of(w, *first);
  if (!together && !at_the_same_barrier(w, *first, id)) return false;
  if (!arrive(w, *first, id, count_of(w, *first), true, 0)) return false;
  if (b.program->ops[first->pc].as<program::BarrierFields>().reduces()) reduce(w, id, here);
  c.barrier = id;
  release_if_complete(w, id);
  return c.barrier < 0 && w.event != Event::kAbort;
}

void run_fence(Warp& w, const Op& op, LaneMask mask) {
  fence(w, static_cast<check::Scope>(op.scope), mask, op.as<MemoryFields>().flags());
}

}  // namespace lockstep::engine
