// Streams, events, capture and graphs; and how entry points are found.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

CUDA_TEST(DriverStream, OrdersWorkAndCallsBack) {
  start();
  CUstream stream = nullptr;
  GOOD(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
  unsigned flags = 0;
  GOOD(cuStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  CUevent begin = nullptr, end = nullptr;
  GOOD(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  GOOD(cuEventCreate(&end, CU_EVENT_DEFAULT));
  GOOD(cuEventRecord(begin, stream));
  EXPECT_EQ(scaled(function(load(), "scale"), 3, stream), 9u);
  int called = 0;
  GOOD(cuLaunchHostFunc(
      stream, [](void* n) { ++*static_cast<int*>(n); }, &called));
  GOOD(cuStreamAddCallback(
      stream, [](CUstream, CUresult status, void* n) { *static_cast<int*>(n) += status == CUDA_SUCCESS ? 10 : 100; }, &called, 0));
  GOOD(cuEventRecord(end, stream));
  GOOD(cuStreamWaitEvent(stream, begin, 0));
  GOOD(cuEventSynchronize(end));
  EXPECT_EQ(called, 11);
  float milliseconds = -1;
  GOOD(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 0);
  GOOD(cuStreamQuery(stream));
  GOOD(cuEventDestroy(begin));
  GOOD(cuEventDestroy(end));
  GOOD(cuStreamDestroy(stream));
}

CUDA_TEST(DriverGraph, IsCapturedAndLaunched) {
  start();
  const CUfunction scale = function(load(), "scale");
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr out = words({0});
  unsigned x = 4, result = 0;
  void* arguments[] = {&out, &x};
  GOOD(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  GOOD(cuStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  GOOD(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  GOOD(cuMemcpyDtoHAsync(&result, out, 4, stream));
  CUgraph graph = nullptr;
  GOOD(cuStreamEndCapture(stream, &graph));
  std::size_t count = 0;
  GOOD(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(result, 0u);
  CUgraphExec exec = nullptr;
  GOOD(cuGraphInstantiate(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, stream));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(result, 12u);
  GOOD(cuGraphExecDestroy(exec));
  GOOD(cuGraphDestroy(graph));
}

CUDA_TEST(DriverGraph, IsMadeOfNodesAndChanged) {
  start();
  const CUfunction scale = function(load(), "scale");
  CUdeviceptr out = words({0, 0});
  unsigned x = 4, result[2] = {};
  void* arguments[] = {&out, &x};
  CUgraph graph = nullptr;
  GOOD(cuGraphCreate(&graph, 0));
  CUcontext context = nullptr;
  GOOD(cuCtxGetCurrent(&context));
  CUDA_MEMSET_NODE_PARAMS fill{out, 0, 0x77, 4, 2, 1};
  CUDA_KERNEL_NODE_PARAMS kernel{scale, 1, 1, 1, 1, 1, 1, 0, arguments, nullptr, nullptr, nullptr}, found{};
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = out;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = result;
  copy.WidthInBytes = 8;
  copy.Height = copy.Depth = 1;
  CUgraphNode first = nullptr, second = nullptr, third = nullptr;
  GOOD(cuGraphAddMemsetNode(&first, graph, nullptr, 0, &fill, context));
  GOOD(cuGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  GOOD(cuGraphAddMemcpyNode(&third, graph, &second, 1, &copy, context));
  GOOD(cuGraphKernelNodeGetParams(second, &found));
  EXPECT_EQ(found.func, scale);
  EXPECT_EQ(*static_cast<unsigned*>(found.kernelParams[1]), 4u);
  CUDA_MEMCPY3D same{};
  GOOD(cuGraphMemcpyNodeGetParams(third, &same));
  EXPECT_EQ(same.srcDevice, out);
  EXPECT_EQ(same.dstHost, result);
  EXPECT_EQ(same.WidthInBytes, 8u);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  GOOD(cuGraphNodeGetType(third, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);
  CUgraphExec exec = nullptr;
  GOOD(cuGraphInstantiate(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, nullptr));
  GOOD(cuCtxSynchronize());
  EXPECT_EQ(result[0], 12u);
  EXPECT_EQ(result[1], 0x77u);
  x = 5;
  GOOD(cuGraphExecKernelNodeSetParams(exec, second, &kernel));
  GOOD(cuGraphLaunch(exec, nullptr));
  GOOD(cuCtxSynchronize());
  EXPECT_EQ(result[0], 15u);
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_HOST;
  any.host.fn = [](void* n) { *static_cast<unsigned*>(n) = 99; };
  any.host.userData = result;
  CUgraphNode fourth = nullptr;
  GOOD(cuGraphAddNode(&fourth, graph, &third, nullptr, 1, &any));
  GOOD(cuGraphInstantiate(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, nullptr));
  GOOD(cuCtxSynchronize());
  EXPECT_EQ(result[0], 99u);
}

CUDA_TEST(DriverEntryPoint, IsFoundByNameAndVersion) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  GOOD(cuGetProcAddress("cuDriverGetVersion", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  int version = 0;
  GOOD(reinterpret_cast<CUresult (*)(int*)>(function)(&version));
  EXPECT_GE(version, 13000);
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuchFunction", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuLibraryLoadData", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  // Variants of one name: of three arguments until 11.3, of five until 12.4, of four since.
  GOOD(cuInit(0));
  CUcontext context = nullptr;
  const auto expect_flag = [](unsigned flag) {
    unsigned flags = 0;
    EXPECT_CU(CUDA_SUCCESS, cuCtxGetFlags(&flags));
    EXPECT_EQ(flags & CU_CTX_SCHED_MASK, flag);
  };
  GOOD(cuGetProcAddress("cuCtxCreate", &function, 11030, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  GOOD(reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(function)(&context, CU_CTX_SCHED_SPIN, 0));
  expect_flag(CU_CTX_SCHED_SPIN);
  GOOD(cuGetProcAddress("cuCtxCreate", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  GOOD(reinterpret_cast<CUresult (*)(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice)>(function)(&context, nullptr, 0, CU_CTX_SCHED_YIELD, 0));
  expect_flag(CU_CTX_SCHED_YIELD);
  GOOD(cuGetProcAddress("cuCtxCreate", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  GOOD(reinterpret_cast<CUresult (*)(CUcontext*, CUctxCreateParams*, unsigned, CUdevice)>(function)(&context, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0));
  expect_flag(CU_CTX_SCHED_BLOCKING_SYNC);
  // The runtime hands out the same.
  cudaDriverEntryPointQueryResult found{};
  ASSERT_CUDA(cudaSuccess, cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, cudaEnableDefault, &found));
  EXPECT_EQ(found, cudaDriverEntryPointSuccess);
  CUdeviceptr p = 0;
  GOOD(reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(function)(&p, 16));
  GOOD(cuMemFree(p));
  ASSERT_CUDA(cudaSuccess, cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, cudaEnableDefault, &found));
  EXPECT_EQ(found, cudaDriverEntryPointSymbolNotFound);
  // What the library exports for programs that are linked for per-thread default streams.
  auto* const per_thread = reinterpret_cast<CUresult (*)(CUdeviceptr, unsigned, std::size_t)>(dlsym(RTLD_DEFAULT, "cuMemsetD32_v2_ptds"));
  ASSERT_NE(per_thread, nullptr);
  const CUdeviceptr q = words({1});
  GOOD(per_thread(q, 2, 1));
  EXPECT_EQ(words_at(q, 1)[0], 2u);
}

}  // namespace
}  // namespace lockstep::driver
