// Initialisation, devices and contexts, alone and beside the runtime API.
#include <cuda_runtime_api.h>

#include <cstring>
#include <thread>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

CUDA_TEST(DriverStart, NothingWorksBeforeInit) {
  int count = -1;
  EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  int version = 0;
  EXPECT_CU(CUDA_SUCCESS, cuDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
  GOOD(cuInit(0));
  GOOD(cuDeviceGetCount(&count));
  EXPECT_GE(count, 1);
  CUdeviceptr p = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
}

CUDA_TEST(DriverStart, ErrorsHaveNamesAndTexts) {
  const char *name = nullptr, *text = nullptr;
  EXPECT_CU(CUDA_SUCCESS, cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &name));
  EXPECT_STREQ(name, "CUDA_ERROR_INVALID_VALUE");
  EXPECT_CU(CUDA_SUCCESS, cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &name));
  EXPECT_EQ(name, nullptr);
}

CUDA_TEST(DriverDevice, DescribesItselfAsTheRuntimeDoes) {
  GOOD(cuInit(0));
  CUdevice device = -1;
  GOOD(cuDeviceGet(&device, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1000));
  cudaDeviceProp properties;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceProperties(&properties, 0));
  char name[256], start[5];
  GOOD(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, properties.name);
  GOOD(cuDeviceGetName(start, sizeof start, 0));
  EXPECT_EQ(std::strncmp(start, properties.name, 4), 0);
  CUuuid uuid;
  GOOD(cuDeviceGetUuid(&uuid, 0));
  EXPECT_EQ(std::memcmp(&uuid, &properties.uuid, sizeof uuid), 0);
  std::size_t bytes = 0;
  GOOD(cuDeviceTotalMem(&bytes, 0));
  EXPECT_EQ(bytes, properties.totalGlobalMem);
  int value = 0;
  GOOD(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(value, properties.multiProcessorCount);
  GOOD(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT_EQ(value, properties.major);
}

CUDA_TEST(DriverContext, OfADeviceIsTheRuntimes) {
  GOOD(cuInit(0));
  CUcontext current = reinterpret_cast<CUcontext>(1), primary = nullptr;
  GOOD(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, nullptr);
  unsigned flags = 0;
  int active = -1;
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  // The runtime makes the primary context current; the driver API sees it.
  ASSERT_CUDA(cudaSuccess, cudaFree(nullptr));
  GOOD(cuCtxGetCurrent(&current));
  GOOD(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT_EQ(current, primary);
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  CUdevice device = -1;
  GOOD(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 0);
  GOOD(cuDevicePrimaryCtxRelease(0));
}

CUDA_TEST(DriverContext, OfAThreadAreAStack) {
  const CUcontext primary = start();
  CUcontext made = nullptr, popped = nullptr, current = nullptr;
  GOOD(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_YIELD, 0));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, made);
  unsigned flags = 0;
  GOOD(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, static_cast<unsigned>(CU_CTX_SCHED_YIELD));
  unsigned long long id = 0, other = 0;
  GOOD(cuCtxGetId(made, &id));
  GOOD(cuCtxGetId(primary, &other));
  EXPECT_NE(id, other);
  GOOD(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, made);
  GOOD(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, primary);
  GOOD(cuCtxPushCurrent(made));
  GOOD(cuCtxDestroy(made));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, primary);
  GOOD(cuCtxSetCurrent(nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(primary));
}

CUDA_TEST(DriverContext, TakesWhatWasMadeInItAlong) {
  start();
  CUdeviceptr kept = words({7});
  CUcontext made = nullptr;
  GOOD(cuCtxCreate(&made, nullptr, 0, 0));
  CUdeviceptr gone = words({8});
  CUstream stream = nullptr;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUcontext owner = nullptr;
  GOOD(cuStreamGetCtx(stream, &owner));
  EXPECT_EQ(owner, made);
  GOOD(cuCtxDestroy(made));
  EXPECT_EQ(words_at(kept, 1)[0], 7u);
  EXPECT_NE(cuMemFree(gone), CUDA_SUCCESS);
}

// A function belongs to its module, and a module to its context.
CUDA_TEST(DriverContext, LaunchesOnlyItsOwnFunctions) {
  const CUcontext primary = start();
  const CUfunction scale = function(load(), "scale");
  EXPECT_EQ(scaled(scale, 14), 42u);
  CUcontext made = nullptr;
  GOOD(cuCtxCreate(&made, nullptr, 0, 0));
  CUdeviceptr out = words({0});
  unsigned x = 1;
  void* arguments[] = {&out, &x};
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
            cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(scaled(function(load(), "scale"), 5), 15u);
  GOOD(cuCtxSetCurrent(primary));
  EXPECT_EQ(scaled(scale, 6), 18u);
}

