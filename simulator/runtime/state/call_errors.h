// Calls of the runtime API that fail, as findings (Settings::api_errors).
//
// Each is one finding a place in the program: `refused` for a launch, `api-error` for any other call. It is an error until the thread fetches it with
// cudaGetLastError or cudaPeekAtLastError: a program that looks at its errors knows of it. Whether it looks at what a call returns cannot be seen.
//
// Not told are what is an answer rather than a failure (not ready, no device, peer access that is already on, a graph that cannot be updated), the error that a
// finding in a kernel has left behind on the device, and calls that fail of device code that was refused, which is a finding already.
#pragma once

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Where the program, or another library, called into this one; nullptr when that cannot be told.
const void* caller();

// The outermost call of a thread has ended with `error`, which may be cudaSuccess.
void call_ended(Runtime& runtime, const char* function, cudaError_t error);

// The thread has fetched its last error, which was none.
void last_error_fetched(Runtime& runtime);

// Device code of the program cannot be run; `kernels` are its own. The finding's number. This is told wherever the program runs: its kernels would be
// missing without a word.
std::uint64_t tell_refused_module(Runtime& runtime, const LoadFailure& why, const std::vector<std::string>& kernels);

}  // namespace lockstep::runtime
