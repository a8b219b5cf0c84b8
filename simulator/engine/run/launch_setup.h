// Prepares a launch before its first block starts.
#pragma once

#include <cstdint>
#include <optional>
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
// Creates the launch's host threads and starts the search for races. `expected_work`: the warp
// instructions and searches of such a launch, if that is known (LoadedKernel::expected_work).
std::vector<Worker> make_workers(Launch& l, std::optional<std::uint64_t> expected_work);

}  // namespace lockstep::engine
