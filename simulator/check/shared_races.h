// The search for races in the shared memory of one block. It judges whether two accesses are
// ordered, not whether a result changed (PTX ISA 8.7, 8.9; block_order.h).
//
// A granule is four bytes, or one byte in kernels that access less. It has two words: its last
// writer, and its readers since. A granule is in one of these states:
//
//   write word                 read word               accesses that keep it so
//   empty, or weak             empty, or weak readers  any weak access
//   strong writes of a kind    empty, or weak readers  weak accesses; strong writes of the kind
//   the last write             number of a Story       any access
//
// global_cell.h defines strong writes of a kind, and when a granule becomes a story. Every state is
// exact for two threads. With more threads a race may be missed, but none is invented.
//
// A word contains the number of the epoch between two barriers of the whole block, so a barrier
// costs nothing. Of several readers the last one is named, one of the same warp and one of another.
// So both threads of a race are always known.
//
// The words of one kind are adjacent, and the program counters are stored separately. So eight
// granules of a warp's row are judged at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "simulator/check/block_order.h"
#include "simulator/check/story.h"

namespace lockstep::check {

class SharedRaces : public BlockOrder {
 public:
  struct Conflict {
    std::uint32_t other_thread = 0;  // linear in the block; never the one that accesses
    std::uint32_t other_pc = 0;
    bool other_is_write = false;
    bool other_is_strong = false;
  };

  // Starts block number `block` of the schedule with `bytes` of shared memory, in granules of 1 <<
  // shift bytes. `cluster`: blocks in a cluster. `grid`: nullptr for a single block.
  void start(std::uint32_t bytes, int shift, std::uint32_t block = 0, std::uint32_t cluster = 1,
             GridOrder* grid = nullptr);

  // Judges and records one lane's access to [offset, offset + size). Returns whether it races, and
  // sets `conflict`. The access is recorded in any case.
  bool access(std::uint32_t offset, std::uint32_t size, std::uint32_t lane, const Side& side,
              Conflict& conflict) {
    bool found = false;
    const std::uint32_t last = (offset + size - 1) >> shift_;
    for (std::uint32_t g = offset >> shift_; g <= last; ++g) found |= one(g, lane, side, conflict);
    return found;
  }
  // The side of an access within the block. A strong write counts as an atomic whose result is
  // unused.
  Side side(std::uint32_t warp, std::uint32_t pc, bool write, bool strong) {
    return {.order = this,
            .block = block(),
            .warp = warp,
            .pc = pc,
            .strong = strong,
            .write = write,
            .scope = Scope::kBlock,
            .updates = strong && write};
  }

