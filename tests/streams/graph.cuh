// Helpers for graphs: one function per kind of node, and an executable graph destroyed at the end
// of the scope.
#pragma once

#include <tuple>

#include "kernels.cuh"

namespace lockstep::streams {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

// Adds a kernel node with one block of kN threads.
template <class... Parameters, class... Arguments>
cudaGraphNode_t add_kernel(cudaGraph_t graph, const Nodes& after, void (*function)(Parameters...),
                           const Arguments&... arguments) {
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  cudaGraphNode_t node = nullptr;
  std::apply(
      [&](auto&... value) {
        void* addresses[] = {&value...};
        cudaKernelNodeParams launch = {};
        launch.func = reinterpret_cast<void*>(function);
        launch.gridDim = dim3(1);
        launch.blockDim = dim3(kN);
        launch.kernelParams = addresses;
        cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &launch);
      },
      values);
  return node;
}

class Graph {
 public:
  Graph() { cudaGraphCreate(&graph_, 0); }
  // Takes ownership of a captured graph.
  explicit Graph(cudaGraph_t graph) : graph_(graph) {}
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  operator cudaGraph_t() const { return graph_; }

  template <class... Parameters, class... Arguments>
  cudaGraphNode_t kernel(const Nodes& after, void (*function)(Parameters...),
                         const Arguments&... arguments) {
    return add_kernel(graph_, after, function, arguments...);
  }
  cudaGraphNode_t copy(const Nodes& after, void* to, const void* from, cudaMemcpyKind kind) {
    cudaGraphNode_t node = nullptr;
    cudaGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), to, from, kBytes, kind);
    return node;
  }
  cudaGraphNode_t fill(const Nodes& after, int* x, unsigned value) {
    cudaMemsetParams parameters = {};
    parameters.dst = x;
    parameters.value = value;
    parameters.elementSize = sizeof(int);
    parameters.width = kN;
    parameters.height = 1;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddMemsetNode(&node, graph_, after.data(), after.size(), &parameters);
    return node;
  }
  cudaGraphNode_t child(const Nodes& after, cudaGraph_t graph) {
    cudaGraphNode_t node = nullptr;
    cudaGraphAddChildGraphNode(&node, graph_, after.data(), after.size(), graph);
    return node;
  }
  cudaGraphNode_t empty(const Nodes& after) {
    cudaGraphNode_t node = nullptr;
    cudaGraphAddEmptyNode(&node, graph_, after.data(), after.size());
    return node;
  }
  cudaGraphNode_t host(const Nodes& after, void (*function)(void*), void* argument) {
    cudaHostNodeParams parameters = {function, argument};
    cudaGraphNode_t node = nullptr;
    cudaGraphAddHostNode(&node, graph_, after.data(), after.size(), &parameters);
    return node;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

class Executable {
 public:
  explicit Executable(cudaGraph_t graph) { cudaGraphInstantiate(&executable_, graph, 0); }
  ~Executable() { cudaGraphExecDestroy(executable_); }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  operator cudaGraphExec_t() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

// Launches the graph once and waits for it.
inline void execute(cudaGraph_t graph) {
  const Executable executable(graph);
  Stream stream(cudaStreamNonBlocking);
  cudaGraphLaunch(executable, stream);
  cudaDeviceSynchronize();
}

// Ends the capture of a stream and executes the captured graph.
inline void execute_capture(cudaStream_t stream) {
  cudaGraph_t captured = nullptr;
  want(cudaStreamEndCapture(stream, &captured) == cudaSuccess);
  if (captured == nullptr) return;
  execute(Graph(captured));
}

}  // namespace
}  // namespace lockstep::streams
