#include "simulator/check/block_order.h"

#include <bit>

#include "simulator/check/grid_order.h"

namespace lockstep::check {
namespace {

template <class Visit>
void each_lane(std::uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

// `k`, and what these lanes of its block did before `clock`.
std::shared_ptr<const Knowledge> with_clock(Knowledge k, std::uint32_t warp, std::uint32_t lanes,
                                            std::uint32_t clock) {
  ThreadClocks own = *k.own.clocks;
  own.raise(warp, lanes, clock);
  k.own.clocks = SharedClocks(std::move(own));
  return std::make_shared<const Knowledge>(std::move(k));
}

}  // namespace

BlockOrder::BlockOrder() : own_grid_(std::make_unique<GridOrder>()) { grid_ = own_grid_.get(); }
BlockOrder::~BlockOrder() = default;

void BlockOrder::start_block(std::uint32_t block, std::uint32_t cluster, GridOrder* grid) {
  block_ = block;
  cluster_ = cluster;
  grid_ = grid != nullptr ? grid : own_grid_.get();
  first_block_ = grid_->launches().first_block();
  blocks_ = grid_->launches().blocks();
  if (touched_) {
    others_.clear();
    for (VectorClock& others : others_of_warp_) others.clear();
    std::fill(apart_, apart_ + 32, 0);
    std::fill(fenced_, fenced_ + 32, 0);
    for (auto& before : fenced_before_) before.reset();
    block_fenced_ = 0;
    knows_others_ = false;
    pending_.clear();
    touched_ = false;
  }
  next_epoch();
  if (const VectorClock* const known = grid_->known_at_begin()) {
    others_ = *known;
    knows_others_ = touched_ = true;
  }
}

void BlockOrder::end_block() {
  if (!touched_ || !grid_->launches().remembers_several()) return;
  hand_on(true);
  const VectorClock others = others_.of_other_launches(*grid_);
  if (!others.empty()) grid_->learn(others);
}

// Passes what the block's threads know of other blocks, and their fences, to the whole block.
bool BlockOrder::hand_on(bool is_fence) {
  bool changed = false;
  if (is_fence && !pending_.empty()) {
    ThreadClocks clocks;
    VectorClock others;
    for (std::uint32_t w = 0; w < 32; ++w) join_pending(w, ~0u, clocks, others);
    changed = !others.empty();
    others_.join(others, *grid_);
    knows_others_ = knows_others_ || changed;
    pending_.clear();
  }
  if (knows_others_) {
    const VectorClock before = others_;
    for (std::uint32_t w = 0; w < 32; ++w) {
      if (!others_of_warp_.empty() && !others_of_warp_[w].empty()) {
        others_.join(others_of_warp_[w], *grid_);
        others_of_warp_[w].clear();
      }
      each_lane(apart_[w], [&](std::uint32_t l) { others_.join((*lanes_[w])[l].others, *grid_); });
    }
    changed = changed || !(before == others_);
  }
  for (std::uint32_t w = 0; w < 32; ++w) {
    if (fenced_[w] == 0) continue;
    join_fences(w, fenced_[w], fenced_before_);
    fenced_[w] = 0;
  }
  block_fenced_ = 0;
  for (const auto& before : fenced_before_) block_fenced_ += before != nullptr;
  as_group_.clear();
  return changed;
}

bool BlockOrder::next_epoch(bool is_fence) {
  const bool changed = touched_ && hand_on(is_fence);
  ++epoch_number_;
  std::fill(clock_, clock_ + 32, 0);
  std::fill(all_lanes_, all_lanes_ + 32, 0);
  std::fill(as_one_, as_one_ + 32, 0);
  if (partial_) {
    for (ThreadClocks& known : known_) known.clear();
    for (Barrier& barrier : barrier_) barrier = {};
    std::fill(apart_, apart_ + 32, 0);
    partial_ = false;
  }
  if (lanes_used_) {
    std::fill(lane_clock_.begin(), lane_clock_.end(), 0);
    lanes_used_ = false;
  }
  return changed;
}

void BlockOrder::use_partial() {
  if (known_.empty()) known_.resize(32), barrier_.resize(16);
  partial_ = true;
}

BlockOrder::Lane& BlockOrder::lane(std::uint32_t thread) {
  const std::uint32_t w = thread >> 5, l = thread & 31;
  if (!lanes_[w]) lanes_[w] = std::make_unique<std::array<Lane, 32>>();
  Lane& mine = (*lanes_[w])[l];
  if (!(apart_[w] >> l & 1)) mine = {};
  apart_[w] |= 1u << l;
  return mine;
}

VectorClock& BlockOrder::others_of_warp(std::uint32_t warp) {
  if (others_of_warp_.empty()) others_of_warp_.resize(32);
  return others_of_warp_[warp];
}

bool BlockOrder::known_to_lane(std::uint32_t other, std::uint32_t clock,
                               std::uint32_t thread) const {
  return (*lanes_[thread >> 5])[thread & 31].clocks.cover(other >> 5, other & 31, clock);
}

bool BlockOrder::knows(std::uint32_t thread, std::uint32_t block, std::uint32_t epoch,
                       std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  const std::uint32_t w = thread >> 5, l = thread & 31;
  const auto in = [&](const VectorClock& of) {
    return !of.empty() && of.happens_before(*grid_, block, epoch, warp, lane, clock);
  };
  return in(others_) || (!others_of_warp_.empty() && in(others_of_warp_[w])) ||
         ((apart_[w] >> l & 1) && in((*lanes_[w])[l].others));
}

std::uint32_t BlockOrder::known_lanes(std::uint32_t thread, std::uint32_t block,
                                      std::uint32_t epoch, std::uint32_t warp,
                                      std::uint32_t clock) const {
  const std::uint32_t w = thread >> 5, l = thread & 31;
  const auto in = [&](const VectorClock& of) {
    return of.empty() ? 0 : of.lanes_before(*grid_, block, epoch, warp, clock);
  };
  std::uint32_t lanes = in(others_);
  if (!others_of_warp_.empty()) lanes |= in(others_of_warp_[w]);
  if (apart_[w] >> l & 1) lanes |= in((*lanes_[w])[l].others);
  return lanes;
}

std::uint32_t BlockOrder::ordered_lanes(std::uint32_t warp, std::uint32_t clock,
                                        std::uint32_t thread) const {
  const std::uint32_t w = thread >> 5, l = thread & 31;
  if (clock == kClockMax || (warp == w && all_lanes_[w] > clock)) return ~0u;
  std::uint32_t lanes = 0;
  if (warp == w && lanes_used_) {
    const std::uint32_t* const of_lane = lane_clock_.data() + (w * 32 + l) * 32;
    for (std::uint32_t other = 0; other < 32; ++other)
      lanes |= std::uint32_t{of_lane[other] > clock} << other;
  }
  if (!partial_) return lanes;
  lanes |= known_[w].covered(warp, clock);
  if (apart_[w] >> l & 1) lanes |= (*lanes_[w])[l].clocks.covered(warp, clock);
  if (knows_others_ && lanes != ~0u)
    lanes |= known_lanes(thread, block_, epoch_number_, warp, clock);
  return lanes;
}

bool BlockOrder::knows_all_of(std::uint32_t thread, const ReleaseClock& done) const {
  if (!knows_others_ || done.block == block_) return false;
  const std::uint32_t w = thread >> 5, l = thread & 31;
  return others_.includes(done) ||
         (!others_of_warp_.empty() && others_of_warp_[w].includes(done)) ||
         ((apart_[w] >> l & 1) && (*lanes_[w])[l].others.includes(done));
}

bool BlockOrder::ordered_after_launch(std::uint32_t thread, std::uint32_t block) const {
  if (!knows_others_) return false;
  const std::uint32_t w = thread >> 5, l = thread & 31;
  return others_.knows_a_later_launch(*grid_, block) ||
         (!others_of_warp_.empty() && others_of_warp_[w].knows_a_later_launch(*grid_, block)) ||
         ((apart_[w] >> l & 1) && (*lanes_[w])[l].others.knows_a_later_launch(*grid_, block));
}

bool BlockOrder::ordered_after_operation(std::uint32_t thread, std::uint32_t lane,
                                         std::uint32_t sequence) const {
  if (!knows_others_) return false;
  const std::uint32_t w = thread >> 5, l = thread & 31;
  const auto in = [&](const VectorClock& of) {
    return of.knows_a_launch_after(*grid_, lane, sequence);
  };
  return in(others_) || (!others_of_warp_.empty() && in(others_of_warp_[w])) ||
         ((apart_[w] >> l & 1) && in((*lanes_[w])[l].others));
}

bool BlockOrder::knows_lanes_apart(std::uint32_t w, std::uint32_t block, std::uint32_t v) const {
  if (apart_[w] != 0) return true;
  if (block == block_ && partial_ && known_[w].is_apart(v)) return true;
  return knows_others_ &&
         (others_.is_apart(*grid_, block, v) ||
          (!others_of_warp_.empty() && others_of_warp_[w].is_apart(*grid_, block, v)));
}

void BlockOrder::join_lanes(std::uint32_t warp, std::uint32_t lanes, ThreadClocks& clocks,
                            VectorClock& others) const {
  each_lane(apart_[warp] & lanes, [&](std::uint32_t l) {
    clocks.join((*lanes_[warp])[l].clocks);
    if (knows_others_) others.join((*lanes_[warp])[l].others, *grid_);
  });
}

void BlockOrder::put_lanes_together(std::uint32_t warp, std::uint32_t lanes) {
  if ((lanes & ~apart_[warp]) != 0) return;
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes));
  bool same = true;
  each_lane(lanes,
            [&](std::uint32_t l) { same = same && (*lanes_[warp])[l] == (*lanes_[warp])[first]; });
  if (!same) return;
  const Lane& mine = (*lanes_[warp])[first];
  known_[warp].join(mine.clocks);
  if (!mine.others.empty()) others_of_warp(warp).join(mine.others, *grid_);
  apart_[warp] = 0;
}

