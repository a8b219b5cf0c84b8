// Memory that graphs allocate and free (cudaGraphAddMemAllocNode, cudaGraphAddMemFreeNode).
#include <cstdint>

#include "simulator/runtime/tests/graph_nodes.h"

namespace lockstep::runtime {
namespace {

int fetch(const int* from) {
  int value = -1;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

CUDA_TEST(GraphMemory, LivesFromItsAllocationNodeToItsFreeNode) {
  const cudaGraph_t g = new_graph();
  int *p = nullptr, host = 0;
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  const cudaGraphNode_t stored = store_node(g, p, 3, 9, allocated);
  free_node(g, p, fetch_node(g, &host, p + 3, stored));
  const cudaGraphExec_t e = new_exec(g);
  const cudaStream_t s = new_stream();
  for (int i = 0; i < 3; ++i) {
    host = 0;
    launch_and_wait(e, s);
    EXPECT_EQ(host, 9);
  }
  cudaMemAllocNodeParams asked = {};
  EXPECT_CUDA(cudaSuccess, cudaGraphMemAllocNodeGetParams(allocated, &asked));
  EXPECT_EQ(asked.dptr, p);
  EXPECT_EQ(asked.bytesize, 64u);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(p)) << "its own graph frees it";
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(p, s));
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

// The store node needs the address: the allocation node is added first.
cudaGraph_t stores_and_keeps(int** p, int value) {
  const cudaGraph_t g = new_graph();
  const cudaGraphNode_t allocated = allocate_node(g, p, 64);
  store_node(g, *p, 0, value, allocated);
  return g;
}

CUDA_TEST(GraphMemory, MustBeFreedBeforeTheNextLaunch) {
  int* p = nullptr;
  const cudaGraph_t g = stores_and_keeps(&p, 5);
  const cudaGraphExec_t e = new_exec(g);
  const cudaStream_t s = new_stream();
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(p, s)) << "no launch has allocated it";
  launch_and_wait(e, s);
  EXPECT_EQ(fetch(p), 5);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphLaunch(e, s));
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(p, s)) << "twice";
  launch_and_wait(e, s);
  EXPECT_EQ(fetch(p), 5);
  EXPECT_CUDA(cudaSuccess, cudaFree(p));
  launch_and_wait(e, s);
  // Memory allocated by a graph outlives the graph.
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
  EXPECT_EQ(fetch(p), 5);
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
}

CUDA_TEST(GraphMemory, IsFreedByTheNextLaunchIfAskedFor) {
  int* p = nullptr;
  const cudaGraph_t g = stores_and_keeps(&p, 5);
  const cudaGraphExec_t e = new_exec(g, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  const cudaStream_t s = new_stream();
  for (int i = 0; i < 3; ++i) {
    launch_and_wait(e, s);
    EXPECT_EQ(fetch(p), 5);
  }
  EXPECT_CUDA(cudaSuccess, cudaFree(p));
  launch_and_wait(e, s);
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  cudaGraphExec_t other = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphInstantiate(
                  &other, g,
                  cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch));
}

CUDA_TEST(GraphMemory, MayBeFreedByAnotherGraph) {
  int* p = nullptr;
  const cudaGraph_t g = stores_and_keeps(&p, 5), frees = new_graph();
  int host = 0;
  free_node(frees, p, fetch_node(frees, &host, p, nullptr));
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, g, nullptr, 0, p))
      << "another graph frees it";
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, frees, nullptr, 0, p))
      << "twice in one graph";
  const cudaGraphExec_t first = new_exec(g), second = new_exec(frees);
  const cudaStream_t s = new_stream();
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(first, s));
  launch_and_wait(second, s);
  EXPECT_EQ(host, 5);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(p, s)) << "freed";
  launch_and_wait(first, s);
  launch_and_wait(second, s);
}

CUDA_TEST(GraphMemory, IsFreedOnceAndOnlyWhereItWasAllocated) {
  const cudaGraph_t g = new_graph(), other = new_graph();
  int* p = nullptr;
  void* plain = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&plain, 64));
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  free_node(g, p, allocated);
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, other, nullptr, 0, p))
      << "its own graph frees it";
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, g, nullptr, 0, plain));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, g, nullptr, 0, nullptr));
}

