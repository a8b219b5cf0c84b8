// Runs the warps of a block: selects splits, turns and their order.
#include "simulator/engine/run/scheduler.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/monitor/absent_threads.h"
#include "simulator/engine/monitor/lane_groups.h"
#include "simulator/engine/monitor/proved.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/ops/sync/barrier.h"
#include "simulator/engine/ops/sync/collectives.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/run/deadlock.h"
#include "simulator/engine/run/livelock.h"
#include "simulator/engine/run/splits.h"
#include "simulator/engine/run/translated.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"
#include "simulator/translate/translation.h"

namespace lockstep::engine {
namespace {

// The number of backward branches in a warp's turn.
constexpr std::int32_t kWarpQuota = 1024;
// The turn of a block that only waits: one or two polls are enough to see whether it can continue.
// Short, because blocks may wait for each other in a chain.
constexpr std::int32_t kWaitingQuota = 4;
// The number of operations in the turn of a split that is not the lowest: enough to leave a
// critical section, and few enough for splits to merge again.
constexpr int kTurn = 256;
// The number of rounds over the warps before another block of this host thread gets a turn, if
// blocks wait for each other.
constexpr int kBlockRounds = 512;

// For LaunchConfig::ran and LaunchConfig::coverage: the lanes `mask` have reached this operation,
// and the lanes `ran_by`, whose guard was true, execute it.
inline void mark(const Warp& w, std::uint32_t pc, LaneMask mask, LaneMask ran_by) {
  std::vector<std::uint8_t>* ran = w.block->launch->config->ran;
  if (ran != nullptr) {
    const std::uint8_t bits = ran_by != 0 ? kReached | kExecuted : kReached;
    std::atomic_ref(ran->data()[pc]).fetch_or(bits, std::memory_order_relaxed);
  }
  if (Coverage::Part* part = w.block->worker->coverage)
    part->operations[pc].note(mask, ran_by, w.exists);
}

// The same for LaunchConfig::ran alone, by fewer instructions.
inline void mark_ran(std::uint8_t* ran, LaneMask ran_by) {
  const std::atomic_ref bits(*ran);
  if (ran_by != 0) {
    bits.store(kReached | kExecuted, std::memory_order_relaxed);
  } else if (bits.load(std::memory_order_relaxed) == 0) {
    bits.fetch_or(kReached, std::memory_order_relaxed);
  }
}

// For LaunchConfig::time_profile: the activity of the operation's handler, apart from the checks in
// it.
Doing doing_of(const Op& op) {
  using program::Action;
  switch (op.action) {
    case Action::kSync:
    case Action::kBarrier:
    case Action::kFence:
    case Action::kWaitForGrids:
    case Action::kClusterArrive:
    case Action::kClusterWait:
    case Action::kMbarrier:
    case Action::kCopyWait:
    case Action::kCopyArrive:
    case Action::kBulkWait:
    case Action::kProxyFence:
    case Action::kWarpgroupFence:
    case Action::kWarpgroupWait:
    case Action::kTensorWait:
    case Action::kTensorFence: return Doing::kSynchronisation;
    case Action::kMultiply:
    case Action::kMoveMatrix:
    case Action::kWarpgroupMultiply:
    case Action::kTensorMultiply: return Doing::kArithmetic;
    case Action::kTensorLoad:
    case Action::kTensorStore:
    case Action::kTensorFill:
    case Action::kTensorShift: return Doing::kMemory;
    default: break;
  }
  return op.kind == OpKind::kCompute  ? Doing::kArithmetic
         : op.kind == OpKind::kMemory ? Doing::kMemory
                                      : Doing::kLoop;
}

// The main loop: runs the split until it has to pause, and returns why. kCareful: tracks invalid
// values and counts down a turn. kMarks: records which operations ran, and for which lanes.
// kRan: records only which operations ran. kTranslated: a whole warp runs machine code where
// available.
enum class Manner { kCareful, kMarks, kCarefulWithMarks, kPlain, kRan, kTranslated };
template <Manner kManner>
Event execute(Warp& w, const Op* ops, int turn,
              [[maybe_unused]] const translate::Translation* code = nullptr) {
  constexpr bool kCareful = kManner == Manner::kCareful || kManner == Manner::kCarefulWithMarks;
  constexpr bool kMarks = kManner == Manner::kMarks || kManner == Manner::kCarefulWithMarks;
  std::uint32_t pc = w.pc, limit = w.limit;
  LaneMask mask = w.active;
  std::uint64_t n = 0;
  Event why;
  [[maybe_unused]] std::uint8_t* ran = nullptr;
  if constexpr (kManner == Manner::kRan) ran = w.block->launch->config->ran->data();
  for (;;) {
    if constexpr (kManner == Manner::kTranslated) {
      // If all lanes are active, no other split waits.
      const auto lanes = mask == kAllLanes ? translate::Lanes::kAll : translate::Lanes::kSome;
      const void* at = code->at(pc, lanes);
      if (limit != kNoLimit && !code->stops_at(limit)) at = nullptr;
      if (at != nullptr) {
        if (n != 0) count_instructions(w, std::exchange(n, 0), mask);
        const translate::Left left = code->enter(lanes)(w, w.file[0], w.file[1], at, mask, limit);
        // Lanes may have parted and met since.
        n = left.executed();
        pc = left.pc();
        mask = left.mask();
        limit = w.limit;
        if (left.why() == translate::Why::kEvent) {
          why = w.event;
          break;
        }
        if (left.why() == translate::Why::kSliceOver) {
          w.pc = pc;
          why = Event::kSliceOver;
          break;
        }
        if (left.why() == translate::Why::kMet) {
          w.pc = pc;
          why = Event::kMet;
          break;
        }
        // The interpreter executes what the code does not support, even if code starts there.
      }
    }
    if constexpr (kManner == Manner::kPlain || kManner == Manner::kRan) {
      // The fast path while no other split waits ahead: operations without a guard that only
      // compute or access memory.
      if (limit == kNoLimit) {
        const Op* at = ops + pc;
        for (; at->guard == kNoSlot; ++at) {
          if (at->kind == OpKind::kCompute) {
            if constexpr (kManner == Manner::kRan) mark_ran(ran + (at - ops), mask);
            at->run(w, *at, mask);
          } else if (at->kind == OpKind::kMemory) {
            if constexpr (kManner == Manner::kRan) mark_ran(ran + (at - ops), mask);
            w.pc = static_cast<std::uint32_t>(at - ops) + 1;
            at->run(w, *at, mask);
            if (__builtin_expect(w.event != Event::kNone, 0)) break;
          } else {
            break;
          }
        }
        n += static_cast<std::uint64_t>(at - ops) - pc;
        pc = static_cast<std::uint32_t>(at - ops);
        if (__builtin_expect(w.event != Event::kNone, 0)) {
          ++n;
          why = w.event;
          break;
        }
      }
    }
    const Op& op = ops[pc];
    ++n;
    LaneMask m = mask;
    if constexpr (kMarks) {
      Activity& activity = w.block->worker->activity;
      activity.begin(Doing::kLoop);
      activity.pc.store(pc, std::memory_order_relaxed);
    }
    if (op.guard != kNoSlot) m &= predicate(w, op.guard) ^ (op.guard_negated ? kAllLanes : 0);
    if constexpr (kCareful) {
      if (w.control->tracking && !follow(w, pc, m, mask)) {
        w.pc = pc + 1;
        why = w.event;
        break;
      }
      if (--turn < 0 && w.control->short_slice) {
        --n;
        w.pc = pc;
        why = Event::kTurnOver;
        break;
      }
    }
    if constexpr (kMarks) {
      mark(w, pc, mask, m);
      compare_with_proof(w, pc, m);
      w.block->worker->activity.begin(doing_of(op));
    }
    if constexpr (kManner == Manner::kRan) mark_ran(ran + pc, m);
    switch (op.kind) {
      case OpKind::kCompute:
        if (m != 0) op.run(w, op, m);
        ++pc;
        break;
      case OpKind::kBranch: {
        const std::uint32_t target = op.as<BranchFields>().target();
        if (m == mask) {
          const bool backward = target <= pc;
          pc = target;
          if (backward && --w.time_slice <= 0) {
            w.pc = pc;
            why = Event::kSliceOver;
            goto paused;
          }
        } else if (m == 0) {
          ++pc;
        } else {
          count_instructions(w, std::exchange(n, 0), mask);
          w.pc = pc + 1;
          split(w, target, m);
          mask = w.active;
          ++pc;
          if (target < pc) {
            // A backward branch that divides its lanes also counts against the time slice: lanes
            // may leave a spin loop one by one.
            --w.time_slice;
            why = Event::kReschedule;
            goto paused;
          }
          limit = std::min(limit, target);
          w.limit = limit;
        }
        break;
      }
      case OpKind::kMemory:
        w.pc = ++pc;
        if (m != 0) {
          op.run(w, op, m);
          if (__builtin_expect(w.event != Event::kNone, 0)) {
            why = w.event;
            goto paused;
          }
        }
        break;
      case OpKind::kControl:
        w.pc = pc + 1;
        if (m != 0) {
          count_instructions(w, std::exchange(n, 0), mask);
          w.limit = limit;
          op.run(w, op, m);
          if (w.event != Event::kNone) {
            why = w.event;
            goto paused;
          }
          mask = w.active;
          limit = w.limit;
        }
        pc = w.pc;
        break;
    }
    if (pc >= limit) {
      w.pc = pc;
      why = Event::kMet;
      break;
    }
  }
paused:
  if constexpr (kMarks) w.block->worker->activity.begin(Doing::kLoop);
  if (n != 0) count_instructions(w, n, mask);
  return why;
}

bool waits_at_sync(const WarpControl& c) {
  return std::any_of(c.splits.begin(), c.splits.end(),
                     [](const WarpSplit& f) { return f.state == WarpSplit::State::kAtSync; });
}

Progress run_warp(Warp& w) {
  WarpControl& c = *w.control;
  const Op* ops = w.block->program->ops.data();
  const bool ran = w.block->launch->config->ran != nullptr;
  const bool marks = w.block->worker->coverage != nullptr ||
                     w.block->launch->config->time_profile != nullptr ||
                     w.block->launch->config->proof == LaunchConfig::Proof::kCompare;
  const translate::Translation* const code =
      w.block->launch->translation.load(std::memory_order_acquire);
  bool waited = false;  // a split used up its time slice: others run first
  for (;;) {
    if (w.active == 0) {
      while (!select(w)) {
        if (w.event == Event::kAbort) return Progress::kAborted;
        if (*c.exited == w.exists) return Progress::kDone;
        if (waits_at_sync(c) && complete_syncs(w)) continue;
        if (warp_reaches_barrier(w)) continue;
        return w.event == Event::kAbort ? Progress::kAborted : Progress::kWaiting;
      }
      if (__builtin_expect(w.block->should_yield || c.should_yield, 0)) {
        c.should_yield = false;
        requeue(w);
        return Progress::kYielded;
      }
    }
    // Not in select(): lanes that are put back before they have run would count as having run
    // without a change.
    c.time_slices.ran |= w.active;
    const bool careful = c.tracking || c.short_slice;
    const Event why = marks || (ran && careful)
                          ? (careful ? execute<Manner::kCarefulWithMarks>(w, ops, kTurn)
                                     : execute<Manner::kMarks>(w, ops, 0))
                      : ran             ? execute<Manner::kRan>(w, ops, 0)
                      : careful         ? execute<Manner::kCareful>(w, ops, kTurn)
                      : code != nullptr ? execute<Manner::kTranslated>(w, ops, 0, code)
                                        : execute<Manner::kPlain>(w, ops, 0);
    switch (why) {
      case Event::kNone:
      case Event::kReschedule:
      case Event::kTrack:
      case Event::kParted:
      case Event::kAbort:
        if (w.time_slice <= 0) w.time_slice = 1;
        w.event = Event::kNone;
        if (why == Event::kAbort) return Progress::kAborted;
        if (w.active == 0) {
          if (c.barrier >= 0) return Progress::kWaiting;  // all of the warp waits
          if (*c.exited == w.exists) return Progress::kDone;
        }
        if (why == Event::kReschedule) requeue(w);
        break;
      case Event::kMet: requeue(w); break;
      case Event::kTurnOver: requeue(w, true); break;
      case Event::kSliceOver: {
        const bool others = std::any_of(c.splits.begin(), c.splits.end(), [](const WarpSplit& f) {
          return f.state == WarpSplit::State::kRunnable;
        });
        const std::uint64_t limit = w.block->launch->config->instruction_limit;
        w.time_slice = w.block->waits ? kWaitingQuota : others ? kSplitTimeSlice : kWarpQuota;
        note_time_slice(w);
        if (limit != 0 && w.block->instructions > limit) return Progress::kYielded;
        if (others) requeue(w, true);
        if (others && !waited) {
          waited = true;
          break;
        }
        return Progress::kYielded;
      }
    }
  }
}

}  // namespace

Progress run_block(Block& b) {
  const Launch& launch = *b.launch;
  const std::uint32_t count = launch.warps;
  const int patience = launch.config->cooperative || launch.clustered ? 1 : kBlockRounds;
  constexpr auto kNoPause = Launch::Pause::kNone;
  const std::uint64_t changes = b.worker->changes.value();
  for (int round = 0; round < patience;) {
    if (b.live_warps == 0) return Progress::kDone;
    if (b.position > launch.stop.load(std::memory_order_relaxed) ||
        launch.abandoned.load(std::memory_order_relaxed))
      return Progress::kDone;
    if (b.runnable == 0) {
      if (leaves_time_to_partner(b)) return Progress::kDeferred;
      if (finish_tensor_operations(b)) continue;
      if (b.cluster != nullptr && waits_for_cluster(b)) return Progress::kWaiting;
      if (advance_virtual_time(b)) continue;
      report_deadlock(b);
      return Progress::kDone;
    }
    bool yielded = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t index = i;
      if (launch.config->schedule_seed != 0) {
        const std::uint64_t r = mixed_bits(launch.config->schedule_seed + b.index * 0x9e37);
        index = static_cast<std::uint32_t>(((r & 1 ? count - 1 - i : i) + (r >> 1)) % count);
      }
      if (!(b.runnable >> index & 1)) continue;
      switch (run_warp(b.warps[index])) {
        case Progress::kDone:
        case Progress::kWaiting:
        case Progress::kDeferred:
          // A barrier that this warp itself completed has made it runnable. It stays runnable only
          // if it did not stop afterwards.
          if (b.warps[index].active == 0) b.runnable &= ~(1u << index);
          break;
        case Progress::kYielded: yielded = true; break;
        case Progress::kAborted: b.aborted = true; return Progress::kDone;
      }
      if (b.aborted) return Progress::kDone;
    }
    if (b.should_yield) {
      b.should_yield = false;
      return Progress::kDeferred;
    }
    if (yielded) {
      translate_if_due(*b.launch, *b.worker);
      // A spinning warp may wait for this work, too.
      finish_tensor_operations(b);
      if (b.aborted) return Progress::kDone;
      if (makes_no_progress(b) || seems_to_wait(b)) {
        b.waits = true;
        return Progress::kYielded;
      }
      b.waits = b.waits && b.worker->changes.value() == changes;
      if (b.waits) return Progress::kYielded;
      ++round;
      const std::uint64_t limit = launch.config->instruction_limit;
      if (limit != 0 && b.instructions > limit) {
        Warp& w = b.warps[std::countr_zero(b.runnable)];
        check::Finding f =
            finding_at(w, w.pc, w.active ? w.active : living(w), check::Kind::kTimeLimit);
        f.where = "the block ran " + std::to_string(b.instructions) +
                  " warp instructions, the limit is " + std::to_string(limit);
        LaneGroups groups;
        groups.add(b);
        f.detail =
            "LOCKSTEP_INSTRUCTION_LIMIT sets it; 0 is none. Of the block's threads" + groups.text();
        report(w, std::move(f));
        b.aborted = true;
        return Progress::kDone;
      }
      // Others may wait for the end of the slice.
      if (is_slice_over(*b.worker) || launch.pause.load(std::memory_order_relaxed) != kNoPause)
        return Progress::kYielded;
    }
  }
  return Progress::kYielded;
}

}  // namespace lockstep::engine
