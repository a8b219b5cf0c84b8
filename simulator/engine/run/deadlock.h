// The report of a deadlock in a block.
#pragma once

#include <string>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Reports that nothing in the block can run, and why.
void report_deadlock(Block& b);

}  // namespace lockstep::engine
