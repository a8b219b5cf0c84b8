#include "simulator/check/knowledge.h"

#include <algorithm>

#include "simulator/check/grid_order.h"

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
  listed_ = 0;
  until_ = 0;
}

void VectorClock::shorten(const GridOrder& order) {
  if (exact_.size() <= kExact) return;
  until_ = order.now();
  exact_.clear();
  listed_ = 0;
}

template <class Forgotten>
void VectorClock::forget(Forgotten forgotten) {
  std::erase_if(exact_, forgotten);
  listed_ = 0;
  for (const ReleaseClock& p : exact_) listed_ |= bit_of(p.block);
}

void VectorClock::join(const ReleaseClock& other, const GridOrder& order) {
  if (ReleaseClock* const same = const_cast<ReleaseClock*>(find(other.block))) {
    same->join(other);
  } else {
    exact_.push_back(other);
    listed_ |= bit_of(other.block);
    shorten(order);
  }
}

void VectorClock::join(const VectorClock& other, const GridOrder& order) {
  until_ = std::max(until_, other.until_);
  for (std::size_t i = 0; i < other.exact_.size(); ++i) {
    const ReleaseClock& p = other.exact_[i];
    // A list that was copied has the same blocks at the same places.
    if (i < exact_.size() && exact_[i].block == p.block) {
      exact_[i].join(p);
    } else {
      join(p, order);
    }
  }
}

bool VectorClock::happens_before(const GridOrder& order, std::uint32_t block, std::uint32_t epoch,
                                 std::uint32_t warp, std::uint32_t lane,
                                 std::uint32_t clock) const {
  const ReleaseClock* const known = find(block);
  if (known != nullptr && known->happens_before(epoch, warp, lane, clock)) return true;
  return until_ != 0 && order.released_by(until_, block, epoch, warp, lane, clock);
}

std::uint32_t VectorClock::lanes_before(const GridOrder& order, std::uint32_t block,
                                        std::uint32_t epoch, std::uint32_t warp,
                                        std::uint32_t clock) const {
  const ReleaseClock* const known = find(block);
  const std::uint32_t lanes = known == nullptr ? 0 : known->lanes_before(epoch, warp, clock);
  if (until_ == 0 || lanes == ~0u) return lanes;
  return lanes | order.lanes_released_by(until_, block, epoch, warp, clock);
}

bool VectorClock::knows_a_later_launch(const GridOrder& order, std::uint32_t block) const {
  for (const ReleaseClock& p : exact_) {
    if (order.launches().are_ordered(block, p.block)) return true;
  }
  return until_ != 0 && order.later_launch_released_by(until_, block);
}

bool VectorClock::knows_a_launch_after(const GridOrder& order, std::uint32_t lane,
                                       std::uint32_t sequence) const {
  for (const ReleaseClock& p : exact_) {
    if (order.launches().comes_after(p.block, lane, sequence)) return true;
  }
  return until_ != 0 && order.launch_after_released_by(until_, lane, sequence);
}

VectorClock VectorClock::of_other_launches(const GridOrder& order) const {
  VectorClock others = *this;
  others.forget([&](const ReleaseClock& p) { return order.launches().is_of_present(p.block); });
  return others;
}

void VectorClock::keep_remembered(const GridOrder& order) {
  forget([&](const ReleaseClock& p) { return !order.launches().remembers(p.block); });
}

bool VectorClock::is_apart(const GridOrder& order, std::uint32_t block, std::uint32_t warp) const {
  const ReleaseClock* const known = find(block);
  if (known != nullptr && known->clocks->is_apart(warp)) return true;
  return until_ != 0 && order.released_apart(until_, block, warp);
}

void Knowledge::join(const Knowledge& other, const GridOrder& order) {
  if (own.block == other.own.block) {
    own.join(other.own);
  } else {
    others.join(other.own, order);
  }
  others.join(other.others, order);
}

namespace {

// Whether `later` holds all of `earlier`: both are of one block, and a barrier of it lies between
// them, at which all its threads have learnt what any of them knew.
bool is_after(const Knowledge& later, const Knowledge& earlier) {
  return later.own.block == earlier.own.block && later.own.epoch > earlier.own.epoch;
}

}  // namespace

void Messages::add(const Message& m, const GridOrder& order) {
  const auto joined = [&](const Message& a, std::uint32_t block) {
    Knowledge all = *a.what;
    all.join(*m.what, order);
    return Message{block, a.scope, std::make_shared<const Knowledge>(std::move(all)), m.what};
  };
  Message* many = nullptr;
  for (Message& a : all_) {
    if (a.scope != m.scope) continue;
    if (a.what == m.what || a.joined == m.what) return;
    if (a.block == m.block) {
      if (is_after(*m.what, *a.what)) {
        // The latest is the last, since it often holds what the others do.
        all_.erase(all_.begin() + (&a - all_.data()));
        all_.push_back(m);
      } else {
        a = joined(a, a.block);
      }
      return;
    }
    if (a.block == kManyBlocks) many = &a;
  }
  if (many != nullptr) {
    *many = joined(*many, kManyBlocks);
    return;
  }
  all_.push_back(m);
  if (all_.size() <= kMost) return;
  // Those of the scope that has most of them become one.
  Messages fewer;
  for (const Message& a : all_) {
    const auto same = std::find_if(fewer.all_.begin(), fewer.all_.end(),
                                   [&](const Message& f) { return f.scope == a.scope; });
    if (same == fewer.all_.end()) {
      fewer.all_.push_back({kManyBlocks, a.scope, a.what});
      continue;
    }
    Knowledge all = *same->what;
    all.join(*a.what, order);
    same->what = std::make_shared<const Knowledge>(std::move(all));
  }
  *this = std::move(fewer);
}

void Messages::add(const Messages& other, const GridOrder& order) {
  for (const Message& m : other.all_) add(m, order);
}

}  // namespace lockstep::check
