#include "simulator/check/grid_order.h"

#include <algorithm>

namespace lockstep::check {

void Published::join(const Published& other) {
  if (other.interval > interval) {
    *this = other;
  } else if (other.interval == interval) {
    for (int v = 0; v < 32; ++v) clock[v] = std::max(clock[v], other.clock[v]);
  }
}

void Knowledge::clear() {
  exact_.clear();
  until_ = 0;
}

void Knowledge::shorten(const GridOrder& order) {
  if (exact_.size() <= kExact) return;
  until_ = order.now();
  exact_.clear();
}

void Knowledge::join(const Published& other, const GridOrder& order) {
  const auto same = std::find_if(exact_.begin(), exact_.end(), [&](const Published& p) { return p.block == other.block; });
  if (same != exact_.end()) {
    same->join(other);
  } else {
    exact_.push_back(other);
    shorten(order);
  }
}

void Knowledge::join(const Knowledge& other, const GridOrder& order) {
  until_ = std::max(until_, other.until_);
  for (const Published& p : other.exact_) join(p, order);
}

bool Knowledge::covers(const GridOrder& order, std::uint32_t block, std::uint32_t interval, std::uint32_t warp, std::uint32_t clock) const {
  for (const Published& p : exact_) {
    if (p.block == block && p.covers(interval, warp, clock)) return true;
  }
  return until_ != 0 && order.published(until_, block, interval, warp, clock);
}

void BlockKnowledge::start(std::uint32_t block) {
  mine_ = Published{};
  mine_.block = block;
  has_published_ = false;
  known_.clear();
  fresh_.clear();
  fresh_warps_ = 0;
  pending_.clear();
}

Published BlockKnowledge::done(const BlockOrder& block, std::uint32_t warp) const {
  Published now;
  now.block = mine_.block;
  now.interval = block.interval();
  for (std::uint32_t v = 0; v < 32; ++v) now.clock[v] = static_cast<std::uint16_t>(block.known_clock(warp, v));
  return now;
}

void BlockKnowledge::fence(const BlockOrder& block, std::uint32_t warp, const GridOrder& order) {
  mine_.join(done(block, warp));
  has_published_ = true;
  if (pending_.empty()) return;
  fresh_.join(pending_, order);
  fresh_warps_ |= 1u << warp;
  pending_.clear();
}

bool BlockKnowledge::barrier(const GridOrder& order) {
  if (pending_.empty() && fresh_.empty()) return false;
  known_.join(fresh_, order);
  known_.join(pending_, order);
  fresh_.clear();
  pending_.clear();
  fresh_warps_ = 0;
  return true;
}

void BlockKnowledge::found(const Knowledge& at, std::uint32_t warp, bool acquires, const GridOrder& order) {
  if (!acquires) {
    pending_.join(at, order);
    return;
  }
  fresh_.join(at, order);
  fresh_warps_ |= 1u << warp;
}

void BlockKnowledge::learn(const Published& done, const BlockKnowledge& other, GridOrder& order) {
  order.publish(done);
  known_.join(done, order);
  known_.join(other.known_, order);
}

void GridOrder::start() {
  if (time_.load(std::memory_order_relaxed) != 0) {
    for (Part& part : parts_) {
      part.left.clear();
      part.published.clear();
    }
  }
  places_ = 0;
  time_ = 0;
}

void GridOrder::publish(const Published& done) {
  const std::uint64_t now = time_.fetch_add(1, std::memory_order_relaxed) + 1;
  Part& part = parts_[done.block % kParts];
  std::lock_guard lock(part.mutex);
  const auto [it, fresh] = part.published.try_emplace(done.block, Part::First{now, done});
  if (!fresh) it->second.all.join(done);
}

void GridOrder::leave(std::uint64_t address, const BlockKnowledge& block, const Published* released) {
  Published mine = block.mine_;
  if (released != nullptr) mine.join(*released);
  publish(mine);
  // Joined outside of the lock of the place: covering a block's knowledge may ask for another part.
  Knowledge all;
  all.join(block.known_, *this);
  all.join(block.fresh_, *this);
  all.join(mine, *this);
  Part& part = parts_[(address >> 2) % kParts];
  std::lock_guard lock(part.mutex);
  const auto [it, fresh] = part.left.try_emplace(address);
  it->second.join(all, *this);
  if (fresh) places_.fetch_add(1, std::memory_order_release);
}

void GridOrder::find(std::uint64_t address, BlockKnowledge& block, std::uint32_t warp, bool acquires) {
  Knowledge at;
  {
    Part& part = parts_[(address >> 2) % kParts];
    std::lock_guard lock(part.mutex);
    const auto it = part.left.find(address);
    if (it == part.left.end()) return;
    at = it->second;
  }
  block.found(at, warp, acquires, *this);
}

bool GridOrder::published(std::uint64_t until, std::uint32_t block, std::uint32_t interval, std::uint32_t warp, std::uint32_t clock) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.published.find(block);
  return it != part.published.end() && it->second.time <= until && it->second.all.covers(interval, warp, clock);
}

}  // namespace lockstep::check
