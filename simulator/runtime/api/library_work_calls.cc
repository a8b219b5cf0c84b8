// The functions of simulator/library_work.h, but for lockstepOpenRegion.
#include <memory>
#include <mutex>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/library_work.h"

using lockstep::runtime::api;
using lockstep::runtime::Call;
using lockstep::runtime::Device;
using lockstep::runtime::LibraryCall;
using lockstep::runtime::LibraryWork;
using lockstep::runtime::make_copy_work;
using lockstep::runtime::put;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

extern "C" {

void lockstepStandIn(const void* address) { lockstep::runtime::is_no_caller(address); }

int lockstepPutLibraryWork(cudaStream_t stream, const lockstepLibraryWork* work) {
  const auto made = std::make_shared<LibraryCall>(*work);
  return api(work->call, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    made->caller = lockstep::runtime::caller();
    if (work->waits != 0) {
      if (const cudaError_t error = lockstep::runtime::check_stream(r, d, work->call, stream);
          error != cudaSuccess)
        return error;
    }
    const cudaError_t error =
        put(r, d, work->waits != 0 ? Call::blocking(work->call) : Call::async(work->call), stream,
            LibraryWork{made});
    // It was a kernel's: the device has it from now on, and it has been reported.
    if (error == cudaErrorIllegalAddress && d.error == cudaSuccess) d.error = error;
    return error;
  });
}

int lockstepCopyRows(const char* call, int blocks, void* to, size_t to_pitch, const void* from,
                     size_t from_pitch, size_t width, size_t height, int kind,
                     cudaStream_t stream) {
  return api(call, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    return put(r, d, blocks != 0 ? Call::blocking(call) : Call::async(call), stream,
               make_copy_work(to, to_pitch, from, from_pitch, width, height,
                              static_cast<cudaMemcpyKind>(kind)));
  });
}

void lockstepLibraryCallFailed(const char* call, const char* status, const char* text,
                               const char* reason, int refused) {
  Runtime& runtime = Runtime::get();
  std::unique_lock lock(runtime.lock);
  if (runtime.start_error != cudaSuccess) return;
  lockstep::runtime::RunningCall running;
  if (!runtime.settings.api_errors) {
    runtime.explain(call, reason);
    return;
  }
  running.result.error = cudaErrorInvalidValue;
  running.result.reason = reason;
  lockstep::runtime::call_ended(runtime, {call, status, text, false, refused != 0}, running);
}

}  // extern "C"
