// Global memory that a copy or a fill may still be writing while a grid runs, because no order of
// streams is between the two. Copies have happened here before a kernel begins; those of its
// accesses that would race with one on a GPU are findings.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Reports those of `lanes` that access such memory, reads and writes. Addresses are as
// resolve_global() leaves them. False: a finding ends the launch.
bool check_arriving_data(Warp& w, const Request& r, LaneMask lanes);

}  // namespace lockstep::engine
