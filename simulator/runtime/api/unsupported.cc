#include "simulator/runtime/api/unsupported.h"

#include <atomic>
#include <cstdio>

#include "simulator/runtime/state/runtime.h"

extern "C" int lockstep_unsupported(const char* function, int* said) {
  using lockstep::runtime::Runtime;
  lockstep::runtime::start_driver();
  lockstep::runtime::RunningCall call;
  if (Runtime::get().settings.api_errors) {
    call.result.reason = "the simulated GPU does not support it";
  } else if (std::atomic_ref<int>(*said).exchange(1) == 0) {
    std::fprintf(stderr, "lockstep: %s is not supported by the simulated GPU\n", function);
  }
  return lockstep::runtime::end_call(call, cudaErrorNotSupported, function);
}

// What the entry points of a statically linked runtime are led to that are newer than this one
// (exec/audit).
extern "C" int lockstepUnsupportedCall(const char* function) {
  int said = 0;
  return lockstep_unsupported(function, &said);
}
