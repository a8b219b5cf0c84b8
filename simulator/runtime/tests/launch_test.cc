// Launch configurations, kernel attributes, and errors of kernels.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

using kernels::nothing;

int* device_ints(std::size_t count) {
  int* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), count * sizeof(int)));
  EXPECT_CUDA(cudaSuccess, cudaMemset(p, 0, count * sizeof(int)));
  return p;
}

int value_at(const int* p) {
  int h = -1;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  return h;
}

cudaError_t last_after(dim3 grid, dim3 block, std::size_t shared = 0) {
  nothing(grid, block, shared);
  return cudaGetLastError();
}

CUDA_TEST(Launch, ShapesWithinTheLimitsRunEveryThread) {
  int* p = device_ints(1);
  kernels::count_threads(p, dim3(3, 2, 2), dim3(5, 7, 2));
  EXPECT_EQ(value_at(p), 3 * 2 * 2 * 5 * 7 * 2);
  kernels::count_threads(p, 1, 1024);
  EXPECT_EQ(value_at(p), 840 + 1024);
}

CUDA_TEST(Launch, ShapesBeyondTheLimitsAreRefused) {
  EXPECT_EQ(last_after(1, 1), cudaSuccess);
  EXPECT_EQ(last_after(0, 1), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(1, 0), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(1, 1025), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(1, dim3(1, 1, 65)), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(1, dim3(32, 32, 2)), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(dim3(1, 65536), 1), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(dim3(1, 1, 65536), 1), cudaErrorInvalidValue);
  EXPECT_EQ(last_after(2147483648u, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize()) << "a refused launch is not sticky";
}

CUDA_TEST(Launch, SharedMemoryBeyond48KiBNeedsOptingIn) {
  EXPECT_EQ(last_after(1, 32, 48 << 10), cudaSuccess);
  EXPECT_EQ(last_after(1, 32, (48 << 10) + 1), cudaErrorInvalidValue);
  const void* f = kernels::dynamic_shared_function();
  int most = 0;
  ASSERT_CUDA(cudaSuccess,
              cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  ASSERT_CUDA(cudaSuccess,
              cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  int* p = device_ints(1);
  kernels::dynamic_shared(p, most);
  EXPECT_EQ(value_at(p), most / 4 - 1);
  ASSERT_CUDA(cudaSuccess,
              cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
  kernels::dynamic_shared(p, 2048);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaFuncSetAttribute(kernels::static_shared_function(),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, most));
}

// Attributes belong to the device that was current. Setting them for one device changes no launch
// and no query on another.
CUDA_TEST(Launch, AttributesOfAFunctionAreOfTheDeviceThatWasCurrent) {
  int devices = 0;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceCount(&devices));
  if (const char* simulated = std::getenv("LOCKSTEP_DEVICES")) {
    ASSERT_EQ(std::to_string(devices), simulated);
  }
  const void* const f = kernels::dynamic_shared_function();
  constexpr int kRaised = 64 << 10, kDefault = 48 << 10;
  const auto most = [&] {
    cudaFuncAttributes attributes = {};
    EXPECT_CUDA(cudaSuccess, cudaFuncGetAttributes(&attributes, f));
    return attributes.maxDynamicSharedSizeBytes;
  };
  const auto carveout = [&] {
    cudaFuncAttributes attributes = {};
    EXPECT_CUDA(cudaSuccess, cudaFuncGetAttributes(&attributes, f));
    return attributes.preferredShmemCarveout;
  };
  const auto launched = [&] {
    int* const p = device_ints(1);
    kernels::dynamic_shared(p, kRaised);
    const cudaError_t error = cudaGetLastError();
    EXPECT_CUDA(cudaSuccess, cudaFree(p));
    return error;
  };
  const auto resident = [&] {
    int blocks = -1;
    EXPECT_CUDA(cudaSuccess,
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, kRaised));
    return blocks;
  };
  const int usual = carveout();
  for (int raised = 0; raised < devices; ++raised) {
    ASSERT_CUDA(cudaSuccess, cudaSetDevice(raised));
    ASSERT_CUDA(cudaSuccess,
                cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, kRaised));
    ASSERT_CUDA(cudaSuccess,
                cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, 77));
    for (int d = 0; d < devices; ++d) {
      ASSERT_CUDA(cudaSuccess, cudaSetDevice(d));
      EXPECT_EQ(most(), d == raised ? kRaised : kDefault) << d;
      EXPECT_EQ(carveout(), d == raised ? 77 : usual) << d;
      EXPECT_EQ(launched(), d == raised ? cudaSuccess : cudaErrorInvalidValue) << d;
      EXPECT_EQ(resident() > 0, d == raised) << d;
    }
    ASSERT_CUDA(cudaSuccess, cudaSetDevice(raised));
    ASSERT_CUDA(cudaSuccess,
                cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, kDefault));
    ASSERT_CUDA(cudaSuccess,
                cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, usual));
  }
}

