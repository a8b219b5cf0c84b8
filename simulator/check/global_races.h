// Races in global memory, and in the shared memory of a cluster's blocks, judged by what orders two
// accesses and not by whether a result changed.
//
// Two accesses to the same bytes by different threads of a launch race when at least one writes,
// they are not both strong with scopes that include each other's thread, and neither is ordered
// before the other (PTX ISA 8.7, 8.9; block_order.h). A launch is ordered after all launches before
// it.
//
// A granule of four bytes has one 64-bit cell, with two halves. A cell is in one of these states:
//
//   write half            read half                  what comes next
//   empty                 empty, or weak readers     any weak access
//   empty                 one thread's strong reads  the same thread
//   weak write            empty, or weak readers     any weak access
//   strong writes         empty, or weak readers     weak accesses; strong writes of their kind
//   weak write            strong writes after it     strong writes of their kind
//   the first number (*)  number of a Split          the bytes have cells of their own
//   the first number (*)  number of a Story          anything
//
// (*) of this launch's records.
//
// Strong writes of a kind are atomics whose threads go on with what they read (the last stands for
// all before it), or accesses whose threads do not (two threads are named). An access that fits
// into none of the first states, or that hands on or takes up a message, makes the cell a story
// (story.h), which is exact for two threads. So are the other states.
//
// A half names a record (who: block, warp, epoch, clock; what: instruction, strong or weak, scope)
// and a lane, and so always one thread. A record is made once for all lanes of an instruction, and
// only when some cell has to change, so a third reading of the same data makes none. If
// several unordered threads made the same access, the half stores two of them: its record links to
// a second.
//
// Both halves describe the same bytes of the granule. An access to other bytes splits the cell
// until all four bytes are written at once or have equal cells again.
//
// Among more than two threads a race may be missed; none is made up. A launch has at least three
// million records. When they, or splits, or stories are used up, accesses are still judged against
// what is recorded, but no longer recorded (exhausted()).
//
// Blocks run on several host threads. A cell is looked at and changed under the lock of its region;
// a launch on one host thread takes no locks. An access is recorded before memory is read, and
// between the two another thread may record and make a write that it sees: observe() says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/check/block_order.h"
#include "simulator/check/grid_order.h"
#include "simulator/check/scope.h"
#include "simulator/check/story.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::check {

using RaceCell = std::uint64_t;

class GlobalRaces {
 public:
  struct Record {
    std::uint32_t block = 0;  // number in the schedule
    std::uint32_t epoch = 0;
    std::uint32_t pc = 0;
    std::uint16_t clock = 0;
    std::uint8_t warp = 0;
    bool strong : 1 = false, write : 1 = false;
    Scope scope : 2 = Scope::kBlock;
    bool updates : 1 = false, observes : 1 = false;
    std::uint8_t unused : 2 = 0;
    bool operator==(const Record& r) const { return std::memcmp(this, &r, sizeof r) == 0; }
  };
  static_assert(sizeof(Record) == 16);

  using Side = check::Side;
  struct Conflict {
    Record other;  // never of the thread that accesses
    std::uint32_t other_lane = 0;
  };

  static constexpr std::uint32_t kRecords = (1u << 22) - 1;
  static constexpr std::uint32_t kSplits =
      1u << 24;  // granules whose bytes have cells of their own at a time
  static constexpr std::uint32_t kStories = 1u << 20;  // stories at a time

  // A launch of blocks in clusters of `cluster` (1: none) begins. `parallel`: on more than one host
  // thread. `most`: records that it may make, at least, and granules that it may split, and
  // stories; 0: as many as there are.
  void start(memory::DeviceMemory& memory, std::uint32_t cluster, bool parallel,
             std::uint32_t most = 0);
  GridOrder& grid() { return grid_; }
  // The numbers of this launch's records begin here, and end before DeviceMemory::race_records().
  std::uint32_t first_number() const { return base_; }
  // Whether the last write to some of `bytes` (a bit each) of the granule, or, when it is to be
  // written, a read since, is one of the records [first, end) of an earlier launch. Of a granule
  // whose bytes had cells of their own then, nothing is known.
  bool is_recorded_in(RaceCell cell, std::uint32_t bytes, bool writes, std::uint32_t first,
                      std::uint32_t end) const;
  // Whether what `lane` of `r`'s warp did is ordered before what `my_lane` of `side` does, or the
  // same thread's.
  bool is_ordered(const Record& r, std::uint32_t lane, std::uint32_t my_lane,
                  const Side& side) const {
    return relate(r, lane, my_lane, side) != Relation::kUnordered;
  }
  static Record record_of(const Side& side);

