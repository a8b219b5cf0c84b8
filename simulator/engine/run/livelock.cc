#include "simulator/engine/run/livelock.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <system_error>
#include <tuple>

#include "simulator/engine/launch/helper_threads.h"
#include "simulator/engine/monitor/lane_groups.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

class Digest {
 public:
  void add(std::uint64_t v) {
    h_ = (h_ ^ v) * 0x9e3779b97f4a7c15ull;
    h_ ^= h_ >> 29;
  }
  // Four chains side by side: one alone waits for each of its products.
  void add(const std::byte* bytes, std::size_t n) {
    Digest chains[4];
    for (std::uint64_t c = 0; c < 4; ++c) chains[c].add(c);
    std::size_t i = 0;
    const auto word = [&](std::size_t at) {
      std::uint64_t v;
      std::memcpy(&v, bytes + at, 8);
      return v;
    };
    for (; i + 32 <= n; i += 32) {
      for (std::size_t c = 0; c < 4; ++c) chains[c].add(word(i + 8 * c));
    }
    for (; i + 8 <= n; i += 8) add(word(i));
    for (const Digest& chain : chains) add(chain.value());
  }
  std::uint64_t value() const { return h_; }

 private:
  std::uint64_t h_ = 0x243f6a8885a308d3ull;
};

// Everything that decides what the warp does next, as long as memory stays as it is.
std::uint64_t state_of(const Warp& w) {
  const WarpControl& c = *w.control;
  Digest d;
  d.add(std::uint64_t{w.pc} << 32 | w.active);
  d.add(std::uint64_t{w.carry} << 32 | static_cast<std::uint32_t>(c.frame));
  for (const std::uint32_t pointer : c.stack_pointer) d.add(pointer);
  // In any order: the list has none.
  std::uint64_t all = 0;
  for (const WarpSplit& f : c.splits) {
    Digest one;
    one.add(std::uint64_t{f.pc} << 32 | f.mask);
    one.add(std::uint64_t{static_cast<std::uint32_t>(f.frame)} << 8 |
            static_cast<std::uint8_t>(f.state));
    all += one.value();
  }
  d.add(all);
  for (const Frame& f : c.frames) {
    if (f.live == 0) continue;
    d.add(std::uint64_t{f.return_pc} << 32 | f.live);
    d.add(f.file, w.block->program->functions[f.function].file_bytes);
  }
  return d.value();
}

}  // namespace

void note_time_slice(Warp& w) {
  WarpControl::TimeSlices& t = w.control->time_slices;
  const std::uint64_t changes = w.block->worker->changes.value(),
                      epoch = w.block->launch->quiescence.epoch.load(std::memory_order_acquire);
  if (t.changes != changes) {
    t = {};
    t.changes = changes;
    t.epoch = epoch;
    return;
  }
  if (t.epoch != epoch) {
    const std::uint64_t state = state_of(w);
    const bool idles = t.compares && t.state == state;
    t = {};
    t.changes = changes;
    t.epoch = epoch;
    t.compares = true;
    t.state = state;
    t.idles = idles;
    return;
  }
  if (t.repeats) return;
  // A state is kept after the first turn, the second, the fourth and so on, and compared with those
  // of the turns that follow, 2 of them or an eighth of as many as there were: that costs next to
  // nothing in a loop that computes for long without a store, and finds cycles of any length in
  // time.
  constexpr std::uint64_t kWindow = 2;
  const std::uint64_t turn = ++t.count, kept = std::bit_floor(turn);
  if (turn - kept > std::max(kWindow, kept / 8)) return;
  const std::uint64_t state = state_of(w);
  // Lanes that could have run and have not had their turn yet may still change everything.
  LaneMask runnable = 0;
  for (const WarpSplit& f : w.control->splits)
    runnable |= f.state == WarpSplit::State::kRunnable ? f.mask : 0;
  t.repeats = t.compares && state == t.state && (runnable & ~t.ran) == 0;
  if (t.repeats || turn != kept) return;
  t.compares = true;
  t.state = state;
  t.ran = 0;
}

