// Which earlier launches are ordered before the present launch, and the blocks of each launch.
//
// The caller orders launches by vector clocks over lanes. A lane is a sequence of operations that
// are ordered one after another. Block numbers continue from launch to launch as long as a launch
// is remembered, so a block's number identifies its launch. Record numbers do so, too
// (global_races.h).
//
// Several launches may be under way. The present one runs. The others are suspended (suspend,
// resume) and identified by their first block.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "simulator/check/descent.h"

namespace lockstep::check {

// What a launch may learn from the host: the host waits for operations and then writes to memory
// that the launch reads. The values read are not examined here. Every strong read of such memory
// counts as an observation. So a race may be missed, but none is invented.
class Hearing {
 public:
  // Call when the launch starts or continues: the host has waited for these operations by now.
  void host_knows(std::span<const std::uint32_t> host) {
    if (has_heard()) learnt_ = host_;
    heard_.store(false, std::memory_order_relaxed);
    host_.assign(host.begin(), host.end());
  }
  // Call when a thread has read, by a strong read, memory that the host may have written.
  // Thread-safe.
  void hear() { heard_.store(true, std::memory_order_relaxed); }
  // Whether hear() was called since the last host_knows().
  bool has_heard() const { return heard_.load(std::memory_order_relaxed); }
  // Whether the launch has learnt of the `sequence`-th operation of a lane.
  bool covers(std::uint32_t lane, std::uint32_t sequence) const {
    return (lane < learnt_.size() && learnt_[lane] >= sequence) ||
           (has_heard() && lane < host_.size() && host_[lane] >= sequence);
  }

 private:
  std::vector<std::uint32_t> learnt_, host_;  // by lane
  std::atomic<bool> heard_{false};
};

class LaunchOrder {
 public:
  // The place of a launch in the order. Sequences count from 1. Sequence 0: the launch is ordered
  // after all launches before it, and before all after it.
  struct Place {
    std::uint32_t lane = 0, sequence = 0;
    std::span<const std::uint32_t> before;  // by lane: the last operation ordered before the launch
    std::span<const std::uint32_t>
        settled;  // by lane: the last operation ordered before all launches to come
    // Launches to come may be unordered with launches before this one.
    bool several_lanes = false;
    std::shared_ptr<const Hearing> hearing;  // nullptr: the launch learns nothing from the host
    // The family number, shared by the grids that descend from one launch of the host; 0: the
    // launch has no descendants. These grids share lane and sequence, and only `descent` orders
    // them. nullptr: the host's launch itself.
    std::uint64_t family = 0;
    std::shared_ptr<const Descent> descent;
  };

  // suspend() sets the present launch aside. resume() continues a suspended launch. end() forgets a
  // suspended launch that has ended.
  void suspend();
  void resume(std::uint32_t first_block);
  void end(std::uint32_t first_block);
  bool any_suspended() const { return !aside_.empty(); }

  // Forgets launches that are ordered before all to come and before all suspended ones.
  void settle(const Place& place);
  // Whether any launch is remembered.
  bool remembers() const { return !launches_.empty(); }
  // Forgets all launches but the suspended ones, whose records are numbered from `first_record` on
  // from now on. missed() returns true once a launch starts, or continues, that a forgotten launch
  // is not ordered before.
  void forget(std::uint32_t first_record);
  // Starts a launch of `blocks` blocks in clusters of `cluster`. `blocks` 0: it owns all block
  // numbers from here on. Its records are numbered from `first_record` on.
  void begin(const Place& place, std::uint64_t blocks, std::uint32_t cluster,
             std::uint32_t first_record);

