// Calls of the runtime API that fail, as findings (Settings::api_errors).
//
// Each is one finding a place in the program: `refused` for a launch, `api-error` for any other
// call. It is an error until the thread fetches it with cudaGetLastError or cudaPeekAtLastError: a
// program that looks at its errors knows of it. Whether it looks at what a call returns cannot be
// seen.
//
// Not told are what is an answer rather than a failure (not ready, no device, peer access that is
// already on, a graph that cannot be updated), the error that a finding in a kernel has left behind
// on the device, and calls that fail of device code that was refused, which is a finding already.
#pragma once

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Where the program, or another library, called into this one; nullptr when that cannot be told.
const void* caller();

// What a call has answered, in the words of its API. The numbers of both APIs are the same wherever
// these files look at them.
struct Answer {
  const char* function = "";
  int number = 0;
  const char* name = "";
  const char* text = "";
  // Of the driver API, which has no last error to ask for: a program has what a call returns and
  // nothing else. So its failures are information, but for those after which device code is
  // missing: refused launches, and code that cannot be loaded.
  bool has_last_error = true;
  bool loads_code = false;
};

// The outermost call of a thread has ended; it may have succeeded.
void call_ended(Runtime& runtime, const Answer& answer);

// The thread has fetched its last error, which was none.
void last_error_fetched(Runtime& runtime);

// Device code of the program cannot be run; `kernels` are its own. The finding's number. This is
// told wherever the program runs: its kernels would be missing without a word.
std::uint64_t tell_refused_module(Runtime& runtime, const LoadFailure& why,
                                  const std::vector<std::string>& kernels);

}  // namespace lockstep::runtime
