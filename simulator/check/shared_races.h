// Races in the shared memory of one block, judged by what orders two accesses and not by whether a result changed.
//
// Two accesses to the same bytes by different threads race when at least one writes, not both are strong (atomic, volatile,
// relaxed ...) and neither is ordered before the other (PTX ISA 8.9): block_order.h. Who has read by a strong read what a strong write left is
// ordered after it (observation order).
//
// A granule (four bytes, or one in kernels that access less) has two words: its last writer, and a summary of who
// has read it since. The epoch between two barriers of the whole block is part of the word, so a barrier costs nothing.
// Of several readers the last is named, and beside it one of the same warp and one of another, so that a race is always between two threads that are
// known. Constant state per granule may miss a race among several readers; it never makes one up.
//
// The words of one kind lie side by side, and where each access stands in the program lies apart from them: a warp's row of granules is judged
// eight at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/check/block_order.h"

namespace lockstep::check {

class SharedRaces : public BlockOrder {
 public:
  struct Conflict {
    std::uint32_t other_thread = 0;  // linear in the block; never the one that accesses
    std::uint32_t other_pc = 0;
    bool other_is_write = false;
    bool other_is_strong = false;
  };

  // For a block with `bytes` of shared memory; granules of 1 << shift bytes.
  void start(std::uint32_t bytes, int shift);

  // One thread's access to [offset, offset + size). True and `conflict` when it races; the access is recorded either way.
  bool access(std::uint32_t offset, std::uint32_t size, std::uint32_t thread, std::uint32_t pc, bool write, bool strong, Conflict& conflict) {
    bool found = false;
    const std::uint32_t last = (offset + size - 1) >> shift_;
    for (std::uint32_t g = offset >> shift_; g <= last; ++g) found |= one(g, thread, pc, write, strong, conflict);
    return found;
  }

