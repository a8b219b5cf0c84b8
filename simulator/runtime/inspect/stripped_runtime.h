// The entry points of a static runtime of CUDA 13 without a symbol table.
//
// Each function of the API passes its own name and its number to the callbacks of profilers
// (CUPTI's `functionName` and callback identifier). So its code holds the address of the name, and
// the number twice: before and after the call. The functions that nvcc's code calls for
// registration pass no name. They lie beside `__cudaInitModule`, which does, in one order in every
// libcudart_static.a of CUDA 13.0 to 13.5. The order is verified: code outside the runtime must
// register a fat binary with the first, if the file has one, and `__cudaLaunchKernel` must jump to
// `cudaLaunchKernel`.
//
// Where a function begins is read from the unwind tables (.eh_frame_hdr), which `strip` leaves.
#pragma once

#include "simulator/runtime/inspect/sections.h"
#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::runtime {

// Fills the entry points of `result`, by address, with their room. False, and none, where the file
// has no such runtime, or one whose functions cannot be identified for certain.
bool find_stripped_runtime(const Sections& sections, StaticRuntime* result);

}  // namespace lockstep::runtime
