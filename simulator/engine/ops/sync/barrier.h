// Barriers of a block's warps: bar and barrier (PTX ISA 9.7.13.1), and fences.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::engine {

using program::kBarAligned;
using program::kBarArrive;
using program::kBarKind;
using program::kBarRedAnd;
using program::kBarRedOr;
using program::kBarRedPopc;
using program::kBarSync;

void run_bar(Warp& w, const Op& op, LaneMask mask);
void run_fence(Warp& w, const Op& op, LaneMask mask);

// Called by the scheduler. Nothing of the warp is runnable: if all its lanes stand at a barrier,
// the warp arrives there. True when it may go on at once.
bool warp_reaches_barrier(Warp& w);
// Lanes of the warp have ended: where all that are left have executed barrier.arrive, the warp
// arrives.
void arrive_without_the_ended(Warp& w);
// The warp has exited: barriers of its block that wait for all warps may be complete.
void recheck_barriers(Warp& w);

}  // namespace lockstep::engine
