// The end of threads.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Ends `lanes` of the running split: barriers no longer wait for them.
void exit_lanes(Warp& w, LaneMask lanes);

}  // namespace lockstep::engine
