// The frame in which every function of the driver API runs.
//
// Most functions of the driver API call the runtime API's function with the same effect. Both APIs
// share one state, so a program may mix them. Streams, events, graphs, kernels and pools have the
// same handles in both. cudaError_t and CUresult use the same numbers, except for errors that only
// the runtime has: result_of() translates these.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "simulator/runtime/state/contexts.h"
#include "simulator/runtime/state/function_ref.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::driver {

using runtime::Context;
using runtime::Device;
using runtime::Runtime;
using runtime::thread_state;

// What must have happened before a call.
enum class Needs {
  kNothing,  // not even cuInit
  kDriver,   // cuInit, or a call of the runtime API that starts the driver
  // As kContext, but a handle in the arguments names the context: none needs to be current.
  kHandle,
  // A current context. The call then also returns an error that a kernel has left on the device.
  kContext,
};

CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) { return result; }

// Whether a failed call means that device code was not loaded (call_errors.h).
enum class Loads {
  kNoCode,
  kKernel,  // if the requested kernel cannot run (CUDA_ERROR_INVALID_PTX)
  kCode,
};

void initialise();

// The frames of call() and locked(), for any body.
CUresult run_call(const char* function, Needs needs, runtime::FunctionRef<CUresult()> body,
                  Loads loads, runtime::CallResult* ended);
CUresult run_locked(const char* function, Needs needs,
                    runtime::FunctionRef<CUresult(Runtime&, Device&)> body, Loads loads,
                    runtime::CallResult* ended);

// Runs `body()` without the device lock, for calls into the runtime API. `body` returns an error of
// either API. `*ended` receives the call's result, unless `ended` is nullptr.
template <class Body>
CUresult call(const char* function, Needs needs, Body&& body, Loads loads = Loads::kNoCode,
              runtime::CallResult* ended = nullptr) {
  return run_call(
      function, needs, [&] { return result_of(body()); }, loads, ended);
}

// Runs `ask()`, which calls the runtime API's function with the same effect.
template <class Ask>
CUresult forward(const char* function, Ask&& ask) {
  return call(function, Needs::kDriver, std::forward<Ask>(ask));
}

// Runs `body(runtime, device)` under the device lock. `device` is the current device.
template <class Body>
CUresult locked(const char* function, Needs needs, Body&& body, Loads loads = Loads::kNoCode,
                runtime::CallResult* ended = nullptr) {
  return run_locked(
      function, needs, [&](Runtime& r, Device& d) { return result_of(body(r, d)); }, loads, ended);
}

// The context of a program's handle. nullptr if the handle is invalid or its context was destroyed.
Context* find_context(CUcontext handle);
inline CUcontext handle_of(const Context* context) {
  return reinterpret_cast<CUcontext>(const_cast<Context*>(context));
}

// Whether a handle stands for a default stream, which is the current context's. A created stream
// names its context.
inline bool is_default(CUstream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}
// What a call that puts work into a stream, or asks about it, needs.
inline Needs needs_of(CUstream stream) {
  return is_default(stream) ? Needs::kContext : Needs::kHandle;
}
// The context in which a stream's work is executed.
const Context* context_of(Runtime& r, CUstream stream);

// Makes a device the calling thread's, for the lifetime of the object.
class OnDevice {
 public:
  explicit OnDevice(int device) : before_(std::exchange(thread_state().device, device)) {}
  ~OnDevice() { thread_state().device = before_; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

// Unloads the modules that were loaded into a context (module_calls.cc).
void unload_modules_of(Runtime& r, const Context& context);

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace lockstep::driver
