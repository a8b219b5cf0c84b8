#include "properties/no_launch.h"

#include <algorithm>
#include <vector>

#include "properties/law.h"

namespace lockstep::properties {
namespace {

struct Stream {
  Stream() { REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream); }
  cudaStream_t stream = nullptr;
};

struct Graph {
  ~Graph() {
    if (exec != nullptr) cudaGraphExecDestroy(exec);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

std::size_t kernels_of(cudaGraph_t graph) {
  std::size_t count = 0;
  REQUIRE_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) REQUIRE_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
  return static_cast<std::size_t>(std::ranges::count_if(nodes, [](cudaGraphNode_t node) {
    cudaGraphNodeType type;
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    return type == cudaGraphNodeTypeKernel;
  }));
}

}  // namespace

void require_no_launch(const std::function<void(cudaStream_t)>& run) {
  const Stream s;
  Graph g;
  // Relaxed: what `run` does without a stream, such as a copy to a symbol, is allowed.
  REQUIRE_CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeRelaxed));
  std::uint64_t elsewhere = 0;
  try {
    elsewhere = counters_of([&] { run(s.stream); }).launches;
  } catch (...) {
    cudaStreamEndCapture(s.stream, &g.graph);
    throw;
  }
  REQUIRE_CUDA(cudaStreamEndCapture(s.stream, &g.graph));
  REQUIRE_LAW(g.graph != nullptr, "the capture came to nothing");
  const std::size_t kernels = kernels_of(g.graph);
  REQUIRE_LAW(kernels == 0, "no work launched {} kernels", kernels);
  REQUIRE_LAW(elsewhere == 0, "no work launched {} kernels, and on another stream than the one given", elsewhere);
  REQUIRE_CUDA(cudaGraphInstantiate(&g.exec, g.graph, 0));
  REQUIRE_CUDA(cudaGraphLaunch(g.exec, s.stream));
  REQUIRE_CUDA(cudaStreamSynchronize(s.stream));
}

}  // namespace lockstep::properties
