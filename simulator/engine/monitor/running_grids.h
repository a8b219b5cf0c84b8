// Programmatic dependent launch: griddepcontrol (PTX ISA 9.7.13.13).
//
// Launches are executed one after another here. A grid may be launched so that it may start before
// its predecessor in the stream has ended. Its accesses that would then race are findings: those
// before griddepcontrol.wait to what the predecessor has written, and its stores to what the
// predecessor has read. Only a predecessor that executed griddepcontrol.launch_dependents may still
// run then.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Reports those of `lanes` that access what a grid that may still run has accessed. To be called
// before the search for races records them. Addresses are as resolve_global() leaves them. False: a
// finding ends the launch.
bool check_running_grids(Warp& w, const Request& r, LaneMask lanes);

}  // namespace lockstep::engine
