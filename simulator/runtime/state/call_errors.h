// Calls of the runtime API that fail, as findings (Settings::api_errors).
//
// Each is one finding a place in the program: `refused` for a launch, `api-error` for any other
// call. It is an error until the thread fetches it with cudaGetLastError or cudaPeekAtLastError: a
// program that looks at its errors knows of it. Whether it looks at what a call returns cannot be
// seen.
//
// Three errors are not reported. Some are answers rather than failures: not ready, no device, peer
// access that is already on, a graph that cannot be updated. A finding in a kernel leaves its error
// on the device. Refused device code makes calls fail, and is a finding already.
#pragma once

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Where the program, or another library, called into this one; nullptr when that is unknown.
const void* caller();
// The same with the frames that led there, where the operation was not put by an earlier call.
CallStack stack_of_caller(std::size_t most = CallStack::kMost);

// What a call has answered, in the words of its API.
struct Answer {
  const char* function = "";
  const char* name = "";
  const char* text = "";
  // Of the driver API, which has no last error to ask for: a program has what a call returns and
  // nothing else. So its failures are information, but for those after which device code is
  // missing: refused launches, and code that cannot be loaded.
  bool has_last_error = true;
  bool loads_code = false;
};

// The outermost call of a thread has ended as its result says; it may have succeeded. The numbers
// of errors of both APIs are the same wherever these files look at them.
void call_ended(Runtime& runtime, const Answer& answer, const RunningCall& call);

// The thread has fetched its last error, which was none.
void last_error_fetched(Runtime& runtime);

// The running call fails for refused device code, which is a finding already.
void note_reported();
// The running call is a launch that is not taken, of `kernel`: demangled, empty when it is none.
void note_refused_launch(Runtime& runtime, std::string kernel);

// Reports device code of the program that cannot be run; `kernels` are the kernels in it. Returns
// the finding's number. It is reported under `lockstep exec` and outside of it: the kernels would
// be missing without a message.
std::uint64_t report_refused_module(Runtime& runtime, const LoadFailure& why,
                                    const std::vector<std::string>& kernels);

}  // namespace lockstep::runtime
