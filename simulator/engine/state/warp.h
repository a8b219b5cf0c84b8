// The state of one warp that handlers use, and the accessors of its register file.
//
// Plain data only, for the same reason as program/operation.h. The scheduler's state (splits,
// parking) is in block.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulator/engine/state/vocabulary.h"

namespace lockstep::engine {

struct Block;        // block.h
struct WarpControl;  // block.h: splits, call stacks, parking; owned by the scheduler
struct CachedRange;  // worker.h

// Why the running split pauses. Handlers set one of kReschedule to kAbort. The main loop sets the
// others.
enum class Event : std::uint8_t {
  kNone,
  kReschedule,  // the running split ended, parked, split or changed its frame
  kTrack,      // unwritten bytes were loaded: continue in the loop that tracks uninitialised values
  kParted,     // lanes were left behind: the others continue
  kAbort,      // a finding ends the launch
  kMet,        // another split waits at this operation
  kSliceOver,  // the time slice has ended, at a backward branch
  kTurnOver,   // the short turn of a split that is not the lowest has ended
};

// What is the same for all threads of a block, as machine code finds it (simulator/translate).
struct UniformValues {
  const std::byte* parameters = nullptr;  // of the kernel
  std::uint32_t ctaid[3], ntid[3], nctaid[3];
  std::uint64_t *shuffles = nullptr, *votes = nullptr;  // of the host thread's counters
  // The host thread's ranges (worker.h), its generation of them, and the two counts of changes that
  // make up the present one.
  const CachedRange* ranges = nullptr;
  const std::uint64_t* generation = nullptr;
  const std::atomic<std::uint64_t>*changes = nullptr, *unwritten = nullptr;
};

struct Warp {
  std::byte* file[2];       // [0] registers, [1] the kernel's constants (read only)
  LaneMask carry = 0;       // condition code CC.CF, one bit for each lane
  LaneMask exists = 0;      // lanes that are threads of the block (a last warp may be partial)
  LaneMask overlapped = 0;  // lanes beside which earlier grids or copies may still run, including
                            // those that have waited: sync/dependent_grids.h
  LaneMask waited = 0;
  std::uint32_t index = 0;  // within the block
  Block* block = nullptr;
  WarpControl* control = nullptr;
  const UniformValues* uniform = nullptr;

  // The running split.
  std::uint32_t pc = 0;  // while a handler runs: the instruction after its own
  LaneMask active = 0;
  std::uint32_t limit = 0;      // another split waits here: stop and merge
  std::int32_t time_slice = 0;  // backward branches left before the turn ends
  Event event = Event::kNone;
};

// The lane array of the register (or constant) at `slot`. Lanes not in `exists` hold unspecified
// values, on which computations are allowed.
template <class T>
inline __attribute__((always_inline)) const T* source(const Warp& w, Slot slot) {
  return reinterpret_cast<const T*>(w.file[slot & 1] + (slot & ~Slot{1}));
}
template <class T>
inline __attribute__((always_inline)) T* destination(Warp& w, Slot slot) {
  return reinterpret_cast<T*>(w.file[0] + slot);
}
inline __attribute__((always_inline)) LaneMask predicate(const Warp& w, Slot slot) {
  LaneMask m;
  std::memcpy(&m, w.file[slot & 1] + (slot & ~Slot{1}), sizeof m);
  return m;
}
inline __attribute__((always_inline)) void set_predicate(Warp& w, Slot slot, LaneMask value,
                                                         LaneMask mask) {
  LaneMask old;
  std::memcpy(&old, w.file[0] + slot, sizeof old);
  old = (old & ~mask) | (value & mask);
  std::memcpy(w.file[0] + slot, &old, sizeof old);
}

}  // namespace lockstep::engine
