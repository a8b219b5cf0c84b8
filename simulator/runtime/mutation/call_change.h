// Mutants of the program's runtime calls: which changes a call allows, and how they are made.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "simulator/runtime/state/work_types.h"

namespace lockstep::runtime {

// The names of the changes that are possible for this call:
// - "grid-x+1", "grid-x-1", ... for x and each other dimension of the grid with more than one
//   block;
// - "block-exchanged", "shared-4", "default-stream", "removed", "bytes+4", "bytes-4";
// - "second-time-removed" for copies to a symbol, "error-swallowed" for a launch;
// - "other-stream" if there is an `other`, which the program has created.
//
// For calls that put no work: "wait-removed", "recorded-earlier", "edge-removed"
// (state/interceptor.h, is_changed).
std::vector<std::string> changes_of(const char* api_name, cudaStream_t stream, cudaStream_t other,
                                    const Work& work);
// Whether the change affects the order of operations: its mutant executes operations late.
bool changes_order(const std::string& change);

// Makes the change. Returns false if the work must be omitted. `times`: how often the call has been
// made, including this time.
bool change_call(const std::string& change, int times, cudaStream_t other, cudaStream_t& stream,
                 Work& work);

// A description: "the grid has one block more in x".
std::string words_of(const std::string& change);

}  // namespace lockstep::runtime
