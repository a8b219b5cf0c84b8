// Memory of all kinds, copies, fills, arrays and textures.
#include <cstring>
#include <numeric>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

CUDA_TEST(DriverMemory, IsAllocatedAndFreed) {
  start();
  CUdeviceptr p = 0, base = 0;
  std::size_t size = 0, free = 0, total = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, std::size_t{1} << 50));
  GOOD(cuMemAlloc(&p, 1000));
  GOOD(cuMemGetAddressRange(&base, &size, p + 10));
  EXPECT_EQ(base, p);
  EXPECT_EQ(size, 1000u);
  GOOD(cuMemGetInfo(&free, &total));
  EXPECT_LT(free, total);
  GOOD(cuMemFree(p));
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, 4096));
  std::size_t pitch = 0;
  GOOD(cuMemAllocPitch(&p, &pitch, 100, 3, 4));
  EXPECT_GE(pitch, 100u);
  GOOD(cuMemsetD2D32(p, pitch, 0x01020304, 25, 3));
  EXPECT_EQ(words_at(p + 2 * pitch, 25), std::vector<unsigned>(25, 0x01020304));
  GOOD(cuMemFree(p));
  GOOD(cuMemAllocAsync(&p, 0, nullptr));
  EXPECT_EQ(p, 0u) << "as on an H100";
  GOOD(cuMemFreeAsync(p, nullptr));
  GOOD(cuMemAllocAsync(&p, 64, nullptr));
  GOOD(cuMemFreeAsync(p, nullptr));
  CUmemoryPool pool = nullptr;
  GOOD(cuDeviceGetDefaultMemPool(&pool, 0));
  GOOD(cuMemAllocFromPoolAsync(&p, 64, pool, nullptr));
  GOOD(cuMemFreeAsync(p, nullptr));
}

CUDA_TEST(DriverMemory, OfTheHostAndManagedIsReachedFromBoth) {
  start();
  unsigned *host = nullptr, *managed = nullptr;
  CUdeviceptr device = 0;
  GOOD(cuMemHostAlloc(reinterpret_cast<void**>(&host), 64, CU_MEMHOSTALLOC_DEVICEMAP));
  GOOD(cuMemHostGetDevicePointer(&device, host, 0));
  unsigned flags = 0;
  GOOD(cuMemHostGetFlags(&flags, host));
  EXPECT_NE(flags & CU_MEMHOSTALLOC_DEVICEMAP, 0u);
  const CUfunction scale = function(load(), "scale");
  unsigned x = 5;
  void* arguments[] = {&device, &x};
  GOOD(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuCtxSynchronize());
  EXPECT_EQ(host[0], 15u);
  GOOD(cuMemFreeHost(host));
  CUdeviceptr m = 0;
  GOOD(cuMemAllocManaged(&m, 64, CU_MEM_ATTACH_GLOBAL));
  managed = reinterpret_cast<unsigned*>(m);
  x = 7;
  device = m;
  GOOD(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuCtxSynchronize());
  EXPECT_EQ(managed[0], 21u);
  GOOD(cuMemFree(m));
  std::vector<unsigned> own(4096);
  GOOD(cuMemHostRegister(own.data(), own.size() * 4, CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
            cuMemHostRegister(own.data(), own.size() * 4, 0));
  GOOD(cuMemHostUnregister(own.data()));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own.data()));
}

CUDA_TEST(DriverMemory, DescribesAPointer) {
  const CUcontext primary = start();
  const CUdeviceptr p = words({1, 2});
  unsigned type = 0;
  int ordinal = -1, managed = -1;
  CUcontext context = nullptr;
  GOOD(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 4));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  GOOD(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  EXPECT_EQ(context, primary);
  CUdeviceptr begin = 0;
  GOOD(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 4));
  EXPECT_EQ(begin, p);
  int local = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                            reinterpret_cast<CUdeviceptr>(&local)));
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* results[] = {&ordinal, &managed, &type};
  GOOD(cuPointerGetAttributes(3, which, results, p));
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(managed, 0);
  GOOD(cuPointerGetAttributes(3, which, results, reinterpret_cast<CUdeviceptr>(&local)));
  EXPECT_EQ(ordinal, -2);
  EXPECT_EQ(type, 0u);
}

