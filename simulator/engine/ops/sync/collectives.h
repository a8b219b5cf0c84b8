// Operations among the lanes of a warp: shuffles, votes, matches, reductions, bar.warp.sync (PTX
// ISA 9.7.9, 9.7.13).
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::engine {

using program::kReduxAbs;
using program::kReduxNaN;
using program::SyncKind;

void run_sync(Warp& w, const Op& op, LaneMask mask);
void run_activemask(Warp& w, const Op& op, LaneMask mask);

// For the scheduler. Completes parked *.sync groups of the warp. Returns whether some lanes may run
// again.
bool complete_syncs(Warp& w);

}  // namespace lockstep::engine