// -1 selects the default.
CUDA_TEST(Launch, ACarveoutIsAPercentageOrTheDefault) {
  const void* const f = kernels::dynamic_shared_function();
  for (const int value : {-1, 0, 100})
    EXPECT_CUDA(cudaSuccess,
                cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, value));
  for (const int value : {-2, 101})
    EXPECT_CUDA(cudaErrorInvalidValue,
                cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, value));
}

CUDA_TEST(Launch, LimitsAreOfTheDeviceThatWasCurrent) {
  int devices = 0;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceCount(&devices));
  for (const cudaLimit limit :
       {cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize}) {
    std::size_t usual = 0;
    ASSERT_CUDA(cudaSuccess, cudaSetDevice(0));
    ASSERT_CUDA(cudaSuccess, cudaDeviceGetLimit(&usual, limit));
    ASSERT_CUDA(cudaSuccess, cudaDeviceSetLimit(limit, 2 * usual));
    for (int d = devices - 1; d >= 0; --d) {
      std::size_t value = 0;
      ASSERT_CUDA(cudaSuccess, cudaSetDevice(d));
      EXPECT_CUDA(cudaSuccess, cudaDeviceGetLimit(&value, limit));
      EXPECT_EQ(value, d == 0 ? 2 * usual : usual) << limit << " of device " << d;
    }
  }
}

CUDA_TEST(Launch, LaunchBoundsAreHeld) {
  kernels::bounded(128);
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
  kernels::bounded(129);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGetLastError());
}

CUDA_TEST(Launch, ByHostFunctionAndByHandle) {
  int* p = device_ints(4);
  long long index = 2;
  int value = 31;
  void* arguments[] = {&p, &index, &value};
  EXPECT_CUDA(cudaSuccess,
              cudaLaunchKernel(kernels::store_function(), 1, 32, arguments, 0, nullptr));
  EXPECT_EQ(value_at(p + 2), 31);
  cudaFunction_t function;
  ASSERT_CUDA(cudaSuccess, cudaGetFuncBySymbol(&function, kernels::store_function()));
  value = 32;
  EXPECT_CUDA(cudaSuccess, cudaLaunchKernel(function, 1, 32, arguments, 0, nullptr));
  EXPECT_EQ(value_at(p + 2), 32);
  EXPECT_CUDA(cudaErrorInvalidDeviceFunction,
              cudaLaunchKernel(nullptr, 1, 32, arguments, 0, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaLaunchKernel(kernels::store_function(), 1, 32, nullptr, 0, nullptr));
}

CUDA_TEST(Launch, ParametersOfEverySizeArrive) {
  double* to = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&to), 5 * sizeof(double)));
  kernels::arguments(to, 7, -0.5, {3, 1.25, -9}, 0.75f);
  double h[5] = {};
  ASSERT_CUDA(cudaSuccess, cudaMemcpy(h, to, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT_EQ(h[0], 7);
  EXPECT_EQ(h[1], -0.5);
  EXPECT_EQ(h[2], 4.25);
  EXPECT_EQ(h[3], -9);
  EXPECT_EQ(h[4], 0.75);
}

CUDA_TEST(Launch, AnInnerLaunchBetweenPushAndPopKeepsTheOuterConfiguration) {
  // <<<>>> evaluates its arguments before it pushes the configuration. Nested launches of one
  // thread must each get their own configuration.
  int* p = device_ints(2);
  for (int i = 0; i < 10; ++i) {
    kernels::count_threads(p, i + 1, 32);
    kernels::count_threads(p + 1, 1, 32 * (i + 1));
  }
  EXPECT_EQ(value_at(p), 55 * 32);
  EXPECT_EQ(value_at(p + 1), 55 * 32);
}

cudaError_t launch_cluster(dim3 grid, dim3 cluster,
                           const void* function = kernels::nothing_function(),
                           cudaStream_t stream = nullptr) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute;
  config.numAttrs = 1;
  config.stream = stream;
  int* p = nullptr;
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, function, arguments);
}

