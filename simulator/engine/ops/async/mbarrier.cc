#include "simulator/engine/ops/async/mbarrier.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/async/bulk_reduction.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

using isa::Space;

// Each time that only waits are left, virtual time advances by twice as much as before. The last
// advance exceeds any timeout.
constexpr int kMaxStalls = 40;

// The state that arrive returns: bit 63 set, the phase, and the pending arrivals.
std::uint64_t state_of(const Mbarrier& m) {
  return 1ull << 63 | std::uint64_t{m.state->phase} << 20 | m.state->pending;
}
std::uint32_t phase_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 20); }

Issue issue_of(const Warp& w, std::uint32_t pc, int lane) {
  return {pc, w.block->cluster_rank, w.index * kWarpSize + static_cast<std::uint32_t>(lane)};
}

// Makes lanes that wait for a phase test it again.
void wake(Block& b) {
  for (Warp& w : b.warps) {
    for (WarpSplit& f : w.control->splits) {
      if (f.state != WarpSplit::State::kAtMbarrier) continue;
      f.state = WarpSplit::State::kRunnable;
      b.runnable |= 1u << w.index;
    }
  }
}

void complete_phase_if_due(const SharedPlace& place, Mbarrier& m) {
  if (m.state->pending != 0 || m.state->tx != 0) return;
  Block& b = *place.block;
  if (!m.arrived.empty()) {
    m.completed.add(m.arrived, b.races.grid());
    m.arrived.clear();
  }
  Mbarrier::State& state = on_order(*b.worker, m.state);
  ++state.phase;
  state.pending = state.expected;
  b.async->stalls = 0;
  ++b.worker->counters.barriers;
  wake(b);
}

bool phase_complete(const Op& op, const Mbarrier& m, std::uint64_t asked) {
  return op.as<program::MbarrierFields>().has(kByParity) ? (m.state->phase & 1) != (asked & 1)
                                                         : m.state->phase != phase_of(asked);
}

// Writes the bytes of completed phases, if a thread of `w` has learnt of the phase. Returns false
// if a finding ends the launch.
bool take_deliveries(Warp& w, Block& b, Mbarrier& m) {
  if (m.arriving.empty()) return true;
  std::vector<Mbarrier::Arriving> under_way, arrived;
  for (Mbarrier::Arriving& a : m.arriving)
    (a.phase < m.state->phase ? arrived : under_way).push_back(std::move(a));
  m.arriving = std::move(under_way);
  for (const Mbarrier::Arriving& a : arrived) {
    const Delivery& d = a.delivery;
    if (!d.from_shared || d.bytes.empty()) continue;
    const Block& from = b.cluster != nullptr ? *b.cluster->blocks[d.issue.rank] : b;
    if (!check_source(w, from.warps[d.issue.thread / kWarpSize], d.issue, d.source, d.bytes, {},
                      "The phase of the mbarrier that the copy completes on says when the source "
                      "may be used again.")) {
      return false;
    }
  }
  for (const Mbarrier::Arriving& a : arrived) {
    const std::uint32_t rank = a.delivery.to_rank;
    deliver(rank == Delivery::kSameBlock ? b : *b.cluster->blocks[rank], a.delivery);
  }
  for (const Mbarrier::Arriving& a : arrived) {
    if (a.delivery.reduction != isa::AtomOp::kNone) hide_what_is_under_way(b, a.delivery);
  }
  return true;
}

std::uint64_t argument(const Warp& w, const Op& op, int lane) {
  if (op.src[1] == kNoSlot) return 1;
  const bool wide = op.register_bytes == 8;
  return wide ? source<std::uint64_t>(w, op.src[1])[lane]
              : source<std::uint32_t>(w, op.src[1])[lane];
}

bool initialise(Warp& w, const Op& op, int lane, const SharedPlace& place) {
  const std::uint64_t count = argument(w, op, lane);
  auto& all = async_of(*place.block).mbarriers;
  const auto live = all.find(place.offset);
  const bool in_use = live != all.end();
  if (in_use && !live->second.state->invalidated &&
      !survives_misuse(w, w.pc - 1, lane, place, "is initialised again while it is in use",
                       "mbarrier.inval must come first.", &live->second.init)) {
    return false;
  }
  if (count == 0 || count > kMaxMbarrier) {
    misuse(w, w.pc - 1, lane, place,
           "is initialised for " + std::to_string(count) + " arrivals: 1 to " +
               std::to_string(kMaxMbarrier) + " are possible");
    return false;
  }
  Mbarrier& m = all[place.offset];
  // Unfinished copies to the old object complete the first phase of the new one.
  std::vector<Mbarrier::Arriving> arriving = std::move(m.arriving);
  for (Mbarrier::Arriving& a : arriving) a.phase = 0;
  m = Mbarrier{};
  m.arriving = std::move(arriving);
  m.init = issue_of(w, w.pc - 1, lane);
  Mbarrier::State& state = on_order(*w.block->worker, m.state);
  state.expected = state.pending = static_cast<std::uint32_t>(count);
  forget_written(*place.block, place.offset, kObjectBytes);
  if (in_use) wake(*place.block);
  return true;
}

