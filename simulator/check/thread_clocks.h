// A logical clock for every thread of a block within one epoch (block_order.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace lockstep::check {

// Maps each thread of a block to a clock of its warp: accesses that the thread made before that
// clock are covered. Lanes of a warp usually share one clock. Warps whose lanes differ are stored
// lane by lane.
class ThreadClocks {
 public:
  static constexpr std::uint32_t kMax = 2047;

  // Whether an access of `lane` of `warp` at `clock` is covered. A clock that has reached kMax
  // always is.
  bool cover(std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
    return clock < warp_[warp] || clock >= kMax ||
           (!apart_.empty() && cover_apart(warp, lane, clock));
  }
  // The lanes of `warp` for which that holds.
  std::uint32_t covered(std::uint32_t warp, std::uint32_t clock) const {
    if (clock < warp_[warp] || clock >= kMax) return ~0u;
    return apart_.empty() ? 0 : covered_apart(warp, clock);
  }
  // Whether the lanes of `warp` have different clocks.
  bool is_apart(std::uint32_t warp) const {
    return std::any_of(apart_.begin(), apart_.end(),
                       [&](const Apart& a) { return a.warp == warp; });
  }
  // Whether all that `other` covers is covered. Never, once a clock of `other` has run out.
  bool includes(const ThreadClocks& other) const;
  void clear();
  // Sets each thread's clock to the later of both.
  void join(const ThreadClocks& other);
  // Raises the clocks of all lanes of `warp`, or of `lanes`, to at least `clock`.
  void raise(std::uint32_t warp, std::uint32_t clock);
  void raise(std::uint32_t warp, std::uint32_t lanes, std::uint32_t clock);
  bool operator==(const ThreadClocks&) const = default;

 private:
  struct Apart {
    std::uint32_t warp = 0;
    std::uint16_t clock[32] = {};  // by lane; ignored if earlier than the warp's clock
    bool operator==(const Apart&) const = default;
  };
  bool cover_apart(std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  std::uint32_t covered_apart(std::uint32_t warp, std::uint32_t clock) const;
  Apart& apart(std::uint32_t warp);
  // Removes the lists of warps whose lanes have the same clock again.
  void put_together();

  std::uint16_t warp_[32] = {};
  std::vector<Apart> apart_;
};

// Clocks that do not change any more. Copies share them: what one thread released is stored once,
// however many threads know of it.
class SharedClocks {
 public:
  SharedClocks() = default;  // covers nothing
  explicit SharedClocks(ThreadClocks clocks)
      : clocks_(std::make_shared<const ThreadClocks>(std::move(clocks))) {}
  const ThreadClocks& operator*() const { return clocks_ != nullptr ? *clocks_ : none(); }
  const ThreadClocks* operator->() const { return &**this; }
  // As ThreadClocks::join(). Takes over the other clocks if they cover all that these do.
  void join(const SharedClocks& other);
  bool operator==(const SharedClocks& other) const {
    return clocks_ == other.clocks_ || **this == *other;
  }

 private:
  static const ThreadClocks& none();
  std::shared_ptr<const ThreadClocks> clocks_;
};

}  // namespace lockstep::check
