// Barriers of a block's warps: bar and barrier (PTX ISA 9.7.13.1), and fences.
#pragma once

#include "simulator/engine/block.h"

namespace lockstep::engine {

// What a bar does; Op::flags, with kBarAligned. src[0]: barrier, src[1]: threads (or kNoSlot), src[2]: predicate of .red.
enum BarFlags : std::uint8_t { kBarSync = 0, kBarArrive = 1, kBarRedAnd = 2, kBarRedOr = 3, kBarRedPopc = 4, kBarKind = 7, kBarAligned = 8 };
void run_bar(Warp& w, const Op& op, LaneMask mask);
void run_fence(Warp& w, const Op& op, LaneMask mask);

// Called by the scheduler. Nothing of the warp is runnable: if all its lanes stand at a barrier, the warp arrives there. True when it may go on at
// once.
bool warp_reaches_barrier(Warp& w);
// A warp has exited: barriers that wait for all warps may be complete.
void recheck_barriers(Block& b);

}  // namespace lockstep::engine