// Whether the launch continues after this mbarrier.inval. Threads that wait for the object keep
// waiting: its bytes stay as they are (SYNCS.CCTL.IV).
bool may_invalidate(Warp& w, int lane, const SharedPlace& place) {
  auto& all = async_of(*place.block).mbarriers;
  const auto live = all.find(place.offset);
  if (live == all.end()) return true;
  if (live_mbarrier(w, w.pc - 1, lane, place) == nullptr) return false;
  for (Warp& other : place.block->warps) {
    for (const WarpSplit& f : other.control->splits) {
      const int first = std::countr_zero(f.mask);
      if (f.state != WarpSplit::State::kAtMbarrier ||
          awaited_offset(*place.block, other, f, first) != place.offset)
        continue;
      const Issue waits = issue_of(other, f.pc, first);
      on_order(*w.block->worker, live->second.state).invalidated = true;
      return survives_misuse(w, w.pc - 1, lane, place, "is invalidated while threads wait for it",
                             {}, &waits);
    }
  }
  return true;
}

bool expect(Warp& w, int lane, const SharedPlace& place, Mbarrier& m, std::uint64_t bytes) {
  if (bytes > kMaxMbarrier || m.state->tx + static_cast<std::int64_t>(bytes) > kMaxMbarrier) {
    misuse(w, w.pc - 1, lane, place,
           "would wait for " + std::to_string(m.state->tx + static_cast<std::int64_t>(bytes)) +
               " bytes: " + std::to_string(kMaxMbarrier) + " are the most");
    return false;
  }
  on_order(*w.block->worker, m.state).tx += static_cast<std::int64_t>(bytes);
  return true;
}

bool arrive_lane(Warp& w, const Op& op, int lane, const SharedPlace& place, Mbarrier& m) {
  std::uint64_t count = argument(w, op, lane);
  if (op.as<program::MbarrierFields>().has(kWithTx)) {
    if (!expect(w, lane, place, m, count)) return false;
    count = 1;
  }
  if (count == 0 || count > kMaxMbarrier) {
    misuse(w, w.pc - 1, lane, place,
           "is given " + std::to_string(count) + " arrivals: 1 to " + std::to_string(kMaxMbarrier) +
               " are possible");
    return false;
  }
  if (op.dst != kNoSlot) destination<std::uint64_t>(w, op.dst)[lane] = state_of(m);
  const auto n = static_cast<std::uint32_t>(count);
  if (op.as<program::MbarrierFields>().has(kDropped)) {
    if (n > m.state->expected) {
      misuse(w, w.pc - 1, lane, place, "loses more arrivals than it expects",
             "arrive_drop leaves the phases to come as well.", &m.init);
      return false;
    }
    on_order(*w.block->worker, m.state).expected -= n;
  }
  if (op.as<program::MbarrierFields>().has(kIncomplete) && n >= m.state->pending) {
    misuse(w, w.pc - 1, lane, place, "completes its phase in an arrive.noComplete", {}, &m.init);
    return false;
  }
  return arrive_at(w, w.pc - 1, lane, place, m, n);
}

// Lanes that name the same object as the first of `lanes`.
LaneMask at_one_object(LaneMask lanes, const SharedPlace* places) {
  const SharedPlace& first = places[std::countr_zero(lanes)];
  LaneMask same = 0;
  each(lanes, [&](int l) {
    same |= LaneMask{places[l].block == first.block && places[l].offset == first.offset} << l;
  });
  return same;
}

Mbarrier* object_at(const SharedPlace& place) {
  if (place.block == nullptr || !place.block->async) return nullptr;
  const auto it = place.block->async->mbarriers.find(place.offset);
  return it == place.block->async->mbarriers.end() ? nullptr : &it->second;
}

void leave_messages(Warp& w, const Op& op, LaneMask mask, const SharedPlace* places) {
  const bool releases = op.as<MemoryFields>().has(kRelease);
  for (LaneMask left = mask; left != 0;) {
    const LaneMask lanes = at_one_object(left, places);
    left &= ~lanes;
    Mbarrier* const object = object_at(places[std::countr_zero(lanes)]);
    if (object != nullptr)
      releases ? release_to(w, lanes, *object) : leave_fenced(w, lanes, *object);
  }
  if (releases) released(w);
}

