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

// For the scheduler. Call when nothing of the warp is runnable. If all its lanes wait at a barrier,
// the warp arrives there. Returns whether it may continue at once.
bool warp_reaches_barrier(Warp& w);
// Call after lanes of the warp have ended. If all remaining lanes have executed barrier.arrive, the
// warp arrives.
void arrive_without_the_ended(Warp& w);
// Call after the warp has exited: barriers of its block that wait for all warps may now be
// complete.
void recheck_barriers(Warp& w);

}  // namespace lockstep::engine