  // first_block(), blocks() and is_of_present() are about the present launch.
  std::uint32_t first_block() const { return present_.first_block; }
  std::uint32_t blocks() const { return present_.blocks; }
  bool is_of_present(std::uint32_t block) const {
    return block - present_.first_block < present_.blocks;
  }
  // Records count from this number on: the first record of the present launch or, with several
  // lanes, of the first remembered launch. Records of a launch that is ordered before the present
  // one stay in the cells: a later launch may be unordered with it.
  std::uint32_t first_counted_record() const { return present_.first_counted; }
  // The first block of the first launch that is remembered.
  std::uint32_t first_remembered() const {
    return launches_.empty() ? first_block() : launches_.front().first_block;
  }
  // Whether the launch of `block` is ordered before the present one. `block` must not be of the
  // present launch.
  bool is_before(std::uint32_t block) const;
  bool missed() const { return present_.missed; }
  // Whether two blocks are of one launch.
  bool of_one_launch(std::uint32_t a, std::uint32_t b) const { return find(a) == find(b); }
  // The first block of the launch of a block, if that launch is remembered.
  std::optional<std::uint32_t> first_block_of(std::uint32_t block) const {
    const Launch* const launch = find(block);
    return launch == nullptr ? std::nullopt : std::optional(launch->first_block);
  }
  // remembers(): whether the launch of a block is remembered. remembers_several(): whether more
  // than one launch is.
  bool remembers(std::uint32_t block) const { return find(block) != nullptr; }
  bool remembers_several() const { return launches_.size() > 1; }
  // Whether the launch of `earlier` is ordered before the launch of `block`. They are two launches,
  // and both must be remembered.
  bool are_ordered(std::uint32_t earlier, std::uint32_t block) const;
  // Whether the launch of `block`, if it is remembered, is ordered after the `sequence`-th
  // operation of a lane.
  bool comes_after(std::uint32_t block, std::uint32_t lane, std::uint32_t sequence) const;

  // The first record of the first remembered launch that is not in `before`; kNone if there is
  // none.
  static constexpr std::uint32_t kNone = ~0u;
  std::uint32_t first_unordered_in(std::span<const std::uint32_t> before) const;
  // Whether the launch of `block` belongs to the family of the present launch (Place).
  bool is_of_family(std::uint32_t block) const;
  // Whether `before` covers the launch of `block`.
  bool is_among(std::span<const std::uint32_t> before, std::uint32_t block) const;

  // The most launches that are remembered.
  static constexpr std::size_t kMost = 1u << 14;
  bool is_full() const { return launches_.size() >= kMost || end_of_blocks_ >= 1u << 31; }

 private:
  struct Present {
    std::vector<std::uint32_t> before;
    std::shared_ptr<const Hearing> hearing;
    std::uint64_t family = 0;
    std::shared_ptr<const Descent> descent;
    bool alone = true;  // ordered after all other launches
    bool missed = false;
    std::uint32_t first_block = 0, blocks = ~0u, first_counted = 1;
  };
  struct Launch {
    std::uint32_t first_block, blocks, first_record, lane, sequence;
    std::vector<std::uint32_t> before;  // with several lanes
    std::shared_ptr<const Hearing> hearing;
    std::uint64_t family;
    std::shared_ptr<const Descent> descent;
    bool comes_after(std::uint32_t of_lane, std::uint32_t number) const {
      return at(before, of_lane) >= number || (hearing && hearing->covers(of_lane, number));
    }
    bool comes_after(const Launch& earlier) const {
      return family != 0 && family == earlier.family
                 ? Descent::is_before(earlier.descent.get(), descent.get())
                 : comes_after(earlier.lane, earlier.sequence);
    }
  };
  struct Step {
    std::uint32_t sequence, first_record;
  };
  static std::uint32_t at(std::span<const std::uint32_t> clock, std::uint32_t lane) {
    return lane < clock.size() ? clock[lane] : 0;
  }
  const Launch* find(std::uint32_t block) const;
  std::vector<Present>::iterator aside(std::uint32_t first_block);
  void remember(Launch launch);
  bool is_missing() const;

  std::deque<Launch> launches_;          // by first block, the present one included
  std::vector<std::deque<Step>> steps_;  // by lane: the launches in it
  std::vector<std::uint32_t>
      forgotten_;  // by lane: the last launch that was forgotten, not settled
  Present present_;
  std::vector<Present> aside_;
  std::uint64_t end_of_blocks_ = 0;
};

}  // namespace lockstep::check
