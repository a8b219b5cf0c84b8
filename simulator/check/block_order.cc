#include "simulator/check/block_order.h"

#include <algorithm>

namespace lockstep::check {

void BlockOrder::next_epoch() {
  ++epoch_number_;
  std::fill(clock_, clock_ + 32, 0);
  std::fill(all_lanes_, all_lanes_ + 32, 0);
  if (partial_) {
    std::fill(warp_clock_.begin(), warp_clock_.end(), 0);
    std::fill(barrier_clock_.begin(), barrier_clock_.end(), 0);
    std::fill(fence_clock_, fence_clock_ + 32, 0);
    partial_ = false;
  }
  if (lanes_used_) {
    std::fill(lane_clock_.begin(), lane_clock_.end(), 0);
    lanes_used_ = false;
  }
}

void BlockOrder::use_partial() {
  if (warp_clock_.empty()) warp_clock_.assign(32 * 32, 0), barrier_clock_.assign(16 * 32, 0);
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
  std::uint32_t* joint = &barrier_clock_[barrier * 32];
  for (int v = 0; v < 32; ++v) joint[v] = std::max(joint[v], warp_clock_[warp * 32 + v]);
  joint[warp] = now;
}

void BlockOrder::complete(int barrier, std::uint32_t waiting) {
  use_partial();
  std::uint32_t* joint = &barrier_clock_[barrier * 32];
  for (std::uint32_t w = 0; w < 32; ++w) {
    if (!(waiting >> w & 1)) continue;
    all_lanes_[w] = clock_[w];  // nothing has happened to it since it arrived
    for (int v = 0; v < 32; ++v) warp_clock_[w * 32 + v] = std::max(warp_clock_[w * 32 + v], joint[v]);
  }
  std::fill(joint, joint + 32, 0);
}

void BlockOrder::fence(std::uint32_t warp) {
  use_partial();
  const std::uint32_t now = std::min(clock_[warp] + 1, kClockMax);
  clock_[warp] = all_lanes_[warp] = fence_clock_[warp] = now;
  for (int v = 0; v < 32; ++v) {
    // What this warp knows travels with its fence, and the other way round.
    const std::uint32_t joint = std::max(warp_clock_[warp * 32 + v], fence_clock_[v]);
    warp_clock_[warp * 32 + v] = fence_clock_[v] = joint;
  }
}

}  // namespace lockstep::check
