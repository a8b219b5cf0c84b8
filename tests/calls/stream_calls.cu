// Streams, events, and capture.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_stream {

void create_stream(Rig& rig) {
  const std::string name = rig.number("stream");
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaSuccess;
  if (rig.random.chance(50)) {
    const unsigned flags = rig.random.of({0u, 1u, 1u, 2u, 99u});
    error = cudaStreamCreateWithFlags(&stream, flags);
    rig.answer(text("cudaStreamCreateWithFlags(&%s, %u)", name.c_str(), flags), error);
  } else {
    const unsigned flags = rig.random.of({0u, 1u, 1u, 4u});
    const int priority = rig.random.of({0, -1, -5, -6, 1, 100, -100});
    error = cudaStreamCreateWithPriority(&stream, flags, priority);
    rig.answer(text("cudaStreamCreateWithPriority(&%s, %u, %d)", name.c_str(), flags, priority),
               error);
  }
  if (error == cudaSuccess) rig.streams.push_back({stream, name});
}

bool is_captured(Rig& rig, cudaStream_t stream) {
  for (const auto& c : rig.captures) {
    if (c.it == stream) return true;
  }
  return false;
}

void destroy_stream(Rig& rig) {
  if (!rig.captures.empty()) return;  // it may have joined a capture
  if (rig.random.chance(15)) {
    const auto special =
        rig.random.of({cudaStream_t{nullptr}, cudaStreamLegacy, cudaStreamPerThread});
    return rig.answer(text("cudaStreamDestroy(%zu)", reinterpret_cast<std::size_t>(special)),
                      cudaStreamDestroy(special));
  }
  Named<cudaStream_t>* const s = rig.pick(rig.streams);
  if (s == nullptr) return;
  const cudaError_t error = cudaStreamDestroy(s->it);
  rig.answer(text("cudaStreamDestroy(%s)", s->name.c_str()), error);
  rig.remove(rig.streams, s);
}

void ask_stream(Rig& rig) {
  const auto s = rig.stream();
  switch (rig.random.below(5)) {
    case 0: {
      unsigned flags = 0;
      const cudaError_t error = cudaStreamGetFlags(s.it, &flags);
      return rig.answer(text("cudaStreamGetFlags(%s)", s.name.c_str()), error, text("%u", flags));
    }
    case 1: {
      int priority = 0;
      const cudaError_t error = cudaStreamGetPriority(s.it, &priority);
      return rig.answer(text("cudaStreamGetPriority(%s)", s.name.c_str()), error,
                        text("%d", priority));
    }
    case 2: {
      int device = -1;
      const cudaError_t error = cudaStreamGetDevice(s.it, &device);
      return rig.answer(text("cudaStreamGetDevice(%s)", s.name.c_str()), error, text("%d", device));
    }
    case 3: {
      auto status = cudaStreamCaptureStatusNone;
      const cudaError_t error = cudaStreamIsCapturing(s.it, &status);
      return rig.answer(text("cudaStreamIsCapturing(%s)", s.name.c_str()), error,
                        text("%d", status));
    }
    default: {
      auto status = cudaStreamCaptureStatusNone;
      unsigned long long id = 0;
      cudaGraph_t graph = nullptr;
      const cudaGraphNode_t* nodes = nullptr;
      const cudaGraphEdgeData* edges = nullptr;
      std::size_t count = 0;
      const cudaError_t error =
          cudaStreamGetCaptureInfo(s.it, &status, &id, &graph, &nodes, &edges, &count);
      return rig.answer(
          text("cudaStreamGetCaptureInfo(%s)", s.name.c_str()), error,
          text("%d, %zu nodes", status, status == cudaStreamCaptureStatusActive ? count : 0));
    }
  }
}

void wait_for_stream(Rig& rig) {
  const auto s = rig.stream();
  rig.answer(text("cudaStreamSynchronize(%s)", s.name.c_str()), cudaStreamSynchronize(s.it));
}

// After a wait the answer does not depend on time.
void query_stream(Rig& rig) {
  if (!rig.captures.empty()) return;
  const auto s = rig.stream();
  cudaDeviceSynchronize();
  cudaGetLastError();
  rig.answer(text("cudaStreamQuery(%s), after a wait", s.name.c_str()), cudaStreamQuery(s.it));
}

void create_event(Rig& rig) {
  const std::string name = rig.number("event");
  const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 3u, 4u, 6u, 8u, 99u});
  cudaEvent_t event = nullptr;
  const cudaError_t error = cudaEventCreateWithFlags(&event, flags);
  rig.answer(text("cudaEventCreateWithFlags(&%s, %u)", name.c_str(), flags), error);
  if (error == cudaSuccess) rig.events.push_back({event, name});
}

void record_event(Rig& rig) {
  Named<cudaEvent_t>* const e = rig.pick(rig.events);
  if (e == nullptr) return;
  const auto s = rig.stream();
  const unsigned flags = rig.random.of({0u, 0u, 0u, 1u});
  rig.answer(text("cudaEventRecordWithFlags(%s, %s, %u)", e->name.c_str(), s.name.c_str(), flags),
             cudaEventRecordWithFlags(e->it, s.it, flags));
}

