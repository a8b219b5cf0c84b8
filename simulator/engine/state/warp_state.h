// The scheduler's state of a warp: its splits, its call frames, and the validity of its registers.
//
// A warp is a set of splits. A split is a set of lanes at one program counter in one call frame.
// The split with the lowest program counter in the deepest frame runs. Splits that reach the same
// place in the same frame merge. A branch that divides a split's lanes makes two splits of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/engine/state/vocabulary.h"
#include "simulator/engine/state/watched.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

// Short names for types of the program that the engine uses.
using program::AlignedBytes;
using program::allocate_aligned;
using program::Builtin;
using program::Call;
using program::Decides;
using program::Function;
using program::kCodeBase;
using program::kCodeStep;
using program::kLocalStart;
using program::kReservedShared;
using program::kSharedGap;
using program::kSharedStart;
using program::OperandUse;
using program::Origin;
using program::Program;
using program::Range;
using program::Selects;
using program::Source;
using program::Storage;
using program::ValidityTransfer;

// The validity of a frame's registers: one Word for each slot. Created only when an invalid value
// occurs.
struct Validity {
  struct Word {
    LaneMask invalid = 0;  // lanes whose value is uninitialised
    LaneMask derived = 0;  // of these, lanes whose value is derived from an uninitialised one
    LaneMask masked = 0;   // of these, lanes whose value is what a mask has left of one
    std::uint32_t pc = 0;  // the operation it came from
    check::Kind kind = check::Kind::kUninitialised;
    bool marked = false;            // its index is in `marked` below
    bool partly = false;            // for some lane, not whole bytes are meant: see `bits` below
    std::uint8_t bytes[kWarpSize];  // of an invalid lane: the bytes of its value that are meant,
                                    // one bit each
  };
  std::vector<Word> words;            // index: slot / 4
  std::vector<std::uint32_t> marked;  // indices of words that have had an invalid lane. They are
                                      // few, and each block starts with none
  using Bits = std::array<std::uint64_t, kWarpSize>;
  // For each of `lanes`: the generic address where it last read uninitialised memory, by the
  // operation at `pc`. `first_pc`: the operation that had read the value before a store copied it
  // there; kNoLoad: no store did.
  static constexpr std::uint32_t kNoLoad = ~0u;
  struct Load {
    std::uint32_t pc = 0;
    LaneMask lanes = 0;
    std::array<std::uint64_t, kWarpSize> address{};
    std::array<std::uint32_t, kWarpSize> first_pc{};
  };
  std::vector<Load> loads;
  std::unordered_map<std::uint32_t, Bits> bits;  // of words with `partly`, by index

  void mark(Word& word) {
    if (word.marked) return;
    word.marked = true;
    marked.push_back(static_cast<std::uint32_t>(&word - words.data()));
  }
  void forget() {
    for (const std::uint32_t i : marked) words[i] = Word{};
    marked.clear();
    bits.clear();
    loads.clear();
  }
  // For an invalid lane: the bits of its value that are meant.
  std::uint64_t unwritten_bits(const Word& word, int lane) const;
  // set_bits() sets `bytes` of invalid lanes and, if not whole bytes are meant, `bits`.
  void set_bits(Word& word, LaneMask lanes, const std::uint64_t* of_lanes);
  void set_bytes(Word& word, LaneMask lanes, const std::uint8_t* of_lanes);  // nullptr: all bytes
};

struct Frame {
  std::byte* file = nullptr;
  std::uint32_t function = 0;
  std::int32_t caller = -1;  // index of a frame
  std::uint32_t return_pc = 0;
  std::uint32_t call = 0;  // index into Program::calls
  LaneMask live = 0;       // lanes that have not returned or exited; 0: the frame can be reused
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;  // offset of the frame in local memory
  AlignedBytes storage;          // the register file of a frame other than the kernel's
  std::size_t storage_bytes = 0;
  std::unique_ptr<Validity> validity;
};