void take_messages(Warp& w, const Op& op, LaneMask complete, const SharedPlace* places) {
  for (LaneMask left = complete; left != 0;) {
    const LaneMask lanes = at_one_object(left, places);
    left &= ~lanes;
    const SharedPlace& place = places[std::countr_zero(lanes)];
    const Mbarrier* const object = object_at(place);
    if (object == nullptr) continue;
    if (op.as<MemoryFields>().has(kAcquire)) {
      acquire_from(w, lanes, *object);
    } else {
      remember_from(w, lanes, *place.block, place.offset, *object);
    }
  }
  if (op.as<MemoryFields>().has(kAcquire)) acquired(w);
}

}  // namespace

void forget_written(Block& b, std::uint32_t offset, std::uint32_t bytes) {
  if (!b.launch->check_initialisation) return;
  b.shared.partly_written.forget(offset, bytes);
  auto* shadow = reinterpret_cast<std::uint8_t*>(b.shared.written.get());
  if (((offset | bytes) & 7) == 0) {
    std::memset(shadow + offset / 8, 0, bytes / 8);
  } else {
    clear_written(shadow, offset, bytes);
  }
}

void deliver(Block& b, const Delivery& d) {
  if (d.bytes.empty()) return;  // a copy of no bytes has no addresses either
  on_write(*b.worker);
  b.shared.partly_written.forget(d.offset, d.bytes.size());
  forget_origins(b, b.shared.bytes.get() + d.offset, d.bytes.size());
  if (d.reduction != isa::AtomOp::kNone) combine(b, d);
  auto* shadow = reinterpret_cast<std::uint8_t*>(b.shared.written.get());
  const std::size_t step = d.absent.empty() ? d.bytes.size() : 16;
  for (std::size_t at = 0; at < d.bytes.size(); at += step) {
    if (!d.absent.empty() && d.absent[at / 16]) continue;
    if (d.reduction == isa::AtomOp::kNone)
      std::memcpy(b.shared.bytes.get() + d.offset + at, d.bytes.data() + at, step);
    if (b.launch->check_initialisation)
      set_written(shadow, d.offset + at, static_cast<std::uint32_t>(step));
  }
  if (!b.launch->check_initialisation) return;
  for (std::size_t i = 0; i < d.unwritten.size(); ++i) {
    if (d.unwritten[i]) clear_written(shadow, d.offset + i, 1);
  }
}

Mbarrier* live_mbarrier(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place) {
  auto& all = async_of(*place.block).mbarriers;
  const auto it = all.find(place.offset);
  if (it == all.end()) {
    misuse(w, pc, lane, place, "is not initialised",
           "mbarrier.init must come first, and a barrier between it and the other threads.");
    return nullptr;
  }
  if (w.block->launch->check_initialisation) {
    auto* shadow = reinterpret_cast<std::uint8_t*>(place.block->shared.written.get());
    if (shadow[place.offset / 8] != 0) {
      misuse(w, pc, lane, place, "was overwritten by an ordinary store",
             "Its eight bytes belong to it until mbarrier.inval.", &it->second.init);
      return nullptr;
    }
  }
  return &it->second;
}

bool arrive_at(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, Mbarrier& m,
               std::uint32_t count) {
  if (count > m.state->pending) {
    misuse(w, pc, lane, place,
           "has " + std::to_string(m.state->pending) + " arrivals pending and is given " +
               std::to_string(count),
           "More threads arrive in this phase than it was initialised for (" +
               std::to_string(m.state->expected) + ").",
           &m.init);
    return false;
  }
  on_order(*w.block->worker, m.state).pending -= count;
  complete_phase_if_due(place, m);
  return true;
}

void complete_transactions(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                           Mbarrier& m, std::int64_t bytes) {
  if (m.state->tx - bytes < -static_cast<std::int64_t>(kMaxMbarrier)) {
    misuse(w, pc, lane, place, "is given more bytes than it can count", {}, &m.init);
    return;
  }
  on_order(*w.block->worker, m.state).tx -= bytes;
  complete_phase_if_due(place, m);
}

