#include "simulator/engine/run/splits.h"

#include <algorithm>
#include <utility>

#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/turns.h"

namespace lockstep::engine {
namespace {

using translate::Next;
using translate::Why;

// Whether the split may run, in this frame, and has not yielded.
inline bool goes_on_in(const WarpSplit& f, std::int32_t frame) {
  return f.frame == frame && f.state == WarpSplit::State::kRunnable && !f.yielded;
}

// Makes `split`, which no longer waits, the running one.
inline void resume(Warp& w, const WarpSplit& split) {
  w.pc = split.pc;
  w.active = split.mask;
  w.control->frame = split.frame;
  w.file[0] = w.control->frames[split.frame].file;
  w.limit = kNoLimit;
}

// Splits at the place of the running one, in its frame, join it. The others limit how far it runs.
inline void merge(Warp& w) {
  WarpControl& c = *w.control;
  auto& list = c.splits;
  LaneMask active = w.active;
  std::uint32_t limit = kNoLimit;
  for (std::size_t i = 0; i < list.size();) {
    WarpSplit& f = list[i];
    if (f.state == WarpSplit::State::kRunnable && f.frame == c.frame) {
      if (f.pc == w.pc) {
        active |= f.mask;
        f = list.back();
        list.pop_back();
        continue;
      }
      if (f.pc > w.pc) limit = std::min(limit, f.pc);
    }
    ++i;
  }
  w.active = active;
  w.limit = limit;
  // Only an expired time slice is renewed. Otherwise lanes that part and merge in every iteration
  // of a spin loop would spin forever.
  if (!list.empty()) w.time_slice = std::min(w.time_slice, kSplitTimeSlice);
}

}  // namespace

void requeue(Warp& w, bool yielded) {
  if (w.active == 0) return;
  WarpControl& c = *w.control;
  const LaneMask lanes = std::exchange(w.active, 0);
  if (!yielded && w.block->launch->config->schedule_seed == 0) {
    for (WarpSplit& f : c.splits) {
      if (f.pc != w.pc || !goes_on_in(f, c.frame)) continue;
      f.mask |= lanes;
      return;
    }
  }
  c.splits.push_back({w.pc, lanes, c.frame, WarpSplit::State::kRunnable, yielded});
}

bool select(Warp& w) {
  WarpControl& c = *w.control;
  auto& list = c.splits;
  if (list.size() == 1 && list[0].state == WarpSplit::State::kRunnable) {
    const WarpSplit only = list[0];
    list.pop_back();
    resume(w, only);
    c.short_slice = false;
    return true;
  }
  int best = -1, runnable = 0, yielded = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < static_cast<int>(list.size()); ++i) {
    const WarpSplit& f = list[i];
    if (f.state != WarpSplit::State::kRunnable) continue;
    ++runnable;
    yielded += f.yielded;
    // Those that have not yielded come first, then the deepest, then the lowest.
    const std::uint64_t rank = std::uint64_t{f.yielded} << 63 |
                               std::uint64_t{0x7fffffff - c.frames[f.frame].depth} << 32 | f.pc;
    if (best >= 0 && rank >= least) continue;
    best = i;
    least = rank;
  }
  if (runnable == 0) return false;
  bool turn = yielded != 0 && yielded != runnable;  // some split goes ahead of others
  if (yielded == runnable && runnable > 1) {
    for (WarpSplit& f : list) f.yielded = f.yielded && f.state != WarpSplit::State::kRunnable;
  }
  const std::uint64_t seed = w.block->launch->config->schedule_seed;
  if (seed != 0 && runnable > 1) {
    // With a seed, a split that is not the lowest sometimes goes first, for a short turn.
    const std::uint64_t r =
        mixed_bits(seed ^ (w.block->index << 20) ^ (std::uint64_t{w.index} << 48) ^
                   (w.block->instructions + 0x9e3779b97f4a7c15ull * c.instructions));
    if (r % 4 == 0) {
      int pick = static_cast<int>((r >> 8) % runnable);
      for (int i = 0; i < static_cast<int>(list.size()); ++i) {
        if (list[i].state == WarpSplit::State::kRunnable && pick-- == 0) best = i;
      }
      turn = true;
    }
  }
  resume(w, list[best]);
  list[best] = list.back();
  list.pop_back();
  merge(w);
  c.short_slice = turn;
  return true;
}

