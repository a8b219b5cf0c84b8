#include "properties/streams.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/property/compare.h"

namespace lockstep::properties {

Stream::Stream() { REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
Stream::~Stream() { cudaStreamDestroy(stream_); }
void Stream::synchronise() const { REQUIRE_CUDA(cudaStreamSynchronize(stream_)); }

Captured::Captured(const Stream& stream, cudaStreamCaptureMode mode,
                   const std::function<Answer(cudaStream_t)>& launch) {
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, mode));
  try {
    operations_ = operations_of([&] { answer_ = launch(stream); });
  } catch (...) {
    cudaStreamEndCapture(stream, &graph_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    throw;
  }
  if (cudaStreamEndCapture(stream, &graph_) != cudaSuccess) cudaGetLastError(), graph_ = nullptr;
}

Captured::~Captured() {
  if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  if (graph_ != nullptr) cudaGraphDestroy(graph_);
}

std::vector<cudaGraphNode_t> Captured::all_nodes() const {
  std::size_t count = 0;
  if (graph_ != nullptr) REQUIRE_CUDA(cudaGraphGetNodes(graph_, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) REQUIRE_CUDA(cudaGraphGetNodes(graph_, nodes.data(), &count));
  return nodes;
}

std::size_t Captured::nodes() const { return all_nodes().size(); }

std::vector<cudaGraphNode_t> Captured::nodes_of(cudaGraphNodeType wanted) const {
  std::vector<cudaGraphNode_t> nodes = all_nodes();
  std::erase_if(nodes, [wanted](cudaGraphNode_t node) {
    cudaGraphNodeType type;
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    return type != wanted;
  });
  return nodes;
}

std::size_t Captured::kernels() const { return nodes_of(cudaGraphNodeTypeKernel).size(); }

std::vector<Fill> Captured::take_fills_out() {
  std::vector<Fill> fills;
  for (const cudaGraphNode_t node : nodes_of(cudaGraphNodeTypeMemset)) {
    cudaMemsetParams fill = {};
    REQUIRE_CUDA(cudaGraphMemsetNodeGetParams(node, &fill));
    REQUIRE_LAW(fill.height == 1, "a fill of {} rows", fill.height);
    fills.push_back({fill.dst, std::uint64_t{fill.width} * fill.elementSize, fill.value});
    REQUIRE_CUDA(cudaGraphDestroyNode(node));
  }
  return fills;
}

std::vector<LaunchedGrid> Captured::grids() const {
  const auto count = [](const dim3& d) { return std::int64_t{d.x} * d.y * d.z; };
  std::vector<LaunchedGrid> grids;
  for (const cudaGraphNode_t node : nodes_of(cudaGraphNodeTypeKernel)) {
    cudaKernelNodeParams kernel = {};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &kernel));
    cudaLaunchAttributeValue cluster = {};
    REQUIRE_CUDA(
        cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &cluster));
    const std::int64_t together = std::int64_t{cluster.clusterDim.x} * cluster.clusterDim.y *
                                  cluster.clusterDim.z;  // 0: none
    grids.push_back({kernel.func, count(kernel.gridDim), count(kernel.blockDim),
                     std::max<std::int64_t>(together, 1)});
  }
  return grids;
}

void Captured::replay(const Stream& stream) {
  if (exec_ == nullptr) REQUIRE_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
  REQUIRE_CUDA(cudaGraphLaunch(exec_, stream));
  stream.synchronise();
}

Gate::Gate(const Stream& stream) : stream_(stream) {
  if (is_simulator()) return;
  REQUIRE_CUDA(cudaLaunchHostFunc(stream, wait, this));
}

Gate::~Gate() {
  open();
  cudaStreamSynchronize(stream_);
}

void Gate::wait(void* gate) {
  constexpr std::chrono::seconds kPatience(5);
  auto& self = *static_cast<Gate*>(gate);
  const auto begin = std::chrono::steady_clock::now();
  while (!self.open_) {
    if (std::chrono::steady_clock::now() - begin > kPatience) self.open_ = self.forced_ = true;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace lockstep::properties