CUDA_TEST(DriverVirtualMemory, IsReservedMappedAndReached) {
  start();
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t piece = 0;
  GOOD(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0;
  GOOD(cuMemAddressReserve(&range, 4 * piece, 0, 0, 0));
  CUmemGenericAllocationHandle first = 0, second = 0;
  GOOD(cuMemCreate(&first, piece, &properties, 0));
  GOOD(cuMemCreate(&second, piece, &properties, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&second, piece + 1, &properties, 0));
  GOOD(cuMemMap(range, piece, 0, first, 0));
  GOOD(cuMemMap(range + piece, piece, 0, second, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, piece, 0, second, 0));
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  unsigned long long flags = 99;
  GOOD(cuMemGetAccess(&flags, &access.location, range));
  EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_NONE));
  GOOD(cuMemSetAccess(range, 2 * piece, &access, 1));
  GOOD(cuMemGetAccess(&flags, &access.location, range + piece));
  EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  // A fill across the border of two mappings, and a kernel that reads the second mapping.
  GOOD(cuMemsetD32(range + piece - 8, 0x1234, 4));
  EXPECT_EQ(words_at(range + piece - 8, 4), std::vector<unsigned>(4, 0x1234));
  CUdeviceptr out = range + piece + 64;
  unsigned x = 5;
  void* arguments[] = {&out, &x};
  GOOD(cuLaunchKernel(function(load(), "scale"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(words_at(out, 1)[0], 15u);
  // Memory that the program holds keeps its contents while it is unmapped.
  GOOD(cuMemRelease(first));
  GOOD(cuMemUnmap(range, 2 * piece));
  EXPECT_NE(cuMemsetD32(range + piece, 0, 1), CUDA_SUCCESS);
  GOOD(cuMemMap(range + 2 * piece, piece, 0, second, 0));
  GOOD(cuMemSetAccess(range + 2 * piece, piece, &access, 1));
  EXPECT_EQ(words_at(range + 2 * piece + 64, 1)[0], 15u);
  GOOD(cuMemUnmap(range + 2 * piece, piece));
  GOOD(cuMemRelease(second));
  GOOD(cuMemAddressFree(range, 4 * piece));
}

// CUDA Driver API, cuMemRetainAllocationHandle: each handle that it returns has to be released.
CUDA_TEST(DriverVirtualMemory, IsHeldUntilEachHolderHasReleasedIt) {
  start();
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t piece = 0;
  GOOD(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0;
  GOOD(cuMemAddressReserve(&range, piece, 0, 0, 0));
  CUmemGenericAllocationHandle made = 0, retained = 0;
  GOOD(cuMemCreate(&made, piece, &properties, 0));
  GOOD(cuMemMap(range, piece, 0, made, 0));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  GOOD(cuMemSetAccess(range, piece, &access, 1));
  GOOD(cuMemsetD32(range, 0x1234, 4));
  // Any address within the mapping is accepted.
  GOOD(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(range + piece - 1)));
  EXPECT_EQ(retained, made);
  GOOD(cuMemRelease(made));
  GOOD(cuMemUnmap(range, piece));
  // The memory is not mapped and has one holder left.
  GOOD(cuMemMap(range, piece, 0, retained, 0));
  GOOD(cuMemSetAccess(range, piece, &access, 1));
  EXPECT_EQ(words_at(range, 4), std::vector<unsigned>(4, 0x1234));
  GOOD(cuMemUnmap(range, piece));
  GOOD(cuMemRelease(retained));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(range)));
  GOOD(cuMemAddressFree(range, piece));
}

