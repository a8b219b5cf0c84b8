// What orders the threads of different blocks: release and acquire patterns over global or distributed shared memory (PTX ISA 8.9), and the
// barrier of a cluster.
//
// A fence of at least cluster scope publishes what its block has done so far, as far as the fencing warp is ordered after it. A strong write that
// follows leaves this at its address; a strong read of the address finds it, and a fence, an acquire or a barrier after the read makes it known.
// A write that releases leaves what had been done before it at its own address, and publishes it to no other.
// Scopes narrower than a cluster publish nothing. Scopes of a cluster, of the GPU and of the system are not told apart here.
//
// What is simplified orders more, never less, so it may miss a race and never makes one up: an address keeps what was ever left there; a block
// that knows of more than kExact others knows of all that has been published until then; a fence of one warp counts for the strong writes of the
// others of its block.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "simulator/check/block_order.h"

namespace lockstep::check {

// The accesses of a block that are published: all of earlier epochs, and of the epoch itself those of each thread before a clock.
struct ReleaseClock {
  std::uint32_t block = 0;
  std::uint32_t epoch = 0;
  ThreadClocks clocks;
  bool happens_before(std::uint32_t at_epoch, std::uint32_t warp, std::uint32_t lane, std::uint32_t at_clock) const {
    return at_epoch < epoch || (at_epoch == epoch && clocks.cover(warp, lane, at_clock));
  }
  void join(const ReleaseClock& other);
};

class GridOrder;

// A set of published accesses of any blocks.
class VectorClock {
 public:
  bool empty() const { return until_ == 0 && exact_.empty(); }
  void clear();
  void join(const VectorClock& other, const GridOrder& order);
  void join(const ReleaseClock& other, const GridOrder& order);
  bool happens_before(const GridOrder& order, std::uint32_t block, std::uint32_t epoch, std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  // Whether some lanes of a warp may be meant where others are not.
  bool is_apart(const GridOrder& order, std::uint32_t block, std::uint32_t warp) const;

 private:
  static constexpr std::size_t kExact = 32;
  void shorten(const GridOrder& order);
  std::vector<ReleaseClock> exact_;
  std::uint64_t until_ = 0;  // everything published up to this time, 0: nothing but exact_
};

// A block's side of it. Used by the host thread that runs the block.
class BlockClock {
 public:
  void start(std::uint32_t block);
  bool empty() const { return known_.empty() && fresh_.empty(); }
  // Whether what `warp` does now is ordered after an access of another block.
  bool happens_before(const GridOrder& order, std::uint32_t warp, std::uint32_t block, std::uint32_t epoch, std::uint32_t at_warp, std::uint32_t at_lane,
                      std::uint32_t clock) const {
    return known_.happens_before(order, block, epoch, at_warp, at_lane, clock) ||
           ((fresh_warps_ >> warp & 1) && fresh_.happens_before(order, block, epoch, at_warp, at_lane, clock));
  }
  // Whether that may hold of some lanes of a warp of another block and not of others.
  bool knows_lanes_apart(const GridOrder& order, std::uint32_t warp, std::uint32_t block, std::uint32_t at_warp) const {
    return known_.is_apart(order, block, at_warp) || ((fresh_warps_ >> warp & 1) && fresh_.is_apart(order, block, at_warp));
  }

  // What a release by `lanes` of a warp tells, after BlockOrder::release; `all` as there. What they found before stays pending.
  ReleaseClock done(const BlockOrder& block, std::uint32_t warp, std::uint32_t lanes, bool all) const;
  // A fence, after BlockOrder::fence: a release at every place, and an acquire of what strong reads have found.
  void fence(const BlockOrder& block, std::uint32_t warp, std::uint32_t lanes, bool all, const GridOrder& order);
  // An acquire of any scope by `warp`: what other warps of its block have acquired may have been handed to it by one of theirs.
  void pass_on(std::uint32_t warp) {
    if (!fresh_.empty()) fresh_warps_ |= 1u << warp;
  }
  // A barrier of the block, of all warps or of some. Whether all warps know more now.
  bool barrier(const GridOrder& order);
  // A strong write of an address that does not release: nothing to leave there when has_released() is false.
  bool has_released() const { return has_released_; }
  // Whether `warp` has found what lies at a place already, by a read that orders as much: a thread that waits reads the same again and again.
  bool has_found(std::uint64_t address, std::uint64_t version, std::uint32_t warp, bool acquires) const {
    const Found& last = last_found_[warp];
    return last.version == version && last.address == address && last.acquires == acquires;
  }
  void remember_found(std::uint64_t address, std::uint64_t version, std::uint32_t warp, bool acquires) { last_found_[warp] = {address, version, acquires}; }
  // A strong read found `at`; `acquires`: the read itself is an acquire.
  void found(const VectorClock& at, std::uint32_t warp, bool acquires, const GridOrder& order);
  // The barrier of a cluster: what another block had done, and what all its warps knew.
  void learn(const ReleaseClock& done, const BlockClock& other, GridOrder& order);
  // The same where it says nothing of what it has done but by its fences.
  void learn_released(const BlockClock& other, const GridOrder& order) {
    if (other.has_released_) known_.join(other.mine_, order);
  }

 private:
  friend class GridOrder;
  ReleaseClock mine_;
  bool has_released_ = false;
  VectorClock known_;  // by every warp
  VectorClock fresh_;  // since the last barrier, by fresh_warps_
  std::uint32_t fresh_warps_ = 0;
  VectorClock pending_;  // found by strong reads that no fence has followed yet
  struct Found {
    std::uint64_t address = 0, version = 0;
    bool acquires = false;
  };
  Found last_found_[32];  // by warp; what has been found is never forgotten before the block ends
};

// What a launch shares. Thread-safe.
class GridOrder {
 public:
  void start();
  // A strong write of `address`, before it happens. `released`: what it releases itself, if it does.
  void leave(std::uint64_t address, const BlockClock& block, const ReleaseClock* released = nullptr);
  // Whether anybody has left anything anywhere: most kernels never do.
  bool used() const { return places_.load(std::memory_order_acquire) != 0; }
  // A strong read, after it happened.
  void find(std::uint64_t address, BlockClock& block, std::uint32_t warp, bool acquires);

  // What a block has told somebody, who may come to know too many blocks to keep it apart.
  void publish(const ReleaseClock& done);
  std::uint64_t now() const { return time_.load(std::memory_order_relaxed); }
  // Whether the block had published the access by now, provided that it had published anything by `until`.
  bool released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch, std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  // Whether that may hold of some lanes of the warp and not of others.
  bool released_apart(std::uint64_t until, std::uint32_t block, std::uint32_t warp) const;

 private:
  struct Place {
    VectorClock left;
    std::uint64_t version = 0;  // how often something was left
  };
  struct Part {
    mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, Place> places;  // by address
    struct First {
      std::uint64_t time;
      ReleaseClock all;
    };
    std::unordered_map<std::uint32_t, First> released;  // by block
  };
  static constexpr std::size_t kParts = 16;
  std::array<Part, kParts> parts_;
  std::atomic<std::uint64_t> time_{0}, places_{0};
};

}  // namespace lockstep::check
