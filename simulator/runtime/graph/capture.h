// Stream capture: what is put into a stream becomes nodes of a graph (CUDA Runtime API, "Stream
// Management": cudaStreamBeginCapture).
//
// A captured stream knows the nodes that what comes next must wait for; an event recorded in it
// takes them along, and a stream that waits for such an event joins the capture. A call that a
// capture does not allow makes it invalid: it must then be ended, and gives no graph.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <set>
#include <vector>

#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

struct GraphNode;

struct Capture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  Graph* graph = nullptr;
  bool own_graph = true;                // made by the capture, and given to the program at its end
  const ThreadState* thread = nullptr;  // which began it
  Stream* origin = nullptr;
  std::set<Stream*> members;  // the origin and those that joined
  // cudaStreamUpdateCaptureDependencies has taken them from a stream's dependencies: what is behind
  // them need not be joined.
  std::set<const GraphNode*> removed;
  bool invalid = false;
};

cudaError_t begin_capture(Runtime& runtime, Device& device, cudaStream_t stream,
                          cudaStreamCaptureMode mode, Graph* graph,
                          std::vector<GraphNode*> dependencies);
cudaError_t end_capture(Runtime& runtime, Device& device, cudaStream_t stream, Graph** graph);

// Makes work a node of the captured stream's graph.
cudaError_t capture_work(Runtime& runtime, const char* api_name, Stream& stream, Work work,
                         GraphNode** node = nullptr);
// cudaEventRecord and cudaStreamWaitEvent where the stream or the event is captured.
void capture_record(Stream& stream, Event& event, bool earlier = false);
cudaError_t capture_wait(Runtime& runtime, const char* api_name, Stream& stream, Event& event);

// cudaErrorStreamCaptureUnsupported, the capture invalid, when the stream is captured; for calls
// that cannot be.
cudaError_t refuse_captured(Runtime& runtime, const char* api_name, Stream& stream);
// cudaErrorStreamCaptureImplicit, the captures invalid, when the legacy default stream is used
// while streams that it waits for are captured.
cudaError_t check_legacy(Runtime& runtime, const char* api_name, const Stream& stream);
// The same of calls that ask for the legacy default stream's state: no capture becomes invalid
// ("The blocking stream capture is not invalidated", cudaStreamIsCapturing).
cudaError_t ask_legacy(const Runtime& runtime, const Stream& stream);
// cudaErrorStreamCaptureUnsupported, the captures invalid, when a capture's mode forbids calls like
// cudaMalloc in this thread.
cudaError_t check_unsafe(Runtime& runtime, const char* api_name);
// The same, in every mode and thread, for a wait for a device that has a captured stream (CUDA C++
// Programming Guide, "Prohibited and Unhandled Operations").
cudaError_t check_device_wait(Runtime& runtime, const Device& device, const char* api_name);
// The stream or its captures end (cudaStreamDestroy, cudaDeviceReset).
void abandon(Runtime& runtime, Stream& stream);

}  // namespace lockstep::runtime