  // Lanes `lane`, lane + 1, ... of a warp, `count` of them, each access one of as many consecutive granules. True when nothing had to be
  // looked at more closely and the access is recorded; false, with nothing recorded, otherwise.
  bool read_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count, std::uint32_t warp, std::uint32_t pc, bool strong) {
    const std::uint32_t readers = read_by_lanes(warp, strong);
    if (enough_.readers != readers) enough_ = {readers};
    std::uint32_t begin = first, end = first + count;
    if (enough_.begin <= begin && begin < enough_.end) begin = std::min(end, enough_.end);
    if (enough_.begin < end && end <= enough_.end) end = std::max(begin, enough_.begin);
    return begin == end || read_part(begin, end - begin, word(warp * 32 + lane + (begin - first), strong), pc, strong);
  }
  bool write_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count, std::uint32_t warp, std::uint32_t pc, bool strong);
  // The lanes from `lane` to `last` read one granule. False when one of them may race; nothing is lost then by going through access() for all of
  // them.
  bool read_together(std::uint32_t granule, std::uint32_t lane, std::uint32_t last, std::uint32_t warp, std::uint32_t pc, bool strong) {
    // Most granules that a warp reads together nobody has touched since the last barrier: what the two calls below would leave.
    if (lane != last && !now(written_[granule]) && !now(read_[granule])) {
      read_[granule] = word(warp * 32 + last, strong) | kManyLanes | (strong ? kSeen : 0);
      read_at_[granule] = pc;
      lane_read_[granule] = word(warp * 32 + lane, strong);
      lane_read_at_[granule] = pc;
      return true;
    }
    if (!partial_ && !lanes_used_ && !now(written_[granule]) && (read_[granule] & kOfAll) == read_by_all(strong)) return true;
    // What is recorded after two lanes of a warp, others change no more.
    Conflict conflict;
    return !one(granule, warp * 32 + lane, pc, false, strong, conflict) && (lane == last || !one(granule, warp * 32 + last, pc, false, strong, conflict));
  }
  // Reads of one granule each by any lanes of a warp, wherever they are. False as above.
  bool read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc, bool strong);
  // Strong writes likewise; false, with nothing recorded, unless all that is known of the granules is strong too. `offsets` are addresses of
  // granules of four bytes.
  bool write_lanes_strongly(const std::uint64_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc);
  // One thread reads four granules from `first` on, weakly: what access() does to 16 bytes, where the words of the four are alike. False, with nothing
  // recorded, where they are not, or one may race.
  bool read_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc);
  // The same of one that writes them.
  bool write_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc);
  int shift() const { return shift_; }

  // Who of the block wrote to `offset` last, whatever has ordered it since; it must have been written to.
  Conflict last_write(std::uint32_t offset) const {
    const std::uint32_t g = offset >> shift_;
    return {thread_of(written_[g]), written_at_[g], true, (written_[g] & kStrong) != 0};
  }

  // The last write to `offset` by this block, with its stamp; none where there was none, or one too long ago.
  struct Stamp {
    std::uint32_t thread = 0, pc = 0, epoch = 0, clock = 0;
  };
  std::optional<Stamp> stamp_of_write(std::uint32_t offset) const {
    const std::uint32_t word = written_[offset >> shift_], ago = epoch_ - (word >> kEpochShift);
    if (word >> kEpochShift == 0 || ago > epoch_number_ - first_epoch_) return std::nullopt;
    return Stamp{thread_of(word), written_at_[offset >> shift_], epoch_number_ - ago, clock_of(word)};
  }

  // A barrier of every thread that has not exited.
  void block_barrier();

 private:
  // Both words: epoch 7 | seen 1 | many_warps 1 | many_lanes 1 | strong 1 | clock 11 | thread 10. Of several readers: strong, when all are; seen,
  // when strong ones are among those that are not named. When not all are strong, the named one is not.
  static constexpr int kEpochShift = 25, kClockShift = 10;
  static constexpr std::uint32_t kSeen = 1u << 24, kManyWarps = 1u << 23, kManyLanes = 1u << 22, kStrong = 1u << 21;
  static constexpr std::uint32_t kThread = 1023, kWarp = 31 << 5, kClock = kClockMax << kClockShift;
  static constexpr std::uint32_t kLastEpoch = 127;

  // What a granule's word has that several lanes of several warps have read, all of them as strongly as `strong` says.
  static constexpr std::uint32_t kOfAll = (~0u << kEpochShift) | kStrong | kSeen | kManyLanes | kManyWarps;
  std::uint32_t read_by_all(bool strong) const { return epoch_ << kEpochShift | (strong ? kStrong | kSeen : 0) | kManyLanes | kManyWarps; }

  // The same of several lanes of this warp at its present clock, but for the lane and kManyWarps.
  static constexpr std::uint32_t kLane = 31;
  std::uint32_t read_by_lanes(std::uint32_t warp, bool strong) const { return word(warp * 32, strong) | (strong ? kSeen : 0) | kManyLanes; }

  static std::uint32_t thread_of(std::uint32_t w) { return w & kThread; }
  static std::uint32_t clock_of(std::uint32_t w) { return w >> kClockShift & kClockMax; }
  bool now(std::uint32_t w) const { return w >> kEpochShift == epoch_; }
  std::uint32_t word(std::uint32_t thread, bool strong) const {
    return epoch_ << kEpochShift | (strong ? kStrong : 0) | clock_[thread >> 5] << kClockShift | thread;
  }
  bool one(std::uint32_t granule, std::uint32_t thread, std::uint32_t pc, bool write, bool strong, Conflict& conflict) {
    std::uint32_t &wr = written_[granule], &rd = read_[granule];
    bool found = false;
    if (now(wr) && thread_of(wr) != thread && !(strong && (wr & kStrong)) && !ordered(thread_of(wr), clock_of(wr), thread) &&
        !((wr & kStrong) && observed(rd, thread))) {
      conflict = {thread_of(wr), written_at_[granule], true, (wr & kStrong) != 0};
      found = true;
    }
    const std::uint32_t mine = word(thread, strong);
    if (write) {
      enough_ = {};
      if (now(rd) && !found && !(strong && (rd & kStrong))) found = after_reads(granule, thread, strong, conflict);
      // A weak write of the same thread, not yet ordered before others, stays under the strong one that follows.
      if (!(strong && now(wr) && !(wr & kStrong) && thread_of(wr) == thread && clock_of(wr) == clock_of(mine))) {
        wr = mine;
        written_at_[granule] = pc;
      }
      rd = 0;
      return found;
    }
    const std::uint32_t other = thread_of(rd);
    if (!now(rd)) {
      rd = mine;
      read_at_[granule] = pc;
      return found;
    }
    // A read that races changes nothing of what others have left, so that it is found again by whoever looks twice (read_lanes).
    if (found) return found;
    const bool weaker = strong && !(rd & kStrong);  // than the reader who is named: that one stays
    if (other == thread && (weaker || strong || !(rd & kStrong))) {
      if (weaker) {
        rd |= kSeen;
      } else if (!strong && clock_of(rd) != clock_of(mine)) {
        // What ordered somebody after the reading before does not order it after this one. (Of strong ones the first is kept: who is ordered after
        // that one has observed the write before it.)
        if ((rd & kManyLanes) && ordered(thread_of(lane_read_[granule]), clock_of(lane_read_[granule]), thread)) rd &= ~kManyLanes;
        rd = (rd & ~kClock) | (mine & kClock);
        read_at_[granule] = pc;
      }
      return found;
    }
    // Lanes of a warp that have not met since may be told apart by who releases: both are kept, whatever their clocks.
    const bool same_warp = (other >> 5) == (thread >> 5);
    const bool unmet = same_warp && (clock_of(rd) == clock_of(mine) || (other != thread && !ordered(other, clock_of(rd), thread)));
    const std::uint32_t seen = rd & kStrong ? kSeen : rd & kSeen;
    if (!same_warp && ordered(other, clock_of(rd), thread)) {
      rd = mine | seen;
    } else if (weaker) {
      rd |= kSeen | (unmet ? kManyLanes : same_warp ? 0 : kManyWarps);
      if (unmet || !same_warp) also_read(granule, same_warp, mine, pc);
      return found;
    } else {
      // A second reader stays as long as it is another one than this.
      if (!same_warp ? !(rd & kManyWarps) || (thread_of(warp_read_[granule]) >> 5) == (thread >> 5)
                     : unmet && other != thread && (!(rd & kManyLanes) || thread_of(lane_read_[granule]) == thread)) {
        also_read(granule, same_warp, rd, read_at_[granule]);
      }
      std::uint32_t many = same_warp ? rd & kManyWarps : kManyWarps;
      if (unmet) many |= other == thread ? rd & kManyLanes : kManyLanes;
      rd = (mine & (rd | ~kStrong)) | many | seen;
    }
    read_at_[granule] = pc;
    return found;
  }
  // Whether the word of a write of this epoch is of a weak one that `thread` itself has made or is ordered after.
  bool written_before(std::uint32_t wr, std::uint32_t thread) const {
    return !(wr & kStrong) && (thread_of(wr) == thread || ordered(thread_of(wr), clock_of(wr), thread));
  }
  // Whether `thread` may be ordered after the granule's last write, a strong one, by a strong read: its own or one ordered before it.
  bool observed(std::uint32_t rd, std::uint32_t thread) const {
    return now(rd) && ((rd & kSeen) || ((rd & kStrong) && (thread_of(rd) == thread || ordered(thread_of(rd), clock_of(rd), thread))));
  }
  bool after_reads(std::uint32_t granule, std::uint32_t thread, bool strong, Conflict& conflict) const;
  // Parts of read_row(): with the word of its first lane; whether the row meets readers of its own warp that may race with whom it does not know of.
  bool read_part(std::uint32_t first, std::uint32_t count, std::uint32_t mine, std::uint32_t pc, bool strong);
  bool may_be_unmet(std::uint32_t first, std::uint32_t count, std::uint32_t mine, bool strong) const;
  // Lanes `mine`, mine + 1, ... are recorded as readers of at most eight granules: of such as nobody has read in this epoch, of such as one other lane of
  // their warp has read and perhaps other warps, or of any. A bit for each of which two lanes of their warp are known now.
  void set_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine, std::uint32_t pc);
  std::uint32_t add_second_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine, std::uint32_t pc);
  std::uint32_t add_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine, std::uint32_t pc, bool strong);
  void also_read(std::uint32_t granule, bool same_warp, std::uint32_t word, std::uint32_t pc) {
    (same_warp ? lane_read_ : warp_read_)[granule] = word;
    (same_warp ? lane_read_at_ : warp_read_at_)[granule] = pc;
  }

  // The granules from `begin` to before `end`: nobody has written them in this epoch, and the word of their readers is `readers`, but for the lane and
  // kManyWarps. Or others have read them since, and two readers are known all the same: a row of that warp that reads them again tells nothing new. Whoever
  // writes clears this.
  struct Enough {
    std::uint32_t readers = 0, begin = 0, end = 0;
    // Of `count` granules from `first` on those whose bits are set become some of them, as far as they are neighbours.
    void add(std::uint32_t first, std::uint32_t count, std::uint32_t granules);
  };
  Enough enough_;

  std::uint32_t epoch_ = 0;
  std::uint32_t first_epoch_ = 0;  // as epoch() numbers them: of this block
  int shift_ = 2;
  std::vector<std::uint32_t> written_, read_;        // the two words, by granule
  std::vector<std::uint32_t> written_at_, read_at_;  // program counters of the accesses they tell of
  // What read_ and read_at_ say of a second reader: one of the same warp and clock where kManyLanes is set, one of another warp where kManyWarps is.
  std::vector<std::uint32_t> lane_read_, lane_read_at_, warp_read_, warp_read_at_;
};

}  // namespace lockstep::check
