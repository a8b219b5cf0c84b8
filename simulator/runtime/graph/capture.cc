#include "simulator/runtime/graph/capture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "simulator/runtime/graph/graph.h"

namespace lockstep::runtime {
namespace {

cudaError_t spoil(Runtime& runtime, const char* api_name, Capture& capture, cudaError_t error,
                  const char* why) {
  capture.invalid = true;
  runtime.explain(api_name, why);
  return error;
}

void join(Stream& stream, const std::shared_ptr<Capture>& capture) {
  stream.capture = capture;
  capture->members.insert(&stream);
}

void add_tail(std::vector<GraphNode*>& tail, const std::vector<GraphNode*>& more) {
  for (GraphNode* node : more) {
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
  }
}

// Whether something comes after every node of a stream's tail: the stream has been joined again.
bool is_joined(const Stream& stream, const std::vector<GraphNode*>& end) {
  return std::all_of(stream.tail.begin(), stream.tail.end(), [&](const GraphNode* node) {
    return !node->to.empty() || stream.capture->removed.count(node) != 0 ||
           std::find(end.begin(), end.end(), node) != end.end();
  });
}

void release(const std::shared_ptr<Capture>& capture, Runtime& runtime) {
  for (Stream* member : std::exchange(capture->members, {})) {
    member->capture = nullptr;
    member->tail.clear();
  }
  std::erase(runtime.captures, capture);
}

}  // namespace

cudaError_t begin_capture(Runtime& runtime, Device& device, cudaStream_t stream,
                          cudaStreamCaptureMode mode, Graph* graph,
                          std::vector<GraphNode*> dependencies) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
    return cudaErrorInvalidValue;
  Stream* s = runtime.streams.find_stream(stream, device.ordinal);
  if (s == nullptr) return cudaErrorInvalidResourceHandle;
  if (s->is_legacy()) {
    if (const cudaError_t error = check_legacy(runtime, "cudaStreamBeginCapture", *s);
        error != cudaSuccess)
      return error;
    runtime.explain(
        "cudaStreamBeginCapture",
        "the legacy default stream cannot be captured; use one made by cudaStreamCreate");
    return cudaErrorStreamCaptureUnsupported;
  }
  if (s->capture) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  static unsigned long long ids = 0;
  capture->id = ++ids;
  capture->mode = mode;
  capture->own_graph = graph == nullptr;
  capture->graph = graph == nullptr ? graphs().create() : graph;
  capture->thread = &thread_state();
  capture->origin = s;
  join(*s, capture);
  s->tail = std::move(dependencies);
  runtime.captures.push_back(std::move(capture));
  return cudaSuccess;
}

cudaError_t end_capture(Runtime& runtime, Device& device, cudaStream_t stream, Graph** graph) {
  Stream* s = runtime.streams.find_stream(stream, device.ordinal);
  if (s == nullptr) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = check_legacy(runtime, "cudaStreamEndCapture", *s);
      error != cudaSuccess)
    return error;
  if (!s->capture) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = s->capture;
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != &thread_state())
    return cudaErrorStreamCaptureWrongThread;
  if (capture->origin != s)
    return spoil(runtime, "cudaStreamEndCapture", *capture, cudaErrorStreamCaptureUnmatched,
                 "the capture was begun in another stream");
  cudaError_t error = capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  if (error == cudaSuccess && capture->lost) {
    error = cudaErrorStreamCaptureUnjoined;
    runtime.explain("cudaStreamEndCapture",
                    "a stream that joined the capture was destroyed before it was joined again");
  }
  for (const Stream* member : capture->members) {
    if (error == cudaSuccess && member != s && !is_joined(*member, s->tail)) {
      error = cudaErrorStreamCaptureUnjoined;
      runtime.explain("cudaStreamEndCapture",
                      "a stream that joined the capture was not joined again: record an event in "
                      "it, and wait for that");
    }
  }
  *graph = capture->graph;
  release(capture, runtime);
  if (error != cudaSuccess) {
    // One that the program gave (cudaStreamBeginCaptureToGraph) too: an H100 knows it no more.
    graphs().destroy(*graph);
    *graph = nullptr;
  }
  return error;
}

cudaError_t capture_work(Runtime& runtime, const char*, Stream& stream, Work work,
                         GraphNode** node) {
  (void)runtime;
  Capture& capture = *stream.capture;
  if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
  GraphNode* added = graphs().add(*capture.graph, std::move(work), stream.device, stream.tail);
  stream.tail = {added};
  if (node != nullptr) *node = added;
  return cudaSuccess;
}