void run_mbarrier(Warp& w, const Op& op, LaneMask mask) {
  const auto what = op.as<program::MbarrierFields>().what();
  const auto space = static_cast<Space>(op.space);
  std::uint64_t address[kWarpSize];
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = kObjectBytes;
  r.writes = what == MbarrierOp::kInit || what == MbarrierOp::kInvalidate;
  load_addresses(w, op, r.address);
  std::copy(r.address, r.address + kWarpSize, address);
  SharedPlace places[kWarpSize];
  LaneMask elsewhere = 0;
  each(mask,
       [&](int l) { elsewhere |= LaneMask{!shared_place(w, space, address[l], places[l])} << l; });
  if (elsewhere != 0 && space == Space::kGeneric) {
    check::Finding f = finding_at(w, r.pc, elsewhere, check::Kind::kMbarrierMisuse);
    f.where = "the address lies in no shared memory of the cluster, where mbarrier objects must be";
    report(w, std::move(f));
    return;
  }
  // Executed before the access marks the object's bytes again.
  if (what == MbarrierOp::kInvalidate) {
    for (LaneMask todo = mask; todo != 0; todo &= todo - 1) {
      const int l = std::countr_zero(todo);
      if (places[l].block != nullptr && places[l].offset % kObjectBytes == 0 &&
          !may_invalidate(w, l, places[l]))
        return;
    }
  }
  if (!resolve(w, r, space, mask)) return;
  if (what == MbarrierOp::kArrive) leave_messages(w, op, mask, places);
  const bool waits = what == MbarrierOp::kTestWait || what == MbarrierOp::kTryWait;
  LaneMask complete = 0, waiting = 0;
  for (LaneMask todo = mask; todo != 0; todo &= todo - 1) {
    const int l = std::countr_zero(todo);
    const SharedPlace& place = places[l];
    if (what == MbarrierOp::kInit) {
      if (!initialise(w, op, l, place)) return;
      continue;
    }
    if (what == MbarrierOp::kInvalidate) {
      auto& all = place.block->async->mbarriers;
      const auto it = all.find(place.offset);
      if (it == all.end()) {  // perhaps since another lane's access just now
        if (!survives_misuse(w, r.pc, l, place,
                             "is invalidated and not initialised, or has been invalidated before"))
          return;
        continue;
      }
      forget_written(*place.block, place.offset, kObjectBytes);
      if (it->second.state->invalidated) continue;
      if (!take_deliveries(w, *place.block, it->second)) return;
      on_order(*w.block->worker);
      all.erase(it);
      continue;
    }
    Mbarrier* m = live_mbarrier(w, r.pc, l, place);
    if (m == nullptr) return;
    switch (what) {
      case MbarrierOp::kExpectTx:
        if (!expect(w, l, place, *m, argument(w, op, l))) return;
        break;
      case MbarrierOp::kCompleteTx:
        complete_transactions(w, r.pc, l, place, *m, static_cast<std::int64_t>(argument(w, op, l)));
        if (w.event == Event::kAbort) return;
        break;
      case MbarrierOp::kArrive:
        if (!arrive_lane(w, op, l, place, *m)) return;
        break;
      default:
        if (phase_complete(op, *m, argument(w, op, l))) {
          complete |= 1u << l;
          if (!take_deliveries(w, *place.block, *m)) return;
          if (!m->tensor_arrivals.empty() && !learn_tensor_arrivals(w, l, *m)) return;
        } else {
          waiting |= 1u << l;
        }
    }
  }
  if (!waits) return;
  if (complete != 0) take_messages(w, op, complete, places);
  LaneMask& timed_out = w.control->timed_out;
  const LaneMask parked = what == MbarrierOp::kTryWait ? waiting & ~timed_out : 0;
  timed_out &= ~mask;
  if (op.dst != kNoSlot) set_predicate(w, op.dst, complete, mask & ~parked);
  if (parked != 0) park(w, parked, WarpSplit::State::kAtMbarrier);
}

void run_pending_count(Warp& w, const Op& op, LaneMask mask) {
  const auto* states = source<std::uint64_t>(w, op.src[0]);
  auto* d = destination<std::uint32_t>(w, op.dst);
  each(mask, [&](int l) { d[l] = static_cast<std::uint32_t>(states[l] & kMaxMbarrier); });
}

bool advance_virtual_time(Block& b) {
  if (!waits_for_mbarrier(b) || async_of(b).stalls >= kMaxStalls) return false;
  const std::uint64_t nanoseconds = 1000ull << b.async->stalls++;
  for (Warp& w : b.warps) {
    for (WarpSplit& f : w.control->splits) {
      if (f.state == WarpSplit::State::kAtMbarrier) w.control->timed_out |= f.mask;
    }
    w.control->slept += nanoseconds;
  }
  wake(b);
  return true;
}

}  // namespace lockstep::engine
