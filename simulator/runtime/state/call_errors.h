// Reports failed calls of the runtime API as findings (Settings::api_errors).
//
// There is one finding for each place in the program: `refused` for a launch, `api-error` for any
// other call. It is an error until the thread fetches it with cudaGetLastError or
// cudaPeekAtLastError: a program that fetches its errors knows of it. Whether a program examines a
// call's return value cannot be detected.
//
// Three kinds of errors are not reported:
// - results rather than failures: not ready, no device, peer access already enabled, a graph that
//   cannot be updated;
// - errors that a finding in a kernel has left on the device;
// - errors that refused device code causes, which is a finding already.
#pragma once

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// The place where the program, or another library, called into this library; nullptr if unknown.
const void* caller();
// As caller(), with the frames that led there. If an earlier call put the running operation, only
// that call's place is known.
CallStack stack_of_caller(std::size_t most = CallStack::kMost);

// The result of a call, in the words of its API.
struct Answer {
  const char* function = "";
  const char* name = "";
  const char* text = "";
  // False for the driver API, which has no last error: its programs have only the return value. So
  // its failures are information. Exceptions are failures after which device code is missing:
  // refused launches, and code that cannot be loaded (loads_code).
  bool has_last_error = true;
  bool loads_code = false;
};

// Call when the outermost call of a thread has ended, with or without an error. Both APIs use the
// same numbers for the errors examined here.
void call_ended(Runtime& runtime, const Answer& answer, const RunningCall& call);

// The thread has fetched its last error, and there was none.
void last_error_fetched(Runtime& runtime);

// The running call fails because of refused device code, which is a finding already.
void note_reported();
// The running call is a refused launch of `kernel` (demangled; empty if it is no kernel).
void note_refused_launch(Runtime& runtime, std::string kernel);

// Reports device code of the program that cannot be run; `kernels` are the kernels in it. Returns
// the finding's number. It is also reported outside `lockstep exec`, since otherwise the kernels
// would be missing without a message.
std::uint64_t report_refused_module(Runtime& runtime, const LoadFailure& why,
                                    const std::vector<std::string>& kernels);

}  // namespace lockstep::runtime