void capture_record(Stream& stream, Event& event, bool earlier) {
  event.capture = stream.capture;
  event.tail = stream.tail;
  if (!earlier) return;
  event.tail.clear();
  for (const GraphNode* last : stream.tail) add_tail(event.tail, last->from);
}

cudaError_t capture_wait(Runtime& runtime, const char* api_name, Stream& stream, Event& event) {
  const bool ended = event.capture && event.capture->members.empty();
  if (!event.capture || ended) {
    if (!stream.capture) return ended ? cudaErrorCapturedEvent : cudaSuccess;
    return spoil(runtime, api_name, *stream.capture, cudaErrorStreamCaptureIsolation,
                 "a captured stream cannot wait for an event from outside the capture");
  }
  if (!stream.capture) {
    if (stream.is_legacy()) {
      return spoil(runtime, api_name, *event.capture, cudaErrorStreamCaptureImplicit,
                   "the legacy default stream cannot join a capture");
    }
    join(stream, event.capture);
  } else if (stream.capture != event.capture) {
    event.capture->invalid = true;
    return spoil(runtime, api_name, *stream.capture, cudaErrorStreamCaptureMerge,
                 "the event belongs to another capture");
  }
  add_tail(stream.tail, event.tail);
  return cudaSuccess;
}

cudaError_t refuse_captured(Runtime& runtime, const char* api_name, Stream& stream) {
  if (!stream.capture) return cudaSuccess;
  return spoil(runtime, api_name, *stream.capture, cudaErrorStreamCaptureUnsupported,
               "not permitted while the stream is being captured");
}

cudaError_t check_legacy(Runtime& runtime, const char* api_name, const Stream& stream) {
  if (!stream.is_legacy() || runtime.captures.empty()) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const auto& capture : runtime.captures) {
    if ((capture->origin->flags & cudaStreamNonBlocking) != 0) continue;
    error = spoil(runtime, api_name, *capture, cudaErrorStreamCaptureImplicit,
                  "the legacy default stream waits for a stream that is being captured");
  }
  return error;
}

cudaError_t ask_legacy(const Runtime& runtime, const Stream& stream) {
  const bool captured =
      std::any_of(runtime.captures.begin(), runtime.captures.end(),
                  [](const auto& c) { return (c->origin->flags & cudaStreamNonBlocking) == 0; });
  return stream.is_legacy() && captured ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t check_unsafe(Runtime& runtime, const char* api_name) {
  cudaError_t error = cudaSuccess;
  const cudaStreamCaptureMode own = thread_state().capture_mode;
  for (const auto& capture : runtime.captures) {
    const bool mine = capture->thread == &thread_state();
    const bool forbidden = (own == cudaStreamCaptureModeGlobal &&
                            (capture->mode == cudaStreamCaptureModeGlobal ||
                             (mine && capture->mode == cudaStreamCaptureModeThreadLocal))) ||
                           (own == cudaStreamCaptureModeThreadLocal && mine &&
                            capture->mode != cudaStreamCaptureModeRelaxed);
    if (forbidden)
      error = spoil(runtime, api_name, *capture, cudaErrorStreamCaptureUnsupported,
                    "not permitted while a stream is being captured (cudaStreamCaptureMode)");
  }
  return error;
}

cudaError_t check_device_wait(Runtime& runtime, const Device& device, const char* api_name) {
  cudaError_t error = cudaSuccess;
  for (const auto& capture : runtime.captures) {
    if (capture->origin->device != device.ordinal) continue;
    error = spoil(runtime, api_name, *capture, cudaErrorStreamCaptureUnsupported,
                  "a device cannot be waited for while one of its streams is being captured");
  }
  return error;
}

void abandon(Runtime& runtime, Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (!capture) return;
  if (capture->origin == &stream) {
    if (capture->own_graph) graphs().destroy(capture->graph);
    release(capture, runtime);
  } else {
    // One that was joined again is no more needed.
    std::vector<GraphNode*> of_others;
    for (const Stream* member : capture->members)
      if (member != &stream)
        of_others.insert(of_others.end(), member->tail.begin(), member->tail.end());
    if (!is_joined(stream, of_others)) capture->lost = true;
    capture->members.erase(&stream);
    stream.capture = nullptr;
  }
}

}  // namespace lockstep::runtime
