#include "simulator/driver/call.h"

#include <mutex>

#include "simulator/driver/errors.h"
#include "simulator/runtime/state/call_errors.h"

namespace lockstep::driver {
CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidTextureBinding:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return static_cast<CUresult>(error);
  }
}

void initialise() { Runtime::get().driver_started.store(true, std::memory_order_relaxed); }

namespace {

CUresult begin_call(const char* function, Needs needs) {
  Runtime& r = Runtime::get();
  if (needs == Needs::kNothing) return CUDA_SUCCESS;
  if (!r.driver_started.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  if (r.start_error != cudaSuccess) return result_of(r.start_error);
  if (needs == Needs::kDriver) return CUDA_SUCCESS;
  if (thread_state().in_callback) {
    r.explain(function, "called from a callback, where CUDA calls are not permitted");
    return CUDA_ERROR_NOT_PERMITTED;
  }
  const Context* context = runtime::Contexts::current();
  if (needs == Needs::kContext) {
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  r.used.store(true, std::memory_order_relaxed);
  return result_of(r.current().error);
}

CUresult end_call(runtime::RunningCall& call, const char* function, CUresult result, Loads loads) {
  call.result.error = static_cast<int>(result);
  if (!call.is_outermost()) return result;
  Runtime& r = Runtime::get();
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) {
    r.operations.note({LOCKSTEP_FAILED_CALL, thread_state().device, 0, static_cast<int>(result),
                       nullptr, function});
  }
  if (r.settings.api_errors) {
    const ErrorText text = text_of(result);
    const bool loses_code =
        loads == Loads::kCode || (loads == Loads::kKernel && result == CUDA_ERROR_INVALID_PTX);
    runtime::call_ended(r, {function, text.name, text.text, /*has_last_error=*/false, loses_code},
                        call);
  }
  return result;
}

}  // namespace

CUresult run_call(const char* function, Needs needs, runtime::FunctionRef<CUresult()> body,
                  Loads loads, runtime::CallResult* ended) {
  runtime::announce_call();
  runtime::RunningCall running(function);
  // A call of the driver API must not change the runtime API's last error.
  const cudaError_t last_error = thread_state().last_error;
  CUresult result = begin_call(function, needs);
  if (result == CUDA_SUCCESS) {
    try {
      result = body();
    } catch (...) {
      result = result_of(runtime::report_exception(function));
    }
  }
  thread_state().last_error = last_error;
  end_call(running, function, result, loads);
  if (ended != nullptr) *ended = running.result;
  return result;
}

CUresult run_locked(const char* function, Needs needs,
                    runtime::FunctionRef<CUresult(Runtime&, Device&)> body, Loads loads,
                    runtime::CallResult* ended) {
  const auto under_lock = [&] {
    Runtime& r = Runtime::get();
    std::lock_guard lock(r.lock);
    return body(r, r.current());
  };
  return run_call(function, needs, under_lock, loads, ended);
}

const Context* context_of(Runtime& r, CUstream stream) {
  const runtime::Stream* const s =
      is_default(stream) ? nullptr : r.streams.find_stream(stream, r.current().ordinal);
  return s == nullptr ? runtime::Contexts::current()
                      : runtime::contexts().owner_of(stream, s->device);
}

Context* find_context(CUcontext handle) {
  Context* const context = runtime::contexts().find(handle);
  return context == nullptr || context->destroyed ? nullptr : context;
}

}  // namespace lockstep::driver