  // The lock of the region that holds an address; nothing when the launch runs on one host thread.
  class Lock {
   public:
    Lock(GlobalRaces& races, std::uint64_t first, std::uint64_t last) {
      if (races.parallel_) take(first, last);
    }
    ~Lock() {
      if (held_[0] != nullptr) give_back();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    void take(std::uint64_t first, std::uint64_t last);
    void give_back();
    std::atomic<bool>* held_[2] = {nullptr, nullptr};
  };

  // What a host thread keeps: the records of its latest accesses.
  class Memo {
   public:
    Memo() = default;

   private:
    friend class GlobalRaces;
    static constexpr int kSlots = 16;
    struct Entry {
      std::uint32_t number = 0;
      Record record;
    };
    // Two records that the number of a third one stands for.
    struct Pair {
      std::uint32_t number = 0, second = 0, both = 0;
    };
    Entry entries_[kSlots];
    Pair pairs_[kSlots];
    std::uint32_t next_ = 0, end_ = 0;              // numbers set aside for this thread
    std::uint32_t next_split_ = 0, end_split_ = 0;  // the same of split granules
    std::vector<std::uint32_t> joined_;             // and those that are no longer split
    std::uint32_t next_story_ = 0, end_story_ = 0;  // the same of stories
    std::vector<std::uint32_t> closed_;             // and those that are no longer used
  };

  // Who wrote last to the byte that `cell` describes, as byte `byte` of its granule, in this
  // launch, whatever has ordered it since.
  Conflict last_write(RaceCell cell, std::uint32_t byte) const;
  // The same of a byte that perhaps nobody has written in this launch.
  std::optional<Conflict> write_if_any(RaceCell cell, std::uint32_t byte) const;

  // Whether accesses had to go unrecorded, the first of them, and how many records were made. To be
  // asked after the launch.
  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }
  const Record& first_unrecorded() const { return first_unrecorded_; }
  std::uint32_t recorded() const { return memory_->race_records() - base_ - 1; }

  // One instruction of a warp: who it is, and its record once a cell needs it.
  class Access {
   public:
    Access(GlobalRaces& races, const Side& side, Memo& memo)
        : races_(races), side_(side), memo_(memo) {}
    const Side& side() const { return side_; }
    // 0 when there are no more.
    std::uint32_t number() {
      if (!asked_) number_ = races_.record(side_, memo_);
      asked_ = true;
      return number_;
    }

   private:
    friend class GlobalRaces;
    GlobalRaces& races_;
    const Side side_;
    Memo& memo_;
    std::uint32_t number_ = 0;
    bool asked_ = false;
  };

  // One lane's access to `mask` (a bit a byte) of one granule. True and `conflict` when it races;
  // it is recorded either way.
  bool access(RaceCell& cell, std::uint32_t mask, std::uint32_t lane, Access& access,
              Conflict& conflict);

  // A strong access of one lane to an address that has no cell: its messages are handed on all the
  // same.
  void access_without_cell(std::uint64_t address, std::uint32_t lane, const Side& side);

  // A lane of `side` has read by a strong read, and may have seen whatever strong write is recorded
  // by now.
  void observe(RaceCell& cell, std::uint32_t lane, const Side& side);
  // Whether blocks run on several host threads, and observe() is of any use.
  bool parallel() const { return parallel_; }

  // Accesses by `count` lanes from `lane` on to consecutive granules, `width` (1, 2 or 4) to a
  // lane, all bytes of each. False, with nothing recorded, when it has to be looked at lane by
  // lane.
  bool row(RaceCell* cells, std::uint32_t width, std::uint32_t lane, std::uint32_t count,
           Access& access);
  // Of `count` elements of consecutive granules, how many from the first on are alike in what is
  // known of them, so that row() may take them at once.
  std::uint32_t alike(const RaceCell* cells, std::uint32_t width, std::uint32_t count) const;
  // The same of lanes, from `lane` to `last`, that all access one and the same element. Several of
  // them must not write weakly.
  bool together(RaceCell* cells, std::uint32_t width, std::uint32_t lane, std::uint32_t last,
                Access& access);

 private:
  std::uint32_t record(const Side& side, Memo& memo);
  // The next number, for `r`; 0 when there are no more.
  std::uint32_t add(const Record& r, Memo& memo);
  void note_exhausted(const Record& r);
  // Element i of an array that grows by chunks while other host threads read it.
  template <class T>
  T& at_grown(std::unique_ptr<std::atomic<T*>[]>& chunks, std::vector<std::unique_ptr<T[]>>& owned,
              std::uint32_t i);
  template <std::uint32_t kWidth>
  bool row_of(RaceCell* cells, std::uint32_t lane, std::uint32_t count, Access& access);