void BlockOrder::warp_sync(std::uint32_t warp, std::uint32_t lanes, bool all) {
  tick(warp);
  const std::uint32_t now = clock_[warp];
  if ((fenced_[warp] & lanes) != 0) {
    std::shared_ptr<const Knowledge> fenced[kScopes];
    join_fences(warp, fenced_[warp] & lanes, fenced);
    set_fences(warp, lanes, fenced);
  }
  if ((apart_[warp] & lanes) != 0) {
    ThreadClocks clocks;
    VectorClock others;
    join_lanes(warp, lanes, clocks, others);
    if (all) {
      known_[warp].join(clocks);
      if (!others.empty()) others_of_warp(warp).join(others, *grid_);
      apart_[warp] = 0;
    } else {
      each_lane(lanes, [&](std::uint32_t l) {
        Lane& mine = lane(warp * 32 + l);
        mine.clocks.join(clocks);
        mine.others.join(others, *grid_);
      });
    }
  }
  if (all) {
    all_lanes_[warp] = now;
    return;
  }
  if (lane_clock_.empty()) lane_clock_.assign(32 * 32 * 32, 0);
  lanes_used_ = true;
  std::uint32_t joint[32] = {};
  std::uint32_t* table = &lane_clock_[warp * 32 * 32];
  each_lane(lanes, [&](std::uint32_t l) {
    for (int k = 0; k < 32; ++k) joint[k] = std::max(joint[k], table[l * 32 + k]);
    joint[l] = now;
  });
  each_lane(lanes, [&](std::uint32_t l) { std::copy(joint, joint + 32, table + l * 32); });
}

