// Whether a kernel does the same each time that it finds the same memory.
#pragma once

#include "simulator/engine/launch/launch.h"

namespace lockstep::engine {

// Whether the kernel's instructions depend on its configuration, parameters and memory alone, and
// change nothing but memory. Returns false if the kernel may read a clock, print, allocate memory,
// launch grids, or call a function by its address.
bool depends_on_memory_alone(const Kernel& kernel);

}  // namespace lockstep::engine
