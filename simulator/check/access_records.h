// Records of accessing threads: what the halves of a cell (global_cell.h) name by a number.
//
// A record is made once for all lanes of an instruction, and only if some cell has to change. So a
// third reading of the same data makes none. Numbers run on from launch to launch: those of a
// launch are consecutive, from first_number() on. The records of earlier launches are kept until
// forget(), and count from a number on that the caller names. A launch has at least three million.
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

// Who accessed, but for the lane, and how.
struct AccessRecord {
  std::uint32_t block = 0;  // number in the schedule
  std::uint32_t epoch = 0;
  std::uint32_t pc = 0;
  std::uint16_t clock = 0;
  std::uint8_t warp = 0;
  bool strong : 1 = false, write : 1 = false;
  Scope scope : 2 = Scope::kBlock;
  bool updates : 1 = false, observes : 1 = false;
  std::uint8_t unused : 2 = 0;

  static AccessRecord of(const Side& side);
  Stamp at_lane(std::uint32_t lane) const {
    return {block, epoch, clock, warp, static_cast<std::uint8_t>(lane)};
  }
  bool reads_weakly() const { return !write && !strong; }
  // Whether it is of the warp that accesses now; and at this very time.
  bool is_of_warp(const Side& side) const { return block == side.block && warp == side.warp; }
  bool is_now(const Side& side) const {
    return is_of_warp(side) && epoch == side.order->epoch() &&
           clock == side.order->clock(side.warp);
  }
  bool operator==(const AccessRecord& r) const { return std::memcmp(this, &r, sizeof r) == 0; }
};
static_assert(sizeof(AccessRecord) == 16);

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

  // What a host thread keeps: the records of its latest instructions, and numbers set aside.
  class Memo {
   private:
    friend class AccessRecords;
    static constexpr std::uint32_t kSlots = 16;
    struct Entry {
      std::uint32_t number = 0;
      AccessRecord record;
    };
    // Two records that the number of a third one stands for.
    struct Pair {
      std::uint32_t number = 0, second = 0, both = 0;
    };
    Entry entries_[kSlots];
    Pair pairs_[kSlots];
    std::uint32_t next_ = 0, end_ = 0;
  };

  AccessRecords() : records_(kMost) {}

  // Of the present launch alone.
  struct Present {
    std::uint32_t cluster = 1;
    std::uint32_t first = 1;  // numbers below are of earlier launches
    std::uint32_t first_counted = 1;
    std::uint32_t limit = kMost;  // numbers that are not reached
    bool exhausted = false;
    AccessRecord first_unrecorded;
  };
  // Puts it aside; and goes on with a launch that was put aside. `forgotten`: forget() was called
  // meanwhile; its records have other numbers from now on.
  Present suspend() const;
  void resume(const Present& present, bool forgotten);

  // A launch begins, of clusters of `cluster` blocks (1: none). `most`: records that it may make,
  // at least; 0: as many as there are.
  void start(memory::DeviceMemory& memory, std::uint32_t cluster, std::uint32_t most);
  // The first number of this launch, which no record has: it marks the launch's split cells and
  // stories. All that follow, up to DeviceMemory::race_records(), are its records.
  std::uint32_t first_number() const { return first_; }
  // Records count from this number on.
  std::uint32_t first_counted() const { return first_counted_; }
  bool counts_earlier_launches() const { return first_counted_ != first_; }
  void count_from(std::uint32_t number) { first_counted_ = number; }
  // How many are kept; and they are forgotten, before a launch begins.
  std::uint32_t kept(memory::DeviceMemory& memory) const { return memory.race_records() - origin_; }
  void forget(memory::DeviceMemory& memory) { origin_ = memory.race_records(); }
  std::uint32_t made() const { return memory_->race_records() - first_ - 1; }
  // Whether accesses had to go unrecorded, and the first of them.
  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }
  const AccessRecord& first_unrecorded() const { return first_unrecorded_; }
  void note_exhausted(const AccessRecord& r);

  // Whether a half names an access of this launch, or of an earlier one that counts.
  bool counts(CellHalf h) const { return h.is_since(first_counted_); }
  // The record of a half that counts, and the accesses of the two threads that it may name.
  const AccessRecord& of(CellHalf h) const { return numbered(h.number()).record; }
  // Brings the records that count of a cell into the cache. The cell may change meanwhile.
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
  std::uint32_t number_of(const Side& side, Memo& memo);
  // `h`, with `lane` of the record `number` as the second thread. If there are no more records, or
  // `number` is 0, the half names its first thread alone.
  CellHalf with_second(CellHalf h, std::uint32_t number, std::uint32_t lane, Memo& memo);
  // `h`, with the second thread of `before`.
  CellHalf with_second_of(CellHalf h, CellHalf before, Memo& memo) {
    const std::uint32_t link = link_of(before.number()).load(std::memory_order_relaxed);
    return with_second(h, link >> kLinkShift, before.lane() + link, memo);
  }

  // How what `lane` did when `r` was made relates to what `my_lane` of `side` does now. Every
  // question about the order of recorded accesses ends here.
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
  // The second record that a half of this number leads to: its number 22 | how many lanes further
  // it was 5. 0: none yet.
  static constexpr int kLinkShift = 5;
  struct Numbered {
    AccessRecord record;
    std::atomic<std::uint32_t> link{0};
  };
  Numbered& numbered(std::uint32_t number) const { return records_[number - origin_]; }
  std::atomic<std::uint32_t>& link_of(std::uint32_t number) const { return numbered(number).link; }
  // The next number, for `r`, which leads to the second record `link`; 0 when there are no more.
  std::uint32_t add(const AccessRecord& r, Memo& memo, std::uint32_t link = 0) {
    if (memo.next_ == memo.end_ && !set_aside(r, memo)) return 0;
    const std::uint32_t number = memo.next_++;
    Numbered& n = records_.grown_to(number - origin_);
    n.record = r;
    n.link.store(link, std::memory_order_relaxed);
    return number;
  }
  // More numbers for the host thread, one of which `r` shall have. False: there are no more.
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
