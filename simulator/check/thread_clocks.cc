#include "simulator/check/thread_clocks.h"

#include <cstring>

namespace lockstep::check {

bool ThreadClocks::cover_apart(std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  return std::any_of(apart_.begin(), apart_.end(),
                     [&](const Apart& a) { return a.warp == warp && clock < a.clock[lane]; });
}

std::uint32_t ThreadClocks::covered_apart(std::uint32_t warp, std::uint32_t clock) const {
  std::uint32_t lanes = 0;
  for (const Apart& a : apart_) {
    if (a.warp != warp) continue;
    for (std::uint32_t l = 0; l < 32; ++l) lanes |= std::uint32_t{clock < a.clock[l]} << l;
  }
  return lanes;
}

ThreadClocks::Apart& ThreadClocks::apart(std::uint32_t warp) {
  // Sorted by warp, so that join() can walk both lists in step.
  auto it =
      std::find_if(apart_.begin(), apart_.end(), [&](const Apart& a) { return a.warp >= warp; });
  if (it == apart_.end() || it->warp != warp) it = apart_.insert(it, {warp, {}});
  return *it;
}

void ThreadClocks::put_together() {
  std::erase_if(apart_, [&](const Apart& a) {
    std::uint16_t least = a.clock[0], most = a.clock[0];
    for (int l = 1; l < 32; ++l)
      least = std::min(least, a.clock[l]), most = std::max(most, a.clock[l]);
    warp_[a.warp] = std::max(warp_[a.warp], least);
    return most <= warp_[a.warp];
  });
}

void ThreadClocks::clear() {
  std::fill(warp_, warp_ + 32, 0);
  apart_.clear();
}

bool ThreadClocks::includes(const ThreadClocks& other) const {
  bool all = true;
  for (int v = 0; v < 32; ++v) all &= other.warp_[v] <= warp_[v] && other.warp_[v] < kMax;
  if (!all) return false;
  return std::all_of(other.apart_.begin(), other.apart_.end(), [&](const Apart& theirs) {
    const auto mine = std::find_if(apart_.begin(), apart_.end(),
                                   [&](const Apart& a) { return a.warp == theirs.warp; });
    for (int l = 0; l < 32; ++l) {
      const std::uint16_t least = mine == apart_.end() ? std::uint16_t{0} : mine->clock[l];
      if (theirs.clock[l] > std::max(least, warp_[theirs.warp]) || theirs.clock[l] >= kMax)
        return false;
    }
    return true;
  });
}

void ThreadClocks::join(const ThreadClocks& other) {
  // Both by value, so that this becomes two vector operations.
  std::uint16_t mine[32], theirs[32];
  std::memcpy(mine, warp_, sizeof mine);
  std::memcpy(theirs, other.warp_, sizeof theirs);
  for (int v = 0; v < 32; ++v) mine[v] = std::max(mine[v], theirs[v]);
  std::memcpy(warp_, mine, sizeof mine);
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

}  // namespace lockstep::check
