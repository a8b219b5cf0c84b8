// Finds the entry points of a static runtime of CUDA 13 without a symbol table.
//
// Each API function passes its own name and number to the callbacks of profilers (CUPTI's
// `functionName` and callback identifier). So its code contains the address of the name, and the
// number twice: before and after the call. The registration functions that nvcc's code calls pass
// no name. They lie beside `__cudaInitModule`, which does, in the same order in every
// libcudart_static.a of CUDA 13.0 to 13.5. Two checks verify the order: code outside the runtime
// must register a fat binary with the first one, if the file has a fat binary, and
// `__cudaLaunchKernel` must jump to `cudaLaunchKernel`.
//
// The unwind tables (.eh_frame_hdr), which `strip` keeps, contain the start of each function.
#pragma once

#include "simulator/runtime/inspect/sections.h"
#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::runtime {

// Fills in the entry points of `result`, by address, with their room. Returns false, with no entry
// points, if the file has no such runtime, or one whose functions cannot be identified reliably.
bool find_stripped_runtime(const Sections& sections, StaticRuntime* result);

}  // namespace lockstep::runtime
