// A host thread's part in a launch.
#pragma once

#include <cstddef>

#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// Runs blocks, or clusters, until the launch has none left. `number`: of this host thread among
// those of the launch.
void run_worker(Launch& launch, Worker& worker, std::size_t number);

}  // namespace lockstep::engine