  // A half: number 22 | bytes 3 | seen 1 | lane 5 | many 1.
  // `many`: it names two threads, which nothing orders. Then the record has a second one.
  // `seen`, of strong writes: threads that are not named may have read them by strong reads.
  static constexpr std::uint32_t kMany = 1, kSeen = 1u << 6;
  static constexpr int kNumberShift = 10, kBytesShift = 7, kLaneShift = 1;
  // Which bytes: accesses are aligned, so seven sets are enough. 0: none of these.
  static constexpr std::uint32_t kAllBytes = 7;
  static constexpr std::uint8_t kBytesOf[16] = {0, 1, 2, 5, 3, 0, 0, 0,
                                                4, 0, 0, 0, 6, 0, 0, kAllBytes};
  static constexpr std::uint8_t kMaskOf[8] = {0, 1, 2, 4, 8, 3, 12, 15};
  static std::uint32_t half(std::uint32_t number, std::uint32_t bytes, std::uint32_t lane) {
    return number << kNumberShift | bytes << kBytesShift | lane << kLaneShift;
  }
  static std::uint32_t number_of(std::uint32_t h) { return h >> kNumberShift; }
  static std::uint32_t bytes_of(std::uint32_t h) { return h >> kBytesShift & 7; }
  static std::uint32_t lane_of(std::uint32_t h) { return h >> kLaneShift & 31; }

  // Split cells and stories have this launch's first number and no bytes in the half of the write,
  // and in the other the number of the split or of the story. The lane says which of the two.
  struct Split {
    RaceCell byte[4];
  };
  static constexpr std::uint32_t kSplitLane = 0, kStoryLane = 1;
  static bool is_apart(RaceCell cell) {
    return (cell >> 32) != 0 && bytes_of(static_cast<std::uint32_t>(cell >> 32)) == 0;
  }
  static bool is_split(RaceCell cell) {
    return is_apart(cell) && lane_of(static_cast<std::uint32_t>(cell >> 32)) == kSplitLane;
  }
  static bool is_story(RaceCell cell) {
    return is_apart(cell) && lane_of(static_cast<std::uint32_t>(cell >> 32)) == kStoryLane;
  }
  RaceCell apart(std::uint32_t lane, std::uint32_t i) const {
    return RaceCell{base_ << kNumberShift | lane << kLaneShift} << 32 | i;
  }
  Story& story_of(RaceCell cell) const {
    const auto i = static_cast<std::uint32_t>(cell);
    return stories_[i / kChunk].load(std::memory_order_acquire)[i % kChunk];
  }
  // A new story; nullptr when there are no more.
  Story* open_story(RaceCell& cell, Memo& memo);
  // Makes what the cell records a story. False when there are no more: the cell has forgotten it.
  bool make_story(RaceCell& cell, Memo& memo);
  Story::Entry entry_of(const Record& r, std::uint32_t lane) const;
  bool access_story(RaceCell& cell, std::uint32_t lane, Access& access, Conflict& conflict);
  bool access_as_story(RaceCell& cell, std::uint32_t lane, Access& access, Conflict& conflict);
  // The number of the next split or story. False when there are no more.
  template <class T>
  bool take(std::uint32_t& i, std::atomic<std::uint32_t>& count, std::uint32_t limit,
            std::uint32_t& next, std::uint32_t& end, std::vector<std::uint32_t>& given_back,
            std::unique_ptr<std::atomic<T*>[]>& chunks, std::vector<std::unique_ptr<T[]>>& owned);
  Split& split_of(RaceCell cell) const {
    const auto i = static_cast<std::uint32_t>(cell);
    return splits_[i / kChunk].load(std::memory_order_acquire)[i % kChunk];
  }
  // False when there are no more: the cell has forgotten what it said.
  bool split(RaceCell& cell, Memo& memo);
  static void join(RaceCell& cell, RaceCell as, Memo& memo) {
    memo.joined_.push_back(static_cast<std::uint32_t>(cell));
    cell = as;
  }

