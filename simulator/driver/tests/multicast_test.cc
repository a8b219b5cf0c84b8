// Multicast objects on the simulated GPU with any number of devices. Silicon supports them only
// between devices of one NVSwitch.
#include <gtest/gtest.h>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

constexpr const char* kMultimem = R"(
.version 8.1
.target sm_90
.address_size 64
.visible .entry add(.param .u64 all, .param .u64 out) {
  .reg .u64 %rd<2>; .reg .u32 %r<3>;
  ld.param.u64 %rd0, [all];
  ld.param.u64 %rd1, [out];
  multimem.red.relaxed.sys.global.add.u32 [%rd0], 5;
  multimem.ld_reduce.relaxed.sys.global.add.u32 %r0, [%rd0];
  st.global.u32 [%rd1], %r0;
  ret;
}
)";

struct Object {
  CUmemGenericAllocationHandle handle = 0, memory = 0;
  CUdeviceptr address = 0, bound = 0, out = 0;
  std::size_t piece = 0;
  CUmemAllocationProp properties{};
  CUmulticastObjectProp object{};

  void create() {
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    GOOD(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    object.numDevices = 1;
    object.size = 2 * piece;
    GOOD(cuMulticastCreate(&handle, &object));
    GOOD(cuMemCreate(&memory, 2 * piece, &properties, 0));
    GOOD(cuMemAddressReserve(&address, 2 * piece, 0, 0, 0));
    GOOD(cuMemAddressReserve(&bound, 2 * piece, 0, 0, 0));
    GOOD(cuMemAlloc(&out, 4));
  }
  void map() {
    CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    GOOD(cuMemMap(bound, 2 * piece, 0, memory, 0));
    GOOD(cuMemSetAccess(bound, 2 * piece, &access, 1));
    GOOD(cuMemsetD32(bound, 7, 2 * piece / 4));
    GOOD(cuMemMap(address, 2 * piece, 0, handle, 0));
    GOOD(cuMemSetAccess(address, 2 * piece, &access, 1));
  }
};

CUfunction add() {
  CUmodule module = nullptr;
  CUfunction f = nullptr;
  EXPECT_CU(CUDA_SUCCESS, cuModuleLoadData(&module, kMultimem));
  EXPECT_CU(CUDA_SUCCESS, cuModuleGetFunction(&f, module, "add"));
  return f;
}
unsigned word_at(CUdeviceptr address) {
  unsigned word = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemcpyDtoH(&word, address, 4));
  return word;
}

SIMULATED_TEST(Multicast, WhatIsBoundIsReachedThroughTheObject) {
  start();
  Object o;
  o.create();
  GOOD(cuMulticastAddDevice(o.handle, 0));
  GOOD(cuMulticastBindMem(o.handle, 0, o.memory, o.piece, o.piece, 0));
  o.map();
  CUdeviceptr all = o.address + 64;
  void* arguments[] = {&all, &o.out};
  GOOD(cuLaunchKernel(add(), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(word_at(o.out), 12u);
  EXPECT_EQ(word_at(o.bound + o.piece + 64), 12u) << "the second piece of the memory was bound";
  EXPECT_EQ(word_at(o.bound + 64), 7u);
}

SIMULATED_TEST(Multicast, MemoryIsBoundByItsAddressToo) {
  start();
  Object o;
  o.create();
  GOOD(cuMulticastAddDevice(o.handle, 0));
  o.map();
  GOOD(cuMulticastBindAddr(o.handle, o.piece, o.bound, o.piece, 0));
  CUdeviceptr all = o.address + o.piece + 8;
  void* arguments[] = {&all, &o.out};
  GOOD(cuLaunchKernel(add(), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(word_at(o.bound + 8), 12u);
}

SIMULATED_TEST(Multicast, WhatIsNotBoundIsNotReached) {
  start();
  Object o;
  o.create();
  GOOD(cuMulticastAddDevice(o.handle, 0));
  o.map();
  GOOD(cuMulticastBindMem(o.handle, 0, o.memory, 0, o.piece, 0));
  GOOD(cuMulticastUnbind(o.handle, 0, 0, o.piece));
  void* arguments[] = {&o.address, &o.out};
  cuLaunchKernel(add(), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  EXPECT_NE(cuCtxSynchronize(), CUDA_SUCCESS);
}

SIMULATED_TEST(Multicast, MistakesAreRefused) {
  start();
  Object o;
  o.create();
  CUmemGenericAllocationHandle other = 0;
  CUmulticastObjectProp odd = o.object;
  odd.size = o.piece + 1;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&other, &odd));
  odd = o.object;
  odd.numDevices = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&other, &odd));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(o.handle, 99));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem(o.handle, 0, o.memory, 0, o.piece, 0))
      << "before its devices were added";
  GOOD(cuMulticastAddDevice(o.handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(o.handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMulticastBindMem(o.handle, 2 * o.piece, o.memory, 0, o.piece, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(o.handle, 16, o.memory, 0, o.piece, 0));
  GOOD(cuMulticastBindMem(o.handle, 0, o.memory, 0, o.piece, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMulticastBindMem(o.handle, 0, o.memory, o.piece, o.piece, 0))
      << "there is something already";
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(o.handle, 0, o.piece, o.piece));
  std::size_t bytes = 0;
  GOOD(cuMulticastGetGranularity(&bytes, &o.object, CU_MULTICAST_GRANULARITY_MINIMUM));
  EXPECT_EQ(bytes, o.piece);
  int supported = 0;
  GOOD(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  EXPECT_EQ(supported, 1);
  GOOD(cuMemRelease(o.handle));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemRelease(o.handle));
}

}  // namespace
}  // namespace lockstep::driver
