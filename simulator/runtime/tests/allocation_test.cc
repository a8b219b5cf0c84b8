// cudaMalloc and its variants, and queries about addresses.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

CUDA_TEST(Allocation, SizesFromNothingToTooMuch) {
  void* p = reinterpret_cast<void*>(5);
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&p, 0));
  EXPECT_EQ(p, nullptr);
  EXPECT_CUDA(cudaSuccess, cudaMallocManaged(&p, 0, cudaMemAttachGlobal));
  EXPECT_CUDA(cudaSuccess, cudaHostAlloc(&p, 0, 0));
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&p, 1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 256, 0u);
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaMalloc(&p, std::size_t{1} << 50));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaHostAlloc(&p, 64, 77));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMallocManaged(&p, 64, 7));
}

CUDA_TEST(Allocation, OutOfMemoryIsNotSticky) {
  void* p = nullptr;
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaMalloc(&p, std::size_t{1} << 50));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaPeekAtLastError());
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&p, 64));
}

CUDA_TEST(Allocation, MemoryInfoFollowsAllocations) {
  std::size_t before = 0, after = 0, total = 0;
  void* p = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMemGetInfo(&before, &total));
  EXPECT_LE(before, total);
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&p, 64 << 20));
  ASSERT_CUDA(cudaSuccess, cudaMemGetInfo(&after, &total));
  EXPECT_LE(after + (64 << 20), before);
  ASSERT_CUDA(cudaSuccess, cudaFree(p));
  ASSERT_CUDA(cudaSuccess, cudaMemGetInfo(&after, &total));
  EXPECT_EQ(after, before);
}

CUDA_TEST(Allocation, PitchIsAMultipleOf512) {
  void* p = nullptr;
  std::size_t pitch = 0;
  EXPECT_CUDA(cudaSuccess, cudaMallocPitch(&p, &pitch, 100, 3));
  EXPECT_EQ(pitch, 512u);
  EXPECT_CUDA(cudaSuccess, cudaMemset2D(p, pitch, 1, 512, 3));
  cudaPitchedPtr box;
  EXPECT_CUDA(cudaSuccess, cudaMalloc3D(&box, cudaExtent{600, 2, 3}));
  EXPECT_EQ(box.pitch, 1024u);
  EXPECT_EQ(box.ysize, 2u);
  EXPECT_CUDA(cudaSuccess, cudaMemset3D(box, 1, cudaExtent{600, 2, 3}));
}

CUDA_TEST(Freeing, TakesOnlyTheStartOfALiveAllocation) {
  char* p = nullptr;
  int local = 0;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), 4096));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(p + 1));
  EXPECT_CUDA(cudaSuccess, cudaFree(p));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(p));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(&local));
  EXPECT_CUDA(cudaSuccess, cudaFree(nullptr));
  EXPECT_CUDA(cudaSuccess, cudaFreeHost(nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(&local));
}

CUDA_TEST(Freeing, EachKindHasItsFunction) {
  void *device = nullptr, *managed = nullptr, *pinned = nullptr, *variable = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&device, 64));
  ASSERT_CUDA(cudaSuccess, cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
  ASSERT_CUDA(cudaSuccess, cudaMallocHost(&pinned, 8192));
  ASSERT_CUDA(cudaSuccess, cudaGetSymbolAddress(&variable, kernels::device_variable()));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(pinned));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(device));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(managed));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(variable));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(static_cast<char*>(pinned) + 4096));
  EXPECT_CUDA(cudaSuccess, cudaFree(device));
  EXPECT_CUDA(cudaSuccess, cudaFree(managed));
  EXPECT_CUDA(cudaSuccess, cudaFreeHost(pinned));
}

CUDA_TEST(Freeing, InAStream) {
  void* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&p, 100, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(p, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(nullptr, nullptr));
  cudaMemPool_t pool;
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetDefaultMemPool(&pool, 0));
  EXPECT_CUDA(cudaSuccess, cudaMallocFromPoolAsync(&p, 100, pool, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaFree(p));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemPoolDestroy(pool));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&pool, 99));
}

struct Kind {
  cudaMemoryType type;
  bool device_pointer, host_pointer;
};

void expect_kind(const char* what, void* p, const Kind& kind) {
  cudaPointerAttributes a;
  ASSERT_CUDA(cudaSuccess, cudaPointerGetAttributes(&a, p));
  EXPECT_EQ(a.type, kind.type) << what;
  EXPECT_EQ(a.devicePointer == p, kind.device_pointer) << what;
  EXPECT_EQ(a.hostPointer == p, kind.host_pointer) << what;
  EXPECT_EQ(a.device, kind.type == cudaMemoryTypeUnregistered ? -2 : 0) << what;
}

