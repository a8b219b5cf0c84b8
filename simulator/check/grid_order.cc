#include "simulator/check/grid_order.h"

#include <algorithm>
#include <utility>

namespace lockstep::check {

void GridOrder::clear(bool under_way) {
  if (kept() != 0) {
    for (Part& part : parts_) part.released.clear();
    by_launch_.all.clear();
    by_launch_.listed.clear();
    by_launch_.later.clear();
  }
  learnt_.clear();
  learnt_by_settled_.clear();
  if (!under_way) known_at_begin_.clear();
  if (!under_way) time_ = 0;
  cleared_ = time_;
}

void GridOrder::publish(const ReleaseClock& done) {
  const std::uint64_t now = time_.fetch_add(1, std::memory_order_relaxed) + 1;
  Part& part = parts_[done.block % kParts];
  std::lock_guard lock(part.mutex);
  const auto [it, fresh] = part.released.try_emplace(done.block, Part::First{now, done});
  if (!fresh) it->second.all.join(done);
  const auto launch = fresh ? launches_.first_block_of(done.block) : std::nullopt;
  if (!launch) return;  // the launch is already listed, or is not remembered
  std::lock_guard launches_lock(by_launch_.mutex);
  if (by_launch_.listed.insert(*launch).second) by_launch_.all.push_back({now, *launch});
}

std::uint32_t GridOrder::lanes_released_by(std::uint64_t until, std::uint32_t block,
                                           std::uint32_t epoch, std::uint32_t warp,
                                           std::uint32_t clock) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until
             ? it->second.all.lanes_before(epoch, warp, clock)
             : 0;
}

bool GridOrder::released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch,
                            std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until &&
         it->second.all.happens_before(epoch, warp, lane, clock);
}

bool GridOrder::later_launch_released_by(std::uint64_t until, std::uint32_t block) const {
  const auto launch = launches_.first_block_of(block);
  if (!launch) return false;
  std::lock_guard lock(by_launch_.mutex);
  LaunchReleases::Later& later = by_launch_.later[*launch];
  for (; later.time > until && later.seen < by_launch_.all.size(); ++later.seen) {
    const LaunchReleases::First& first = by_launch_.all[later.seen];
    if (launches_.are_ordered(block, first.first_block))
      later.time = std::min(later.time, first.time);
  }
  return later.time <= until;
}

bool GridOrder::launch_after_released_by(std::uint64_t until, std::uint32_t lane,
                                         std::uint32_t sequence) const {
  std::lock_guard lock(by_launch_.mutex);
  return std::any_of(
      by_launch_.all.begin(), by_launch_.all.end(), [&](const LaunchReleases::First& first) {
        return first.time <= until && launches_.comes_after(first.first_block, lane, sequence);
      });
}

void GridOrder::learn(const VectorClock& of_others) {
  std::lock_guard lock(learnt_mutex_);
  learnt_[launches_.first_block()].join(of_others, *this);
}

void GridOrder::begin_launch(const Knowledge* given) {
  std::erase_if(known_at_begin_,
                [&](const auto& known) { return !launches_.remembers(known.first); });
  if (given != nullptr) {
    VectorClock& known = known_at_begin_[launches_.first_block()];
    known.join(given->others, *this);
    known.join(given->own, *this);
  }
  if (learnt_.empty() && learnt_by_settled_.empty()) return;
  learnt_by_settled_.keep_remembered(*this);
  VectorClock known = learnt_by_settled_;
  for (auto it = learnt_.begin(); it != learnt_.end();) {
    if (launches_.is_before(it->first)) known.join(it->second, *this);
    if (launches_.remembers(it->first)) {
      ++it;
      continue;
    }
    learnt_by_settled_.join(it->second, *this);
    it = learnt_.erase(it);
  }
  if (!known.empty()) known_at_begin_[launches_.first_block()].join(known, *this);
}

const VectorClock* GridOrder::known_at_begin() const {
  if (known_at_begin_.empty()) return nullptr;
  const auto it = known_at_begin_.find(launches_.first_block());
  return it == known_at_begin_.end() ? nullptr : &it->second;
}

bool GridOrder::released_apart(std::uint64_t until, std::uint32_t block, std::uint32_t warp) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until &&
         it->second.all.clocks->is_apart(warp);
}

}  // namespace lockstep::check
