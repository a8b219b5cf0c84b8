// The search for races in global memory, and in the shared memory of a cluster's blocks. It judges
// whether two accesses are ordered, not whether a result changed.
//
// Two accesses to the same bytes by different threads of a launch race when three things hold:
// - At least one of them writes.
// - They are not both strong with scopes that include each other's thread.
// - Neither is ordered before the other (PTX ISA 8.7, 8.9; block_order.h).
//
// launch_order.h holds the earlier launches that are ordered before the present one. The accesses
// of other earlier launches are kept and judged like those of the present launch.
//
// A granule of four bytes has one cell. global_cell.h lists its states and how accesses change
// them. cell_questions.h answers the questions that decide between them. access_records.h stores
// the accessing threads. global_rows.h records the lanes of a warp at once. Every state is exact
// for two threads. With more threads a race may be missed, but none is invented.
//
// Several launches may be under way. One of them runs at a time (suspend, resume).
//
// When records, split cells or stories are used up, accesses are still judged against what is
// recorded, but are no longer recorded (exhausted()).
//
// Blocks run on several host threads. A cell is read and changed under the lock of its region; a
// launch on one host thread takes no locks. An access is recorded before memory is read. In
// between, another thread may record and make a write that the read then sees. Call observe() for
// that case.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "simulator/check/access_records.h"
#include "simulator/check/cell_questions.h"
#include "simulator/check/global_cell.h"
#include "simulator/check/grid_order.h"
#include "simulator/check/grown_array.h"
#include "simulator/check/stamp.h"
#include "simulator/check/story.h"
#include "simulator/check/touched_pages.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::check {

// The cell of the granule that holds an address of the device's window.
inline GlobalCell* cell_of(memory::DeviceMemory& memory, std::uint64_t address) {
  return reinterpret_cast<GlobalCell*>(memory.race_shadow(address));
}

// What a thread of an earlier launch passes to a launch that it makes. `times`: times_forgotten()
// at that time. `what` nullptr: nothing.
struct Given {
  std::shared_ptr<const Knowledge> what;
  std::uint64_t times = 0;
};

class GlobalRaces {
 private:
  // The cells of the bytes of a split cell.
  struct Split {
    GlobalCell byte[4];
  };

 public:
  static constexpr std::uint32_t kSplits = 1u << 24;   // split cells at a time
  static constexpr std::uint32_t kStories = 1u << 20;  // stories at a time
  // The limits of what is kept from launch to launch: records; split cells, stories and
  // publications of blocks.
  static constexpr std::uint32_t kKeptRecords = 1u << 20, kKeptOthers = 1u << 16;
  // The limit of records if all launches are in one lane. Only launches in other lanes that are
  // still to come could need them. A lower limit lets successive launches reuse the same memory.
  static constexpr std::uint32_t kKeptRecordsOfOneLane = 1u << 15;

  GlobalRaces() : splits_(kSplits), stories_(kStories) {}

  // How often all records have been forgotten.
  std::uint64_t times_forgotten() const { return forgotten_; }
  // Starts a launch of blocks in clusters of `cluster` (1: no clusters) and makes it the present
  // one. `threads`: host threads that run it. `most`: the least number of records, split granules
  // and stories that it can make; 0: as many as there are.
  void start(memory::DeviceMemory& memory, std::uint32_t cluster, unsigned threads,
             std::uint32_t most = 0, const LaunchOrder::Place& place = {}, std::uint64_t blocks = 0,
             const Given& given = {});
  // suspend() sets the present launch aside, so that another may start or continue. resume()
  // continues it. It returns whether all its records have been forgotten in between. If so, the
  // caller must clear its memos and its cells in shared memory.
  struct Suspended {
    bool parallel = false;
    AccessRecords::Present records;
    std::uint32_t first_block = 0;
    std::uint64_t forgotten = 0;
  };
  Suspended suspend();
  [[nodiscard]] bool resume(const Suspended& launch);
  // Ends a suspended launch.
  void end(const Suspended& launch) { grid_.launches().end(launch.first_block); }
  // Whether any launch is not in `before`, a clock of LaunchOrder. Call between launches only.
  bool any_unordered(std::span<const std::uint32_t> before) const {
    return grid_.launches().first_unordered_in(before) != LaunchOrder::kNone;
  }
  // Finds an access to a byte of [first, last] by a launch that is not in `before`. If the present
  // operation only reads (`writes` false), the access must be a write. `cells`: the cells from that
  // of `first` on. Returns nullopt if there is none.
  struct PastConflict {
    LaneAccess access;
    std::uint64_t address = 0;  // a byte that both access
  };
  std::optional<PastConflict> find_unordered(const GlobalCell* cells, std::uint64_t first,
                                             std::uint64_t last, bool writes,
                                             std::span<const std::uint32_t> before) const;
  GridOrder& grid() { return grid_; }
  const AccessRecords& records() const { return records_; }
  // Whether accesses went unrecorded. Call after the launch.
  bool exhausted() const { return records_.exhausted(); }
  // Whether blocks run on several host threads. Then cells need a RegionLock, and observe() has an
  // effect.
  bool parallel() const { return parallel_; }

