// Streams, events, capture and graphs; lookup of entry points.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <chrono>
#include <thread>

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
      stream,
      [](CUstream, CUresult status, void* n) {
        *static_cast<int*>(n) += status == CUDA_SUCCESS ? 10 : 100;
      },
      &called, 0));
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

CUDA_TEST(DriverEvent, RefusesWhatIsNoEvent) {
  start();
  CUevent event = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(nullptr, nullptr, nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuEventCreate(&event, CU_EVENT_INTERPROCESS));  // requires CU_EVENT_DISABLE_TIMING
}

// Each result was recorded on an H100.
CUDA_TEST(DriverMemoryOperation, WritesWhereItMay) {
  start();
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr at = words({0, 0, 0, 0});
  GOOD(cuStreamWriteValue32(stream, at, 7, 0));
  GOOD(cuStreamWriteValue64(stream, at + 8, 0x123456789abcdef, 0));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(words_at(at, 4), (std::vector<unsigned>{7, 0, 0x89abcdef, 0x1234567}));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, at + 2, 9, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(stream, at + 4, 9, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, at + 16, 9, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, 0, 9, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuStreamWriteValue32(stream, at, 9, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  unsigned local = 0, *pinned = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(&local), 9, 0));
  GOOD(cuMemHostAlloc(reinterpret_cast<void**>(&pinned), 64, CU_MEMHOSTALLOC_DEVICEMAP));
  GOOD(cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(pinned), 5, 0));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(*pinned, 5u);
  CUdeviceptr managed = 0, freed = 0;
  GOOD(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, managed, 9, 0));
  GOOD(cuMemAlloc(&freed, 1 << 22));
  GOOD(cuMemFree(freed));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, freed, 9, 0));
  EXPECT_EQ(words_at(at, 2), (std::vector<unsigned>{7, 0}));
  int can = 0;
  GOOD(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
  EXPECT_EQ(can, 1);
  GOOD(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0));
  EXPECT_EQ(can, 0);
}

CUDA_TEST(DriverMemoryOperation, WaitsUntilTheValueIsThere) {
  start();
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr at = words({11, 0, 5, 0});
  GOOD(cuStreamWaitValue32(stream, at, 3, CU_STREAM_WAIT_VALUE_GEQ));
  GOOD(cuStreamWaitValue32(stream, at, 11, CU_STREAM_WAIT_VALUE_EQ));
  GOOD(cuStreamWaitValue32(stream, at, 9, CU_STREAM_WAIT_VALUE_AND));
  GOOD(cuStreamWaitValue32(stream, at, 9, CU_STREAM_WAIT_VALUE_NOR));
  GOOD(cuStreamWaitValue32(stream, at, 0xfffffff0,
                           CU_STREAM_WAIT_VALUE_GEQ));  // the difference, 27, is not negative
  GOOD(cuStreamWaitValue64(stream, at + 8, 5, CU_STREAM_WAIT_VALUE_EQ));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, at, 11, 4));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, at + 2, 11, 0));
  EXPECT_CU(
      CUDA_ERROR_NOT_SUPPORTED,
      cuStreamWaitValue32(stream, at, 11, CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH));
  // Another thread's stream writes it.
  CUcontext context = nullptr;
  GOOD(cuCtxGetCurrent(&context));
  std::thread writer([&] {
    EXPECT_CU(CUDA_SUCCESS, cuCtxSetCurrent(context));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CUstream other = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    EXPECT_CU(CUDA_SUCCESS, cuStreamWriteValue32(other, at + 4, 77, 0));
    EXPECT_CU(CUDA_SUCCESS, cuStreamSynchronize(other));
  });
  const CUdeviceptr copy = words({0});
  GOOD(cuStreamWaitValue32(stream, at + 4, 77, CU_STREAM_WAIT_VALUE_EQ));
  GOOD(cuMemcpyDtoDAsync(copy, at + 4, 4, stream));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(words_at(copy, 1)[0], 77u);
  writer.join();
}