CUDA_TEST(DriverCopy, MovesLinesRowsAndBoxes) {
  start();
  std::vector<unsigned> values(24);
  std::iota(values.begin(), values.end(), 0u);
  const CUdeviceptr a = words(values), b = words(std::vector<unsigned>(24, 0));
  GOOD(cuMemcpyDtoD(b, a, 16));
  GOOD(cuMemcpy(b + 16, a, 8));
  EXPECT_EQ(words_at(b, 6), (std::vector<unsigned>{0, 1, 2, 3, 0, 1}));
  // Columns 2 and 3 of 4 rows of 6 words, to columns 0 and 1.
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.srcDevice = a;
  rows.srcPitch = 24;
  rows.srcXInBytes = 8;
  rows.dstMemoryType = CU_MEMORYTYPE_HOST;
  unsigned out[8] = {};
  rows.dstHost = out;
  rows.dstPitch = 8;
  rows.WidthInBytes = 8;
  rows.Height = 4;
  GOOD(cuMemcpy2D(&rows));
  EXPECT_EQ(std::vector<unsigned>(out, out + 8),
            (std::vector<unsigned>{2, 3, 8, 9, 14, 15, 20, 21}));
  // Copies the last word of the middle row of each of 2 slices of 3 rows of 4 words.
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  box.srcDevice = a;
  box.srcPitch = 16;
  box.srcHeight = 3;
  box.srcXInBytes = 12;
  box.srcY = 1;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = out;
  box.dstPitch = 4;
  box.dstHeight = 1;
  box.WidthInBytes = 4;
  box.Height = 1;
  box.Depth = 2;
  GOOD(cuMemcpy3D(&box));
  EXPECT_EQ(out[0], 7u);
  EXPECT_EQ(out[1], 19u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(out, 4096, 4));
}

CUDA_TEST(DriverFill, HasElementsOfOneTwoAndFourBytes) {
  start();
  const CUdeviceptr p = words({0, 0, 0, 0});
  GOOD(cuMemsetD32(p, 0xdeadbeef, 4));
  GOOD(cuMemsetD16(p + 4, 0x1234, 3));
  GOOD(cuMemsetD8(p + 8, 0x56, 1));
  EXPECT_EQ(words_at(p, 4),
            (std::vector<unsigned>{0xdeadbeef, 0x12341234, 0xdead1256, 0xdeadbeef}));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 0, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(p + 1, 0, 1));
  GOOD(cuMemsetD32(p, 1, 0));
}

CUDA_TEST(DriverArray, IsCopiedToAndReadAsATexture) {
  start();
  CUDA_ARRAY_DESCRIPTOR shape{4, 2, CU_AD_FORMAT_FLOAT, 1}, found{};
  CUarray array = nullptr;
  GOOD(cuArrayCreate(&array, &shape));
  GOOD(cuArrayGetDescriptor(&found, array));
  EXPECT_EQ(found.Width, 4u);
  EXPECT_EQ(found.Height, 2u);
  EXPECT_EQ(found.Format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(found.NumChannels, 1u);
  const float in[8] = {0, 1, 2, 3, 10, 11, 12, 13};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = in;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  GOOD(cuMemcpy2D(&copy));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture{};
  for (CUaddress_mode& mode : texture.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject object = 0;
  GOOD(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  CUDA_RESOURCE_DESC same{};
  GOOD(cuTexObjectGetResourceDesc(&same, object));
  EXPECT_EQ(same.res.array.hArray, array);
  const CUmodule module = load(R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 out, .param .u64 image, .param .f32 x, .param .f32 y) {
  .reg .u64 %rd<4>; .reg .f32 %f<8>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  ld.param.u64 %rd2, [image];
  ld.param.f32 %f0, [x];
  ld.param.f32 %f1, [y];
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%f0, %f1}];
  st.global.f32 [%rd1], %f2;
  ret;
})");
  CUdeviceptr out = words({0});
  float x = 2.0f, y = 1.0f, value = 0;
  void* arguments[] = {&out, &object, &x, &y};
  GOOD(cuLaunchKernel(function(module, "fetch"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuMemcpyDtoH(&value, out, 4));
  EXPECT_EQ(value, (1 + 2 + 11 + 12) / 4.0f);
  GOOD(cuTexObjectDestroy(object));
  float row[2] = {};
  GOOD(cuMemcpyAtoH(row, array, 8, 8));
  EXPECT_EQ(row[0], 2.0f);
  EXPECT_EQ(row[1], 3.0f);
  GOOD(cuArrayDestroy(array));
}

}  // namespace
}  // namespace lockstep::driver