CUDA_TEST(PointerAttributes, DescribeEveryKind) {
  char* device = nullptr;
  void *pinned = nullptr, *managed = nullptr, *constant = nullptr;
  static char registered[8192];
  int local = 0;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&device), 100));
  ASSERT_CUDA(cudaSuccess, cudaMallocHost(&pinned, 100));
  ASSERT_CUDA(cudaSuccess, cudaMallocManaged(&managed, 100, cudaMemAttachGlobal));
  ASSERT_CUDA(cudaSuccess, cudaHostRegister(registered, sizeof registered, 0));
  ASSERT_CUDA(cudaSuccess, cudaGetSymbolAddress(&constant, kernels::constant_variable()));
  expect_kind("device", device, {cudaMemoryTypeDevice, true, false});
  expect_kind("inside", device + 50, {cudaMemoryTypeDevice, true, false});
  expect_kind("past the end", device + 100, {cudaMemoryTypeUnregistered, false, true});
  expect_kind("pinned", pinned, {cudaMemoryTypeHost, true, true});
  expect_kind("managed", managed, {cudaMemoryTypeManaged, true, true});
  expect_kind("registered", registered, {cudaMemoryTypeHost, true, true});
  expect_kind("constant", constant, {cudaMemoryTypeDevice, true, false});
  expect_kind("local", &local, {cudaMemoryTypeUnregistered, false, true});
  cudaFree(device);
  expect_kind("freed", device, {cudaMemoryTypeUnregistered, false, true});
  EXPECT_CUDA(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, device));
}

CUDA_TEST(Registration, OfHostMemory) {
  alignas(4096) static char r[16384];
  void* p = nullptr;
  unsigned flags = 0;
  EXPECT_CUDA(cudaSuccess, cudaHostRegister(r, 8192, cudaHostRegisterPortable));
  EXPECT_CUDA(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(r, 8192, 0));
  EXPECT_CUDA(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(r + 4096, 8192, 0));
  EXPECT_CUDA(cudaSuccess, cudaHostGetFlags(&flags, r));
  EXPECT_EQ(flags, unsigned{cudaHostAllocPortable | cudaHostAllocMapped});
  EXPECT_CUDA(cudaSuccess, cudaHostGetDevicePointer(&p, r, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaHostUnregister(r + 4096));
  EXPECT_CUDA(cudaSuccess, cudaHostUnregister(r));
  EXPECT_CUDA(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(r));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaHostGetDevicePointer(&p, r, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaHostRegister(nullptr, 10, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaHostRegister(r, 0, 0));
  ASSERT_CUDA(cudaSuccess, cudaHostAlloc(&p, 10, cudaHostAllocWriteCombined));
  EXPECT_CUDA(cudaSuccess, cudaHostGetFlags(&flags, p));
  EXPECT_EQ(flags, unsigned{cudaHostAllocWriteCombined | cudaHostAllocMapped});
}

CUDA_TEST(Registration, KernelsReachPinnedRegisteredAndManagedMemory) {
  static int registered[64];
  void *pinned = nullptr, *managed = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaHostRegister(registered, sizeof registered, 0));
  ASSERT_CUDA(cudaSuccess, cudaMallocHost(&pinned, 256));
  ASSERT_CUDA(cudaSuccess, cudaMallocManaged(&managed, 256, cudaMemAttachGlobal));
  kernels::store(registered, 3, 11);
  kernels::store(static_cast<int*>(pinned), 4, 12);
  kernels::store(static_cast<int*>(managed), 5, 13);
  ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(registered[3], 11);
  EXPECT_EQ(static_cast<int*>(pinned)[4], 12);
  EXPECT_EQ(static_cast<int*>(managed)[5], 13);
}

CUDA_TEST(Managed, AVariableIsOneForAllDevicesAndOutlivesThem) {
  int devices = 0, own = 0;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceCount(&devices));
  if (const char* simulated = std::getenv("LOCKSTEP_DEVICES")) {
    ASSERT_EQ(std::to_string(devices), simulated);
  }
  int* const managed = kernels::managed_variable();
  managed[0] = 100;
  for (int d = 0; d < devices; ++d) {
    ASSERT_CUDA(cudaSuccess, cudaSetDevice(d));
    kernels::add_to_variables(1);
    ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(kernels::managed_variable(), managed);
    EXPECT_EQ(managed[0], 101 + d);
    EXPECT_EQ(managed[1], 9 + d);
    EXPECT_CUDA(cudaSuccess, cudaMemcpyFromSymbol(&own, kernels::device_variable(), 4, 0,
                                                  cudaMemcpyDeviceToHost));
    EXPECT_EQ(own, 2) << "of a __device__ variable each device has its own";
  }
  ASSERT_CUDA(cudaSuccess, cudaSetDevice(0));
  ASSERT_CUDA(cudaSuccess, cudaDeviceReset());
  EXPECT_EQ(managed[0], 100 + devices);
  kernels::add_to_variables(1);
  ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(managed[0], 101 + devices);
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpyFromSymbol(&own, kernels::device_variable(), 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(own, 2) << "as it was at first";
}

CUDA_TEST(Managed, AdviceAndPrefetchCheckTheirArguments) {
  void *managed = nullptr, *device = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMallocManaged(&managed, 1 << 20, cudaMemAttachGlobal));
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&device, 100));
  cudaMemLocation location{cudaMemLocationTypeDevice, 0};
  EXPECT_CUDA(cudaSuccess, cudaMemPrefetchAsync(managed, 1 << 20, location, 0, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemPrefetchAsync(managed, 2 << 20, location, 0, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemPrefetchAsync(managed, 0, location, 0, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemPrefetchAsync(device, 100, location, 0, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaMemAdvise(managed, 100, cudaMemAdviseSetReadMostly, location));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemAdvise(device, 100, cudaMemAdviseSetReadMostly, location));
  location.id = 99;
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaMemPrefetchAsync(managed, 4, location, 0, nullptr));
}

}  // namespace
}  // namespace lockstep::runtime
