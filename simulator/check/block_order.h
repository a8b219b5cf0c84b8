// What orders the threads of one block among themselves: barriers that all or some warps take part in, bar.warp.sync, fences.
//
// Time in a block is cut by its barriers into epochs; inside an epoch every warp counts its smaller synchronisations (its clock), and who
// knows of whose clock is kept apart. Whatever lies in an earlier epoch is ordered before whatever lies in this one.
//
// A release publishes what the lanes that execute it have done, and what is ordered before that: what they have acquired, and what other lanes
// did before they met (bar.warp.sync). So of a warp of which one lane releases, the others' accesses stay its own until they have met that lane.
//
// Releases and acquires are taken to order more than they do: whoever acquires comes after every release of the block so far, at whatever place, and
// so do the other lanes of its warp. A fence of all lanes in one instruction orders them among themselves. Votes, shuffles and lock-step execution
// order nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep::check {

// For every thread of a block a clock of its warp, within one epoch: what the thread did before that clock is meant. Nearly always the lanes of a warp
// have one clock; those of a few warps are kept apart.
class ThreadClocks {
 public:
  static constexpr std::uint32_t kMax = 2047;

  // Whether what `lane` of `warp` did at `clock` is meant. A clock that is counted out is no longer told apart.
  bool cover(std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
    return clock < warp_[warp] || clock >= kMax || (!apart_.empty() && cover_apart(warp, lane, clock));
  }
  // Whether some lanes of `warp` have a later clock than others.
  bool is_apart(std::uint32_t warp) const {
    return std::any_of(apart_.begin(), apart_.end(), [&](const Apart& a) { return a.warp == warp; });
  }
  void clear();
  void join(const ThreadClocks& other);
  // From now on `lanes` of `warp`, or all of them, have at least this clock.
  void raise(std::uint32_t warp, std::uint32_t clock);
  void raise(std::uint32_t warp, std::uint32_t lanes, std::uint32_t clock);

 private:
  struct Apart {
    std::uint32_t warp = 0;
    std::uint16_t clock[32] = {};  // by lane; those before the warp's say nothing
  };
  bool cover_apart(std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  Apart& apart(std::uint32_t warp);
  // Lanes that have come together again are kept apart no longer.
  void put_together();

  std::uint16_t warp_[32] = {};
  std::vector<Apart> apart_;
};

class BlockOrder {
 public:
  static constexpr std::uint32_t kClockMax = ThreadClocks::kMax;

  // Epochs are numbered for ever, over all blocks that this object serves.
  std::uint32_t epoch() const { return epoch_number_; }
  std::uint32_t clock(std::uint32_t warp) const { return clock_[warp]; }

  // Whether the access stamped `clock` by thread `other` in this epoch is ordered before whatever `thread` does now.
  bool ordered(std::uint32_t other, std::uint32_t clock, std::uint32_t thread) const {
    const std::uint32_t w = thread >> 5, v = other >> 5;
    if (clock == kClockMax) return true;  // counted out: no longer told apart
    if (v == w && (all_lanes_[w] > clock || (lanes_used_ && lane_clock_[(w * 32 + (thread & 31)) * 32 + (other & 31)] > clock))) return true;
    return partial_ && known_[w].cover(v, other & 31, clock);
  }
  // Whether, in this epoch, what warp `w` knows of lanes of another warp differs from lane to lane.
  bool knows_lanes_apart(std::uint32_t w, std::uint32_t v) const { return partial_ && known_[w].is_apart(v); }
  // Whether, in this epoch, warp `w` has been ordered after anything that its lanes, or other warps, did.
  bool partly_ordered(std::uint32_t w) const { return partial_ || lanes_used_ || all_lanes_[w] != 0; }
  // What is ordered before whatever `lanes` of warp `w` do now, and what they themselves have done before the present clock. `all` when these are all
  // lanes that the warp has ever had.
  ThreadClocks known_to(std::uint32_t w, std::uint32_t lanes, bool all) const;

  // What the warp has just accessed it has accessed as one, as a matrix (ldmatrix, wgmma): PTX does not say that the lanes meet there, and programs let
  // one of them release the others' part. So it tells of all that the warp has done so far. It does not order the lanes among themselves.
  void accessed_as_one(std::uint32_t warp) { as_one_[warp] = clock_[warp] + 1; }
  // bar.warp.sync of `lanes`; `all` when these are all lanes that have not exited.
  void warp_sync(std::uint32_t warp, std::uint32_t lanes, bool all);
  // A warp arrives at a barrier that not all warps take part in, and the `waiting` warps leave it.
  void arrive(std::uint32_t warp, int barrier);
  void complete(int barrier, std::uint32_t waiting);
  // `lanes` publish; `all` as above. What they do from now on has a later clock.
  void release(std::uint32_t warp, std::uint32_t lanes, bool all);
  // The warp is ordered after what has been published in the block.
  void acquire(std::uint32_t warp);
  void fence(std::uint32_t warp, std::uint32_t lanes, bool all) {
    acquire(warp);  // hands on what is taken up
    release(warp, lanes, all);
    if (all) all_lanes_[warp] = clock_[warp];
  }

 protected:
  // A barrier of every thread that has not exited, or the start of a block.
  void next_epoch();

  std::uint32_t epoch_number_ = 0;
  std::uint32_t clock_[32] = {};
  std::uint32_t all_lanes_[32] = {};       // clock at the last synchronisation of all lanes of the warp
  std::uint32_t as_one_[32] = {};          // what was done before this clock, the present one included, any lane tells of
  std::vector<std::uint32_t> lane_clock_;  // [warp][lane][other lane]
  std::vector<ThreadClocks> known_;        // by warp: what is ordered before it, but for what its own lanes know of each other
  std::vector<ThreadClocks> barrier_;      // by barrier: what those who arrived know
  ThreadClocks published_;                 // by releases
  bool partial_ = false;                   // some order between warps within this epoch
  bool lanes_used_ = false;                // some order between single lanes within this epoch

 private:
  void use_partial();
};

}  // namespace lockstep::check
