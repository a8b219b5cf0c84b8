// Events. Their times are the host's: they tell how long the simulation took, never how fast a GPU would be.
#include "simulator/runtime/runtime.h"
#include "simulator/runtime/transfers.h"

using lockstep::runtime::api;
using lockstep::runtime::check_stream;
using lockstep::runtime::Device;
using lockstep::runtime::Event;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

namespace {

cudaError_t unknown_event(Runtime& r, const char* function) {
  r.explain(function, "the event does not exist");
  return cudaErrorInvalidResourceHandle;
}

cudaError_t record(const char* function, cudaEvent_t event, cudaStream_t stream) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_stream(r, d, function, stream); error != cudaSuccess) return error;
    Event* e = r.streams.find_event(event);
    if (e == nullptr) return unknown_event(r, function);
    if (e->device != d.ordinal) {
      r.explain(function, "the event belongs to another device than the stream");
      return cudaErrorInvalidResourceHandle;
    }
    e->recorded = std::chrono::steady_clock::now();
    return cudaSuccess;
  });
}

// An event that was never recorded counts as having happened.
cudaError_t happened(const char* function, cudaEvent_t event) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    return r.streams.find_event(event) == nullptr ? unknown_event(r, function) : cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) != 0) {
      r.explain("cudaEventCreateWithFlags", "events between processes are not supported by the simulated GPU");
      return cudaErrorNotSupported;
    }
    *event = r.streams.create_event(flags, d.ordinal);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    return r.streams.destroy_event(event) ? cudaSuccess : unknown_event(r, "cudaEventDestroy");
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record(__func__, event, stream); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if ((flags & ~cudaEventRecordExternal) != 0) return lockstep::runtime::end_call(cudaErrorInvalidValue);
  return record(__func__, event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return happened(__func__, event); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return happened(__func__, event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* from = r.streams.find_event(start);
    const Event* to = r.streams.find_event(end);
    if (from == nullptr || to == nullptr) return unknown_event(r, "cudaEventElapsedTime");
    if (((from->flags | to->flags) & cudaEventDisableTiming) != 0 || !from->recorded || !to->recorded) {
      r.explain("cudaEventElapsedTime", "an event was never recorded, or was made with cudaEventDisableTiming");
      return cudaErrorInvalidResourceHandle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*to->recorded - *from->recorded).count();
    return cudaSuccess;
  });
}

}  // extern "C"

LOCKSTEP_TWIN(cudaEventRecord, _ptsz)
LOCKSTEP_TWIN(cudaEventRecordWithFlags, _ptsz)