bool makes_no_progress(Block& b) {
  const std::uint64_t changes = b.worker->changes.value(),
                      epoch = b.launch->quiescence.epoch.load(std::memory_order_acquire);
  for (std::uint32_t todo = b.runnable; todo != 0; todo &= todo - 1) {
    const WarpControl::TimeSlices& t = b.warps[std::countr_zero(todo)].control->time_slices;
    if (!t.repeats || t.changes != changes || t.epoch != epoch) return false;
  }
  return !advance_virtual_time(b);
}

bool seems_to_wait(const Block& b) {
  for (std::uint32_t todo = b.runnable; todo != 0; todo &= todo - 1) {
    const WarpControl::TimeSlices& t = b.warps[std::countr_zero(todo)].control->time_slices;
    if (!(t.repeats || t.idles) || t.changes != b.worker->changes.value()) return false;
  }
  return true;
}

void LivelockWatch::after_time_slices(bool still, const Block& first) {
  // Warps that stood still may go on now.
  if (member_.has_news(worker_.changes.value())) launch_.watch.store(0);
  const bool begins = begins_to_watch();
  const bool all =
      member_.after_time_slices(worker_.changes.value(), still && !begins, first.position);
  // Nobody is quiet before it has gone round in the watch.
  if (begins) member_.look_again();
  if (!all || launch_.stop.load() != ~std::uint64_t{0}) return;
  if (worker_.watch == 0) {
    {
      const std::lock_guard guard(launch_.mutex);
      const std::uint64_t number = launch_.looks.watch + 1;
      launch_.looks = {};
      launch_.looks.watch = number;
      launch_.watch.store(number);
    }
    member_.look_again();
    return;
  }
  launch_.pause.store(Launch::Pause::kStill);
}

bool LivelockWatch::begins_to_watch() {
  const std::uint64_t watch = launch_.watch.load();
  if (watch == worker_.watch) return false;
  worker_.watch = watch;
  worker_.generation = ~0ull;
  return watch != 0;
}

bool others_run_here() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return error || std::distance(begin(threads), end(threads)) > 1 + helper_threads();
}

bool host_may_help(Launch& launch, bool others) {
  const std::lock_guard guard(launch.mutex);
  return launch.looks.at_host && (launch.looks.at_registered || others);
}

void look_again(Launch& launch) {
  launch.watch.store(0);
  launch.quiescence.epoch.fetch_add(1);
}

Livelock livelock_of(Launch& launch, Block& b) {
  {
    const std::lock_guard guard(launch.mutex);
    const Looks& looks = launch.looks;
    // What is read weakly in a loop that waits for something else is data.
    const std::optional<Looks::Look>& look =
        looks.strong || looks.strongly_elsewhere ? looks.strong : looks.weak;
    if (look) return {&b, look->finding};
  }
  Warp* spins = nullptr;
  for (Warp& w : b.warps) {
    if (b.runnable >> w.index & 1) {
      spins = &w;
      break;
    }
  }
  // Of a cluster it may be another block that runs.
  if (spins == nullptr && b.cluster != nullptr) {
    for (const auto& other : b.cluster->blocks) {
      if (other->live_warps != 0 && other->runnable != 0) {
        spins = &other->warps[static_cast<std::size_t>(std::countr_zero(other->runnable))];
        break;
      }
    }
  }
  if (spins == nullptr) return {};
  Block& block = *spins->block;
  std::uint32_t pc = spins->pc;
  LaneMask lanes = spins->active;
  for (const WarpSplit& f : spins->control->splits) {
    if (f.state == WarpSplit::State::kRunnable && (lanes == 0 || f.pc < pc))
      pc = f.pc, lanes = f.mask;
  }
  check::Finding f = finding_at(*spins, pc, lanes, check::Kind::kDeadlock);
  f.where =
      "the loop waits for something that nobody is left to do: no thread of the grid changes any "
      "memory";
  LaneGroups groups;
  groups.add(block);
  f.detail = "Everything that still runs repeats itself. Of this block's threads" + groups.text();
  const std::uint64_t units = launch.units, begun = std::min(launch.next.position.load(), units);
  if (begun < units) {
    f.detail += "\n    " + std::to_string(units - begun) +
                (launch.clustered ? " clusters" : " blocks") +
                " have not begun: they get room when others end, and only those of a cooperative "
                "launch run all at once";
  }
  return {&block, std::move(f)};
}

}  // namespace lockstep::engine