CUDA_TEST(Launch, ACapturedClusterIsAnAttributeOfItsNode) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&stream));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ASSERT_CUDA(cudaSuccess,
              launch_cluster(dim3(16, 2), dim3(4, 2, 1), kernels::nothing_function(), stream));
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  ASSERT_CUDA(cudaSuccess, cudaGraphGetNodes(graph, &node, &count));
  cudaLaunchAttributeValue value = {};
  EXPECT_CUDA(cudaSuccess,
              cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
  EXPECT_EQ(value.clusterDim.x, 4u);
  EXPECT_EQ(value.clusterDim.y, 2u);
  EXPECT_EQ(value.clusterDim.z, 1u);
  EXPECT_CUDA(cudaSuccess,
              cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 0);
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(stream));
}

CUDA_TEST(Launch, LargeClustersAreAllowedOnTheDeviceThatWasCurrent) {
  int devices = 0;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceCount(&devices));
  const void* const f = kernels::nothing_function();
  for (int allowed = 0; allowed < devices; ++allowed) {
    for (const int value : {1, 0}) {
      ASSERT_CUDA(cudaSuccess, cudaSetDevice(allowed));
      ASSERT_CUDA(cudaSuccess,
                  cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, value));
      for (int d = 0; d < devices; ++d) {
        ASSERT_CUDA(cudaSuccess, cudaSetDevice(d));
        EXPECT_EQ(launch_cluster(16, 16),
                  d == allowed && value == 1 ? cudaSuccess : cudaErrorInvalidClusterSize)
            << d;
      }
    }
  }
}

CUDA_TEST(Launch, ARequiredClusterHoldsForEveryLaunch) {
  const void* const f = kernels::nothing_function();
  const auto require = [&](int x, int y, int z) {
    EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(f, cudaFuncAttributeRequiredClusterWidth, x));
    EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(f, cudaFuncAttributeRequiredClusterHeight, y));
    EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(f, cudaFuncAttributeRequiredClusterDepth, z));
  };
  int* p = nullptr;
  void* arguments[] = {&p};
  const auto answer = [&](unsigned blocks) {
    return cudaLaunchKernel(f, blocks, 32, arguments, 0, nullptr);
  };
  require(2, 1, 1);
  EXPECT_CUDA(cudaErrorInvalidClusterSize, answer(3));
  EXPECT_CUDA(cudaSuccess, answer(4));
  EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(4, 4));
  require(2, 0, 0);
  EXPECT_CUDA(cudaErrorInvalidClusterSize, answer(4)) << "one size alone makes no cluster";
  require(0, 0, 0);
  EXPECT_CUDA(cudaSuccess, answer(3));
}

