// "No work launches no kernel", as a law that can be checked on silicon too.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "harness/property/compare.h"

namespace lockstep::properties {

// Calls `run` with a stream that is being captured, so that its operations become a graph. Requires
// that the graph has no kernel and, by the simulated GPU's counters, that no kernel was launched on
// another stream. Then executes the graph's copies and memsets.
//
// `run` must not wait for the device: a capturing stream cannot be synchronised.
void require_no_launch(const std::function<void(cudaStream_t)>& run);

}  // namespace lockstep::properties
