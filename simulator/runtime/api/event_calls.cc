// Events. Their times are the host's: the duration of the simulation, never the speed of a GPU.
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

using lockstep::runtime::api;
using lockstep::runtime::ask;
using lockstep::runtime::capture_record;
using lockstep::runtime::check_legacy;
using lockstep::runtime::check_stream;
using lockstep::runtime::check_unsafe;
using lockstep::runtime::Clock;
using lockstep::runtime::Device;
using lockstep::runtime::Event;
using lockstep::runtime::is_changed;
using lockstep::runtime::put;
using lockstep::runtime::Reach;
using lockstep::runtime::RecordWork;
using lockstep::runtime::run_until;
using lockstep::runtime::Runtime;
using lockstep::runtime::SharedEvent;
using lockstep::runtime::Stream;
using lockstep::runtime::wait_for_others;

namespace {

cudaError_t unknown_event(Runtime& r, const char* function) {
  r.explain(function, "the event does not exist");
  return cudaErrorInvalidResourceHandle;
}

cudaError_t record(const char* function, cudaEvent_t event, cudaStream_t stream, bool external) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    if (s == nullptr) return check_stream(r, d, function, stream);
    if (s->capture && s->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (const cudaError_t error = check_legacy(r, function, *s); error != cudaSuccess) return error;
    Event* e = r.streams.find_event(event);
    if (e == nullptr) return unknown_event(r, function);
    if (e->device != d.ordinal) {
      r.explain(function, "the event belongs to another device than the stream");
      return cudaErrorInvalidResourceHandle;
    }
    if (external && !s->capture) {
      r.explain(function, "an event node is added to a capture alone; the stream captures nothing");
      return cudaErrorIllegalState;
    }
    // What the stream has, by which an earlier record would differ.
    const bool earlier = (s->capture ? !s->tail.empty() : s->order.lane.has_value()) &&
                         is_changed(r, function, "recorded-earlier");
    if (s->capture && !external) {
      capture_record(*s, *e, earlier);
      return cudaSuccess;
    }
    const auto shared = e->shared;
    if (shared) ++shared->counts->recorded;
    const cudaError_t error = put(r, d, {function}, stream, RecordWork{event, earlier});
    if (shared) {
      // Another process may wait for it, and nobody else executes what is here.
      e = r.streams.find_event(event);
      if (error == cudaSuccess && e != nullptr && e->stands_for)
        run_until(r, Clock(*e->stands_for));
      ++shared->counts->executed;
    }
    return error;
  });
}

// An event that was never recorded counts as having happened; one that a graph's capture recorded
// never will.
cudaError_t happened(const char* function, cudaEvent_t event, bool asks = false) {
  return api(function, event == nullptr ? Reach::kHost : Reach::kDevice,
             [&](Runtime& r, Device& d) -> cudaError_t {
               const Event* e = r.streams.find_event(event);
               if (e == nullptr) return unknown_event(r, function);
               if (e->capture && e->capture->members.empty()) {
                 r.explain(function, "the event was recorded in a capture that has ended");
                 return cudaErrorInvalidValue;  // as an H100 answers cudaEventQuery
               }
               if (e->capture) {
                 e->capture->invalid = true;
                 r.explain(function, "the event was recorded while its stream was being captured");
                 return cudaErrorCapturedEvent;
               }
               if (!asks && is_changed(r, function, "wait-removed")) return cudaSuccess;
               if (e->shared && !e->shared->is_executed()) {
                 if (asks) return cudaErrorNotReady;
                 wait_for_others(r, *e->shared);
                 e = r.streams.find_event(event);
                 if (e == nullptr) return unknown_event(r, function);
               }
               if (asks) {
                 if (const cudaError_t error = check_unsafe(r, function); error != cudaSuccess)
                   return error;
               }
               const Clock what = e->stands_for.value_or(Clock());
               if (asks && !ask(r, what)) return cudaErrorNotReady;
               lockstep::runtime::wait_for(r, what);
               return d.error != cudaSuccess ? d.error : check_unsafe(r, function);
             });
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) != 0) {
      if ((flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
      auto shared = SharedEvent::create();
      if (shared == nullptr) return cudaErrorMemoryAllocation;
      *event = r.streams.create_event(flags, d.ordinal);
      r.streams.find_event(*event)->shared = std::move(shared);
      ++lockstep::runtime::live_handles();
      return cudaSuccess;
    }
    *event = r.streams.create_event(flags, d.ordinal);
    ++lockstep::runtime::live_handles();
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (!r.streams.destroy_event(event)) return unknown_event(r, "cudaEventDestroy");
    --lockstep::runtime::live_handles();
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record(__func__, event, stream, false);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if ((flags & ~cudaEventRecordExternal) != 0)
    return lockstep::runtime::end_call(cudaErrorInvalidValue);
  return record(__func__, event, stream, (flags & cudaEventRecordExternal) != 0);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return happened(__func__, event, true); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return happened(__func__, event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api(
      __func__, start == nullptr ? Reach::kHost : Reach::kDevice,
      [&](Runtime& r, Device&) -> cudaError_t {
        if (milliseconds == nullptr) return cudaErrorInvalidValue;
        Event* const from = r.streams.find_event(start);
        Event* const to = r.streams.find_event(end);
        if (from == nullptr || to == nullptr) return unknown_event(r, "cudaEventElapsedTime");
        if (from->capture || to->capture) return cudaErrorCapturedEvent;
        if (((from->flags | to->flags) & cudaEventDisableTiming) != 0 || !from->recorded ||
            !to->recorded) {
          r.explain("cudaEventElapsedTime",
                    "an event was never recorded, or was made with cudaEventDisableTiming");
          return cudaErrorInvalidResourceHandle;
        }
        // Programs that poll ask for an event's state; this call executes something now and then,
        // so that a loop of it ends.
        constexpr std::uint32_t kOneIn = 8;
        for (Event* const event : {from, to}) {
          if (!*event->recorded) {
            if (++event->measured_early % kOneIn == 0) ask(r, *event->stands_for);
            return cudaErrorNotReady;
          }
        }
        *milliseconds =
            std::chrono::duration<float, std::milli>(**to->recorded - **from->recorded).count();
        return cudaSuccess;
      });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaEventRecord, _ptsz)
LOCKSTEP_PER_THREAD(cudaEventRecordWithFlags, _ptsz)
