// Records of accessing threads. The halves of a cell (global_cell.h) refer to a record by its
// number.
//
// All lanes of an instruction share one record. It is made only if some cell has to change, so a
// third read of the same data makes none. Numbers continue from launch to launch. The numbers of
// one launch are consecutive, from first_number() on. The records of earlier launches are kept
// until forget(). They count from first_counted() on, which the caller sets. A launch can make at
// least three million records.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "simulator/check/global_cell.h"
#include "simulator/check/grown_array.h"
#include "simulator/check/scope.h"
#include "simulator/check/stamp.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::check {

// The accessing warp, its time, and the kind of access. Only the lane is not stored.
struct AccessRecord {
  std::uint32_t block = 0;  // number in the schedule
  std::uint32_t epoch = 0;
  std::uint32_t pc = 0;
  std::uint16_t clock_and_size = 0;  // clock 11 | size 5
  std::uint8_t warp = 0;
  bool strong : 1 = false, write : 1 = false;
  Scope scope : 2 = Scope::kBlock;
  bool updates : 1 = false, observes : 1 = false;
  std::uint8_t unused : 2 = 0;

  static AccessRecord of(const Side& side);
  std::uint16_t clock() const { return clock_and_size & BlockOrder::kClockMax; }
  std::uint8_t size() const { return static_cast<std::uint8_t>(clock_and_size >> kSizeShift); }
  static constexpr int kSizeShift = 11;
  Stamp at_lane(std::uint32_t lane) const {
    return {block, epoch, clock(), warp, static_cast<std::uint8_t>(lane)};
  }
  bool reads_weakly() const { return !write && !strong; }
  // Whether the record is of the warp that accesses now. is_now(): and of the warp's present clock.
  bool is_of_warp(const Side& side) const { return block == side.block && warp == side.warp; }
  bool is_now(const Side& side) const {
    return is_of_warp(side) && epoch == side.order->epoch() &&
           clock() == side.order->clock(side.warp);
  }
  bool operator==(const AccessRecord& r) const { return std::memcmp(this, &r, sizeof r) == 0; }
};
static_assert(sizeof(AccessRecord) == 16 &&
              BlockOrder::kClockMax + 1 == 1u << AccessRecord::kSizeShift);

// One thread's access.
struct LaneAccess {
  AccessRecord record;
  std::uint32_t lane = 0;
  // Whether `my_lane` of `side` is the same thread.
  bool is_of_thread(std::uint32_t my_lane, const Side& side) const {
    return lane == my_lane && record.is_of_warp(side);
  }
};

class AccessRecords {
 public:
  static constexpr std::uint32_t kMost = (1u << 22) - 1;

  // The state of one host thread: the records of its latest instructions, and reserved numbers.
  class Memo {
   private:
    friend class AccessRecords;
    static constexpr std::uint32_t kSlots = 16;
    struct Entry {
      std::uint32_t number = 0;
      AccessRecord record;
    };
    // `both` is the number of a record equal to record `number`, and links to record `second`.
    struct Pair {
      std::uint32_t number = 0, second = 0, both = 0;
    };
    Entry entries_[kSlots];
    Pair pairs_[kSlots];
    std::uint32_t next_ = 0, end_ = 0;
  };

  AccessRecords() : records_(kMost) {}

  // The state that belongs to the present launch alone.
  struct Present {
    std::uint32_t cluster = 1;
    std::uint32_t first = 1;  // numbers below are of earlier launches
    std::uint32_t first_counted = 1;
    std::uint32_t limit = kMost;  // numbers that are not reached
    bool exhausted = false;
    AccessRecord first_unrecorded;
  };
  // suspend() saves the state of the present launch. resume() continues a suspended launch.
  // `forgotten`: forget() was called in between, so its earlier records are gone and new ones have
  // other numbers.
  Present suspend() const;
  void resume(const Present& present, bool forgotten);