CUDA_TEST(Launch, ClustersMustDivideTheGridAndFit) {
  EXPECT_CUDA(cudaSuccess, launch_cluster(4, 2));
  EXPECT_CUDA(cudaSuccess, launch_cluster(16, 8));
  EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(3, 2));
  for (const dim3 cluster : {dim3(2, 1, 1), dim3(1, 2, 1), dim3(1, 1, 2)})
    EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(dim3(3, 3, 3), cluster));
  EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(16, 16));
  EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(4, dim3(0, 1, 1)));
  ASSERT_CUDA(cudaSuccess, cudaFuncSetAttribute(kernels::nothing_function(),
                                                cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  EXPECT_CUDA(cudaSuccess, launch_cluster(16, 16));
  EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(32, 32));
  EXPECT_CUDA(cudaSuccess, launch_cluster(4, 2, kernels::clustered_function()));
  EXPECT_CUDA(cudaErrorInvalidClusterSize, launch_cluster(4, 4, kernels::clustered_function()));
  int* p = nullptr;
  void* arguments[] = {&p};
  EXPECT_CUDA(cudaErrorInvalidClusterSize,
              cudaLaunchKernel(kernels::clustered_function(), 3, 32, arguments, 0, nullptr));
}

CUDA_TEST(Launch, ACooperativeGridMustFitOnTheDeviceAtOnce) {
  int* p = nullptr;
  void* arguments[] = {&p};
  const void* f = kernels::nothing_function();
  EXPECT_CUDA(cudaSuccess, cudaLaunchCooperativeKernel(f, 4, 32, arguments, 0, nullptr));
  EXPECT_CUDA(cudaErrorCooperativeLaunchTooLarge,
              cudaLaunchCooperativeKernel(f, 1 << 20, 32, arguments, 0, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaLaunchCooperativeKernel(f, 0, 32, arguments, 0, nullptr));
  EXPECT_CUDA(
      cudaErrorCooperativeLaunchTooLarge,
      cudaLaunchCooperativeKernel(kernels::nothing_function(), 1, 32, arguments, 60000, nullptr));
}

CUDA_TEST(KernelAttributes, AreThePtxs) {
  cudaFuncAttributes a;
  ASSERT_CUDA(cudaSuccess, cudaFuncGetAttributes(&a, kernels::bounded_function()));
  EXPECT_EQ(a.maxThreadsPerBlock, 128);
  EXPECT_EQ(a.ptxVersion, 90);
  EXPECT_EQ(a.maxDynamicSharedSizeBytes, 49152);
  EXPECT_EQ(a.preferredShmemCarveout, -1);
  EXPECT_GT(a.numRegs, 0);
  EXPECT_EQ(a.sharedSizeBytes, 0u);
  ASSERT_CUDA(cudaSuccess, cudaFuncGetAttributes(&a, kernels::static_shared_function()));
  EXPECT_EQ(a.sharedSizeBytes, 45056u);
  EXPECT_EQ(a.maxDynamicSharedSizeBytes, 4096);
  EXPECT_CUDA(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFuncSetAttribute(kernels::bounded_function(),
                                                          static_cast<cudaFuncAttribute>(77), 1));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaFuncSetAttribute(kernels::bounded_function(),
                                   cudaFuncAttributePreferredSharedMemoryCarveout, 101));
}

CUDA_TEST(KernelAttributes, NamesAndParameters) {
  const char* name = nullptr;
  std::size_t offset = 9, size = 9;
  EXPECT_CUDA(cudaSuccess, cudaFuncGetName(&name, kernels::store_function()));
  EXPECT_NE(std::string(name).find("store_kernel"), std::string::npos);
  EXPECT_CUDA(cudaSuccess, cudaFuncGetParamInfo(kernels::store_function(), 2, &offset, &size));
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(size, 4u);
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaFuncGetParamInfo(kernels::store_function(), 3, &offset, &size));
}

