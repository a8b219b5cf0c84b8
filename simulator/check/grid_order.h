// What the blocks of launches have published, so that a thread that knows of many blocks can
// remember a time instead of a list (VectorClock); and the order of the launches. Thread-safe, but
// for the start of a launch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulator/check/knowledge.h"
#include "simulator/check/launch_order.h"

namespace lockstep::check {

class GridOrder {
 public:
  // Forgets all that was published. The time goes on if blocks are under way that remember one.
  void clear(bool under_way);
  // Publications since.
  std::uint64_t kept() const { return now() - cleared_; }
  LaunchOrder& launches() { return launches_; }
  const LaunchOrder& launches() const { return launches_; }
  // A block hands on what it has done to somebody, who may come to know of many blocks.
  void publish(const ReleaseClock& done);
  std::uint64_t now() const { return time_.load(std::memory_order_relaxed); }
  // Whether the block has published the access, if it had published anything by `until`.
  bool released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch,
                   std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  // Whether a block had published anything by `until` of whose launch that of `block` is ordered
  // before.
  bool later_launch_released_by(std::uint64_t until, std::uint32_t block) const;
  // Whether that may hold of some lanes of the warp and not of others.
  bool released_apart(std::uint64_t until, std::uint32_t block, std::uint32_t warp) const;

  // Whether a block had published anything by `until` whose launch is ordered after the
  // `sequence`-th operation of a lane.
  bool launch_after_released_by(std::uint64_t until, std::uint32_t lane,
                                std::uint32_t sequence) const;

  // Threads of the present launch have learnt that of other launches: launches that it is ordered
  // before know it from their begin on.
  void learn(const VectorClock& of_others);
  // The present launch has begun, and somebody has handed this on to it; and what it knew then.
  // nullptr: nothing.
  void begin_launch(const Knowledge* given = nullptr);
  const VectorClock* known_at_begin() const;

 private:
  struct Part {
    mutable std::mutex mutex;
    struct First {
      std::uint64_t time;
      ReleaseClock all;
    };
    std::unordered_map<std::uint32_t, First> released;  // by block
  };
  static constexpr std::size_t kParts = 16;
  // The launches whose blocks have published, each once, with the time of the first publication.
  // Of a launch that was asked for: how many of these have been looked at, and the earliest time of
  // one that is ordered after it.
  struct LaunchReleases {
    struct First {
      std::uint64_t time;
      std::uint32_t first_block;
    };
    struct Later {
      std::size_t seen = 0;
      std::uint64_t time = ~std::uint64_t{0};
    };
    mutable std::mutex mutex;
    std::vector<First> all;
    std::unordered_set<std::uint32_t> listed;                // by the launch's first block
    mutable std::unordered_map<std::uint32_t, Later> later;  // by the launch's first block
  };
  LaunchOrder launches_;
  std::array<Part, kParts> parts_;
  LaunchReleases by_launch_;
  std::atomic<std::uint64_t> time_{0};
  std::uint64_t cleared_ = 0;
  std::mutex learnt_mutex_;
  std::map<std::uint32_t, VectorClock> learnt_, known_at_begin_;  // by the launch's first block
  VectorClock learnt_by_settled_;
};

}  // namespace lockstep::check