struct WarpSplit {
  enum class State : std::uint8_t {
    kRunnable,
    kAtSync,
    kAtBarrier,
    kAtCluster,
    kAtMbarrier,
    kAtPair
  };
  std::uint32_t pc = 0;  // if parked: of the operation at which it waits
  LaneMask mask = 0;
  std::int32_t frame = 0;
  State state = State::kRunnable;
  bool yielded = false;  // in this round: other splits run first
};

// Lanes that ended at one operation.
struct WarpExit {
  std::uint32_t pc = 0;
  LaneMask lanes = 0;
};

// Lanes that have executed barrier.arrive while their warp has not arrived yet: its other lanes
// have neither arrived nor ended.
struct PartialArrival {
  LaneMask lanes = 0;
  std::uint32_t pc = 0;     // of the last lane
  std::uint32_t count = 0;  // the thread count that it names
};

struct WarpControl {
  std::vector<WarpSplit> splits;  // all but the running one
  std::vector<Frame> frames;      // [0] is the kernel's
  std::int32_t first_free = 1;    // all frames before it are in use
  std::int32_t frame = 0;         // of the running split
  Watched<LaneMask> exited;
  std::vector<WarpExit> exits;  // where the lanes of `exited` ended
  bool tracking = false;        // some register may hold an invalid value
  bool short_slice = false;     // the running split has a short turn only
  bool should_yield = false;    // the block's other warps run first: see strong_access
  std::int32_t barrier = -1;    // the barrier at which the whole warp has arrived and waits
  PartialArrival arrivals[16];  // by barrier
  std::uint32_t arriving = 0;   // one bit for each of `arrivals` that has lanes
  LaneMask cluster_arrived =
      0;  // lanes that have arrived at the open phase of the cluster's barrier
  LaneMask cluster_released = 0;  // lanes of `cluster_arrived` that arrived with release semantics
  std::uint32_t cluster_arrive_pc = ~0u;  // pc of the arrival, if all lanes arrived at once
  LaneMask cluster_passed = 0;  // lanes whose phase is complete but that have not waited yet
  LaneMask cluster_left = 0;    // lanes that ended after arriving at the open phase
  LaneMask timed_out = 0;  // lanes for which mbarrier.try_wait returns false instead of waiting on
  std::uint32_t stack_pointer[kWarpSize] = {};  // alloca
  bool allocates = false;                       // since it has started
  std::uint64_t instructions = 0;               // of this warp; serves as its clock
  // With a schedule seed: the number of strong accesses so far, and of those since the last change
  // (let_others_come).
  std::uint64_t strong_accesses = 0, changes_then = 0;
  std::uint32_t polls = 0;
  // The place that the warp reads strongly, if nothing has changed since (state/turns.h).
  struct Poll {
    std::uint32_t pc = ~0u;
    std::uint32_t others = 0;  // reads of other places since
    std::uint64_t address = 0, changes = 0;
  };
  Poll poll;
  std::uint32_t looks = 0;  // strong reads and atomics of this launch
  // The state at the ends of turns while nothing has changed (livelock.h).
  struct TimeSlices {
    std::uint64_t changes = 0,
                  epoch = 0;  // the worker's changes, and the epoch of Launch::quiescence, so far
    std::uint64_t count = 0;  // turns since the last change
    bool compares = false;    // with the state below
    std::uint64_t state = 0;  // a digest of registers and places after one of these turns
    LaneMask ran = 0;         // lanes that have run since
    bool repeats = false;     // the digest has occurred again
    bool idles = false;       // the digest has occurred again although other host threads announced
                              // changes: not proved, but the warp probably waits
  };
  TimeSlices time_slices;
  std::uint64_t slept =
      0;  // nanoseconds requested by nanosleep, plus those that clock_wait.h has skipped
  // The last operation that read a clock, and how long the warp has read it in a loop.
  struct ClockWait {
    std::uint32_t pc = ~0u;
    std::uint32_t reads = 0;
    std::uint64_t began = 0;              // the clock's value then
    std::uint64_t last_instructions = 0;  // at the last reading
  };
  ClockWait clock_wait;
};

}  // namespace lockstep::engine
