// What the blocks of launches have published, and the order of the launches. A thread that knows
// many blocks can thereby store a time instead of a list (VectorClock). Thread-safe, except at the
// start of a launch.
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
  // Forgets all publications. `under_way`: some running blocks remember a time, so the time
  // continues.
  void clear(bool under_way);
  // The number of publications since clear().
  std::uint64_t kept() const { return now() - cleared_; }
  LaunchOrder& launches() { return launches_; }
  const LaunchOrder& launches() const { return launches_; }
  // Publishes what a block has done, before it passes this to a thread that may come to know many
  // blocks.
  void publish(const ReleaseClock& done);
  std::uint64_t now() const { return time_.load(std::memory_order_relaxed); }
  // Whether the block had published the access, if it had published anything by `until`.
  bool released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch,
                   std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  // The lanes of `warp` for which that holds.
  std::uint32_t lanes_released_by(std::uint64_t until, std::uint32_t block, std::uint32_t epoch,
                                  std::uint32_t warp, std::uint32_t clock) const;
  // Whether any block had published by `until` whose launch is ordered after the launch of `block`.
  bool later_launch_released_by(std::uint64_t until, std::uint32_t block) const;
  // Whether released_by() may hold for some lanes of the warp and not for others.
  bool released_apart(std::uint64_t until, std::uint32_t block, std::uint32_t warp) const;

  // Whether any block had published by `until` whose launch is ordered after the `sequence`-th
  // operation of a lane.
  bool launch_after_released_by(std::uint64_t until, std::uint32_t lane,
                                std::uint32_t sequence) const;

  // Threads of the present launch have learnt `of_others` of other launches. Later launches that
  // are ordered after the present one know it from their start.
  void learn(const VectorClock& of_others);
  // Starts the present launch. `given`: knowledge passed to it by the thread that launched it;
  // nullptr: none. known_at_begin(): what the launch knew at its start.
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
  // The launches whose blocks have published, each once, with the time of its first publication.
  // `later` caches, for a launch, how many entries of `all` have been examined and the earliest
  // time of a launch ordered after it.
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