// A created stream names its context: a thread without one may use it.
CUDA_TEST(DriverContext, IsNamedByAStream) {
  start();
  const CUfunction scale = function(load(), "scale");
  CUdeviceptr out = words({0}), copy = words({0});
  CUstream stream = nullptr;
  CUevent event = nullptr;
  GOOD(cuCtxSynchronize());  // nothing orders the copies to `out` and `copy`, and the stream
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  GOOD(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  std::thread([&] {
    CUcontext none = nullptr, of = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuCtxGetCurrent(&none));
    EXPECT_EQ(none, nullptr);
    unsigned x = 14;
    void* arguments[] = {&out, &x};
    EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
              cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_CU(CUDA_SUCCESS, cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    EXPECT_CU(CUDA_SUCCESS, cuMemcpyAsync(copy, out, 4, stream));
    EXPECT_CU(CUDA_SUCCESS, cuEventRecord(event, stream));
    EXPECT_CU(CUDA_SUCCESS, cuEventSynchronize(event));
    EXPECT_CU(CUDA_SUCCESS, cuStreamSynchronize(stream));
    EXPECT_CU(CUDA_SUCCESS, cuStreamGetCtx(stream, &of));
    EXPECT_NE(of, nullptr);
  }).join();
  EXPECT_EQ(words_at(copy, 1)[0], 42u);
}

// The stream's device may be another than the thread's.
SIMULATED_TEST(DriverContext, OfAStreamMayBeAnotherDevices) {
  const CUcontext first = start();
  CUcontext second = nullptr;
  GOOD(cuDevicePrimaryCtxRetain(&second, 1));
  GOOD(cuCtxSetCurrent(second));
  const CUfunction scale = function(load(), "scale");
  CUdeviceptr out = words({0});
  CUstream stream = nullptr;
  GOOD(cuCtxSynchronize());  // nothing orders the copy to `out` and the stream
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  unsigned x = 14;
  void* arguments[] = {&out, &x};
  for (const CUcontext current : {first, CUcontext{}}) {
    GOOD(cuCtxSetCurrent(current));
    GOOD(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    GOOD(cuStreamSynchronize(stream));
    x = 5;
  }
  GOOD(cuCtxSetCurrent(second));
  EXPECT_EQ(words_at(out, 1)[0], 15u);
}

CUDA_TEST(DriverContext, MixesWithTheRuntime) {
  start();
  const CUfunction scale = function(load(), "scale");
  void* out = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&out, 4));
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&stream));
  unsigned x = 9, result = 0;
  void* arguments[] = {&out, &x};
  GOOD(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  ASSERT_CUDA(cudaSuccess, cudaMemcpyAsync(&result, out, 4, cudaMemcpyDefault, stream));
  GOOD(cuStreamSynchronize(stream));
  EXPECT_EQ(result, 27u);
  GOOD(cuMemFree(reinterpret_cast<CUdeviceptr>(out)));
  // A failed call of the driver API does not set the runtime's last error.
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
  // Both APIs return the error of a kernel.
  CUdeviceptr nowhere = 64;
  void* wrong[] = {&nowhere, &x};
  GOOD(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, wrong, nullptr));
  EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

// Recorded on an H100, in a host thread that had only looked the function up.
CUDA_TEST(DriverContext, ATensorMapIsMadeInAContext) {
  void* data = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&data, 4096));
  const auto encode = [&] {
    CUtensorMap map;
    const cuuint64_t sizes[] = {32, 8}, strides[] = {128};
    const cuuint32_t box[] = {32, 4}, steps[] = {1, 1};
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides, box,
                                  steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_CU(CUDA_SUCCESS, encode());
  std::thread([&] {
    EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, encode());
    ASSERT_CUDA(cudaSuccess, cudaFree(nullptr));
    EXPECT_CU(CUDA_SUCCESS, encode());
  }).join();
}

// As on an H200.
CUDA_TEST(DriverContext, EventsAndAllocationsNeedNoneThatIsCurrent) {
  GOOD(cuInit(0));
  CUcontext context = nullptr;
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuCtxSetCurrent(context));
  CUevent first = nullptr, second = nullptr;
  GOOD(cuEventCreate(&first, CU_EVENT_DEFAULT));
  GOOD(cuEventCreate(&second, CU_EVENT_DEFAULT));
  GOOD(cuEventRecord(first, nullptr));
  GOOD(cuEventRecord(second, nullptr));
  GOOD(cuCtxSynchronize());
  CUdeviceptr managed = 0, device = 0;
  GOOD(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  GOOD(cuMemAlloc(&device, 64));
  GOOD(cuCtxSetCurrent(nullptr));
  float milliseconds = -1;
  EXPECT_CU(CUDA_SUCCESS, cuEventElapsedTime(&milliseconds, first, second));
  EXPECT_GE(milliseconds, 0);
  EXPECT_CU(CUDA_SUCCESS, cuMemFree(managed));
  EXPECT_CU(CUDA_SUCCESS, cuMemFree(device));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemFree(device)) << "freed already";
  GOOD(cuCtxSetCurrent(context));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(managed)) << "freed already";
  std::size_t left = 0, total = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo(nullptr, &total));
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo(&left, nullptr));
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo(nullptr, nullptr));
  EXPECT_LE(left, total);
  EXPECT_NE(left, 0u);
}

}  // namespace
}  // namespace lockstep::driver