void BlockOrder::arrive(std::uint32_t warp, int barrier, std::uint32_t lanes, bool all) {
  use_partial();
  tick(warp);
  Barrier& b = barrier_[barrier];
  b.clocks.join(clocks_known_to(warp, lanes, all));
  join_lanes(warp, lanes, b.clocks, b.others);
  if (knows_others_ && !others_of_warp_.empty()) b.others.join(others_of_warp_[warp], *grid_);
  if ((fenced_[warp] & lanes) != 0) join_fences(warp, fenced_[warp] & lanes, b.fenced);
  if (!pending_.empty()) join_pending(warp, lanes, b.clocks, b.others);
}

void BlockOrder::join_pending(std::uint32_t warp, std::uint32_t lanes, ThreadClocks& clocks,
                              VectorClock& others) const {
  for (const Pending& p : pending_) {
    if (p.thread >> 5 != warp || !(lanes >> (p.thread & 31) & 1)) continue;
    for (const Message& m : p.found) {
      if (!reached(m, Scope::kGrid)) continue;
      if (m.what->own.block != block_) {
        others.join(m.what->own, *grid_);
      } else if (m.what->own.epoch == epoch_number_) {
        clocks.join(*m.what->own.clocks);
      }
      others.join(m.what->others, *grid_);
    }
  }
}

