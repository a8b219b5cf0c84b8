// Threads that end.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// `lanes` of the running split end: barriers wait for them no longer.
void exit_lanes(Warp& w, LaneMask lanes);

}  // namespace lockstep::engine