void wait_for_event(Rig& rig) {
  Named<cudaEvent_t>* const e = rig.pick(rig.events);
  if (e == nullptr) return;
  const auto s = rig.stream();
  const unsigned flags = rig.random.of({0u, 0u, 0u, 1u, 2u});
  rig.answer(text("cudaStreamWaitEvent(%s, %s, %u)", s.name.c_str(), e->name.c_str(), flags),
             cudaStreamWaitEvent(s.it, e->it, flags));
}

void ask_event(Rig& rig) {
  Named<cudaEvent_t>* const e = rig.pick(rig.events);
  Named<cudaEvent_t>* const f = rig.pick(rig.events);
  if (e == nullptr) return;
  switch (rig.random.below(3)) {
    case 0:
      return rig.answer(text("cudaEventSynchronize(%s)", e->name.c_str()),
                        cudaEventSynchronize(e->it));
    case 1:
      if (!rig.captures.empty()) return;
      cudaDeviceSynchronize();
      cudaGetLastError();
      return rig.answer(text("cudaEventQuery(%s), after a wait", e->name.c_str()),
                        cudaEventQuery(e->it));
    default: {
      cudaDeviceSynchronize();
      cudaGetLastError();
      float time = 0;
      return rig.answer(text("cudaEventElapsedTime(%s, %s)", e->name.c_str(), f->name.c_str()),
                        cudaEventElapsedTime(&time, e->it, f->it));
    }
  }
}

void destroy_event(Rig& rig) {
  Named<cudaEvent_t>* const e = rig.pick(rig.events);
  if (e == nullptr || !rig.captures.empty()) return;
  rig.answer(text("cudaEventDestroy(%s)", e->name.c_str()), cudaEventDestroy(e->it));
  rig.remove(rig.events, e);
}

void begin_capture(Rig& rig) {
  const auto s = rig.stream();
  const int mode = rig.random.of({0, 1, 2, 2, 3});
  const cudaError_t error = cudaStreamBeginCapture(s.it, static_cast<cudaStreamCaptureMode>(mode));
  rig.answer(text("cudaStreamBeginCapture(%s, %d)", s.name.c_str(), mode), error);
  if (error == cudaSuccess) rig.captures.push_back(s);
}

void end_capture(Rig& rig) {
  Named<cudaStream_t> s = rig.stream();
  if (rig.random.chance(80)) {
    if (rig.captures.empty()) return;
    s = *rig.pick(rig.captures);
  }
  const std::string name = rig.number("graph");
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(s.it, &graph);
  rig.answer(text("cudaStreamEndCapture(%s, &%s)", s.name.c_str(), name.c_str()), error,
             graph == nullptr ? "null" : "not null");
  if (graph != nullptr) rig.graphs.push_back({graph, name, {}});
  // The stream is free again unless it still captures.
  auto status = cudaStreamCaptureStatusNone;
  if (!is_captured(rig, s.it)) return;
  if (cudaStreamIsCapturing(s.it, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone)
    return;
  for (std::size_t i = 0; i < rig.captures.size(); ++i) {
    if (rig.captures[i].it == s.it) {
      rig.remove(rig.captures, &rig.captures[i]);
      return;
    }
  }
}

void exchange_mode(Rig& rig) {
  const int before = rig.random.of({0, 1, 2, 0});
  auto mode = static_cast<cudaStreamCaptureMode>(before);
  const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode);
  rig.answer(text("cudaThreadExchangeStreamCaptureMode(%d)", before), error, text("%d", mode));
}

void count(void* calls) { __atomic_fetch_add(static_cast<unsigned*>(calls), 1u, __ATOMIC_RELAXED); }

void call_host(Rig& rig) {
  const auto s = rig.stream();
  const bool none = rig.random.chance(5);
  rig.answer(text("cudaLaunchHostFunc(%s, %s)", s.name.c_str(), none ? "null" : "count"),
             cudaLaunchHostFunc(s.it, none ? nullptr : count, &rig.host_calls));
}

void attach(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || m->kind == Memory::kPool) return;
  if (m->kind != Memory::kManaged && rig.random.chance(70)) return;
  const auto s = rig.stream();
  const unsigned flags = rig.random.of({1u, 2u, 4u, 3u});
  const std::size_t size = rig.random.chance(60) ? 0 : m->size;
  // Attached to one stream, nobody but this stream may use it.
  if (flags == 4 || flags == 2) return;
  rig.answer(text("cudaStreamAttachMemAsync(%s, %s, %zu, %u)", s.name.c_str(), m->name.c_str(),
                  size, flags),
             cudaStreamAttachMemAsync(s.it, m->at, size, flags));
}

}  // namespace in_stream

std::vector<Call<Rig>> stream_calls() {
  using namespace in_stream;
  return {{7, create_stream}, {2, destroy_stream}, {7, ask_stream},    {3, wait_for_stream},
          {4, query_stream},  {5, create_event},   {7, record_event},  {6, wait_for_event},
          {6, ask_event},     {1, destroy_event},  {4, begin_capture}, {6, end_capture},
          {1, exchange_mode}, {4, call_host},      {2, attach}};
}

}  // namespace lockstep::calls
