// Puts operations into a stream: into the queue or, if the stream is being captured, into a graph.
#pragma once

#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// Puts work into the queue or, if the stream is being captured, adds it to the graph after the
// stream's earlier nodes.
cudaError_t put(Runtime& runtime, Device& device, const Call& call, cudaStream_t stream, Work work);

// Checks that a stream handle is valid and that the stream is not being captured, for functions
// that cannot become part of a graph.
cudaError_t check_stream(Runtime& runtime, Device& device, const char* function,
                         cudaStream_t stream);

}  // namespace lockstep::runtime
