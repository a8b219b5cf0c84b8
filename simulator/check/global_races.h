// Races in global memory, and in the shared memory of a cluster's blocks, judged by what orders two
// accesses and not by whether a result changed.
//
// Two accesses to the same bytes by different threads of a launch race when three things hold: at
// least one writes; they are not both strong with scopes that include each other's thread; neither
// is ordered before the other (PTX ISA 8.7, 8.9; block_order.h). A launch is ordered after the
// launches that launch_order.h has before it. The accesses of others are kept, and judged like
// those of this one.
//
// A granule of four bytes has one cell. global_cell.h lists its states, and what an access makes of
// each; cell_questions.h asks what has to be known for that; access_records.h stores who accessed;
// global_rows.h records the lanes of a warp at once. Every state is exact for two threads. Among
// more a race may be missed; none is made up.
//
// Several launches may be under way. One of them runs at a time (suspend, resume).
//
// When records, split cells or stories are used up, accesses are still judged against what is
// recorded, but no longer recorded (exhausted()).
//
// Blocks run on several host threads. A cell is looked at and changed under the lock of its region;
// a launch on one host thread takes no locks. An access is recorded before memory is read, and
// between the two another thread may record and make a write that it sees: observe() says so.
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
#include "simulator/memory/device_memory.h"

namespace lockstep::check {

// The cell of the granule that holds an address of the device's window.
inline GlobalCell* cell_of(memory::DeviceMemory& memory, std::uint64_t address) {
  return reinterpret_cast<GlobalCell*>(memory.race_shadow(address));
}

// What a thread of an earlier launch has handed on to one that it makes, with times_forgotten() of
// then. nullptr: nothing.
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
  // As many records, and split cells, stories and publications by blocks, are kept from launch to
  // launch.
  static constexpr std::uint32_t kKeptRecords = 1u << 20, kKeptOthers = 1u << 16;
  // With one lane only launches of lanes to come may ask for them: fewer are kept, so that launch
  // after launch uses the same memory.
  static constexpr std::uint32_t kKeptRecordsOfOneLane = 1u << 15;

  GlobalRaces() : splits_(kSplits), stories_(kStories) {}

  // How often all that was recorded has been forgotten.
  std::uint64_t times_forgotten() const { return forgotten_; }
  // A launch of blocks in clusters of `cluster` (1: none) begins, and is the present one.
  // `threads`: host threads that run it. `most`: records that it may make, at least, and
  // granules that it may split, and stories; 0: as many as there are.
  void start(memory::DeviceMemory& memory, std::uint32_t cluster, unsigned threads,
             std::uint32_t most = 0, const LaunchOrder::Place& place = {}, std::uint64_t blocks = 0,
             const Given& given = {});
  // Puts the present launch aside, so that another may begin or go on; and goes on with it.
  // Returns whether all that it had recorded has been forgotten meanwhile: then its memos and its
  // cells in shared memory must be cleared.
  struct Suspended {
    bool parallel = false;
    AccessRecords::Present records;
    std::uint32_t first_block = 0;
    std::uint64_t forgotten = 0;
  };
  Suspended suspend();
  [[nodiscard]] bool resume(const Suspended& launch);
  // A launch that was put aside has ended, or is given up.
  void end(const Suspended& launch) { grid_.launches().end(launch.first_block); }
  // Whether some launch is not among `before`: a clock of LaunchOrder. To be asked between
  // launches.
  bool any_unordered(std::span<const std::uint32_t> before) const {
    return grid_.launches().first_unordered_in(before) != LaunchOrder::kNone;
  }
  // An access to a byte of [first, last] by a launch that is not among `before`, and a write if
  // nothing is written (`writes`) now. `cells`: from that of `first` on. nullopt: there is none.
  struct PastConflict {
    LaneAccess access;
    std::uint64_t address = 0;  // a byte of both
  };
  std::optional<PastConflict> find_unordered(const GlobalCell* cells, std::uint64_t first,
                                             std::uint64_t last, bool writes,
                                             std::span<const std::uint32_t> before) const;
  GridOrder& grid() { return grid_; }
  const AccessRecords& records() const { return records_; }
  // Whether accesses had to go unrecorded. To be asked after the launch.
  bool exhausted() const { return records_.exhausted(); }
  // Whether blocks run on several host threads: then cells need a RegionLock, and observe() is of
  // use.
  bool parallel() const { return parallel_; }

  // What a host thread keeps.
  struct Memo {
    AccessRecords::Memo records;
    Pool<Split>::Lot splits;
    Pool<Story>::Lot stories;
  };

  // One instruction of a warp: who it is, and its record once a cell needs it.
  class Access {
   public:
    Access(GlobalRaces& races, const Side& side, Memo& memo)
        : races_(races), side_(side), memo_(memo) {}
    const Side& side() const { return side_; }
    // 0 when there are no more.
    std::uint32_t number() {
      if (!asked_) number_ = races_.records_.number_of(side_, memo_.records);
      asked_ = true;
      return number_;
    }

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

  // One lane's access to `mask` (a bit a byte) of one granule. True, and `conflict`, the access of
  // another thread, if it races; it is recorded either way.
  bool access(GlobalCell& cell, std::uint32_t mask, std::uint32_t lane, Access& access,
              LaneAccess& conflict);

  // A strong access of one lane to an address that has no cell: its messages are handed on all the
  // same.
  void access_without_cell(std::uint64_t address, std::uint32_t lane, const Side& side);

  // A lane of `side` has read by a strong read, and may have seen whatever strong write is recorded
  // by now.
  void observe(GlobalCell& cell, std::uint32_t lane, const Side& side);

  // Who wrote last to the byte that `cell` describes, as byte `byte` of its granule, in this
  // launch, whatever has ordered it since.
  LaneAccess last_write(GlobalCell cell, std::uint32_t byte) const;
  // The same of a byte that perhaps nobody has written in this launch.
  std::optional<LaneAccess> write_if_any(GlobalCell cell, std::uint32_t byte) const;
  // A read since then, by one of those whom the cell names; none where it has a story.
  std::optional<LaneAccess> read_if_any(GlobalCell cell, std::uint32_t byte) const;
  // Whether the last write to some of `bytes` (a bit each) of the granule is one of the records
  // [first, end) of an earlier launch. With `writes`, whether a read since is. False for a granule
  // that was split then, and for a story.
  bool is_recorded_in(GlobalCell cell, std::uint32_t bytes, bool writes, std::uint32_t first,
                      std::uint32_t end) const;

 private:
  bool has_room(memory::DeviceMemory& memory, bool several_lanes) const;
  Story* open_story(GlobalCell& cell, Memo& memo);
  bool make_story(GlobalCell& cell, Memo& memo);
  bool split(GlobalCell& cell, Memo& memo);
  CellHalf half(Access& access, ByteSet bytes, std::uint32_t lane, CellHalf otherwise) const;
  bool only_reads(GlobalCell cell, const Side& side) const;
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
  std::uint64_t forgotten_ = 0;  // how often
  AccessRecords records_;
  Pool<Split> splits_;
  Pool<Story> stories_;
  std::mutex without_cells_mutex_;
  std::unordered_map<std::uint64_t, Story> without_cells_;  // by address
  GridOrder grid_;
};

}  // namespace lockstep::check
