// The handlers of griddepcontrol: programmatic dependent launch (PTX ISA 9.7.13.13).
//
// The simulator executes launches one after another. On a GPU, a grid with this attribute may start
// before its predecessor in the stream has ended. Its accesses that would then race are findings:
// accesses before griddepcontrol.wait to memory that the predecessor has written, and stores to
// memory that the predecessor has read. This applies only if the predecessor executed
// griddepcontrol.launch_dependents.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

void run_start_dependents(Warp& w, const Op& op, LaneMask mask);
void run_wait_for_grids(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