  Relation relate(const Record& r, std::uint32_t lane, std::uint32_t my_lane,
                  const Side& side) const {
    return check::relate(r.block, r.epoch, r.warp, lane, r.clock, my_lane, side);
  }
  bool both_strong(const Record& r, const Side& side) const;
  // What the number of a half that describes several leads to: number of the second record 22 | how
  // many lanes further it was 5.
  static constexpr int kSecondShift = 5;
  std::atomic<std::uint32_t>& second_of(std::uint32_t number) const {
    return numbered(number).second;
  }
  // Who did what `h` says beside the thread that it names.
  Conflict second(std::uint32_t h) const {
    const std::uint32_t s = second_of(number_of(h)).load(std::memory_order_relaxed);
    return {at(s >> kSecondShift), (lane_of(h) + s) & 31};
  }
  // Adds `lane` of the record `number` to `h`.
  void add_to(std::uint32_t& h, std::uint32_t number, std::uint32_t lane, Access& access) const;
  // Whether the second reader that `h` describes is the one that reads now, weakly, at a later
  // clock: what ordered somebody after that reading does not order it after this one.
  bool reads_again(std::uint32_t h, std::uint32_t lane, const Side& side) const;
  // Puts another thread into `h`, beside the one that `before` describes.
  void keep_second(std::uint32_t& h, std::uint32_t before, Access& access) const {
    const std::uint32_t s = second_of(number_of(before)).load(std::memory_order_relaxed);
    add_to(h, s >> kSecondShift, lane_of(before) + s, access);
  }
  // Whether the threads that two halves name first are the same.
  bool of_one_thread(std::uint32_t a, std::uint32_t b) const {
    return lane_of(a) == lane_of(b) && at(number_of(a)).warp == at(number_of(b)).warp &&
           at(number_of(a)).block == at(number_of(b)).block;
  }
  // Whether a half describes an access by the warp that accesses now.
  bool of_warp(std::uint32_t h, const Side& side) const;
  bool valid(std::uint32_t h) const { return number_of(h) >= base_; }
  struct Numbered {
    Record record;
    std::atomic<std::uint32_t> second{0};
  };
  Numbered& numbered(std::uint32_t number) const {
    const std::uint32_t i = number - base_;
    return chunks_[i / kChunk].load(std::memory_order_acquire)[i % kChunk];
  }
  const Record& at(std::uint32_t number) const { return numbered(number).record; }
  bool now(const Record& r, const Side& side) const;
  // Whether `side` may be ordered after some of the lanes that made the accesses in `h`, and not
  // after others.
  bool lanes_apart(std::uint32_t h, const Side& side) const;
  // access() to all bytes that the cell describes, or of one that is empty. `bytes`: as a half has
  // them.
  bool access_all(RaceCell& cell, std::uint32_t bytes, std::uint32_t lane, Access& access,
                  Conflict& conflict);
  // access() to a split cell.
  bool access_bytes(RaceCell& cell, std::uint32_t mask, std::uint32_t lane, Access& access,
                    Conflict& conflict);
  // Whether nothing orders `side` after the access that `h` describes, or, where that is its own,
  // after the second one.
  bool unordered(std::uint32_t h, std::uint32_t lane, const Side& side, Conflict& conflict) const;
  bool races_with(std::uint32_t h, std::uint32_t lane, const Side& side, Conflict& conflict) const;
  // Whether the access may hand on a message, or take one up.
  static bool has_messages(const Side& side) {
    return side.strong &&
           (side.acquires || side.releases || (side.write && side.order->has_fenced_in(side.warp)));
  }
  void read_weakly(std::uint32_t& rd, std::uint32_t bytes, std::uint32_t lane, Access& access);
  // A strong write joins strong writes of its kind, which `h` names, or begins them.
  void write_strongly(std::uint32_t& h, std::uint32_t bytes, std::uint32_t lane, Access& access);
  // Whether the cell can record the access without a story.
  bool fits(std::uint32_t wr, std::uint32_t rd, std::uint32_t lane, const Side& side) const;
  // Makes `h` describe this access. Records that have run out leave it as it
  // is.
  static void set(std::uint32_t& h, std::uint32_t bytes, std::uint32_t lane, Access& access,
                  std::uint32_t keep = 0) {
    if (access.number() != 0) h = half(access.number(), bytes, lane) | keep;
  }

  static constexpr std::uint32_t kChunk = 4096, kSetAside = 64;
  memory::DeviceMemory* memory_ = nullptr;
  std::uint32_t cluster_ = 1;
  bool parallel_ = false;
  std::uint32_t base_ = 1;          // numbers below are of earlier launches
  std::uint32_t limit_ = kRecords;  // numbers that are not reached
  std::uint32_t split_limit_ = kSplits;
  std::atomic<bool> exhausted_{false};
  Record first_unrecorded_;
  std::unique_ptr<std::atomic<Numbered*>[]> chunks_;
  std::vector<std::unique_ptr<Numbered[]>> owned_;
  std::unique_ptr<std::atomic<Split*>[]> splits_;
  std::vector<std::unique_ptr<Split[]>> owned_splits_;
  std::atomic<std::uint32_t> split_count_{0};
  std::unique_ptr<std::atomic<Story*>[]> stories_;
  std::vector<std::unique_ptr<Story[]>> owned_stories_;
  std::atomic<std::uint32_t> story_count_{0};
  std::uint32_t story_limit_ = kStories;
  std::mutex without_cells_mutex_;
  std::unordered_map<std::uint64_t, Story> without_cells_;  // by address
  std::mutex grow_;
  GridOrder grid_;
};

}  // namespace lockstep::check