namespace {

// What requeue() and select() do for the running split, which stops before `w.pc`, where all splits
// can run, in its frame, none has yielded and there is no seed. Otherwise nothing changes: false.
inline bool change_place(Warp& w) {
  const Block& b = *w.block;
  WarpControl& c = *w.control;
  auto& list = c.splits;
  if (b.should_yield || c.should_yield || b.launch->config->schedule_seed != 0) return false;
  // If two are at one place all the same, they meet there once more.
  WarpSplit *lowest = nullptr, *here = nullptr;
  std::uint32_t least = kNoLimit, second = kNoLimit;
  for (WarpSplit& f : list) {
    if (!goes_on_in(f, c.frame)) return false;
    if (f.pc == w.pc) here = &f;
    if (f.pc < least) {
      second = least;
      least = f.pc;
      lowest = &f;
    } else {
      second = std::min(second, f.pc);
    }
  }
  const auto leaves_list = [&](WarpSplit* f) {
    *f = list.back();
    list.pop_back();
  };
  if (least < w.pc) {
    const std::uint32_t stays = w.pc;
    const LaneMask stay = w.active;
    w.pc = least;
    w.active = lowest->mask;
    if (here != nullptr) {
      here->mask |= stay;
      w.limit = second;
      leaves_list(lowest);
    } else {
      w.limit = std::min(second, stays);
      lowest->pc = stays;
      lowest->mask = stay;
    }
  } else if (here != nullptr) {
    w.active |= here->mask;
    w.limit = second;
    leaves_list(here);
  } else {
    w.limit = least;
  }
  if (!list.empty()) w.time_slice = std::min(w.time_slice, kSplitTimeSlice);
  c.time_slices.ran |= w.active;
  return true;
}

// Where the running split goes on in machine code, which looks for others only at later places.
inline Next code_at_place(const Warp& w) {
  const translate::Translation& code =
      *w.block->launch->translation.load(std::memory_order_relaxed);
  const auto lanes = w.active == kAllLanes ? translate::Lanes::kAll : translate::Lanes::kSome;
  if (w.pc >= w.limit) return {nullptr, Why::kMet};
  const bool stops = w.limit == kNoLimit || code.stops_at(w.limit);
  return {stops ? code.at(w.pc, lanes) : nullptr, Why::kInterpret};
}

Next meet(Warp& w, std::uint32_t pc, std::uint64_t executed) {
  count_instructions(w, executed, w.active);
  w.pc = pc;
  if (!change_place(w)) return {nullptr, Why::kMet};
  return code_at_place(w);
}

Next divide(Warp& w, std::uint32_t pc, std::uint32_t target, LaneMask taken,
            std::uint64_t executed) {
  count_instructions(w, executed, w.active);
  w.pc = pc;
  split(w, target, taken);
  if (target >= pc) {
    w.limit = std::min(w.limit, target);
    if (w.pc >= w.limit && !change_place(w)) return {nullptr, Why::kMet};
    return code_at_place(w);
  }
  // A backward branch that divides its lanes also counts against the time slice: lanes may leave a
  // spin loop one by one.
  w.time_slice = std::max(w.time_slice - 1, 1);
  if (change_place(w)) return code_at_place(w);
  w.event = Event::kReschedule;
  return {nullptr, Why::kEvent};
}

}  // namespace

translate::Splits split_calls() { return {&divide, &meet}; }

}  // namespace lockstep::engine
