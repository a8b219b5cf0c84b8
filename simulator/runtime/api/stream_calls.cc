// Streams and host functions.
#include <algorithm>

#include "simulator/runtime/api/live_handles.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/shared_event.h"
#include "simulator/runtime/work/executor.h"
#include "simulator/runtime/work/transfers.h"
#include "simulator/runtime/work/work.h"

using lockstep::runtime::abandon;
using lockstep::runtime::api;
using lockstep::runtime::ask;
using lockstep::runtime::Call;
using lockstep::runtime::capture_wait;
using lockstep::runtime::capture_work;
using lockstep::runtime::check_legacy;
using lockstep::runtime::check_stream;
using lockstep::runtime::check_unsafe;
using lockstep::runtime::Clock;
using lockstep::runtime::Device;
using lockstep::runtime::Event;
using lockstep::runtime::HostWork;
using lockstep::runtime::is_changed;
using lockstep::runtime::note_operation;
using lockstep::runtime::put_callback;
using lockstep::runtime::put_in_queue;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::Stream;
using lockstep::runtime::WaitWork;

namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  return api("cudaStreamCreate", Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (stream == nullptr || (flags & ~cudaStreamNonBlocking) != 0) return cudaErrorInvalidValue;
    r.order.note_stream();
    *stream = r.streams.create_stream(
        flags, std::clamp(priority, kGreatestPriority, kLeastPriority), d.ordinal);
    ++lockstep::runtime::live_handles();
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

// As answer_about(), for a question that counts as a use of the stream, as an H200 shows.
template <class Body>
cudaError_t ask_in_use(const char* function, cudaStream_t stream, Body&& body) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    const cudaError_t error = check_stream(r, d, function, stream);
    return error != cudaSuccess ? error : body(*r.streams.find_stream(stream, d.ordinal));
  });
}

template <class T>
cudaError_t answer(T* result, T value) {
  if (result == nullptr) return cudaErrorInvalidValue;
  *result = value;
  return cudaSuccess;
}

// Waits for a stream, which must not be captured, or asks whether it has ended.
cudaError_t wait_for(const char* function, cudaStream_t stream, bool asks = false) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_stream(r, d, function, stream); error != cudaSuccess)
      return error;
    if (!asks && is_changed(r, function, "wait-removed")) return cudaSuccess;
    const Clock what = r.order.waited_for(r.streams.find_stream(stream, d.ordinal)->order);
    if (asks && !ask(r, what)) return cudaErrorNotReady;
    lockstep::runtime::wait_for(r, what);
    return d.error != cudaSuccess ? d.error : check_unsafe(r, function);
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
      r.streams.destroy_stream(stream, r.order);
      --lockstep::runtime::live_handles();
      return cudaSuccess;
    }
    r.explain("cudaStreamDestroy", "the stream does not exist");
    return cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return wait_for(__func__, stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return wait_for(__func__, stream, true); }

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return ask_in_use(__func__, stream, [&](const Stream& s) { return answer(flags, s.flags); });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return answer_about(__func__, stream, [&](const Stream& s) {
    if (s.capture && s.capture->invalid) return cudaErrorStreamCaptureInvalidated;
    const cudaError_t error = check_legacy(Runtime::get(), "cudaStreamGetPriority", s);
    return error != cudaSuccess ? error : answer(priority, s.priority);
  });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return answer_about(__func__, stream, [&](const Stream& s) { return answer(id, s.id); });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return ask_in_use(__func__, stream, [&](const Stream& s) { return answer(device, s.device); });
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
    if (s.capture && s.capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (const cudaError_t error = check_legacy(r, "cudaStreamWaitEvent", s); error != cudaSuccess)
      return error;
    if ((flags & ~cudaEventWaitExternal) != 0) return cudaErrorInvalidValue;
    r.has_waited();
    Event* e = r.streams.find_event(event);
    if (e == nullptr) return cudaErrorInvalidResourceHandle;
    if (!s.capture && (flags & cudaEventWaitExternal) != 0) {
      r.explain("cudaStreamWaitEvent",
                "an event node is added to a capture alone; the stream captures nothing");
      return cudaErrorIllegalState;
    }
    if (s.capture && (flags & cudaEventWaitExternal) != 0)
      return capture_work(r, "cudaStreamWaitEvent", s, WaitWork{event});
    if (is_changed(r, "cudaStreamWaitEvent", "wait-removed")) return cudaSuccess;
    if (const auto shared = e->shared; shared && !s.capture && !shared->is_executed()) {
      wait_for_others(r, *shared);
      e = r.streams.find_event(event);
      if (e == nullptr || r.streams.find_stream(stream, r.current().ordinal) != &s)
        return cudaErrorInvalidResourceHandle;
    }
    const cudaError_t error = capture_wait(r, "cudaStreamWaitEvent", s, *e);
    // An event that was never recorded has nothing to wait for.
    if (error == cudaSuccess && !s.capture && e->stands_for) r.order.wait(s.order, *e->stands_for);
    return error;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t /*length*/,
                                     unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_stream(r, d, "cudaStreamAttachMemAsync", stream);
        error != cudaSuccess)
      return error;
    const lockstep::memory::Allocation* const a =
        r.memory->find(reinterpret_cast<lockstep::memory::Address>(pointer));
    const bool is_flag =
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    if (is_flag && a != nullptr && !a->freed && a->kind == lockstep::memory::Kind::kManaged)
      return cudaSuccess;
    r.explain("cudaStreamAttachMemAsync",
              is_flag ? "only managed memory is attached to a stream" : "there is no such flag");
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return answer_about(__func__, stream, [&](Stream& s) -> cudaError_t {
    Runtime& r = Runtime::get();
    if (function == nullptr) return cudaErrorInvalidValue;
    const bool captured = s.capture != nullptr;
    const char* const name = "cudaLaunchHostFunc";
    cudaError_t error =
        captured ? capture_work(r, name, s, HostWork{function, data}) : check_legacy(r, name, s);
    if (error != cudaSuccess) return error;
    note_operation(r, r.current(), LOCKSTEP_OTHER_WORK, name, stream, captured);
    return captured
               ? cudaSuccess
               : put_in_queue(r, r.current(), Call::async(name), stream, HostWork{function, data});
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  if (callback == nullptr || flags != 0) return lockstep::runtime::end_call(cudaErrorInvalidValue);
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    const char* const name = "cudaStreamAddCallback";
    if (const cudaError_t refused = check_stream(r, d, name, stream); refused != cudaSuccess)
      return refused;
    note_operation(r, d, LOCKSTEP_OTHER_WORK, name, stream, false);
    return put_callback(r, d, name, stream, [callback, stream, data](cudaError_t error) {
      callback(stream, error, data);
    });
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaStreamSynchronize, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamQuery, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamGetFlags, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamGetPriority, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamGetId, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamGetDevice, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamWaitEvent, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamAttachMemAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaLaunchHostFunc, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamAddCallback, _ptsz)
