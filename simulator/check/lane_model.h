// What the searches for races take to be ordered, in the plainest way: a vector clock for every thread, joined thread by thread, and every access
// kept. Where they simplify (block_order.h, grid_order.h: whoever acquires in a block comes after all of its releases, for its whole warp) so does
// this, so that of two accesses the verdicts must be the same both ways (race_judge_test.cc).
//
// Not here: who has read a strong write is ordered after it. RaceJudge has that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "simulator/check/race_programs.h"

namespace lockstep::check {

class LaneModel {
 public:
  explicit LaneModel(const Shape& s)
      : cluster_(s.cluster),
        threads_(s.blocks * kWarps * kLanes),
        clock_(threads_, Clock(threads_)),
        blocks_(s.blocks, Block{Clock(threads_), Clock(threads_), Clock(threads_), Clock(threads_), Clock(threads_)}),
        bytes_(s.bytes) {}

  // An access before which nothing but accesses that it races with, or that are ordered before it. The first that it races with, or nullptr.
  const RaceJudge::Access* race(const RaceJudge::Access& a) const {
    return race_where(a, [](const Done&) { return true; });
  }
  bool race_with(const RaceJudge::Access& a, std::uint32_t thread, std::uint32_t pc) const {
    return race_where(a, [&](const Done& d) { return d.access.thread == thread && d.access.pc == pc; }) != nullptr;
  }
  // How many accesses to a granule that `a` touches there have been.
  std::size_t history(const RaceJudge::Access& a) const {
    std::size_t n = 0;
    for (std::uint32_t b = a.first & ~3u; b < ((a.first + a.size + 3) & ~3u); ++b) n = std::max(n, bytes_[b].size());
    return n;
  }

  // Before an instruction's accesses, the accesses, and after them.
  void begin(const Instruction& i) {
    const RaceJudge::Access& a = i.access;
    Block& block = blocks_[i.block];
    if (a.releases) release(i.block, i.warp, i.lanes);
    for (const std::uint32_t t : threads_of(i.block, i.warp, i.lanes)) {
      if (!a.writes || !a.strong || a.scope == Scope::kBlock || !(a.releases || block.has_released)) continue;
      Clock& place = places_.try_emplace(a.first + t % kLanes * i.step, Clock(threads_)).first->second;
      join(place, block.known);
      join(place, block.fresh);
      join(place, block.released);
      for (const std::uint32_t u : threads_of(i.block, i.warp, a.releases ? i.lanes : 0)) join(place, clock_[u]);
    }
  }
  void access(const RaceJudge::Access& a) {
    const std::uint32_t epoch = ++clock_[a.thread][a.thread];
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) bytes_[b].push_back({a, epoch});
  }
  void end(const Instruction& i) {
    const RaceJudge::Access& a = i.access;
    Block& block = blocks_[i.block];
    for (const std::uint32_t t : threads_of(i.block, i.warp, i.lanes)) {
      if (!a.reads || !a.strong || a.scope == Scope::kBlock) continue;
      const auto place = places_.find(a.first + t % kLanes * i.step);
      if (place == places_.end()) continue;
      join(a.acquires ? block.fresh : block.pending, place->second);
      if (a.acquires) block.fresh_warps |= 1u << i.warp;
    }
    if (a.acquires) acquire(i.block, i.warp);
  }

  void fence(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes, Scope scope) {
    acquire(block, warp);
    release(block, warp, lanes);
    if (lanes == kAllLanes) warp_sync(block, warp, lanes);
    if (scope == Scope::kBlock) return;
    Block& b = blocks_[block];
    for (const std::uint32_t t : threads_of(block, warp, lanes)) join(b.released, clock_[t]);
    b.has_released = true;
    const bool found = std::any_of(b.pending.begin(), b.pending.end(), [](std::uint32_t c) { return c != 0; });
    join(b.fresh, b.pending);
    b.pending = Clock(threads_);
    if (found) b.fresh_warps |= 1u << warp;
  }
  void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) { meet(threads_of(block, warp, lanes), threads_of(block, warp, lanes)); }
  void block_barrier(std::uint32_t block) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      for (const std::uint32_t t : threads_of(block, w, kAllLanes)) all.push_back(t);
    }
    meet(all, all);
    pass(blocks_[block]);
  }
  void hand_over(std::uint32_t block, std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> both = threads_of(block, from, kAllLanes);
    const std::vector<std::uint32_t> waiting = threads_of(block, to, kAllLanes);
    both.insert(both.end(), waiting.begin(), waiting.end());
    meet(both, waiting);
    pass(blocks_[block]);
  }

 private:
  using Clock = std::vector<std::uint32_t>;  // by thread: accesses of it that are ordered before
  struct Block {
    Clock published;  // to its own threads, by releases
    Clock released;   // to whoever reads what it writes strongly, by fences
    Clock known, fresh, pending;
    std::uint32_t fresh_warps = 0;
    bool has_released = false;
  };
  struct Done {
    RaceJudge::Access access;
    std::uint32_t epoch;
  };

  static void join(Clock& to, const Clock& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }
  void meet(const std::vector<std::uint32_t>& arriving, const std::vector<std::uint32_t>& waiting) {
    Clock all(threads_);
    for (const std::uint32_t t : arriving) join(all, clock_[t]);
    for (const std::uint32_t t : waiting) join(clock_[t], all);
  }
  void release(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) {
    for (const std::uint32_t t : threads_of(block, warp, lanes)) join(blocks_[block].published, clock_[t]);
  }
  void acquire(std::uint32_t block, std::uint32_t warp) {
    Block& b = blocks_[block];
    for (const std::uint32_t t : threads_of(block, warp, kAllLanes)) join(clock_[t], b.published);
    if (std::any_of(b.fresh.begin(), b.fresh.end(), [](std::uint32_t c) { return c != 0; })) b.fresh_warps |= 1u << warp;
  }
  void pass(Block& b) {
    join(b.known, b.fresh);
    join(b.known, b.pending);
    b.fresh = b.pending = Clock(threads_);
    b.fresh_warps = 0;
  }

  template <class Meant>
  const RaceJudge::Access* race_where(const RaceJudge::Access& a, const Meant& meant) const {
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      for (const Done& d : bytes_[b]) {
        if (meant(d) && (d.access.writes || a.writes) && !both_strong(d.access, a) && !ordered(d, a.thread)) return &d.access;
      }
    }
    return nullptr;
  }
  static std::uint32_t block_of(std::uint32_t thread) { return thread / (kWarps * kLanes); }
  bool both_strong(const RaceJudge::Access& a, const RaceJudge::Access& b) const {
    const std::uint32_t x = block_of(a.thread), y = block_of(b.thread);
    const Scope needed = x == y ? Scope::kBlock : x / cluster_ == y / cluster_ ? Scope::kCluster : Scope::kGrid;
    return a.strong && b.strong && a.scope >= needed && b.scope >= needed;
  }
  bool ordered(const Done& d, std::uint32_t thread) const {
    const std::uint32_t other = d.access.thread, block = block_of(thread);
    if (other == thread) return true;
    if (block_of(other) == block) return clock_[thread][other] >= d.epoch;
    const Block& b = blocks_[block];
    return b.known[other] >= d.epoch || ((b.fresh_warps >> (thread / kLanes % kWarps) & 1) != 0 && b.fresh[other] >= d.epoch);
  }

  std::uint32_t cluster_, threads_;
  std::vector<Clock> clock_;
  std::vector<Block> blocks_;
  std::map<std::uint32_t, Clock> places_;  // what strong writes left, by first byte
  std::vector<std::vector<Done>> bytes_;
};

}  // namespace lockstep::check
