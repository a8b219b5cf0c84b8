// What the program puts into a stream: into the queue, or, where the stream is being captured, into
// a graph.
#pragma once

#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// Puts work into the queue, or, where the stream is being captured, makes it a node of the graph
// after what the stream had before.
cudaError_t put(Runtime& runtime, Device& device, const Call& call, cudaStream_t stream, Work work);

// Checks that a stream handle is one, and that the stream is not being captured, for functions that
// cannot become part of a graph.
cudaError_t check_stream(Runtime& runtime, Device& device, const char* function,
                         cudaStream_t stream);

}  // namespace lockstep::runtime
