// What is said when threads of a block can go on no longer.
#pragma once

#include <string>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Nothing in the block can run: says why.
void report_deadlock(Block& b);

}  // namespace lockstep::engine
