#include "simulator/check/thread_clocks.h"

#include <cstring>
#include <type_traits>

namespace lockstep::check {
namespace {

// Sets each clock to the later of both. By value, so that this becomes two vector operations.
void raise_each(std::uint16_t (&clocks)[32], const std::uint16_t (&others)[32]) {
  std::uint16_t mine[32], theirs[32];
  std::memcpy(mine, clocks, sizeof mine);
  std::memcpy(theirs, others, sizeof theirs);
  for (int l = 0; l < 32; ++l) mine[l] = std::max(mine[l], theirs[l]);
  std::memcpy(clocks, mine, sizeof mine);
}

}  // namespace

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
    // All 32 at once, so that this becomes vector operations.
    std::uint16_t least = ~std::uint16_t{0}, most = 0;
    for (const std::uint16_t clock : a.clock) least = std::min(least, clock);
    for (const std::uint16_t clock : a.clock) most = std::max(most, clock);
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
  // What a warp's lanes know is mostly the same.
  static_assert(std::has_unique_object_representations_v<Apart>);
  if (std::memcmp(warp_, other.warp_, sizeof warp_) == 0 && apart_.size() == other.apart_.size() &&
      (apart_.empty() ||
       std::memcmp(apart_.data(), other.apart_.data(), apart_.size() * sizeof(Apart)) == 0))
    return;
  raise_each(warp_, other.warp_);
  std::size_t at = 0;
  for (const Apart& a : other.apart_) {
    while (at < apart_.size() && apart_[at].warp < a.warp) ++at;
    if (at == apart_.size() || apart_[at].warp != a.warp) {
      apart_.insert(apart_.begin() + static_cast<std::ptrdiff_t>(at), a);
    } else {
      raise_each(apart_[at].clock, a.clock);
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

const ThreadClocks& SharedClocks::none() {
  static const auto* const clocks = new ThreadClocks;  // never destroyed: calls come until the end
  return *clocks;
}

void SharedClocks::join(const SharedClocks& other) {
  if (clocks_ == other.clocks_ || (*this)->includes(*other)) return;
  if (other->includes(**this)) {
    clocks_ = other.clocks_;
    return;
  }
  ThreadClocks both = **this;
  both.join(*other);
  clocks_ = std::make_shared<const ThreadClocks>(std::move(both));
}

}  // namespace lockstep::check