bool BlockOrder::complete(int barrier, std::uint32_t waiting) {
  use_partial();
  Barrier& b = barrier_[barrier];
  bool knows_more = false;
  each_lane(waiting, [&](std::uint32_t w) {
    all_lanes_[w] = clock_[w];  // the warp has done nothing since it arrived
    known_[w].join(b.clocks);
    if (!b.others.empty()) {
      const VectorClock before = others_of_warp(w);
      others_of_warp(w).join(b.others, *grid_);
      knows_more = knows_more || !(before == others_of_warp(w));
    }
    knows_others_ = knows_others_ || !b.others.empty();
    apart_[w] = 0;
    if (std::any_of(b.fenced, b.fenced + kScopes, [](const auto& f) { return f != nullptr; }))
      set_fences(w, ~0u, b.fenced);
  });
  b = {};
  return knows_more;
}

ThreadClocks BlockOrder::clocks_known_to(std::uint32_t w, std::uint32_t lanes, bool all) const {
  ThreadClocks known;
  if (partial_) known = known_[w];
  if (!as_group_.empty()) known.join(as_group_[w]);
  each_lane(apart_[w] & lanes, [&](std::uint32_t l) { known.join((*lanes_[w])[l].clocks); });
  if (all) {
    known.raise(w, clock_[w]);
    return known;
  }
  known.raise(w, std::max(all_lanes_[w], std::min(as_one_[w], clock_[w])));
  known.raise(w, lanes, clock_[w]);
  if (lanes_used_) {
    each_lane(lanes, [&](std::uint32_t l) {
      for (std::uint32_t k = 0; k < 32; ++k)
        known.raise(w, 1u << k, lane_clock_[(w * 32 + l) * 32 + k]);
    });
  }
  return known;
}

Knowledge BlockOrder::known_to(std::uint32_t w, std::uint32_t lanes, ThreadClocks own) const {
  Knowledge k;
  k.own = {block_, epoch_number_, SharedClocks(std::move(own))};
  if (!knows_others_) return k;
  k.others = others_;
  if (!others_of_warp_.empty()) k.others.join(others_of_warp_[w], *grid_);
  each_lane(apart_[w] & lanes,
            [&](std::uint32_t l) { k.others.join((*lanes_[w])[l].others, *grid_); });
  return k;
}

void BlockOrder::join_into(std::shared_ptr<const Knowledge>& all,
                           std::shared_ptr<const Knowledge> k) const {
  if (all == nullptr) {
    all = std::move(k);
    return;
  }
  Knowledge joined = *all;
  joined.join(*k, *grid_);
  all = std::make_shared<const Knowledge>(std::move(joined));
}

