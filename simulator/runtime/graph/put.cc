#include "simulator/runtime/graph/put.h"

#include <utility>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/interceptor.h"

namespace lockstep::runtime {
namespace {

int kind_of(const Work& work) {
  if (std::holds_alternative<KernelWork>(work) || std::holds_alternative<LibraryWork>(work))
    return LOCKSTEP_KERNEL;
  if (std::holds_alternative<CopyWork>(work)) return LOCKSTEP_COPY;
  return std::holds_alternative<FillWork>(work) ? LOCKSTEP_FILL : LOCKSTEP_OTHER_WORK;
}

}  // namespace

cudaError_t put(Runtime& runtime, Device& device, const Call& call, cudaStream_t stream,
                Work work) {
  const char* const api_name = call.name;
  if (runtime.interceptor != nullptr &&
      !runtime.interceptor->before_put(runtime, api_name, stream, work))
    return cudaSuccess;
  Stream* s = runtime.streams.find_stream(stream, device.ordinal);
  if (s == nullptr) {
    runtime.explain(api_name, "the stream does not exist");
    return cudaErrorInvalidResourceHandle;
  }
  const int kind = kind_of(work);
  const bool captured = s->capture != nullptr;
  cudaError_t error = captured ? capture_work(runtime, api_name, *s, std::move(work))
                               : check_legacy(runtime, api_name, *s);
  if (error == cudaSuccess && !captured)
    error = put_in_queue(runtime, device, call, stream, std::move(work));
  if (error == cudaSuccess) note_operation(runtime, device, kind, api_name, stream, captured);
  return error;
}

cudaError_t check_stream(Runtime& runtime, Device& device, const char* function,
                         cudaStream_t stream) {
  if (Stream* s = runtime.streams.find_stream(stream, device.ordinal)) {
    const cudaError_t error = refuse_captured(runtime, function, *s);
    return error != cudaSuccess ? error : check_legacy(runtime, function, *s);
  }
  runtime.explain(function, "the stream does not exist");
  return cudaErrorInvalidResourceHandle;
}

}  // namespace lockstep::runtime
