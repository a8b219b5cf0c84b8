// Programmatic dependent launch: griddepcontrol (PTX ISA 9.7.13.13).
//
// Launches run one after another here. A grid that was launched so that it may start before the one
// before it in its stream has ended is told which of its accesses would then race with that one's:
// those before griddepcontrol.wait to what the other has written, and its stores to what the other
// has read. Only a grid that let its dependents start, by griddepcontrol.launch_dependents, may
// still run then.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

void run_start_dependents(Warp& w, const Op& op, LaneMask mask);
void run_wait_for_grids(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