  // Starts a launch of clusters of `cluster` blocks (1: no clusters). `most`: the number of records
  // that it can make at least; 0: as many as there are.
  void start(memory::DeviceMemory& memory, std::uint32_t cluster, std::uint32_t most);
  // The first number of this launch. No record has it: it marks the launch's split cells and
  // stories. All later numbers, up to DeviceMemory::race_records(), are records of this launch.
  std::uint32_t first_number() const { return first_; }
  // Records with this number or a later one count. Earlier ones are ignored.
  std::uint32_t first_counted() const { return first_counted_; }
  bool counts_earlier_launches() const { return first_counted_ != first_; }
  void count_from(std::uint32_t number) { first_counted_ = number; }
  // The number of kept records. forget() drops them; call it only before a launch starts.
  std::uint32_t kept(memory::DeviceMemory& memory) const { return memory.race_records() - origin_; }
  void forget(memory::DeviceMemory& memory) { origin_ = memory.race_records(); }
  std::uint32_t made() const { return memory_->race_records() - first_ - 1; }
  // Whether accesses went unrecorded for lack of records. first_unrecorded(): the first of them.
  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }
  const AccessRecord& first_unrecorded() const { return first_unrecorded_; }
  void note_exhausted(const AccessRecord& r);

  // Whether a half names an access of this launch, or of an earlier one that counts.
  bool counts(CellHalf h) const { return h.is_since(first_counted_); }
  // The record of a half that counts. first(), second(): the accesses of the one or two threads
  // that the half names.
  const AccessRecord& of(CellHalf h) const { return numbered(h.number()).record; }
  // Prefetches the records of a cell that count. Other threads may change the cell meanwhile.
  void fetch_ahead(GlobalCell cell) const {
    if (cell.is_apart()) return;
    for (const CellHalf h : {cell.write(), cell.read()})
      if (counts(h)) __builtin_prefetch(&numbered(h.number()));
  }
  LaneAccess first(CellHalf h) const { return {of(h), h.lane()}; }
  LaneAccess second(CellHalf h) const {
    const std::uint32_t link = link_of(h.number()).load(std::memory_order_relaxed);
    return {numbered(link >> kLinkShift).record, (h.lane() + link) & 31};
  }
  // The number of the second one's record.
  std::uint32_t number_of_second(CellHalf h) const {
    return link_of(h.number()).load(std::memory_order_relaxed) >> kLinkShift;
  }
  // Whether the first threads of two halves are the same.
  bool of_one_thread(CellHalf a, CellHalf b) const {
    return a.lane() == b.lane() && of(a).warp == of(b).warp && of(a).block == of(b).block;
  }

  // All records that the host thread will make have at least this number, until the numbers begin
  // anew.
  std::uint32_t least_to_come(const Memo& memo) const {
    return memo.next_ != memo.end_ ? memo.next_ : memory_->race_records().load();
  }
  // The number of the record of `side`; 0 if there are no more.
  std::uint32_t number_of(const Side& side, Memo& memo) {
    return number_of(AccessRecord::of(side), memo);
  }
  std::uint32_t number_of(const AccessRecord& r, Memo& memo);
  // `h`, with `lane` of the record `number` as the second thread. If there are no more records, or
  // `number` is 0, the half names its first thread alone.
  CellHalf with_second(CellHalf h, std::uint32_t number, std::uint32_t lane, Memo& memo);
  // `h`, with the second thread of `before`.
  CellHalf with_second_of(CellHalf h, CellHalf before, Memo& memo) {
    const std::uint32_t link = link_of(before.number()).load(std::memory_order_relaxed);
    return with_second(h, link >> kLinkShift, before.lane() + link, memo);
  }

  // The order between the access of `lane` when `r` was made and the present access of `my_lane` of
  // `side`. Every question about the order of recorded accesses ends here.
  Relation relate(const AccessRecord& r, std::uint32_t lane, std::uint32_t my_lane,
                  const Side& side) const {
    return check::relate(r.at_lane(lane), my_lane, side);
  }
  Relation relate(const LaneAccess& a, std::uint32_t my_lane, const Side& side) const {
    return relate(a.record, a.lane, my_lane, side);
  }
  // Whether both are strong and each scope includes the other's thread (PTX ISA 8.7, morally
  // strong).
  bool both_strong(const AccessRecord& r, const Side& side) const;

 private:
  // The second record of a half with this number. Bits: the second record's number 22 | its lane
  // minus the first lane 5. 0: none yet.
  static constexpr int kLinkShift = 5;
  struct Numbered {
    AccessRecord record;
    std::atomic<std::uint32_t> link{0};
  };
  Numbered& numbered(std::uint32_t number) const { return records_[number - origin_]; }
  std::atomic<std::uint32_t>& link_of(std::uint32_t number) const { return numbered(number).link; }
  // Assigns the next number to `r`, whose second record is `link`. Returns the number; 0 if there
  // are no more.
  std::uint32_t add(const AccessRecord& r, Memo& memo, std::uint32_t link = 0) {
    if (memo.next_ == memo.end_ && !set_aside(r, memo)) return 0;
    const std::uint32_t number = memo.next_++;
    Numbered& n = records_.grown_to(number - origin_);
    n.record = r;
    n.link.store(link, std::memory_order_relaxed);
    return number;
  }
  // Reserves more numbers for the host thread; `r` needs one. Returns false if there are no more.
  bool set_aside(const AccessRecord& r, Memo& memo);

  memory::DeviceMemory* memory_ = nullptr;
  std::uint32_t cluster_ = 1;
  std::uint32_t first_ = 1;  // numbers below are of earlier launches
  std::uint32_t first_counted_ = 1;
  std::uint32_t origin_ = 1;     // numbers below are forgotten
  std::uint32_t limit_ = kMost;  // numbers that are not reached
  GrownArray<Numbered> records_;
  std::atomic<bool> exhausted_{false};
  AccessRecord first_unrecorded_;
  std::mutex exhausted_mutex_;
};

}  // namespace lockstep::check
