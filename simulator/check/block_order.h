// What orders the threads of one block among themselves: barriers that all or some warps take part in, bar.warp.sync, fences.
//
// Time in a block is cut by its barriers into epochs; inside an epoch every warp counts its smaller synchronisations (its clock), and who
// knows of whose clock is kept apart. Whatever lies in an earlier epoch is ordered before whatever lies in this one.
//
// Fences are taken to order more than they do: everything before any fence of the block with everything after a later one. Votes, shuffles and
// lock-step execution order nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::check {

class BlockOrder {
 public:
  static constexpr std::uint32_t kClockMax = 2047;

  // Epochs are numbered for ever, over all blocks that this object serves.
  std::uint32_t epoch() const { return epoch_number_; }
  std::uint32_t clock(std::uint32_t warp) const { return clock_[warp]; }

  // Whether the access stamped `clock` by thread `other` in this epoch is ordered before whatever `thread` does now.
  bool ordered(std::uint32_t other, std::uint32_t clock, std::uint32_t thread) const {
    const std::uint32_t w = thread >> 5, v = other >> 5;
    if (clock == kClockMax) return true;  // counted out: no longer told apart
    if (v != w) return partial_ && warp_clock_[w * 32 + v] > clock;
    return all_lanes_[w] > clock || (lanes_used_ && lane_clock_[(w * 32 + (thread & 31)) * 32 + (other & 31)] > clock);
  }
  // Whether, in this epoch, warp `w` has been ordered after anything that its lanes, or other warps, did.
  bool partly_ordered(std::uint32_t w) const { return partial_ || lanes_used_ || all_lanes_[w] != 0; }
  // Of warp `v`, what clock and everything before warp `w` knows: 0 for none.
  std::uint32_t clock_known_to(std::uint32_t w, std::uint32_t v) const { return v == w ? clock_[w] : partial_ ? warp_clock_[w * 32 + v] : 0; }

  // Of warp `w`, what clock and everything before all of its lanes know of each other.
  std::uint32_t clock_of_all_lanes(std::uint32_t w) const { return all_lanes_[w]; }

  // bar.warp.sync of `lanes`; `all` when these are all lanes that have not exited.
  void warp_sync(std::uint32_t warp, std::uint32_t lanes, bool all);
  // A warp arrives at a barrier that not all warps take part in, and the `waiting` warps leave it.
  void arrive(std::uint32_t warp, int barrier);
  void complete(int barrier, std::uint32_t waiting);
  void fence(std::uint32_t warp);

 protected:
  // A barrier of every thread that has not exited, or the start of a block.
  void next_epoch();

  std::uint32_t epoch_number_ = 0;
  std::uint32_t clock_[32] = {};
  std::uint32_t all_lanes_[32] = {};          // clock at the last synchronisation of all lanes of the warp
  std::vector<std::uint32_t> warp_clock_;     // [warp][other warp]: clock of the other that is ordered before now
  std::vector<std::uint32_t> lane_clock_;     // [warp][lane][other lane]
  std::vector<std::uint32_t> barrier_clock_;  // [barrier][warp]
  std::uint32_t fence_clock_[32] = {};
  bool partial_ = false;     // some order between warps within this epoch
  bool lanes_used_ = false;  // some order between single lanes within this epoch

 private:
  void use_partial();
};

}  // namespace lockstep::check
