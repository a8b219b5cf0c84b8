#include "simulator/engine/state/turns.h"

#include <algorithm>
#include <bit>

#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// Strong accesses of a warp that change nothing before the others come, whatever the seed: enough
// that a flag may be set in between, few enough that nobody polls for long while the one who sets
// it has no turn.
constexpr std::uint32_t kMostPolls = 64;

// Of a strong access, or another operation that shows who runs beside whom. Counted by itself:
// instructions are counted at the end of a turn, and within one each access needs a chance of its
// own.
std::uint64_t draw(Warp& w) {
  const Block& b = *w.block;
  return mixed_bits(b.launch->config->schedule_seed ^ (b.index << 20) ^
                    (std::uint64_t{w.index} << 48) ^ std::uint64_t{w.pc} << 8 ^
                    0x9e3779b97f4a7c15ull * ++w.control->strong_accesses);
}

}  // namespace

void let_lanes_part(Warp& w, std::uint32_t pc, std::uint32_t chances) {
  if (w.block->launch->config->schedule_seed == 0 || w.event != Event::kNone) return;
  if (std::has_single_bit(w.active)) return;
  const std::uint64_t r = draw(w);
  if (r % chances != 0) return;
  const LaneMask behind = static_cast<LaneMask>(r >> 32) & w.active;
  if (behind == 0 || behind == w.active) return;
  split(w, pc, behind);
  w.control->short_slice = true;
  w.event = Event::kParted;
}

void let_others_come(Warp& w, std::uint32_t chances) {
  Block& b = *w.block;
  const Launch& launch = *b.launch;
  let_lanes_part(w, w.pc, chances);
  // Of a cooperative launch turns end at the grid's barriers: see passed_barrier.
  if (launch.config->cooperative || w.event != Event::kNone) return;
  WarpControl& c = *w.control;
  if (c.changes_then != b.worker->changes.value()) {
    c.changes_then = b.worker->changes.value();
    c.polls = 0;
  }
  const std::uint64_t r = draw(w);
  const bool others_wait = ++c.polls >= kMostPolls;
  if (r % chances != 0 && !others_wait) return;
  const bool block = others_wait || (r >> 8 & 1) != 0, warp = others_wait || !block;
  if (others_wait) c.polls = 0;
  b.should_yield |= block && launch.blocks > 1;
  c.should_yield |= warp && launch.warps > 1;
  if (b.should_yield || c.should_yield) w.event = Event::kReschedule;
}

void note_poll(Warp& w, std::uint32_t pc, std::uint64_t address) {
  // A loop may look at several places, and come by others first: the one that is compared with
  // changes after so many.
  constexpr std::uint32_t kMostOthers = 8;
  // A kernel that looks at so many places once hardly waits for others.
  constexpr std::uint32_t kOften = 64;
  if (++w.control->looks == kOften) w.block->launch->polls.store(true, std::memory_order_relaxed);
  WarpControl::Poll& p = w.control->poll;
  const std::uint64_t changes = w.block->worker->changes.value();
  if (p.changes == changes) {
    if (p.pc == pc && p.address == address) {
      w.time_slice = std::min(w.time_slice, 1);
      return;
    }
    if (p.pc != ~0u && ++p.others < kMostOthers) return;
  }
  p = {pc, 0, address, changes};
}

void park(Warp& w, LaneMask lanes, WarpSplit::State state) {
  w.active &= ~lanes;
  w.control->splits.push_back({w.pc - 1, lanes, w.control->frame, state, false});
  w.event = Event::kReschedule;
}

void split(Warp& w, std::uint32_t pc, LaneMask lanes) {
  WarpControl& c = *w.control;
  w.active &= ~lanes;
  for (WarpSplit& f : c.splits) {
    if (f.state == WarpSplit::State::kRunnable && f.frame == c.frame && f.pc == pc) {
      f.mask |= lanes;
      return;
    }
  }
  c.splits.push_back({pc, lanes, c.frame, WarpSplit::State::kRunnable, false});
  w.time_slice = std::min(w.time_slice, kSplitTimeSlice);
}

}  // namespace lockstep::engine