void BlockOrder::join_fences(std::uint32_t warp, std::uint32_t lanes,
                             std::shared_ptr<const Knowledge> (&all)[kScopes]) const {
  for (int s = 0; s < kScopes; ++s) {
    // Lanes that fenced together share one `what` and one clock.
    for (std::uint32_t left = lanes; left != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
      const Fence& fence = fences_[warp]->of[first][s];
      std::uint32_t alike = 0;
      each_lane(left, [&](std::uint32_t l) {
        const Fence& other = fences_[warp]->of[l][s];
        alike |= std::uint32_t{other.what == fence.what && other.clock == fence.clock} << l;
      });
      left &= ~alike;
      if (fence.what == nullptr) continue;
      if (fence.what->own.epoch != epoch_number_ || fence.clock == 0) {
        join_into(all[s], fence.what);
        continue;
      }
      join_into(all[s], with_clock(*fence.what, warp, alike, fence.clock));
    }
  }
}

void BlockOrder::set_fences(std::uint32_t warp, std::uint32_t lanes,
                            const std::shared_ptr<const Knowledge> (&all)[kScopes]) {
  if (!fences_[warp]) fences_[warp] = std::make_unique<Fences>();
  each_lane(lanes, [&](std::uint32_t l) {
    for (int s = 0; s < kScopes; ++s) {
      Fence& f = fences_[warp]->of[l][s];
      if (!(fenced_[warp] >> l & 1)) f = {};
      if (all[s] != nullptr) f = {all[s], 0};
    }
  });
  fenced_[warp] |= lanes;
  touched_ = true;
}

void BlockOrder::acquire_fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope) {
  if (!pending_.empty()) {
    std::erase_if(pending_, [&](const Pending& p) {
      if (p.thread >> 5 != warp || !(lanes >> (p.thread & 31) & 1)) return false;
      return acquire(p.thread, p.found, scope);
    });
    if (all) put_together(warp, lanes);
  }
}

void BlockOrder::release_fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope) {
  use_partial();
  touched_ = true;
  tick(warp);
  const bool apart = !all && (lanes_used_ || (apart_[warp] & lanes) != 0);
  std::shared_ptr<const Knowledge> what;
  if (!apart) what = std::make_shared<const Knowledge>(known_to(warp, all ? lanes : 0, false));
  if (!fences_[warp]) fences_[warp] = std::make_unique<Fences>();
  each_lane(lanes, [&](std::uint32_t l) {
    if (!(fenced_[warp] >> l & 1)) {
      for (Fence& f : fences_[warp]->of[l]) f = {};
    }
    fences_[warp]->of[l][static_cast<int>(scope)] = {
        apart ? std::make_shared<const Knowledge>(known_to(warp, 1u << l, false)) : what,
        all ? 0 : clock_[warp]};
  });
  fenced_[warp] |= lanes;
  if (scope != Scope::kBlock)
    grid_->publish({block_, epoch_number_, SharedClocks(clocks_known_to(warp, lanes, all))});
}

Message BlockOrder::message_of(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope) {
  released_ |= 1u << warp;
  ThreadClocks own = clocks_known_to(warp, lanes, all);
  own.raise(warp, lanes, std::min(clock_[warp] + 1, kClockMax));
  own.raise(warp, std::min(as_one_[warp], clock_[warp] + 1));
  Knowledge k = known_to(warp, lanes, std::move(own));
  if (scope != Scope::kBlock) grid_->publish(k.own);
  return {block_, scope, std::make_shared<const Knowledge>(std::move(k))};
}

void BlockOrder::leave(std::uint32_t thread, Messages& at) {
  const std::uint32_t w = thread >> 5, l = thread & 31;
  if (fenced_[w] >> l & 1) {
    for (int s = 0; s < kScopes; ++s) {
      Fence& f = fences_[w]->of[l][s];
      if (f.what == nullptr) continue;
      if (f.clock != 0 && f.what->own.epoch == epoch_number_ &&
          !f.what->own.clocks->cover(w, l, f.clock - 1)) {
        f.what = with_clock(*f.what, w, 1u << l, f.clock);
      }
      at.add({block_, static_cast<Scope>(s), f.what}, *grid_);
    }
  }
  if (block_fenced_ != 0) {
    for (int s = 0; s < kScopes; ++s) {
      if (fenced_before_[s] != nullptr)
        at.add({block_, static_cast<Scope>(s), fenced_before_[s]}, *grid_);
    }
  }
}

