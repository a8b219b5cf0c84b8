// Streams and host functions. A stream never has anything left to do, so waiting only delivers
// errors.
#include <algorithm>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/transfers.h"
#include "simulator/runtime/state/work.h"

using lockstep::runtime::abandon;
using lockstep::runtime::api;
using lockstep::runtime::capture_wait;
using lockstep::runtime::capture_work;
using lockstep::runtime::check_legacy;
using lockstep::runtime::check_stream;
using lockstep::runtime::Device;
using lockstep::runtime::Event;
using lockstep::runtime::HostWork;
using lockstep::runtime::note_operation;
using lockstep::runtime::Reach;
using lockstep::runtime::run_callback;
using lockstep::runtime::Runtime;
using lockstep::runtime::Stream;
using lockstep::runtime::WaitWork;

namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  return api("cudaStreamCreate", Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (stream == nullptr || (flags & ~cudaStreamNonBlocking) != 0) return cudaErrorInvalidValue;
    *stream = r.streams.create_stream(
        flags, std::clamp(priority, kGreatestPriority, kLeastPriority), d.ordinal);
    return cudaSuccess;
  });
}

// Answers a question about a stream.
template <class Body>
cudaError_t answer_about(const char* function, cudaStream_t stream, Body&& body) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    if (s == nullptr) return check_stream(r, d, function, stream);
    return body(*s);
  });
}

template <class T>
cudaError_t answer(T* result, T value) {
  if (result == nullptr) return cudaErrorInvalidValue;
  *result = value;
  return cudaSuccess;
}

// For what has nothing to wait for, but cannot be asked of a stream that is being captured.
cudaError_t check_only(const char* function, cudaStream_t stream) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) {
    r.has_waited();
    return check_stream(r, d, function, stream);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(stream, cudaStreamDefault, kLeastPriority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create(stream, flags, kLeastPriority);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    if (s != nullptr && s->id > Stream::kPerThreadId) {
      abandon(r, *s);
      r.streams.destroy_stream(stream);
      return cudaSuccess;
    }
    r.explain("cudaStreamDestroy", "the stream does not exist");
    return cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return check_only(__func__, stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return check_only(__func__, stream); }

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return answer_about(__func__, stream, [&](const Stream& s) { return answer(flags, s.flags); });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return answer_about(__func__, stream,
                      [&](const Stream& s) { return answer(priority, s.priority); });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return answer_about(__func__, stream, [&](const Stream& s) { return answer(id, s.id); });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return answer_about(__func__, stream, [&](const Stream& s) { return answer(device, s.device); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return answer_about(__func__, stream, [&](Stream& s) -> cudaError_t {
    Runtime& r = Runtime::get();
    if ((flags & ~cudaEventWaitExternal) != 0) return cudaErrorInvalidValue;
    r.has_waited();
    Event* e = r.streams.find_event(event);
    if (e == nullptr) return cudaErrorInvalidResourceHandle;
    if (s.capture && (flags & cudaEventWaitExternal) != 0)
      return capture_work(r, "cudaStreamWaitEvent", s, WaitWork{event});
    return capture_wait(r, "cudaStreamWaitEvent", s, *e);
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* /*pointer*/, size_t /*length*/,
                                     unsigned /*flags*/) {
  return check_only(__func__, stream);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool captured = false;
  const cudaError_t error = answer_about(__func__, stream, [&](Stream& s) -> cudaError_t {
    Runtime& r = Runtime::get();
    if (function == nullptr) return cudaErrorInvalidValue;
    captured = s.capture != nullptr;
    r.has_waited();  // whoever hears of the function's call
    const cudaError_t put = captured
                                ? capture_work(r, "cudaLaunchHostFunc", s, HostWork{function, data})
                                : check_legacy(r, "cudaLaunchHostFunc", s);
    if (put == cudaSuccess)
      note_operation(r, r.current(), LOCKSTEP_OTHER_WORK, "cudaLaunchHostFunc", stream, captured);
    return put;
  });
  if (error == cudaSuccess && !captured) run_callback([&] { function(data); });
  return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  if (callback == nullptr || flags != 0) return lockstep::runtime::end_call(cudaErrorInvalidValue);
  if (const cudaError_t error = check_only(__func__, stream); error != cudaSuccess) return error;
  run_callback([&] { callback(stream, cudaSuccess, data); });
  return cudaSuccess;
}

}  // extern "C"

LOCKSTEP_ALIAS(cudaStreamSynchronize, _ptsz)
LOCKSTEP_ALIAS(cudaStreamQuery, _ptsz)
LOCKSTEP_ALIAS(cudaStreamGetFlags, _ptsz)
LOCKSTEP_ALIAS(cudaStreamGetPriority, _ptsz)
LOCKSTEP_ALIAS(cudaStreamGetId, _ptsz)
LOCKSTEP_ALIAS(cudaStreamGetDevice, _ptsz)
LOCKSTEP_ALIAS(cudaStreamWaitEvent, _ptsz)
LOCKSTEP_ALIAS(cudaStreamAttachMemAsync, _ptsz)
LOCKSTEP_ALIAS(cudaLaunchHostFunc, _ptsz)
LOCKSTEP_ALIAS(cudaStreamAddCallback, _ptsz)
