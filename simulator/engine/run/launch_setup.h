// Prepares a launch before its first block starts.
#pragma once

#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

class LoadedKernel;

// Sets the launch's sizes, address windows and checks.
void describe(Launch& l, const LoadedKernel& loaded, const LaunchConfig& config,
              memory::DeviceMemory& memory);
// Lays out the parameters, shared and local memory, and allocates the device memory that the launch
// needs for itself.
void lay_out_memory(Launch& l);
// Creates the launch's host threads and starts the search for races.
std::vector<Worker> make_workers(Launch& l);

}  // namespace lockstep::engine