CUDA_TEST(GraphMemory, AllocationNodesCheckTheirParameters) {
  const cudaGraph_t g = new_graph();
  cudaGraphNode_t node = nullptr;
  const auto refused = [&](auto change) {
    cudaMemAllocNodeParams p = allocation(64);
    change(p);
    EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&node, g, nullptr, 0, &p));
  };
  refused([](auto& p) { p.bytesize = 0; });
  refused([](auto& p) { p.poolProps.location.id = 99; });
  cudaMemAllocNodeParams shared = allocation(64);
  shared.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphAddMemAllocNode(&node, g, nullptr, 0, &shared));
  // NVIDIA's library dereferences the null pointers.
  if (on_simulated_gpu()) {
    refused([](auto& p) { p.accessDescCount = 1; });
    EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&node, g, nullptr, 0, nullptr));
  }
}

CUDA_TEST(GraphMemory, TheGraphKeepsItsShapeAndHasOneExecutable) {
  const cudaGraph_t g = new_graph(), outer = new_graph();
  int* p = nullptr;
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  const cudaGraphNode_t freed = free_node(g, p, allocated);
  const cudaGraphExec_t e = new_exec(g);
  cudaGraphExec_t second = nullptr;
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t node = nullptr;
  EXPECT_NE(cudaGraphInstantiate(&second, g, 0), cudaSuccess);
  EXPECT_NE(cudaGraphClone(&clone, g), cudaSuccess);
  EXPECT_NE(cudaGraphRemoveDependencies(g, &allocated, &freed, nullptr, 1), cudaSuccess);
  EXPECT_NE(cudaGraphDestroyNode(freed), cudaSuccess);
  EXPECT_NE(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, g), cudaSuccess);
  cudaGetLastError();
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  second = new_exec(g);
  launch_and_wait(second, new_stream());
}

CUDA_TEST(GraphMemory, BelongsToAChildGraphThatIsMoved) {
  const cudaGraph_t inner = new_graph(), outer = new_graph();
  int *p = nullptr, host = 0;
  const cudaGraphNode_t allocated = allocate_node(inner, &p, 64);
  free_node(inner, p, fetch_node(inner, &host, p, store_node(inner, p, 0, 4, allocated)));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = inner;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroy(inner)) << "it is the node's";
  launch_and_wait(new_exec(outer), new_stream());
  EXPECT_EQ(host, 4);
}

CUDA_TEST(GraphMemory, IsCapturedFromCallsOfAStream) {
  const cudaStream_t s = new_stream();
  int *p = nullptr, host = 0;
  void* plain = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&plain, 64));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  void* none = &host;
  EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&none, 0, s));
  EXPECT_EQ(none, nullptr) << "as on an H100";
  ASSERT_CUDA(cudaSuccess, cudaMallocAsync(reinterpret_cast<void**>(&p), 64, s));
  kernels::store(p, 0, 8, s);
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, s));
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
  const cudaGraphExec_t e = new_exec(g, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  launch_and_wait(e, s);
  launch_and_wait(e, s);
  EXPECT_EQ(host, 8);
  EXPECT_EQ(fetch(p), 8);
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(plain, s)) << "no graph has allocated it";
  cudaStreamEndCapture(s, &g);
  cudaGetLastError();
}

std::uint64_t attribute(cudaGraphMemAttributeType which) {
  std::uint64_t value = ~0ull;
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetGraphMemAttribute(0, which, &value));
  return value;
}

CUDA_TEST(GraphMemory, IsCountedByDevice) {
  constexpr std::uint64_t kBytes = 64 << 20;
  int* p = nullptr;
  const cudaGraph_t g = new_graph();
  allocate_node(g, &p, kBytes);
  const cudaGraphExec_t e = new_exec(g);
  const cudaStream_t s = new_stream();
  launch_and_wait(e, s);
  EXPECT_GE(attribute(cudaGraphMemAttrUsedMemCurrent), kBytes);
  EXPECT_GE(attribute(cudaGraphMemAttrReservedMemCurrent), kBytes);
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  // On an H100 the bytes count as used until the executable graph is destroyed.
  if (on_simulated_gpu()) {
    EXPECT_LT(attribute(cudaGraphMemAttrUsedMemCurrent), kBytes);
  }
  EXPECT_GE(attribute(cudaGraphMemAttrUsedMemHigh), kBytes);
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaDeviceGraphMemTrim(0));
  EXPECT_LT(attribute(cudaGraphMemAttrReservedMemCurrent), kBytes);
  std::uint64_t zero = 0, one = 1;
  EXPECT_CUDA(cudaSuccess, cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  EXPECT_LT(attribute(cudaGraphMemAttrUsedMemHigh), kBytes);
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &one));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
  EXPECT_CUDA(cudaErrorInvalidDevice,
              cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemCurrent, &zero));
}

}  // namespace
}  // namespace lockstep::runtime
