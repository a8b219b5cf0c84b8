// The frame in which every function of the driver API runs.
//
// The functions are thin. Most call the function of the runtime API that does the same on the same
// state, so a program may mix both APIs. cudaError_t and CUresult have the same numbers, except
// errors of the runtime only, which result_of() translates. Handles of streams, events, graphs,
// kernels and pools are the same.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <mutex>
#include <utility>

#include "simulator/runtime/state/contexts.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::driver {

using runtime::Context;
using runtime::Device;
using runtime::Runtime;
using runtime::thread_state;

// What must precede a call.
enum class Needs {
  kNothing,  // not even cuInit
  kDriver,   // cuInit, or a runtime API call that starts the driver
  // A current context. An error that a kernel has left on the device is returned, too.
  kContext,
};

CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) { return result; }

// Which driver calls, if they fail, leave device code missing (call_errors.h).
enum class Loads {
  kNoCode,
  kKernel,  // if the requested kernel cannot run (CUDA_ERROR_INVALID_PTX)
  kCode,
};

CUresult begin_call(const char* function, Needs needs);
CUresult end_call(runtime::RunningCall& call, const char* function, CUresult result, Loads loads);
void initialise();

// Runs `body()`, which may return errors of either API, without the device lock: for calls of the
// runtime API. `ended`: unless nullptr, gets the result of the call.
template <class Body>
CUresult call(const char* function, Needs needs, Body&& body, Loads loads = Loads::kNoCode,
              runtime::CallResult* ended = nullptr) {
  runtime::announce_call();
  runtime::RunningCall running(function);
  // Runtime functions set the thread's last error, which a driver call must not change.
  const cudaError_t last_error = thread_state().last_error;
  CUresult result = begin_call(function, needs);
  if (result == CUDA_SUCCESS) {
    try {
      result = result_of(std::forward<Body>(body)());
    } catch (...) {
      result = result_of(runtime::report_exception(function));
    }
  }
  thread_state().last_error = last_error;
  end_call(running, function, result, loads);
  if (ended != nullptr) *ended = running.result;
  return result;
}

// Calls the runtime's function that does the same.
template <class Ask>
CUresult forward(const char* function, Ask&& ask) {
  return call(function, Needs::kDriver, std::forward<Ask>(ask));
}

// Runs `body(runtime, device)` under the device lock; `device` is the current one.
template <class Body>
CUresult locked(const char* function, Needs needs, Body&& body, Loads loads = Loads::kNoCode,
                runtime::CallResult* ended = nullptr) {
  return call(
      function, needs,
      [&] {
        Runtime& r = Runtime::get();
        std::lock_guard lock(r.lock);
        return body(r, r.current());
      },
      loads, ended);
}

// The context of a program's handle; nullptr if it is invalid or destroyed.
Context* find_context(CUcontext handle);
inline CUcontext handle_of(const Context* context) {
  return reinterpret_cast<CUcontext>(const_cast<Context*>(context));
}

// Unloads the modules that were loaded into a context (module_calls.cc).
void unload_modules_of(Runtime& r, const Context& context);

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace lockstep::driver
