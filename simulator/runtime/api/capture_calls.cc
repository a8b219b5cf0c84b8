// Stream capture (capture.h).
#include "simulator/runtime/api/graph_api.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/per_thread_stream.h"

using namespace lockstep::runtime;

namespace {

template <class Body>
cudaError_t about(const char* function, cudaStream_t stream, Body&& body) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    return s == nullptr ? cudaErrorInvalidResourceHandle : body(r, *s);
  });
}

cudaStreamCaptureStatus status_of(const Stream& s) {
  return !s.capture           ? cudaStreamCaptureStatusNone
         : s.capture->invalid ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api(__func__, Reach::kDevice,
             [&](Runtime& r, Device& d) { return begin_capture(r, d, stream, mode, nullptr, {}); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* data, size_t count,
                                          cudaStreamCaptureMode mode) {
  return about_graph(__func__, graph, [&](Runtime& r, Device& d, Graph& g) -> cudaError_t {
    std::vector<GraphNode*> nodes;
    if (!nodes_of(g, dependencies, count, &nodes) || !plain_edges(data, count))
      return cudaErrorInvalidValue;
    return begin_capture(r, d, stream, mode, &g, std::move(nodes));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    const Stream* const s = r.streams.find_stream(stream, d.ordinal);
    // A graph that the program gave it need not be returned.
    const bool is_known = s != nullptr && s->capture && !s->capture->own_graph;
    if (graph == nullptr && !is_known) return cudaErrorInvalidValue;
    if (graph != nullptr) *graph = nullptr;
    Graph* made = nullptr;
    const cudaError_t error = end_capture(r, d, stream, &made);
    if (graph != nullptr) *graph = handle_of(made);
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return about(__func__, stream, [&](Runtime& r, Stream& s) -> cudaError_t {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = status_of(s);
    return ask_legacy(r, s);
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** data, size_t* count) {
  return about(__func__, stream, [&](Runtime& r, Stream& s) -> cudaError_t {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = status_of(s);
    if (*status != cudaStreamCaptureStatusActive) return ask_legacy(r, s);
    if (id != nullptr) *id = s.capture->id;
    if (graph != nullptr) *graph = handle_of(s.capture->graph);
    // The lists are good until the stream's next call; the stream keeps them.
    if (dependencies != nullptr)
      *dependencies = reinterpret_cast<const cudaGraphNode_t*>(s.tail.data());
    if (data != nullptr) {
      s.tail_edges.assign(s.tail.size(), cudaGraphEdgeData{});
      *data = s.tail_edges.empty() ? nullptr : s.tail_edges.data();
    }
    if (count != nullptr) *count = s.tail.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* data, size_t count,
                                                unsigned flags) {
  return about(__func__, stream, [&](Runtime&, Stream& s) -> cudaError_t {
    if (!s.capture) return cudaErrorIllegalState;
    if (s.capture->invalid) return cudaErrorStreamCaptureInvalidated;
    std::vector<GraphNode*> nodes;
    if (flags > cudaStreamSetCaptureDependencies ||
        !nodes_of(*s.capture->graph, dependencies, count, &nodes) || !plain_edges(data, count)) {
      return cudaErrorInvalidValue;
    }
    if (flags == cudaStreamSetCaptureDependencies) {
      s.capture->removed.insert(s.tail.begin(), s.tail.end());
      s.tail.clear();
    }
    for (GraphNode* node : nodes) {
      if (std::find(s.tail.begin(), s.tail.end(), node) == s.tail.end()) s.tail.push_back(node);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api(__func__, Reach::kContext, [&](Runtime&, Device&) -> cudaError_t {
    if (mode == nullptr) return cudaErrorInvalidValue;  // an H200 accepts any mode
    std::swap(*mode, thread_state().capture_mode);
    return cudaSuccess;
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaStreamBeginCapture, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamEndCapture, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamIsCapturing, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz)
