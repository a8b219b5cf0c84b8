// Streams, captures and graphs of a case, released however it ends.
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

// One that does not wait for the default stream.
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

// Of a kernel in a graph.
struct LaunchedGrid {
  const void* kernel = nullptr;
  std::int64_t blocks = 0, threads = 0,
               cluster = 1;  // of the grid, of a block; blocks of a cluster
};

// Of a fill in a graph.
struct Fill {
  const void* at;
  std::uint64_t bytes;
  unsigned value;
};

// What a launch became on a stream that was being captured.
class Captured {
 public:
  // Captures what `launch` hands the stream. In `mode` relaxed it may also do what needs no stream,
  // such as allocate.
  Captured(const Stream& stream, cudaStreamCaptureMode mode,
           const std::function<Answer(cudaStream_t)>& launch);
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  // The launcher's answer, and whether the capture came to a graph.
  const Answer& answer() const { return answer_; }
  bool is_graph() const { return graph_ != nullptr; }
  // The operations requested of the simulated GPU meanwhile.
  const std::vector<lockstepOperation>& operations() const { return operations_; }
  std::size_t nodes() const;
  // Those that are kernels.
  std::size_t kernels() const;
  std::vector<LaunchedGrid> grids() const;
  // The fills are no longer part of the graph's work. Before replay().
  std::vector<Fill> take_fills_out();
  // Does the graph's work in the stream.
  void replay(const Stream& stream);

 private:
  std::vector<cudaGraphNode_t> all_nodes() const;
  std::vector<cudaGraphNode_t> nodes_of(cudaGraphNodeType wanted) const;

  Answer answer_;
  std::vector<lockstepOperation> operations_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

// Holds up a stream of silicon until it is opened: what comes after it in that stream waits, and
// nothing else does. On the simulated GPU, where every call has happened when it returns, it does
// nothing.
class Gate {
 public:
  explicit Gate(const Stream& stream);
  ~Gate();  // opens it, and waits for the stream
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { open_ = true; }
  // Nobody opened it in time: who should have was waiting for the stream.
  bool was_forced() const { return forced_; }

 private:
  static void CUDART_CB wait(void* gate);

  const Stream& stream_;
  std::atomic<bool> open_ = false, forced_ = false;
};

}  // namespace lockstep::properties