CUDA_TEST(DriverMemoryOperation, ComeInBatchesAllOrNone) {
  start();
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr at = words({0, 0, 0, 0});
  CUstreamBatchMemOpParams o[256] = {};
  for (auto& one : o) one.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, at, {1}, 0, 0};
  GOOD(cuStreamBatchMemOp(stream, 0, o, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 256, o, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 1, o, 1));
  o[1].operation = static_cast<CUstreamBatchMemOpType>(99);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 2, o, 0));
  o[1] = {CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES};
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuStreamBatchMemOp(stream, 2, o, 0));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(words_at(at, 1)[0], 0u) << "nothing of a batch that was refused is done";
  o[1] = {CU_STREAM_MEM_OP_BARRIER};
  o[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
  o[2].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, at, {1}, CU_STREAM_WAIT_VALUE_EQ, 0};
  o[3].writeValue.address = at + 8;
  o[3].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  o[3].writeValue.value64 = 5;
  GOOD(cuStreamBatchMemOp(stream, 4, o, 0));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(words_at(at, 4), (std::vector<unsigned>{1, 0, 5, 0}));
}

CUDA_TEST(DriverMemoryOperation, AreNodesOfGraphs) {
  const CUcontext context = start();
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr at = words({0, 0, 0, 0});
  GOOD(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  GOOD(cuStreamWriteValue32(stream, at, 0x55, 0));
  GOOD(cuStreamWaitValue32(stream, at, 0x55, CU_STREAM_WAIT_VALUE_EQ));
  CUgraph graph = nullptr;
  GOOD(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(words_at(at, 1)[0], 0u);
  std::size_t count = 2;
  CUgraphNode nodes[2], added = nullptr;
  GOOD(cuGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(count, 2u);
  CUgraphNodeType type{};
  GOOD(cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  CUDA_BATCH_MEM_OP_NODE_PARAMS p{};
  GOOD(cuGraphBatchMemOpNodeGetParams(nodes[0], &p));
  EXPECT_EQ(p.count, 1u);
  EXPECT_EQ(p.ctx, context);
  EXPECT_EQ(p.paramArray[0].operation, CU_STREAM_MEM_OP_WRITE_VALUE_32);
  CUstreamBatchMemOpParams write{};
  write.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, at + 4, {9}, 0, 0};
  p = {nullptr, 1, &write, 0};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddBatchMemOpNode(&added, graph, &nodes[1], 1, &p));
  p.ctx = context;
  p.flags = 1;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddBatchMemOpNode(&added, graph, &nodes[1], 1, &p));
  p.flags = 0;
  GOOD(cuGraphAddBatchMemOpNode(&added, graph, &nodes[1], 1, &p));
  CUgraphExec exec = nullptr;
  GOOD(cuGraphInstantiate(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, stream));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(words_at(at, 2), (std::vector<unsigned>{0x55, 9}));
  write.writeValue.value = 10;
  GOOD(cuGraphExecBatchMemOpNodeSetParams(exec, added, &p));
  GOOD(cuGraphLaunch(exec, stream));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(words_at(at, 2), (std::vector<unsigned>{0x55, 10}));
}

CUDA_TEST(DriverGraph, IsCapturedAndLaunched) {
  start();
  const CUfunction scale = function(load(), "scale");
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr out = words({0});
  GOOD(cuCtxSynchronize());  // the copy may not have arrived, and the stream does not wait for it
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
  CUDA_KERNEL_NODE_PARAMS kernel{scale, 1, 1, 1, 1, 1, 1, 0, arguments, nullptr, nullptr, nullptr},
      found{};
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
  GOOD(cuGetProcAddress("cuDriverGetVersion", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT,
                        &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  int version = 0;
  GOOD(reinterpret_cast<CUresult (*)(int*)>(function)(&version));
  EXPECT_GE(version, 13000);
  GOOD(
      cuGetProcAddress("cuNoSuchFunction", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  function = &version;
  GOOD(
      cuGetProcAddress("cuNoSuchFunction", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  EXPECT_EQ(function, nullptr);
  GOOD(cuGetProcAddress("cuLibraryLoadData", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT,
                        &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  // Earlier forms of one name: three arguments until 11.3, five until 12.4, four since.
  GOOD(cuInit(0));
  CUcontext context = nullptr;
  const auto expect_flag = [](unsigned flag) {
    unsigned flags = 0;
    EXPECT_CU(CUDA_SUCCESS, cuCtxGetFlags(&flags));
    EXPECT_EQ(flags & CU_CTX_SCHED_MASK, flag);
  };
  GOOD(cuGetProcAddress("cuCtxCreate", &function, 11030, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  GOOD(reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(function)(
      &context, CU_CTX_SCHED_SPIN, 0));
  expect_flag(CU_CTX_SCHED_SPIN);
  GOOD(cuGetProcAddress("cuCtxCreate", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  GOOD(reinterpret_cast<CUresult (*)(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice)>(
      function)(&context, nullptr, 0, CU_CTX_SCHED_YIELD, 0));
  expect_flag(CU_CTX_SCHED_YIELD);
  GOOD(cuGetProcAddress("cuCtxCreate", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  GOOD(reinterpret_cast<CUresult (*)(CUcontext*, CUctxCreateParams*, unsigned, CUdevice)>(function)(
      &context, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0));
  expect_flag(CU_CTX_SCHED_BLOCKING_SYNC);
  GOOD(cuGetProcAddress("cuStreamUpdateCaptureDependencies", &function, 11030,
                        CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
            reinterpret_cast<CUresult (*)(CUstream, CUgraphNode*, std::size_t, unsigned)>(function)(
                stream, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  GOOD(cuStreamDestroy(stream));
  // The runtime returns the same functions.
  cudaDriverEntryPointQueryResult found{};
  ASSERT_CUDA(cudaSuccess, cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000,
                                                            cudaEnableDefault, &found));
  EXPECT_EQ(found, cudaDriverEntryPointSuccess);
  CUdeviceptr p = 0;
  GOOD(reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(function)(&p, 16));
  GOOD(cuMemFree(p));
  ASSERT_CUDA(cudaSuccess, cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000,
                                                            cudaEnableDefault, &found));
  EXPECT_EQ(found, cudaDriverEntryPointSymbolNotFound);
  // The library exports this for programs that are linked for per-thread default streams.
  auto* const per_thread = reinterpret_cast<CUresult (*)(CUdeviceptr, unsigned, std::size_t)>(
      dlsym(RTLD_DEFAULT, "cuMemsetD32_v2_ptds"));
  ASSERT_NE(per_thread, nullptr);
  const CUdeviceptr q = words({1});
  GOOD(per_thread(q, 2, 1));
  EXPECT_EQ(words_at(q, 1)[0], 2u);
}

CUDA_TEST(DriverGraph, AllocatesAndBranches) {
  start();
  CUgraph graph = nullptr;
  GOOD(cuGraphCreate(&graph, 0));
  CUgraphNodeParams memory{};
  memory.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  memory.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.alloc.bytesize = 64;
  CUgraphNode allocated = nullptr, branch = nullptr, filled = nullptr;
  GOOD(cuGraphAddNode(&allocated, graph, nullptr, nullptr, 0, &memory));
  CUgraphConditionalHandle handle = 0;
  CUcontext context = nullptr;
  GOOD(cuCtxGetCurrent(&context));
  GOOD(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams condition{};
  condition.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  condition.conditional.handle = handle;
  condition.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
  condition.conditional.size = 2;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
            cuGraphAddNode(&branch, graph, &allocated, nullptr, 1, &condition));
  condition.conditional.ctx = context;
  GOOD(cuGraphAddNode(&branch, graph, &allocated, nullptr, 1, &condition));
  for (unsigned i = 0; i < 2; ++i) {
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = memory.alloc.dptr;
    fill.value = 10 + i;
    fill.elementSize = 4;
    fill.width = fill.height = 1;
    GOOD(cuGraphAddMemsetNode(&filled, condition.conditional.phGraph_out[i], nullptr, 0, &fill,
                              context));
  }
  CUgraphExec exec = nullptr;
  GOOD(cuGraphInstantiate(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, nullptr));
  GOOD(cuCtxSynchronize());
  EXPECT_EQ(words_at(memory.alloc.dptr, 1)[0], 11u);
  std::uint64_t used = 0;
  CUdevice device = 0;
  GOOD(cuCtxGetDevice(&device));
  GOOD(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_GE(used, 64u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, nullptr));
  GOOD(cuMemFreeAsync(memory.alloc.dptr, nullptr));
  GOOD(cuGraphLaunch(exec, nullptr));
  GOOD(cuCtxSynchronize());
  GOOD(cuMemFree(memory.alloc.dptr));
}

}  // namespace
}  // namespace lockstep::driver