  // The state of one host thread.
  struct Memo {
    AccessRecords::Memo records;
    Pool<Split>::Lot splits;
    Pool<Story>::Lot stories;
    TouchedPages pages;
  };

  // One instruction of a warp. Its record is made when a cell first needs it.
  class Access {
   public:
    Access(GlobalRaces& races, const Side& side, Memo& memo)
        : races_(races), side_(side), memo_(memo) {}
    const Side& side() const { return side_; }
    // The number of the record; 0 if there are no more.
    std::uint32_t number() {
      if (!asked_) number_ = races_.records_.number_of(side_, memo_.records);
      asked_ = true;
      return number_;
    }

    // Call before cells are read that the access may change (touched_pages.h).
    void touch(GlobalCell* cell) { memo_.pages.touch(cell); }

    // `h`, which names one thread, with `lane` as the second. number() is not 0.
    CellHalf as_second(CellHalf h, std::uint32_t lane) {
      return races_.records_.with_second(h, number(), lane, memo_.records);
    }

   private:
    friend class GlobalRaces;
    GlobalRaces& races_;
    const Side side_;
    Memo& memo_;
    std::uint32_t number_ = 0;
    bool asked_ = false;
  };

  // Judges and records one lane's access to `mask` (one bit for each byte) of one granule. Returns
  // whether it races; `conflict` is then the access of the other thread. The access is recorded in
  // any case.
  bool access(GlobalCell& cell, std::uint32_t mask, std::uint32_t lane, Access& access,
              LaneAccess& conflict);

  // Records a strong read of one granule by several lanes, with the effect of access() of each.
  // Returns false, after which the caller calls access(), if each lane must be judged alone.
  bool read_as_one(GlobalCell& cell, std::uint32_t lanes, Access& access);

  // Records weak stores that were not recorded when they were made (`by`): of `lanes`, each to
  // `width` granules behind those of the lane before, the first to `cells`. Nobody else has
  // accessed them in this launch.
  void record_stores(GlobalCell* cells, std::uint32_t width, std::uint32_t lanes,
                     const AccessRecord& by, Memo& memo);

  // A strong access of one lane to an address that has no cell. Only its messages are stored and
  // acquired.
  void access_without_cell(std::uint64_t address, std::uint32_t lane, const Side& side);

  // Call after a lane of `side` has read memory by a strong read. It may have seen any strong write
  // that is recorded by now.
  void observe(GlobalCell& cell, std::uint32_t lane, const Side& side);

  // The last write in this launch to byte `byte` of the granule, which `cell` describes, even if it
  // has been ordered since. There must be one.
  LaneAccess last_write(GlobalCell cell, std::uint32_t byte) const;
  // As last_write(), or nullopt if nobody has written the byte in this launch.
  std::optional<LaneAccess> write_if_any(GlobalCell cell, std::uint32_t byte) const;
  // A read since that write, by a thread that the cell names. nullopt if the cell is a story.
  std::optional<LaneAccess> read_if_any(GlobalCell cell, std::uint32_t byte) const;
  // Whether the last write to some of `bytes` (one bit each) of the granule has a record in [first,
  // end) of an earlier launch. With `writes`, also whether a later read has. False for a story, and
  // for a granule that was split in that launch.
  bool is_recorded_in(GlobalCell cell, std::uint32_t bytes, bool writes, std::uint32_t first,
                      std::uint32_t end) const;

 private:
  bool has_room(memory::DeviceMemory& memory, bool several_lanes) const;
  Story* open_story(GlobalCell& cell, Memo& memo);
  bool make_story(GlobalCell& cell, Memo& memo);
  bool split(GlobalCell& cell, Memo& memo);
  void renew(GlobalCell& cell) const;
  CellHalf half(Access& access, ByteSet bytes, std::uint32_t lane, CellHalf otherwise) const;
  bool adds_a_weak_read(GlobalCell cell, const Side& side) const;
  void read_weakly(CellHalf& rd, ByteSet bytes, std::uint32_t lane, Access& access);
  void write_strongly(CellHalf& h, ByteSet bytes, std::uint32_t lane, Access& access);
  bool access_halves(GlobalCell& cell, CellState next, ByteSet bytes, std::uint32_t lane,
                     Access& access, LaneAccess& conflict);
  bool access_bytes(GlobalCell& cell, std::uint32_t mask, std::uint32_t lane, Access& access,
                    LaneAccess& conflict);
  bool access_story(GlobalCell& cell, std::uint32_t lane, Access& access, LaneAccess& conflict);
  bool access_as_story(GlobalCell& cell, std::uint32_t lane, Access& access, LaneAccess& conflict);
  bool access_apart(GlobalCell& cell, std::uint32_t mask, std::uint32_t lane, Access& access,
                    LaneAccess& conflict);

  bool parallel_ = false;
  std::uint64_t forgotten_ = 0;  // how often records have been forgotten
  AccessRecords records_;
  Pool<Split> splits_;
  Pool<Story> stories_;
  std::mutex without_cells_mutex_;
  std::unordered_map<std::uint64_t, Story> without_cells_;  // by address
  GridOrder grid_;
};

}  // namespace lockstep::check
