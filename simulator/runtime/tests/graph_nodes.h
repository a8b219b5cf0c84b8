// Short functions that create graph nodes of several types, for tests.
#pragma once

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {

inline cudaGraph_t new_graph() {
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  return g;
}

inline cudaGraphExec_t new_exec(cudaGraph_t g, unsigned long long flags = 0) {
  cudaGraphExec_t e = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&e, g, flags));
  return e;
}

inline cudaStream_t new_stream() {
  cudaStream_t s = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamCreate(&s));
  return s;
}

// A kernel node that stores `value` to p[i].
inline cudaGraphNode_t store_node(cudaGraph_t g, int* p, long long i, int value,
                                  cudaGraphNode_t after = nullptr) {
  void* arguments[] = {&p, &i, &value};
  cudaKernelNodeParams k = {};
  k.func = const_cast<void*>(kernels::store_function());
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphAddKernelNode(&node, g, &after, after == nullptr ? 0 : 1, &k));
  return node;
}

// A node that copies an int from the device.
inline cudaGraphNode_t fetch_node(cudaGraph_t g, int* to, const int* from, cudaGraphNode_t after) {
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphAddMemcpyNode1D(&node, g, &after, after == nullptr ? 0 : 1, to,
                                                    from, sizeof *to, cudaMemcpyDeviceToHost));
  return node;
}

inline cudaMemAllocNodeParams allocation(std::size_t bytes) {
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = bytes;
  return p;
}

// An allocation node; *pointer gets its address.
inline cudaGraphNode_t allocate_node(cudaGraph_t g, int** pointer, std::size_t bytes,
                                     cudaGraphNode_t after = nullptr) {
  cudaMemAllocNodeParams p = allocation(bytes);
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess,
              cudaGraphAddMemAllocNode(&node, g, &after, after == nullptr ? 0 : 1, &p));
  *pointer = static_cast<int*>(p.dptr);
  return node;
}

inline cudaGraphNode_t free_node(cudaGraph_t g, int* pointer, cudaGraphNode_t after) {
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess,
              cudaGraphAddMemFreeNode(&node, g, &after, after == nullptr ? 0 : 1, pointer));
  return node;
}

inline void launch_and_wait(cudaGraphExec_t e, cudaStream_t s) {
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
}

}  // namespace lockstep::runtime