  // Record accesses by `count` lanes of a warp, from `lane` on, to as many consecutive granules.
  // Return true if recorded. Return false, with nothing recorded, if each lane must be judged
  // alone.
  bool read_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count, std::uint32_t warp,
                std::uint32_t pc, bool strong) {
    if (strong) return false;
    any_read_ = true;
    const std::uint32_t readers = read_by_lanes(warp);
    if (enough_.readers != readers) enough_ = {readers};
    std::uint32_t begin = first, end = first + count;
    if (enough_.begin <= begin && begin < enough_.end) begin = std::min(end, enough_.end);
    if (enough_.begin < end && end <= enough_.end) end = std::max(begin, enough_.begin);
    return begin == end ||
           read_part(begin, end - begin, word(warp * 32 + lane + (begin - first)), pc);
  }
  bool write_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count, std::uint32_t warp,
                 std::uint32_t pc, bool strong);
  // The lanes from `lane` to `last` read one granule. Returns false if one of them may race; the
  // caller then calls access() for all of them.
  bool read_together(std::uint32_t granule, std::uint32_t lane, std::uint32_t last,
                     std::uint32_t warp, std::uint32_t pc, bool strong) {
    if (strong) return false;
    any_read_ = true;
    // A granule that nobody has touched since the last barrier, the most frequent case. This is the
    // result of the two calls below.
    if (lane != last && !now(written_[granule]) && !now(read_[granule])) {
      read_[granule] = word(warp * 32 + last) | kManyLanes;
      read_at_[granule] = pc;
      lane_read_[granule] = word(warp * 32 + lane);
      lane_read_at_[granule] = pc;
      return true;
    }
    if (readers_of_all_suffice(warp) && !now(written_[granule]) &&
        (read_[granule] & kOfAll) == read_by_all())
      return true;
    // Once two lanes of a warp are recorded, other lanes change nothing.
    Conflict conflict;
    const Side reader = side(warp, pc, false, false);
    return !one(granule, lane, reader, conflict) &&
           (lane == last || !one(granule, last, reader, conflict));
  }
  // Reads by any lanes of a warp, one granule each, at any places. Returns false as read_together()
  // does.
  bool read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp,
                  std::uint32_t pc, bool strong);
  // Strong writes by lanes of a warp, one granule of four bytes each. Returns false, with nothing
  // recorded, unless each granule can record its write without a story.
  bool write_lanes_strongly(const std::uint64_t* offsets, std::uint32_t lanes, const Side& side);
  // Lanes of a warp read [offset, offset + size) strongly, each all of it. Same effect as access()
  // of each. Returns false, after which the caller calls access(), if each must be judged alone.
  bool read_as_one(std::uint32_t offset, std::uint32_t size, std::uint32_t lanes, const Side& side);
  // One thread reads four granules from `first` on, weakly. Same effect as access() to 16 bytes, if
  // the words of the four granules are alike. Returns false, with nothing recorded, if they are not
  // or one may race.
  bool read_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc);
  // As read_four(), for a weak write.
  bool write_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc);
  int shift() const { return shift_; }

  // The last write of the block to `offset`, even if it has been ordered since. There must be one.
  Conflict last_write(std::uint32_t offset) const {
    const std::uint32_t g = offset >> shift_;
    return {thread_of(written_[g]), written_at_[g] & kPc, true, (written_[g] & kStrong) != 0};
  }

  // The last write of this block to `offset`, with its stamp. nullopt if there was none, or if it
  // was too many epochs ago.
  struct Stamp {
    std::uint32_t thread = 0, pc = 0, epoch = 0, clock = 0;
  };
  std::optional<Stamp> stamp_of_write(std::uint32_t offset) const {
    const std::uint32_t word = written_[offset >> shift_], ago = epoch_ - (word >> kEpochShift);
    if (word >> kEpochShift == 0 || ago > epoch_number_ - first_epoch_) return std::nullopt;
    return Stamp{thread_of(word), written_at_[offset >> shift_] & kPc, epoch_number_ - ago,
                 clock_of(word)};
  }

  // Whether both offsets have the same last write, or no write as yet.
  bool is_same_write(std::uint32_t offset, std::uint32_t other) const {
    const std::uint32_t g = offset >> shift_, h = other >> shift_;
    return written_[g] == written_[h] && written_at_[g] == written_at_[h];
  }

  // The last weak read of `offset` since its last write, as stamp_of_write(). nullopt if the
  // accesses were strong.
  std::optional<Stamp> stamp_of_read(std::uint32_t offset) const {
    const std::uint32_t g = offset >> shift_, word = read_[g], ago = epoch_ - (word >> kEpochShift);
    if ((word & kStrong) != 0 || word >> kEpochShift == 0 || ago > epoch_number_ - first_epoch_)
      return std::nullopt;
    return Stamp{thread_of(word), read_at_[g], epoch_number_ - ago, clock_of(word)};
  }

  // A barrier of every thread that has not exited; `is_fence` as in next_epoch(). Returns whether
  // the block as a whole knows more of other blocks now.
  bool block_barrier(bool is_fence = true);

 private:
  // The bits of both words: epoch 7 | observes 1 | kManyWarps 1 | kManyLanes 1 | strong 1 | clock
  // 11 | thread 10. A write word with kManyWarps names a second thread, in warp_read_. A strong
  // write's word has kNoWord in place of kManyLanes: its size is not four bytes. A strong read word
  // has the number of a story in place of clock and thread.
  static constexpr int kEpochShift = 25, kClockShift = 10;
  static constexpr std::uint32_t kObserves = 1u << 24, kManyWarps = 1u << 23, kManyLanes = 1u << 22,
                                 kNoWord = kManyLanes, kStrong = 1u << 21;
  static constexpr std::uint32_t kThread = 1023, kWarp = 31 << 5, kClock = kClockMax << kClockShift,
                                 kStory = kClock | kThread;
  static constexpr std::uint32_t kLastEpoch = 127;
  // A strong write's program counter has the size above it.
  static constexpr int kSizeShift = 27;
  static constexpr std::uint32_t kPc = (1u << kSizeShift) - 1;
  static std::uint32_t at_of_strong(const Side& side) {
    return side.pc | std::uint32_t{side.size} << kSizeShift;
  }

  // The read word of a granule that several lanes of several warps have read.
  static constexpr std::uint32_t kOfAll = (~0u << kEpochShift) | kStrong | kManyLanes | kManyWarps;
  std::uint32_t read_by_all() const { return epoch_ << kEpochShift | kManyLanes | kManyWarps; }
  // Whether another read of such a granule by this warp changes nothing: no thread is ordered after
  // some of the readers, and this warp's clock has not advanced since its threads read it before.
  // After a release, a read is recorded again, since the release covers the earlier read only.
  bool readers_of_all_suffice(std::uint32_t warp) const {
    return !partial_ && !lanes_used_ && clock_[warp] == 0;
  }

  // The read word of a granule that several lanes of this warp have read at its present clock,
  // without the lane and kManyWarps. It says so unless clocks_differ_.
  static constexpr std::uint32_t kLane = 31;
  std::uint32_t read_by_lanes(std::uint32_t warp) const { return word(warp * 32) | kManyLanes; }

  static std::uint32_t thread_of(std::uint32_t w) { return w & kThread; }
  static std::uint32_t clock_of(std::uint32_t w) { return w >> kClockShift & kClockMax; }
  bool now(std::uint32_t w) const { return w >> kEpochShift == epoch_; }
  std::uint32_t word(std::uint32_t thread) const {
    return epoch_ << kEpochShift | clock_[thread >> 5] << kClockShift | thread;
  }
  bool is_story(std::uint32_t rd) const { return now(rd) && (rd & kStrong); }

  bool one(std::uint32_t granule, std::uint32_t lane, const Side& side, Conflict& conflict) {
    enough_ = {};
    const std::uint32_t thread = side.warp * 32 + lane;
    if (side.strong || is_story(read_[granule])) return one_of_any(granule, thread, side, conflict);
    return side.write ? write_weakly(granule, thread, side.pc, conflict)
                      : read_weakly(granule, thread, side, conflict);
  }
  bool after_writes(std::uint32_t granule, std::uint32_t thread, Conflict& conflict) const {
    const std::uint32_t wr = written_[granule];
    if (!now(wr)) return false;
    const auto races = [&](std::uint32_t writer, std::uint32_t at) {
      if (thread_of(writer) == thread || ordered(thread_of(writer), clock_of(writer), thread))
        return false;
      conflict = {thread_of(writer), at & kPc, true, (writer & kStrong) != 0};
      return true;
    };
    return races(wr, written_at_[granule]) ||
           ((wr & kManyWarps) && races(warp_read_[granule], warp_read_at_[granule]));
  }
  bool write_weakly(std::uint32_t granule, std::uint32_t thread, std::uint32_t pc,
                    Conflict& conflict) {
    const bool found = after_writes(granule, thread, conflict) ||
                       (now(read_[granule]) && after_reads(granule, thread, conflict));
    written_[granule] = word(thread);
    written_at_[granule] = pc;
    read_[granule] = 0;
    return found;
  }
  bool read_weakly(std::uint32_t granule, std::uint32_t thread, const Side& side,
                   Conflict& conflict) {
    any_read_ = true;
    std::uint32_t& rd = read_[granule];
    const bool found = after_writes(granule, thread, conflict);
    const std::uint32_t mine = word(thread);
    // A second writer is stored in place of a second reader.
    if (now(written_[granule]) && (written_[granule] & kManyWarps))
      return one_of_any(granule, thread, side, conflict) || found;
    if (!now(rd)) {
      rd = mine;
      read_at_[granule] = side.pc;
      return found;
    }
    // A racing read leaves the record unchanged, so that a second look finds the race again
    // (read_lanes).
    if (found) return found;
    const std::uint32_t other = thread_of(rd);
    if (other == thread) {
      if (clock_of(rd) != clock_of(mine)) {
        // An order after the earlier read does not order after this one.
        if ((rd & kManyLanes) &&
            ordered(thread_of(lane_read_[granule]), clock_of(lane_read_[granule]), thread))
          rd &= ~kManyLanes;
        rd = (rd & ~kClock) | (mine & kClock);
        clocks_differ_ = clocks_differ_ || (rd & kManyLanes);
        read_at_[granule] = side.pc;
      }
      return found;
    }
    // Lanes of a warp that have not synchronised since may differ by which of them releases: both
    // are kept, whatever their clocks.
    const bool same_warp = (other >> 5) == (thread >> 5);
    const bool unmet =
        same_warp && (clock_of(rd) == clock_of(mine) || !ordered(other, clock_of(rd), thread));
    if (!same_warp && ordered(other, clock_of(rd), thread)) {
      rd = mine;
    } else {
      // A second reader stays unless it is this reader.
      if (!same_warp ? !(rd & kManyWarps) || (thread_of(warp_read_[granule]) >> 5) == (thread >> 5)
                     : unmet && (!(rd & kManyLanes) || thread_of(lane_read_[granule]) == thread)) {
        also_read(granule, same_warp, rd, read_at_[granule]);
      }
      clocks_differ_ = clocks_differ_ || (unmet && clock_of(rd) != clock_of(mine));
      rd = mine | (same_warp ? rd & kManyWarps : kManyWarps) | (unmet ? kManyLanes : 0);
    }
    read_at_[granule] = side.pc;
    return found;
  }
  // The rest of one(): strong accesses, and stories.
  bool one_of_any(std::uint32_t granule, std::uint32_t thread, const Side& side,
                  Conflict& conflict);
  // Whether a strong write joins the strong writes that the granule records, or starts them.
  bool joins_strong_writes(std::uint32_t granule, std::uint32_t thread, const Side& side) const;
  // The words that strong writes change: those of the last writer and of the second writer.
  struct WriteWords {
    std::uint32_t *written, *written_at, *second, *second_at;
  };
  WriteWords write_words() {
    return {written_.data(), written_at_.data(), warp_read_.data(), warp_read_at_.data()};
  }
  void write_strongly(const WriteWords& of, std::uint64_t granule, std::uint32_t mine,
                      std::uint32_t at) const;
  static std::uint32_t strong_kind(const Side& side) {
    return kStrong | (side.observes ? kObserves : 0) | (side.size != 4 ? kNoWord : 0);
  }
  Story& make_story(std::uint32_t granule);
  Story& story_of(std::uint32_t granule) {
    return is_story(read_[granule]) ? stories_[read_[granule] & kStory] : make_story(granule);
  }
  Story::Entry entry_of(std::uint32_t word, std::uint32_t at, bool write) const;
  // Whether the word of a write of this epoch is of a weak write that `thread` itself has made or
  // is ordered after.
  bool written_before(std::uint32_t wr, std::uint32_t thread) const {
    return !(wr & kStrong) &&
           (thread_of(wr) == thread || ordered(thread_of(wr), clock_of(wr), thread));
  }
  // As written_before(), of those of four granules that have been written in this epoch. One must
  // have been.
  bool four_written_before(std::uint32_t first, std::uint32_t thread) const;
  bool after_reads(std::uint32_t granule, std::uint32_t thread, Conflict& conflict) const;
  // Makes all earlier words invalid.
  void new_words();
  // Parts of read_row(). `mine`: the word of the row's first lane. may_be_unmet(): whether the row
  // meets readers of its own warp whose synchronisation with it is not known.
  bool read_part(std::uint32_t first, std::uint32_t count, std::uint32_t mine, std::uint32_t pc);
  bool may_be_unmet(std::uint32_t first, std::uint32_t count, std::uint32_t mine) const;
  // Record lanes `mine`, mine + 1, ... as readers of at most eight granules. set_readers(): nobody
  // has read them in this epoch. add_second_readers(): one other lane of the warp, and perhaps
  // other warps, have read each. add_readers(): any granules. The results have a bit for each
  // granule that now has two recorded lanes of the warp.
  void set_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine, std::uint32_t pc);
  std::uint32_t add_second_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine,
                                   std::uint32_t pc);
  std::uint32_t add_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine,
                            std::uint32_t pc);
  void also_read(std::uint32_t granule, bool same_warp, std::uint32_t word, std::uint32_t pc) {
    (same_warp ? lane_read_ : warp_read_)[granule] = word;
    (same_warp ? lane_read_at_ : warp_read_at_)[granule] = pc;
  }

  // Granules [begin, end) that nobody has written in this epoch and whose read word is `readers`,
  // apart from the lane and kManyWarps. Another read of them by a row of that warp changes nothing.
  // Any other change of a granule clears this.
  struct Enough {
    std::uint32_t readers = 0, begin = 0, end = 0;
    // Adds the granules whose bits are set in `granules`, counted from `first`, as far as they are
    // adjacent to the range.
    void add(std::uint32_t first, std::uint32_t count, std::uint32_t granules);
  };
  Enough enough_;

  bool any_read_ = false;  // some word of `read_` may be of this epoch
  // Some granule may name two readers of one warp that read it at different clocks in this epoch.
  // Then a word like read_by_lanes() does not show at which clock the second one read.
  bool clocks_differ_ = false;
  std::uint32_t epoch_ = 0;
  std::uint32_t first_epoch_ = 0;  // of this block, numbered as epoch() does
  int shift_ = 2;
  std::vector<std::uint32_t> written_, read_;  // the two words, by granule
  // Program counters of the accesses that they describe; of strong writes also the size.
  std::vector<std::uint32_t> written_at_, read_at_;
  // A second reader: of the same warp where kManyLanes is set, of another warp where kManyWarps is.
  std::vector<std::uint32_t> lane_read_, lane_read_at_, warp_read_, warp_read_at_;
  std::deque<Story> stories_;  // the first `stories_used_` belong to this epoch
  std::uint32_t stories_used_ = 0;
};

}  // namespace lockstep::check
