// mov from a special register (PTX ISA 10).
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

void run_special(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
