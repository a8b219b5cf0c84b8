// Races in the shared memory of one block, judged by what orders two accesses and not by whether a result changed.
//
// Two accesses to the same bytes by different threads race when at least one writes, not both are strong (atomic, volatile,
// relaxed ...) and neither is ordered before the other (PTX ISA 8.9): block_order.h.
//
// A granule (four bytes, or one in kernels that access less) has two words: its last writer, and a summary of who
// has read it since. The interval between two barriers of the whole block is part of the word, so a barrier costs nothing.
// Constant state per granule may miss a race among several readers; it never makes one up.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/check/block_order.h"

namespace lockstep::check {

class SharedRaces : public BlockOrder {
 public:
  struct Conflict {
    std::uint32_t other_thread = 0;   // linear in the block
    std::uint32_t other_pc = 0;
    bool other_is_write = false;
    bool other_is_strong = false;
    bool other_thread_known = true;   // false: some other lane of other_thread's warp
  };

  // For a block of `warps` warps and `bytes` of shared memory; granules of 1 << shift bytes.
  void start(std::uint32_t bytes, int shift, std::uint32_t warps);

  // One thread's access to [offset, offset + size). True and `conflict` when it races; the access is recorded either way.
  bool access(std::uint32_t offset, std::uint32_t size, std::uint32_t thread, std::uint32_t pc, bool write, bool strong,
              Conflict& conflict) {
    bool found = false;
    const std::uint32_t last = (offset + size - 1) >> shift_;
    for (std::uint32_t g = offset >> shift_; g <= last; ++g) found |= one(g, thread, pc, write, strong, conflict);
    return found;
  }

  // A whole warp's access to 32 consecutive granules, lane i to granule first + i. True when nothing had to be looked at
  // more closely and the access is recorded; false, with nothing recorded, otherwise.
  bool read_row(std::uint32_t first, std::uint32_t warp, std::uint32_t pc, bool strong);
  bool write_row(std::uint32_t first, std::uint32_t warp, std::uint32_t pc, bool strong);
  // Reads of one granule each by any lanes of a warp, wherever they are. False when one of them may race; nothing is lost then by
  // going through access() for all of them again.
  bool read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc, bool strong);
  int shift() const { return shift_; }

  // A barrier of every thread that has not exited.
  void block_barrier();

 private:
  // Both words: interval 16 | thread 10 | strong 1 | many_lanes 1 | many_warps 1 | clock 11 | pc 24.
  static constexpr int kIntervalShift = 48, kThreadShift = 38, kClockShift = 24;
  static constexpr std::uint64_t kStrong = 1ull << 37, kManyLanes = 1ull << 36, kManyWarps = 1ull << 35;
  static constexpr std::uint64_t kPcMask = (1u << 24) - 1;

  static std::uint32_t thread_of(std::uint64_t w) { return static_cast<std::uint32_t>(w >> kThreadShift) & 1023; }
  static std::uint32_t clock_of(std::uint64_t w) { return static_cast<std::uint32_t>(w >> kClockShift) & kClockMax; }
  std::uint64_t word(std::uint32_t thread, std::uint32_t pc, bool strong) const {
    return interval_ << kIntervalShift | std::uint64_t{thread} << kThreadShift | (strong ? kStrong : 0) |
           std::uint64_t{clock_[thread >> 5]} << kClockShift | (pc & kPcMask);
  }
  bool one(std::uint32_t granule, std::uint32_t thread, std::uint32_t pc, bool write, bool strong, Conflict& conflict) {
    std::uint64_t& wr = words_[2 * granule];
    std::uint64_t& rd = words_[2 * granule + 1];
    bool found = false;
    if ((wr >> kIntervalShift) == interval_ && thread_of(wr) != thread && !(strong && (wr & kStrong)) &&
        !ordered(thread_of(wr), clock_of(wr), thread)) {
      conflict = {thread_of(wr), static_cast<std::uint32_t>(wr & kPcMask), true, (wr & kStrong) != 0, true};
      found = true;
    }
    std::uint64_t mine = word(thread, pc, strong);
    // A weak write of the same thread, not yet ordered before others, stays weak under the strong one that follows.
    if (write && (wr >> kIntervalShift) == interval_ && thread_of(wr) == thread && clock_of(wr) == clock_of(mine)) mine &= wr | ~kStrong;
    const bool read_before = (rd >> kIntervalShift) == interval_;
    if (write) {
      if (read_before && !found && !(strong && (rd & kStrong))) found = after_reads(rd, thread, conflict);
      wr = mine;
      rd = 0;
      return found;
    }
    if (!read_before) {
      rd = mine;
      return found;
    }
    const std::uint32_t other = thread_of(rd);
    if (other == thread) return found;
    const std::uint64_t strongs = rd & mine & kStrong;
    if ((other >> 5) == (thread >> 5)) {
      rd = clock_of(rd) == clock_of(mine) ? (rd | kManyLanes) : (mine | (rd & kManyWarps));
    } else {
      rd = ordered(other, clock_of(rd), thread) ? mine : (mine | kManyWarps);
    }
    rd = (rd & ~kStrong) | strongs;
    return found;
  }
  bool after_reads(std::uint64_t rd, std::uint32_t thread, Conflict& conflict) const;

  std::uint64_t interval_ = 0;
  int shift_ = 2;
  std::uint32_t warps_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace lockstep::check
