// Functions of the device library that a program may call without defining them: vprintf, malloc,
// free, __assertfail.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

void run_builtin(Warp& w, const Call& call, LaneMask mask);

}  // namespace lockstep::engine
