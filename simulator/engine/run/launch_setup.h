// What a launch is before its first block begins.
#pragma once

#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

class LoadedKernel;

// Sizes, windows and checks.
void describe(Launch& l, const LoadedKernel& loaded, const LaunchConfig& config,
              memory::DeviceMemory& memory);
// The parameters, shared and local memory, and what of the device's memory the launch needs for
// itself.
void lay_out_memory(Launch& l);
// Its host threads, and with them the search for races.
std::vector<Worker> make_workers(Launch& l);

}  // namespace lockstep::engine
