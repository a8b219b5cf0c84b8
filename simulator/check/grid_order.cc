#include "simulator/check/grid_order.h"

namespace lockstep::check {

void GridOrder::clear(bool under_way) {
  if (kept() != 0) {
    for (Part& part : parts_) part.released.clear();
  }
  if (!under_way) time_ = 0;
  cleared_ = time_;
}

void GridOrder::publish(const ReleaseClock& done) {
  const std::uint64_t now = time_.fetch_add(1, std::memory_order_relaxed) + 1;
  Part& part = parts_[done.block % kParts];
  std::lock_guard lock(part.mutex);
  const auto [it, fresh] = part.released.try_emplace(done.block, Part::First{now, done});
  if (!fresh) it->second.all.join(done);
}

bool GridOrder::released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch,
                            std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until &&
         it->second.all.happens_before(epoch, warp, lane, clock);
}

bool GridOrder::released_apart(std::uint64_t until, std::uint32_t block, std::uint32_t warp) const {
  const Part& part = parts_[block % kParts];
  std::lock_guard lock(part.mutex);
  const auto it = part.released.find(block);
  return it != part.released.end() && it->second.time <= until &&
         it->second.all.clocks.is_apart(warp);
}

}  // namespace lockstep::check
