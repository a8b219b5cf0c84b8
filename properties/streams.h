// Streams, captures and graphs of a case, which are released however the case ends.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/device/device.h"
#include "harness/property/contract.h"

namespace lockstep::properties {

// A stream that does not synchronise with the default stream.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronise() const;

 private:
  cudaStream_t stream_ = nullptr;
};

// The grid of a kernel node.
struct LaunchedGrid {
  const void* kernel = nullptr;
  std::int64_t blocks = 0, threads = 0,
               cluster = 1;  // blocks of the grid, threads of a block, blocks of a cluster
};

// A memset node.
struct Fill {
  const void* at;
  std::uint64_t bytes;
  unsigned value;
};

// A launch on a capturing stream, as a graph.
class Captured {
 public:
  // Captures the work that `launch` enqueues. In relaxed `mode`, `launch` may also call functions
  // that use no stream, such as allocations.
  Captured(const Stream& stream, cudaStreamCaptureMode mode,
           const std::function<Answer(cudaStream_t)>& launch);
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  // The launcher's result, and whether the capture produced a graph.
  const Answer& answer() const { return answer_; }
  bool is_graph() const { return graph_ != nullptr; }
  // The operations requested of the simulated GPU during the capture.
  const std::vector<lockstepOperation>& operations() const { return operations_; }
  std::size_t nodes() const;
  // The number of kernel nodes.
  std::size_t kernels() const;
  std::vector<LaunchedGrid> grids() const;
  // Removes the memset nodes from the graph and returns them. Call before replay().
  std::vector<Fill> take_fills_out();
  // Executes the graph in the stream.
  void replay(const Stream& stream);

 private:
  std::vector<cudaGraphNode_t> all_nodes() const;
  std::vector<cudaGraphNode_t> nodes_of(cudaGraphNodeType wanted) const;

  Answer answer_;
  std::vector<lockstepOperation> operations_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

// Blocks a stream on silicon until it is opened: later work of that stream waits, other streams do
// not. On the simulated GPU it does nothing, because every call completes before it returns.
class Gate {
 public:
  explicit Gate(const Stream& stream);
  ~Gate();  // opens it, and waits for the stream
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { open_ = true; }
  // Opened by a timeout, because the thread that should open it was waiting for the stream.
  bool was_forced() const { return forced_; }

 private:
  static void CUDART_CB wait(void* gate);

  const Stream& stream_;
  std::atomic<bool> open_ = false, forced_ = false;
};

}  // namespace lockstep::properties
