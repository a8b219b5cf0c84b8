#include "simulator/check/block_order.h"

namespace lockstep::check {

bool ThreadClocks::cover_apart(std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  return std::any_of(apart_.begin(), apart_.end(), [&](const Apart& a) { return a.warp == warp && clock < a.clock[lane]; });
}

ThreadClocks::Apart& ThreadClocks::apart(std::uint32_t warp) {
  // In the order of warps, so that two of these are joined in step.
  auto it = std::find_if(apart_.begin(), apart_.end(), [&](const Apart& a) { return a.warp >= warp; });
  if (it == apart_.end() || it->warp != warp) it = apart_.insert(it, {warp, {}});
  return *it;
}

void ThreadClocks::put_together() {
  std::erase_if(apart_, [&](const Apart& a) {
    std::uint16_t least = a.clock[0], most = a.clock[0];
    for (int l = 1; l < 32; ++l) least = std::min(least, a.clock[l]), most = std::max(most, a.clock[l]);
    warp_[a.warp] = std::max(warp_[a.warp], least);
    return most <= warp_[a.warp];
  });
}

void ThreadClocks::clear() {
  std::fill(warp_, warp_ + 32, 0);
  apart_.clear();
}

void ThreadClocks::join(const ThreadClocks& other) {
  for (int v = 0; v < 32; ++v) warp_[v] = std::max(warp_[v], other.warp_[v]);
  std::size_t at = 0;
  for (const Apart& a : other.apart_) {
    while (at < apart_.size() && apart_[at].warp < a.warp) ++at;
    if (at == apart_.size() || apart_[at].warp != a.warp) {
      apart_.insert(apart_.begin() + static_cast<std::ptrdiff_t>(at), a);
    } else {
      for (int l = 0; l < 32; ++l) apart_[at].clock[l] = std::max(apart_[at].clock[l], a.clock[l]);
    }
  }
  if (!apart_.empty()) put_together();
}

void ThreadClocks::raise(std::uint32_t warp, std::uint32_t clock) {
  warp_[warp] = std::max(warp_[warp], static_cast<std::uint16_t>(clock));
  if (!apart_.empty()) put_together();
}

void ThreadClocks::raise(std::uint32_t warp, std::uint32_t lanes, std::uint32_t clock) {
  if (clock <= warp_[warp]) return;
  Apart& mine = apart(warp);
  for (std::uint32_t l = 0; l < 32; ++l) {
    if (lanes >> l & 1) mine.clock[l] = std::max(mine.clock[l], static_cast<std::uint16_t>(clock));
  }
  put_together();
}

void BlockOrder::next_epoch() {
  ++epoch_number_;
  std::fill(clock_, clock_ + 32, 0);
  std::fill(all_lanes_, all_lanes_ + 32, 0);
  std::fill(as_one_, as_one_ + 32, 0);
  if (partial_) {
    for (ThreadClocks& known : known_) known.clear();
    for (ThreadClocks& barrier : barrier_) barrier.clear();
    published_.clear();
    partial_ = false;
  }
  if (lanes_used_) {
    std::fill(lane_clock_.begin(), lane_clock_.end(), 0);
    lanes_used_ = false;
  }
}

void BlockOrder::use_partial() {
  if (known_.empty()) known_.resize(32), barrier_.resize(16);
  partial_ = true;
}

void BlockOrder::warp_sync(std::uint32_t warp, std::uint32_t lanes, bool all) {
  const std::uint32_t now = std::min(clock_[warp] + 1, kClockMax);
  clock_[warp] = now;
  if (all) {
    all_lanes_[warp] = now;
    return;
  }
  if (lane_clock_.empty()) lane_clock_.assign(32 * 32 * 32, 0);
  lanes_used_ = true;
  std::uint32_t joint[32] = {};
  std::uint32_t* table = &lane_clock_[warp * 32 * 32];
  for (std::uint32_t l = 0; l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    for (int k = 0; k < 32; ++k) joint[k] = std::max(joint[k], table[l * 32 + k]);
    joint[l] = now;
  }
  for (std::uint32_t l = 0; l < 32; ++l) {
    if (lanes >> l & 1) std::copy(joint, joint + 32, table + l * 32);
  }
}

void BlockOrder::arrive(std::uint32_t warp, int barrier) {
  use_partial();
  const std::uint32_t now = std::min(clock_[warp] + 1, kClockMax);
  clock_[warp] = now;
  barrier_[barrier].join(known_[warp]);
  barrier_[barrier].raise(warp, now);
}

void BlockOrder::complete(int barrier, std::uint32_t waiting) {
  use_partial();
  for (std::uint32_t w = 0; w < 32; ++w) {
    if (!(waiting >> w & 1)) continue;
    all_lanes_[w] = clock_[w];  // nothing has happened to it since it arrived
    known_[w].join(barrier_[barrier]);
  }
  barrier_[barrier].clear();
}

ThreadClocks BlockOrder::known_to(std::uint32_t w, std::uint32_t lanes, bool all) const {
  ThreadClocks known;
  if (partial_) known = known_[w];
  if (all) {
    known.raise(w, clock_[w]);
    return known;
  }
  known.raise(w, std::max(all_lanes_[w], std::min(as_one_[w], clock_[w])));
  known.raise(w, lanes, clock_[w]);
  for (std::uint32_t l = 0; lanes_used_ && l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    for (std::uint32_t k = 0; k < 32; ++k) known.raise(w, 1u << k, lane_clock_[(w * 32 + l) * 32 + k]);
  }
  return known;
}

void BlockOrder::release(std::uint32_t warp, std::uint32_t lanes, bool all) {
  use_partial();
  clock_[warp] = std::min(clock_[warp] + 1, kClockMax);
  published_.join(known_to(warp, lanes, all));
}

void BlockOrder::acquire(std::uint32_t warp) {
  use_partial();
  known_[warp].join(published_);
}

}  // namespace lockstep::check
