// Invalid arguments of graph nodes and executable graphs are refused as on an H100.
#include <climits>

#include "simulator/runtime/tests/graph_nodes.h"

namespace lockstep::runtime {
namespace {

constexpr std::size_t kBytes = 4 * sizeof(int);

cudaError_t add_copy(cudaGraph_t g, void* to, const void* from, std::size_t bytes,
                     cudaMemcpyKind kind, cudaGraphNode_t* made = nullptr) {
  cudaGraphNode_t node = nullptr;
  const cudaError_t error = cudaGraphAddMemcpyNode1D(&node, g, nullptr, 0, to, from, bytes, kind);
  if (made != nullptr) *made = node;
  return error;
}

CUDA_TEST(GraphRefusals, CopiesThatLeaveTheirMemory) {
  const cudaGraph_t g = new_graph();
  int *const x = device_ints(4), *const y = device_ints(4);
  int host[8] = {};
  EXPECT_CUDA(cudaErrorInvalidValue, add_copy(g, x, host, kBytes + 4, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, add_copy(g, host, x + 1, kBytes, cudaMemcpyDefault));
  EXPECT_CUDA(cudaErrorInvalidValue, add_copy(g, x + 1, y, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, add_copy(g, x, host, kBytes, cudaMemcpyDeviceToDevice))
      << "no memory of the device";
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess, add_copy(g, x, host, kBytes, cudaMemcpyHostToDevice, &node));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphMemcpyNodeSetParams1D(node, x, host, kBytes + 4, cudaMemcpyHostToDevice));
  const cudaGraphExec_t e = new_exec(g);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams1D(
                                         e, node, x, host, kBytes + 4, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaGraphExecMemcpyNodeSetParams1D(e, node, y, host + 4, kBytes,
                                                              cudaMemcpyHostToDevice));
  cudaMemcpy3DParms p = {};
  p.srcPtr = {host, 4, 4, 0};
  p.dstPtr = {x, 4, 4, 0};
  p.extent = {kBytes, 1, 1};
  p.kind = cudaMemcpyHostToDevice;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(e, node, &p))
      << "wider than a pitch";
}

CUDA_TEST(GraphRefusals, PitchesAndPositions) {
  const cudaGraph_t g = new_graph();
  const cudaExtent all = {kBytes, 2, 2};
  cudaPitchedPtr x = {}, y = {};
  EXPECT_CUDA(cudaSuccess, cudaMalloc3D(&x, all));
  EXPECT_CUDA(cudaSuccess, cudaMalloc3D(&y, all));
  cudaMemcpy3DParms good = {};
  good.srcPtr = x;
  good.dstPtr = y;
  good.extent = all;
  good.kind = cudaMemcpyDeviceToDevice;
  const auto add = [&](const cudaMemcpy3DParms& p) {
    cudaGraphNode_t node = nullptr;
    return cudaGraphAddMemcpyNode(&node, g, nullptr, 0, &p);
  };
  EXPECT_CUDA(cudaSuccess, add(good));
  cudaMemcpy3DParms p = good;
  p.dstPtr.pitch = kBytes - 1;
  EXPECT_CUDA(cudaErrorInvalidPitchValue, add(p));
  p = good;
  p.srcPtr.pitch = INT_MAX;
  EXPECT_CUDA(cudaErrorInvalidValue, add(p));
  p = good;
  p.dstPos.x = y.pitch - kBytes + 1;
  EXPECT_CUDA(cudaErrorInvalidValue, add(p));
  p = good;
  p.srcPos.y = 1;
  EXPECT_CUDA(cudaErrorInvalidValue, add(p));
  p = good;
  p.dstPos.z = 1;
  EXPECT_CUDA(cudaErrorInvalidValue, add(p));
  p = good;
  const cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindSigned};
  EXPECT_CUDA(cudaSuccess, cudaMalloc3DArray(&p.dstArray, &format, {4, 2, 2}, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, add(p)) << "to an array and to memory";
}

CUDA_TEST(GraphRefusals, AnotherKindOfCopy) {
  const cudaGraph_t g = new_graph();
  int *const x = device_ints(4), *const y = device_ints(4);
  int host[4] = {};
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess, add_copy(g, x, host, kBytes, cudaMemcpyHostToDevice, &node));
  const cudaGraphExec_t e = new_exec(g);
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphExecMemcpyNodeSetParams1D(e, node, x, host, kBytes, cudaMemcpyDefault));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphExecMemcpyNodeSetParams1D(e, node, x, y, kBytes, cudaMemcpyDeviceToDevice));
  const cudaGraph_t other = new_graph();
  EXPECT_CUDA(cudaSuccess, add_copy(other, host, x, kBytes, cudaMemcpyDeviceToHost, &node));
  cudaGraphExecUpdateResultInfo result = {};
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(e, other, &result));
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorParametersChanged);
  EXPECT_EQ(result.errorNode, node);
}

