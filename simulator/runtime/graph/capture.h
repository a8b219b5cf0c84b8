// Stream capture: operations put into a captured stream become nodes of a graph (CUDA Runtime API,
// "Stream Management": cudaStreamBeginCapture).
//
// A captured stream stores the nodes for which its next operation must wait. An event recorded in
// it stores them, too. A stream that waits for such an event joins the capture. A call that is not
// allowed during a capture invalidates the capture: it must then be ended and returns no graph.
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
  bool own_graph = true;  // created by the capture, and returned to the program at its end
  const ThreadState* thread = nullptr;  // the thread that started it
  Stream* origin = nullptr;
  std::set<Stream*> members;  // the origin and the streams that joined
  // Nodes that cudaStreamUpdateCaptureDependencies has removed from a stream's dependencies. Work
  // behind them need not be joined.
  std::set<const GraphNode*> removed;
  bool invalid = false;
  bool lost = false;  // a stream that joined was destroyed before it was joined again
};

cudaError_t begin_capture(Runtime& runtime, Device& device, cudaStream_t stream,
                          cudaStreamCaptureMode mode, Graph* graph,
                          std::vector<GraphNode*> dependencies);
cudaError_t end_capture(Runtime& runtime, Device& device, cudaStream_t stream, Graph** graph);

// Adds work as a node to the captured stream's graph.
cudaError_t capture_work(Runtime& runtime, const char* api_name, Stream& stream, Work work,
                         GraphNode** node = nullptr);
// cudaEventRecord and cudaStreamWaitEvent if the stream or the event is captured.
void capture_record(Stream& stream, Event& event, bool earlier = false);
cudaError_t capture_wait(Runtime& runtime, const char* api_name, Stream& stream, Event& event);

// For calls that cannot be captured. Returns cudaErrorStreamCaptureUnsupported and invalidates the
// capture if the stream is captured.
cudaError_t refuse_captured(Runtime& runtime, const char* api_name, Stream& stream);
// Returns cudaErrorStreamCaptureImplicit and invalidates the captures if the legacy default stream
// is used while streams that it waits for are captured.
cudaError_t check_legacy(Runtime& runtime, const char* api_name, const Stream& stream);
// As check_legacy(), for calls that query the legacy default stream's state. No capture is
// invalidated ("The blocking stream capture is not invalidated", cudaStreamIsCapturing).
cudaError_t ask_legacy(const Runtime& runtime, const Stream& stream);
// Returns cudaErrorStreamCaptureUnsupported and invalidates the captures if a capture's mode
// forbids calls such as cudaMalloc in this thread.
cudaError_t check_unsafe(Runtime& runtime, const char* api_name);
// As check_unsafe(), in every mode and thread, for a wait for a device that has a captured stream
// (CUDA C++ Programming Guide, "Prohibited and Unhandled Operations").
cudaError_t check_device_wait(Runtime& runtime, const Device& device, const char* api_name);
// Ends a stream's captures (cudaStreamDestroy, cudaDeviceReset).
void abandon(Runtime& runtime, Stream& stream);

}  // namespace lockstep::runtime
