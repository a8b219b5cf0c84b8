// Changes of a warp's splits, and whose turn is next.
#pragma once

#include <cstdint>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

// Backward branches a split may take while others of its warp wait: enough for an ordinary
// divergent loop to end, few enough for lanes that spin on a lock held by another lane of their
// warp.
inline constexpr std::int32_t kSplitTimeSlice = 512;

// Bits of `x`, mixed: what a seed draws turns by.
inline std::uint64_t mixed_bits(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

// Lanes that execute an operation together need not stay together. Under a seed, some of the
// running split may come to `pc`, this operation or the next, only after the others have had a
// short turn. Once in `chances` times; to be called by the operation, which goes on for w.active.
void let_lanes_part(Warp& w, std::uint32_t pc, std::uint32_t chances);
// To be called last by an operation through which threads communicate: under a seed, another warp
// or block may run next. It does once in `chances` times, half of them for blocks and half for
// warps; as often lanes part.
void let_others_come(Warp& w, std::uint32_t chances);
inline void strong_access(Warp& w, bool only_reads = false) {
  if (__builtin_expect(w.block->launch->config->schedule_seed != 0, 0))
    let_others_come(w, only_reads ? 32 : 8);
}
// The operation at `pc` has looked at `address` by a strong access, which has changed nothing.
// Where it did so before, and nothing has changed in between, the warp waits for somebody: its turn
// ends at the next backward branch. Many such accesses and atomics, whether they change something
// or not, make a launch one that polls (Launch::polls).
void note_poll(Warp& w, std::uint32_t pc, std::uint64_t address);
// Splits the running split: `lanes` go to `pc`, the others stay.
void split(Warp& w, std::uint32_t pc, LaneMask lanes);
// Parks `lanes` of the running split at the operation before w.pc.
void park(Warp& w, LaneMask lanes, WarpSplit::State state);

}  // namespace lockstep::engine