CUDA_TEST(GraphRefusals, FillsThatLeaveTheirMemoryOrChangeTheirRows) {
  const cudaGraph_t g = new_graph();
  int* x = nullptr;
  std::size_t pitch = 0;
  EXPECT_CUDA(cudaSuccess, cudaMallocPitch(reinterpret_cast<void**>(&x), &pitch, 8, 2));
  cudaMemsetParams rows = {x, pitch, 42, sizeof(int), 1, 2};
  cudaGraphNode_t node = nullptr;
  cudaMemsetParams wrong = rows;
  wrong.height = 2000;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, g, nullptr, 0, &wrong));
  EXPECT_CUDA(cudaSuccess, cudaGraphAddMemsetNode(&node, g, nullptr, 0, &rows));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(node, &wrong));
  const cudaGraphExec_t e = new_exec(g);
  rows.value = 43;
  EXPECT_CUDA(cudaSuccess, cudaGraphExecMemsetNodeSetParams(e, node, &rows));
  rows.width = 2;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(e, node, &rows));
}

CUDA_TEST(GraphRefusals, NodesOfAClone) {
  const cudaGraph_t g = new_graph();
  int* const x = device_ints(1);
  const cudaGraphNode_t node = store_node(g, x, 0, 1);
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t cloned = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphClone(&clone, g));
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeFindInClone(&cloned, node, clone));
  const cudaGraphExec_t e = new_exec(g), of_clone = new_exec(clone);
  unsigned enabled = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(e, cloned, &enabled));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(of_clone, node, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeSetEnabled(of_clone, cloned, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeGetEnabled(e, node, &enabled));
  EXPECT_EQ(enabled, 1u);
}

CUDA_TEST(GraphRefusals, TheGraphOfAChildNodeAlone) {
  const cudaGraph_t g = new_graph(), child = new_graph();
  store_node(child, device_ints(1), 0, 1);
  cudaGraphNode_t node = nullptr;
  cudaGraph_t within = nullptr;
  cudaGraphExec_t e = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphAddChildGraphNode(&node, g, nullptr, 0, child));
  EXPECT_CUDA(cudaSuccess, cudaGraphChildGraphNodeGetGraph(node, &within));
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphInstantiate(&e, within, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&e, child, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&e, g, 0));
}

CUDA_TEST(GraphRefusals, AttributesThatThereAreNot) {
  const cudaGraph_t g = new_graph();
  const cudaGraphNode_t node = store_node(g, device_ints(1), 0, 1);
  cudaLaunchAttributeValue value = {};
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphKernelNodeGetAttribute(
                                         node, static_cast<cudaLaunchAttributeID>(-1), &value));
  value.cooperative = 2;
  EXPECT_CUDA(cudaSuccess,
              cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  value = {};
  EXPECT_CUDA(cudaSuccess,
              cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 2);
}

int destroyed = 0;

// The object is destroyed with its last reference. Releasing more references is no error.
CUDA_TEST(GraphUserObjects, ReferencesThatAreGivenBackTooOften) {
  const cudaGraph_t g = new_graph();
  cudaUserObject_t object = nullptr;
  destroyed = 0;
  EXPECT_CUDA(cudaSuccess,
              cudaUserObjectCreate(
                  &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1,
                  cudaUserObjectNoDestructorSync));
  EXPECT_CUDA(cudaSuccess, cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
  EXPECT_CUDA(cudaSuccess, cudaGraphReleaseUserObject(g, object, 4));
  EXPECT_CUDA(cudaSuccess, cudaGraphReleaseUserObject(g, object, 1));
  EXPECT_CUDA(cudaSuccess, cudaUserObjectRelease(object, 1));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_LE(destroyed, 1);
  if (on_simulated_gpu()) {
    EXPECT_EQ(destroyed, 1);
  }
}

// An update retains the user objects of the new graph and releases those of the old one.
CUDA_TEST(GraphUserObjects, AnUpdateTakesThoseOfTheNewGraph) {
  int gone[2] = {0, 0};
  cudaGraph_t graphs[2];
  for (int i = 0; i < 2; ++i) {
    cudaUserObject_t object = nullptr;
    EXPECT_CUDA(cudaSuccess,
                cudaUserObjectCreate(
                    &object, &gone[i], [](void* flag) { *static_cast<int*>(flag) = 1; }, 1,
                    cudaUserObjectNoDestructorSync));
    graphs[i] = new_graph();
    EXPECT_CUDA(cudaSuccess,
                cudaGraphRetainUserObject(graphs[i], object, 1, cudaGraphUserObjectMove));
  }
  cudaGraphExec_t exec = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, graphs[0], 0));
  cudaGraphExecUpdateResultInfo info;
  ASSERT_CUDA(cudaSuccess, cudaGraphExecUpdate(exec, graphs[1], &info));
  for (const cudaGraph_t g : graphs) EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
  if (on_simulated_gpu()) {  // hardware calls them some time later
    EXPECT_EQ(gone[0], 1);
  }
  EXPECT_EQ(gone[1], 0) << "the instantiated graph keeps it";
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  if (on_simulated_gpu()) {
    EXPECT_EQ(gone[1], 1);
  }
}

}  // namespace
}  // namespace lockstep::runtime
