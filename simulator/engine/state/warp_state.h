// The scheduler's state of a warp: its splits, its call frames, and what is known of its registers.
//
// A warp is a set of splits. A split is a set of lanes at one program counter in one call frame.
// The one with the lowest program counter in the deepest frame runs; splits that meet at the same
// place in the same frame merge; a branch that divides its lanes makes two of one.
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

// The words of a program that the engine uses by their short names.
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

// Validity of the registers of a frame, by slot: one word of lanes each. Made only when an invalid
// value appears.
struct Validity {
  struct Word {
    LaneMask invalid = 0;  // lanes whose value was never written
    LaneMask derived =
        0;  // of these, lanes whose value was computed from one that was never written
    LaneMask masked = 0;   // of these, lanes whose value is what a mask has left of one
    std::uint32_t pc = 0;  // where it came from
    check::Kind kind = check::Kind::kUninitialised;
    bool marked = false;  // its index is in `marked` below
    bool partly = false;  // of some lane not whole bytes are meant: `bits` below has which
    std::uint8_t
        bytes[kWarpSize];  // of an invalid lane, which bytes of its value are meant, a bit each
  };
  std::vector<Word> words;            // index: slot / 4
  std::vector<std::uint32_t> marked;  // indices of words that have had an invalid lane: few of
                                      // many, and each block begins with none
  using Bits = std::array<std::uint64_t, kWarpSize>;
  // Where each of `lanes` last read memory that nobody has written, by the operation at `pc`:
  // generic addresses. `first_pc`: the operation that a value which a store copied there was read
  // by before; kNoLoad: no store did.
  static constexpr std::uint32_t kNoLoad = ~0u;
  struct Load {
    std::uint32_t pc = 0;
    LaneMask lanes = 0;
    std::array<std::uint64_t, kWarpSize> address{};
    std::array<std::uint32_t, kWarpSize> first_pc{};
  };
  std::vector<Load> loads;
  std::unordered_map<std::uint32_t, Bits> bits;  // of words that are meant in part, by index

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
  // Of an invalid lane, the bits of its value that are meant.
  std::uint64_t unwritten_bits(const Word& word, int lane) const;
  // Sets `bytes` and, where not whole bytes are meant, `bits` of lanes that are invalid.
  void set_bits(Word& word, LaneMask lanes, const std::uint64_t* of_lanes);
  void set_bytes(Word& word, LaneMask lanes, const std::uint8_t* of_lanes);  // nullptr: all bytes
};

struct Frame {
  std::byte* file = nullptr;
  std::uint32_t function = 0;
  std::int32_t caller = -1;  // frame index
  std::uint32_t return_pc = 0;
  std::uint32_t call = 0;  // index into Program::calls
  LaneMask live = 0;       // lanes that have not returned or exited; 0: free for reuse
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;  // offset of the frame in local memory
  AlignedBytes storage;          // the file of a frame below the kernel's
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
  std::uint32_t pc = 0;  // parked: of the operation it waits at
  LaneMask mask = 0;
  std::int32_t frame = 0;
  State state = State::kRunnable;
  bool yielded = false;  // since the last time slice: the others first
};

// Lanes that ended at one operation.
struct WarpExit {
  std::uint32_t pc = 0;
  LaneMask lanes = 0;
};

// Lanes that have executed barrier.arrive and whose warp has not arrived yet: other lanes of it are
// to come, or to end.
struct PartialArrival {
  LaneMask lanes = 0;
  std::uint32_t pc = 0;     // of the last of them
  std::uint32_t count = 0;  // of threads, that it names
};

struct WarpControl {
  std::vector<WarpSplit> splits;  // all but the running one
  std::vector<Frame> frames;      // [0] is the kernel's
  std::int32_t first_free = 1;    // all frames before it are in use
  std::int32_t frame = 0;         // of the running split
  Watched<LaneMask> exited;
  std::vector<WarpExit> exits;  // where these ended
  bool tracking = false;        // some register may hold an invalid value
  bool short_slice = false;     // the running split has only a short turn
  bool should_yield = false;    // the block's other warps first: see strong_access
  std::int32_t barrier = -1;    // the whole warp has arrived here and waits
  PartialArrival arrivals[16];  // by barrier
  std::uint32_t arriving = 0;   // a bit for each of these that has lanes
  LaneMask cluster_arrived =
      0;  // lanes that have arrived at the open phase of the cluster's barrier
  LaneMask cluster_released = 0;          // of these, lanes that did so with release semantics
  std::uint32_t cluster_arrive_pc = ~0u;  // of that arrival, if all lanes arrived at once
  LaneMask cluster_passed = 0;  // lanes whose phase is complete but that have not waited for it yet
  LaneMask cluster_left = 0;    // lanes that ended after they had arrived at the open phase
  LaneMask timed_out =
      0;  // lanes for which mbarrier.try_wait shall answer false instead of waiting on
  std::uint32_t stack_pointer[kWarpSize] = {};  // alloca
  std::uint64_t instructions = 0;               // of this warp: its clock
  // Under a seed: strong accesses so far, and those of them since something has changed
  // (let_others_come).
  std::uint64_t strong_accesses = 0, changes_then = 0;
  std::uint32_t polls = 0;
  // The place that the warp looks at strongly, if nothing has changed since (state/turns.h).
  struct Poll {
    std::uint32_t pc = ~0u;
    std::uint32_t others = 0;  // looks at other places since
    std::uint64_t address = 0, changes = 0;
  };
  Poll poll;
  // What a turn's end was like before, while nothing has changed (livelock.h).
  struct TimeSlices {
    std::uint64_t changes = 0,
                  epoch =
                      0;  // the worker's changes, and the epoch of Launch::quiescence, until now
    std::uint64_t count = 0;  // turns since the last change
    bool compares = false;    // with the state below
    std::uint64_t state = 0;  // a digest of registers and places after one of them
    LaneMask ran = 0;         // lanes that have run since
    bool repeats = false;     // it has been met again
    bool idles = false;  // it was met again although other host threads announced changes: nothing
                         // proved, but probably it waits
  };
  TimeSlices time_slices;
  std::uint64_t slept = 0;  // nanoseconds asked of nanosleep, and what clock_wait.h has passed over
  // The last operation that read a clock, and for how long the warp has read it in a loop.
  struct ClockWait {
    std::uint32_t pc = ~0u;
    std::uint32_t reads = 0;
    std::uint64_t began = 0;              // on the clock
    std::uint64_t last_instructions = 0;  // at the last reading
  };
  ClockWait clock_wait;
};

}  // namespace lockstep::engine