CUDA_TEST(Occupancy, OfTheKernelsHere) {
  int blocks = -1;
  std::size_t bytes = 0;
  const auto on = [&](const void* f, int threads, std::size_t shared) {
    EXPECT_CUDA(cudaSuccess,
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, shared));
    return blocks;
  };
  EXPECT_EQ(on(kernels::nothing_function(), 256, 0), 8);
  EXPECT_EQ(on(kernels::nothing_function(), 2000, 0), 0);
  EXPECT_EQ(on(kernels::bounded_function(), 129, 0), 12);
  EXPECT_EQ(on(kernels::static_shared_function(), 256, 0), 5);
  EXPECT_EQ(on(kernels::dynamic_shared_function(), 256, 100 << 10), 0);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                         &blocks, kernels::nothing_function(), 0, 0));
  EXPECT_CUDA(cudaSuccess, cudaOccupancyAvailableDynamicSMemPerBlock(
                               &bytes, kernels::dynamic_shared_function(), 2, 256));
  EXPECT_EQ(bytes, 49152u);
  EXPECT_CUDA(cudaSuccess, cudaOccupancyAvailableDynamicSMemPerBlock(
                               &bytes, kernels::static_shared_function(), 3, 256));
  EXPECT_EQ(bytes, 4096u);
}

// Expects every call to return `error` after a kernel has failed.
void expect_sticky(cudaError_t error) {
  EXPECT_CUDA(cudaSuccess, cudaGetLastError()) << "the launch itself succeeded";
  EXPECT_CUDA(error, cudaDeviceSynchronize());
  EXPECT_CUDA(error, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaGetLastError())
      << "the last error is forgotten, the device's is not";
  void* p = nullptr;
  std::size_t size = 0;
  int device = 0;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaDeviceProp prop;
  cudaPointerAttributes attributes;
  EXPECT_CUDA(error, cudaMalloc(&p, 4));
  EXPECT_CUDA(error, cudaFree(nullptr));
  EXPECT_CUDA(error, cudaMemGetInfo(&size, &size));
  EXPECT_CUDA(error, cudaStreamCreate(&stream));
  EXPECT_CUDA(error, cudaStreamQuery(nullptr));
  EXPECT_CUDA(error, cudaEventCreate(&event));
  EXPECT_CUDA(error, cudaGetSymbolAddress(&p, kernels::device_variable()));
  EXPECT_CUDA(error, cudaDeviceGetLimit(&size, cudaLimitStackSize));
  nothing(1, 1);
  EXPECT_CUDA(error, cudaGetLastError());
  // Calls that need no device still succeed.
  EXPECT_CUDA(cudaSuccess, cudaGetDevice(&device));
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(0));
  EXPECT_CUDA(cudaSuccess, cudaGetDeviceCount(&device));
  EXPECT_CUDA(cudaSuccess, cudaGetDeviceProperties(&prop, 0));
  EXPECT_CUDA(cudaSuccess, cudaPointerGetAttributes(&attributes, p));
  // A reset does not make the device usable again.
  EXPECT_CUDA(cudaSuccess, cudaDeviceReset());
  EXPECT_CUDA(cudaErrorDevicesUnavailable, cudaMalloc(&p, 4));
  EXPECT_CUDA(cudaErrorDevicesUnavailable, cudaSetDevice(0));
}

CUDA_TEST(KernelError, IllegalAddress) {
  int* p = device_ints(1);
  kernels::store(p, 1 << 28, 1);
  expect_sticky(cudaErrorIllegalAddress);
}

CUDA_TEST(KernelError, MisalignedAddress) {
  int* p = device_ints(16);
  kernels::store_at_byte(reinterpret_cast<char*>(p), 1);
  expect_sticky(cudaErrorMisalignedAddress);
}

CUDA_TEST(KernelError, Trap) {
  kernels::trap();
  expect_sticky(cudaErrorLaunchFailure);
}

CUDA_TEST(KernelError, HostMemoryIsOutOfReach) {
  static int host[4];
  kernels::store(host, 0, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

CUDA_TEST(KernelError, TheDeathOfAKernelIsDeliveredByTheNextLaunchToo) {
  int* p = device_ints(1);
  kernels::store(p, 1 << 28, 1);
  (void)cudaStreamQuery(nullptr);  // the simulated GPU reports at a query
  usleep(300000);                  // hardware needs some time to detect it
  (void)cudaGetLastError();
  nothing(1, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaGetLastError());
}

}  // namespace
}  // namespace lockstep::runtime