bool BlockOrder::reached(const Message& m, Scope scope) const {
  return m.block == Messages::kManyBlocks ||
         (reaches(m.scope, m.block, block_, cluster_) && reaches(scope, block_, m.block, cluster_));
}

bool BlockOrder::acquire(std::uint32_t thread, const Messages& found, Scope scope) {
  bool all = true;
  for (const Message& m : found) {
    if (reached(m, scope)) {
      learn(thread, *m.what);
    } else {
      all = false;
    }
  }
  return all;
}

void BlockOrder::acquire(std::uint32_t warp, std::uint32_t lanes, bool all, const Messages& found,
                         Scope scope) {
  for (const Message& m : found) {
    if (reached(m, scope)) learn(warp, lanes, all, *m.what);
  }
}

void BlockOrder::learn(std::uint32_t warp, std::uint32_t lanes, bool all, const Knowledge& what) {
  if (!all) {
    each_lane(lanes, [&](std::uint32_t l) { learn(warp * 32 + l, what); });
    return;
  }
  use_partial();
  if (what.own.block == block_) {
    if (what.own.epoch == epoch_number_) known_[warp].join(*what.own.clocks);
  } else {
    others_of_warp(warp).join(what.own, *grid_);
  }
  if (!what.others.empty()) others_of_warp(warp).join(what.others, *grid_);
  knows_others_ = knows_others_ || (!others_of_warp_.empty() && !others_of_warp_[warp].empty());
  touched_ = true;
}

void BlockOrder::learn(std::uint32_t thread, const Knowledge& what) {
  use_partial();
  const bool here = what.own.block == block_, current = here && what.own.epoch == epoch_number_;
  if (here && !current && what.others.empty()) return;
  // Who knows of all that a thread did before a release also knows what the thread knew then.
  if (is_of_launch(what.own.block) && knows_all_of(thread, what.own)) return;
  Lane& mine = lane(thread);
  if (current) mine.clocks.join(*what.own.clocks);
  if (!here) mine.others.join(what.own, *grid_);
  mine.others.join(what.others, *grid_);
  knows_others_ = knows_others_ || !mine.others.empty();
  touched_ = true;
}

void BlockOrder::learn(const Knowledge& what) {
  use_partial();
  if (what.own.block == block_) {
    if (what.own.epoch == epoch_number_) {
      for (ThreadClocks& known : known_) known.join(*what.own.clocks);
    }
  } else {
    others_.join(what.own, *grid_);
  }
  others_.join(what.others, *grid_);
  knows_others_ = knows_others_ || !others_.empty();
  touched_ = true;
}

void BlockOrder::accessed_as_group(std::uint32_t warp, std::uint32_t other) {
  touched_ = true;
  if (as_group_.empty()) as_group_.resize(32);
  tick(other);
  as_group_[warp].raise(other, clock_[other]);
}

void BlockOrder::publish(const ReleaseClock& done) const { grid_->publish(done); }

void BlockOrder::remember(std::uint32_t thread, std::uint64_t location, std::uint64_t version,
                          const Messages& found) {
  for (Pending& p : pending_) {
    if (p.thread != thread || p.location != location) continue;
    if (p.version == version) return;
    p.version = version;
    p.found.add(found, *grid_);
    return;
  }
  if (pending_.size() == kMostPending) {
    // The list is full. The oldest entry counts as acquired: a race may be missed, none is
    // invented.
    acquire(pending_.front().thread, pending_.front().found, Scope::kGrid);
    pending_.erase(pending_.begin());
  }
  touched_ = true;
  pending_.push_back({thread, location, version, found});
}

void BlockOrder::acquire_remembered(std::uint32_t thread, std::uint64_t location, Scope scope) {
  for (const Pending& p : pending_) {
    if (p.thread == thread && p.location == location) acquire(thread, p.found, scope);
  }
}

}  // namespace lockstep::check
