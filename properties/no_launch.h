// "No work launches no kernel", as a law that silicon can check too.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "harness/property/compare.h"

namespace lockstep::properties {

// Runs `run` on a stream that is being captured: what it hands the stream becomes a graph instead
// of work. Requires that the graph has no kernel and, on the simulated GPU, which counts them, that
// none was launched on another stream either. Copies and memsets of the graph are then done.
//
// `run` must not wait for the device: a stream that is captured cannot be waited for.
void require_no_launch(const std::function<void(cudaStream_t)>& run);

}  // namespace lockstep::properties
