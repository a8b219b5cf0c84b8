// Runs the warps of a block by turns, and what handlers ask of the scheduler.
#pragma once

#include <cstdint>

#include "simulator/engine/launch/launch_state.h"
#include "simulator/engine/schedule/block.h"

namespace lockstep::engine {

enum class Progress : std::uint8_t {
  kDone,
  kYielded,
  kDeferred,  // it could go on, and others come first
  kWaiting,   // at the cluster's barrier, for other blocks
};
Progress run_block(Block& block);
// A thread has done something by which others may learn of it, or it of others, and the seed may
// let others come next. To be called last by the operation. `chances`: it does so once in so many
// times, half of them for blocks and half for warps.
void let_others_come(Warp& w, std::uint32_t chances);
inline void strong_access(Warp& w, bool only_reads = false) {
  if (__builtin_expect(w.block->launch->config->schedule_seed != 0, 0))
    let_others_come(w, only_reads ? 32 : 8);
}
// Lanes that execute an operation together need not stay together. Under a seed, some of the
// running split may come to `pc`, this operation or the next, only after the others have had a
// short turn. Once in `chances` times; to be called by the operation, which goes on for w.active.
void let_lanes_part(Warp& w, std::uint32_t pc, std::uint32_t chances);
// Splits the running split: `lanes` go to `pc`, the others stay.
void split(Warp& w, std::uint32_t pc, LaneMask lanes);
// Parks `lanes` of the running split at the operation before w.pc.
void park(Warp& w, LaneMask lanes, WarpSplit::State state);
void exit_lanes(Warp& w, LaneMask lanes);

}  // namespace lockstep::engine
