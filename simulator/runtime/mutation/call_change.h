// Mutants of the program's calls of the runtime: what can be changed in one, and changing it.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "simulator/runtime/state/work_types.h"

namespace lockstep::runtime {

// The names of the changes that make sense of this call: "grid-x+1", "grid-x-1", ... for each
// dimension of the grid that has more than one block, and x; "block-exchanged"; "shared-4";
// "default-stream"; "removed"; "bytes+4", "bytes-4"; "second-time-removed" of copies to a symbol;
// "error-swallowed" of a launch; "other-stream" if there is an `other`, which the program has
// created. Of calls that put no work: "wait-removed", "recorded-earlier", "edge-removed"
// (state/interceptor.h, is_changed).
std::vector<std::string> changes_of(const char* api_name, cudaStream_t stream, cudaStream_t other,
                                    const Work& work);
// Whether the change is one of the order of operations: its mutant executes them late.
bool changes_order(const std::string& change);

// Makes the change. False: the work is to be left out. `times`: how often the call has been made,
// this one included.
bool change_call(const std::string& change, int times, cudaStream_t other, cudaStream_t& stream,
                 Work& work);

// In words: "the grid has one block more in x".
std::string words_of(const std::string& change);

}  // namespace lockstep::runtime
