#include "simulator/check/grid_order.h"

#include <algorithm>

namespace lockstep::check {

void ReleaseClock::join(const ReleaseClock& other) {
  if (other.epoch > epoch) {
    *this = other;
  } else if (other.epoch == epoch) {
    clocks.join(other.clocks);
  }
}

void VectorClock::clear() {
  exact_.clear();
  until_ = 0;
}

void VectorClock::shorten(const GridOrder& order) {
  if (exact_.size() <= kExact) return;
  until_ = order.now();
  exact_.clear();
}

void VectorClock::join(const ReleaseClock& other, const GridOrder& order) {
  const auto same = std::find_if(exact_.begin(), exact_.end(), [&](const ReleaseClock& p) { return p.block == other.block; });
  if (same != exact_.end()) {
    same->join(other);
  } else {
    exact_.push_back(other);
    shorten(order);
  }
}

void VectorClock::join(const VectorClock& other, const GridOrder& order) {
  until_ = std::max(until_, other.until_);
  for (const ReleaseClock& p : other.exact_) join(p, order);
}

bool VectorClock::happens_before(const GridOrder& order, std::uint32_t block, std::uint32_t epoch, std::uint32_t warp, std::uint32_t lane,
                                 std::uint32_t clock) const {
  for (const ReleaseClock& p : exact_) {
    if (p.block == block && p.happens_before(epoch, warp, lane, clock)) return true;
  }
  return until_ != 0 && order.released_by(until_, block, epoch, warp, lane, clock);
}

bool VectorClock::is_apart(const GridOrder& order, std::uint32_t block, std::uint32_t warp) const {
  for (const ReleaseClock& p : exact_) {
    if (p.block == block && p.clocks.is_apart(warp)) return true;
  }
  return until_ != 0 && order.released_apart(until_, block, warp);
}

void BlockClock::start(std::uint32_t block) {
  mine_ = ReleaseClock{};
  mine_.block = block;
  has_released_ = false;
  known_.clear();
  fresh_.clear();
  fresh_warps_ = 0;
  pending_.clear();
  std::fill(last_found_, last_found_ + 32, Found{});
}

ReleaseClock BlockClock::done(const BlockOrder& block, std::uint32_t warp, std::uint32_t lanes, bool all) const {
  return {mine_.block, block.epoch(), block.known_to(warp, lanes, all)};
}

void BlockClock::fence(const BlockOrder& block, std::uint32_t warp, std::uint32_t lanes, bool all, const GridOrder& order) {
  mine_.join(done(block, warp, lanes, all));
  has_released_ = true;
  if (pending_.empty()) return;
  fresh_.join(pending_, order);
  fresh_warps_ |= 1u << warp;
  pending_.clear();
  // What other warps have found went with it, to this one: they find it anew.
  for (std::uint32_t w = 0; w < 32; ++w) {
    if (w != warp && !last_found_[w].acquires) last_found_[w] = {};
  }
}

bool BlockClock::barrier(const GridOrder& order) {
  if (pending_.empty() && fresh_.empty()) return false;
  known_.join(fresh_, order);
  known_.join(pending_, order);
  fresh_.clear();
  pending_.clear();
  fresh_warps_ = 0;
  return true;
}

void BlockClock::found(const VectorClock& at, std::uint32_t warp, bool acquires, const GridOrder& order) {
  if (!acquires) {
    pending_.join(at, order);
    return;
  }
  fresh_.join(at, order);
  fresh_warps_ |= 1u << warp;
}

void BlockClock::learn(const ReleaseClock& done, const BlockClock& other, GridOrder& order) {
  order.publish(done);
  known_.join(done, order);
  known_.join(other.known_, order);
}

void GridOrder::start() {
  if (time_.load(std::memory_order_relaxed) != 0) {
    for (Part& part : parts_) {
      part.places.clear();
      part.released.clear();
    }
  }
  places_ = 0;
  time_ = 0;
}

void GridOrder::publish(const ReleaseClock& done) {
  const std::uint64_t now = time_.fetch_add(1, std::memory_order_relaxed) + 1;
  Part& part = parts_[done.block % kParts];
  std::lock_guard lock(part.mutex);
  const auto [it, fresh] = part.released.try_emplace(done.block, Part::First{now, done});
  if (!fresh) it->second.all.join(done);
}

void GridOrder::leave(std::uint64_t address, const BlockClock& block, const ReleaseClock* released) {
  ReleaseClock mine = block.mine_;
  if (released != nullptr) mine.join(*released);
  publish(mine);
  // Joined outside of the lock of the place: what a block's clock covers may ask for another part.
  VectorClock all;
  all.join(block.known_, *this);
  all.join(block.fresh_, *this);
  all.join(mine, *this);
  Part& part = parts_[(address >> 2) % kParts];
  std::lock_guard lock(part.mutex);
  const auto [it, fresh] = part.places.try_emplace(address);
  it->second.left.join(all, *this);
  ++it->second.version;
  if (fresh) places_.fetch_add(1, std::memory_order_release);
}

void GridOrder::find(std::uint64_t address, BlockClock& block, std::uint32_t warp, bool acquires) {
  VectorClock at;
  {
    Part& part = parts_[(address >> 2) % kParts];
    std::lock_guard lock(part.mutex);
    const auto it = part.places.find(address);
    if (it == part.places.end()) return;
    const std::uint64_t version = it->second.version;
    if (block.has_found(address, version, warp, acquires)) return;
    block.remember_found(address, version, warp, acquires);
    at = it->second.left;
  }
  block.found(at, warp, acquires, *this);
}

bool GridOrder::released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch, std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until && it->second.all.happens_before(epoch, warp, lane, clock);
}

bool GridOrder::released_apart(std::uint64_t until, std::uint32_t block, std::uint32_t warp) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until && it->second.all.clocks.is_apart(warp);
}

}  // namespace lockstep::check
