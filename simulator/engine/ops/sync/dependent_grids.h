// Programmatic dependent launch: griddepcontrol (PTX ISA 9.7.13.13).
//
// Launches are executed one after another here. A grid may be launched so that it may start before
// its predecessor in the stream has ended. Its accesses that would then race are findings: those
// before griddepcontrol.wait to what the predecessor has written, and its stores to what the
// predecessor has read. Only a predecessor that executed griddepcontrol.launch_dependents may still
// run then.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

void run_start_dependents(Warp& w, const Op& op, LaneMask mask);
void run_wait_for_grids(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
