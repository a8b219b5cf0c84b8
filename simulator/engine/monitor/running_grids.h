// Races with grids that may still run: programmatic dependent launch, griddepcontrol (PTX ISA
// 9.7.13.13).
//
// The simulator executes launches one after another. On a GPU, a grid with this attribute may start
// before its predecessor in the stream has ended. Its accesses that would then race are findings:
// accesses before griddepcontrol.wait to memory that the predecessor has written, and stores to
// memory that the predecessor has read. This applies only if the predecessor executed
// griddepcontrol.launch_dependents.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Reports those of `lanes` that access memory which a grid that may still run has accessed. Call
// before the search for races records them. Addresses must be as resolve_global() leaves them.
// Returns false if a finding ends the launch.
bool check_running_grids(Warp& w, const Request& r, LaneMask lanes);

}  // namespace lockstep::engine
