#include "simulator/engine/standstill.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

#include "simulator/engine/cluster.h"
#include "simulator/engine/mbarrier.h"
#include "simulator/engine/report.h"
#include "simulator/engine/stuck.h"

namespace lockstep::engine {
namespace {

class Digest {
 public:
  void add(std::uint64_t v) {
    h_ = (h_ ^ v) * 0x9e3779b97f4a7c15ull;
    h_ ^= h_ >> 29;
  }
  void add(const std::byte* bytes, std::size_t n) {
    for (std::size_t i = 0; i + 8 <= n; i += 8) {
      std::uint64_t v;
      std::memcpy(&v, bytes + i, 8);
      add(v);
    }
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
  // In any order: the list has none.
  std::uint64_t all = 0;
  for (const Fragment& f : c.fragments) {
    Digest one;
    one.add(std::uint64_t{f.pc} << 32 | f.mask);
    one.add(std::uint64_t{static_cast<std::uint32_t>(f.frame)} << 8 | static_cast<std::uint8_t>(f.state));
    all += one.value();
  }
  d.add(all);
  for (const Frame& f : c.frames) {
    if (f.live == 0) continue;
    d.add(std::uint64_t{f.return_pc} << 32 | f.live);
    d.add(f.bank, w.block->program->functions[f.function].bank_bytes);
  }
  return d.value();
}

}  // namespace

void note_turn(Warp& w) {
  WarpControl::Turns& t = w.control->turns;
  const std::uint64_t changes = w.block->worker->changes, epoch = w.block->launch->quiescence.epoch.load(std::memory_order_acquire);
  if (t.changes != changes || t.epoch != epoch) {
    const std::uint64_t state = state_of(w);
    const bool idles = t.changes == changes && t.state == state;
    t = {};
    t.changes = changes;
    t.epoch = epoch;
    t.state = state;
    t.idles = idles;
    return;
  }
  if (t.repeats) return;
  // A state is kept after 2 turns, 4, 8 ... and compared with those of the turns that follow, 2 of them or an eighth of as many as there were: that
  // costs next to nothing in a loop that computes for long without a store, and finds cycles of any length in time.
  constexpr std::uint64_t kWindow = 2;
  const std::uint64_t turn = ++t.count, kept = std::bit_floor(turn);
  if (turn < kWindow || turn - kept > std::max(kWindow, kept / 8)) return;
  const std::uint64_t state = state_of(w);
  if (turn == kept) {
    t.state = state;
    t.ran = 0;
    return;
  }
  // Lanes that could have run and have not had their turn yet may still change everything.
  LaneMask runnable = 0;
  for (const Fragment& f : w.control->fragments) runnable |= f.state == Fragment::State::kRunnable ? f.mask : 0;
  t.repeats = state == t.state && (runnable & ~t.ran) == 0;
}

bool stands_still(Block& b) {
  const std::uint64_t changes = b.worker->changes, epoch = b.launch->quiescence.epoch.load(std::memory_order_acquire);
  for (std::uint32_t todo = b.runnable; todo != 0; todo &= todo - 1) {
    const WarpControl::Turns& t = b.warps[std::countr_zero(todo)].control->turns;
    if (!t.repeats || t.changes != changes || t.epoch != epoch) return false;
  }
  return !let_time_pass(b);
}

bool seems_to_wait(const Block& b) {
  for (std::uint32_t todo = b.runnable; todo != 0; todo &= todo - 1) {
    const WarpControl::Turns& t = b.warps[std::countr_zero(todo)].control->turns;
    if (!(t.repeats || t.idles) || t.changes != b.worker->changes) return false;
  }
  return true;
}

void Standstill::after_turns(bool still, Block& first) {
  const bool all = member_.after_turns(worker_.changes, still, first.position);
  if (!member_.unchanged()) since_ = {};
  if (!all || launch_.stop.load() != ~std::uint64_t{0} || host_may_help()) return;
  report(first);
}

bool Standstill::host_may_help() {
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point{}) since_ = now;
  if (now - since_ >= kHostPatience) return false;
  for (const memory::Allocation* a : launch_.memory->live()) {
    if (a->kind != memory::Kind::kManaged && a->kind != memory::Kind::kPinned && a->kind != memory::Kind::kRegistered) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    member_.look_again();
    return true;
  }
  return false;
}

void Standstill::report(Block& b) {
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
  if (spins == nullptr) return;
  Block& block = *spins->block;
  std::uint32_t pc = spins->pc;
  LaneMask lanes = spins->active;
  for (const Fragment& f : spins->control->fragments) {
    if (f.state == Fragment::State::kRunnable && (lanes == 0 || f.pc < pc)) pc = f.pc, lanes = f.mask;
  }
  check::Finding f = finding_at(*spins, pc, lanes, check::Kind::kDeadlock);
  f.where = "the loop waits for something that nobody is left to do: no thread of the grid changes any memory";
  LaneGroups groups;
  groups.add(block);
  f.detail = "Everything that still runs repeats itself. Of this block's threads" + groups.text();
  const std::uint64_t units = launch_.clustered ? launch_.clusters : launch_.blocks, begun = std::min(launch_.next.load(), units);
  if (begun < units) {
    f.detail += "\n    " + std::to_string(units - begun) + (launch_.clustered ? " clusters" : " blocks") +
                " have not begun: they get room when others end, and only those of a cooperative launch run all at once";
  }
  launch_.abandoned = true;
  engine::report(block, std::move(f));
}

}  // namespace lockstep::engine
