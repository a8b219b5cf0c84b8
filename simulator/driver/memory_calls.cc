// Allocating and freeing memory, pools, and managed memory.
#include "simulator/driver/call.h"

using namespace lockstep::driver;
using lockstep::memory::Address;
using lockstep::runtime::Contexts;

namespace {

// Where the program called the API function in which this stands.
#define CALLER __builtin_return_address(0)

// Runs `make()`, which puts an address at `result`, and notes who has made it.
template <class Make>
CUresult allocate(const char* function, const void* caller, void* result, Make&& make) {
  return locked(function, Needs::kContext, [&](Runtime& r, Device&) {
    if (const CUresult made = result_of(make()); made != CUDA_SUCCESS || result == nullptr)
      return made;
    const Address address = *static_cast<const Address*>(result);
    if (const auto* a = r.memory->find(address); a != nullptr)
      r.leaks.allocated(*a, function, caller);
    if (Context* context = Contexts::created_current()) context->memory.insert(address);
    return CUDA_SUCCESS;
  });
}

void** place(CUdeviceptr* address) { return reinterpret_cast<void**>(address); }

// A device's number, or the host's, as a place.
cudaMemLocation location_of(CUdevice device) {
  cudaMemLocation location{};
  location.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

cudaMemLocation location_of(const CUmemLocation& location) {
  cudaMemLocation same{};
  same.type = static_cast<cudaMemLocationType>(location.type);
  same.id = location.id;
  return same;
}

}  // namespace

// Variants of one name, before version 12 of the API.
namespace lockstep::driver {
CUresult advise_1(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return call("cuMemAdvise", Needs::kContext, [&] {
    return cudaMemAdvise(pointer(address), bytes, static_cast<cudaMemoryAdvise>(advice),
                         location_of(device));
  });
}
CUresult prefetch_1(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
  return call("cuMemPrefetchAsync", Needs::kContext, [&] {
    return cudaMemPrefetchAsync(pointer(address), bytes, location_of(device), 0, stream);
  });
}
}  // namespace lockstep::driver

extern "C" {

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cuMemGetInfo", Needs::kContext, [&] { return cudaMemGetInfo(free, total); });
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return allocate("cuMemAlloc", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(place(address), bytes);
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element_bytes) {
  return allocate("cuMemAllocPitch", CALLER, address, [&] {
    if (width == 0 || height == 0 ||
        (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
      return cudaErrorInvalidValue;
    return cudaMallocPitch(place(address), pitch, width, height);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return allocate("cuMemAllocManaged", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocManaged(place(address), bytes, flags);
  });
}

CUresult cuMemAllocHost(void** address, std::size_t bytes) {
  return allocate("cuMemAllocHost", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocHost(address, bytes);
  });
}
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return allocate("cuMemHostAlloc", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaHostAlloc(address, bytes, flags);
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return call("cuMemFree", Needs::kContext, [&] { return cudaFree(pointer(address)); });
}
CUresult cuMemFreeHost(void* address) {
  return call("cuMemFreeHost", Needs::kContext, [&] { return cudaFreeHost(address); });
}

CUresult cuMemHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return call("cuMemHostRegister", Needs::kContext,
              [&] { return cudaHostRegister(address, bytes, flags); });
}
CUresult cuMemHostUnregister(void* address) {
  return call("cuMemHostUnregister", Needs::kContext, [&] { return cudaHostUnregister(address); });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
  return call("cuMemHostGetDevicePointer", Needs::kContext,
              [&] { return cudaHostGetDevicePointer(place(address), host, flags); });
}
CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return call("cuMemHostGetFlags", Needs::kContext, [&] { return cudaHostGetFlags(flags, host); });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate("cuMemAllocAsync", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocAsync(place(address), bytes, stream);
  });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate("cuMemAllocFromPoolAsync", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue
                      : cudaMallocFromPoolAsync(place(address), bytes, pool, stream);
  });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return call("cuMemFreeAsync", Needs::kContext,
              [&] { return cudaFreeAsync(pointer(address), stream); });
}

// ---- pools: both APIs have the same structures and numbers

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
  return call("cuMemPoolCreate", Needs::kDriver, [&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return call("cuMemPoolDestroy", Needs::kDriver, [&] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  return call("cuMemPoolTrimTo", Needs::kDriver, [&] { return cudaMemPoolTrimTo(pool, keep); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
  return call("cuMemPoolSetAttribute", Needs::kDriver, [&] {
    return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(which), value);
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
  return call("cuMemPoolGetAttribute", Needs::kDriver, [&] {
    return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(which), value);
  });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* descriptions,
                            std::size_t count) {
  static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
  return call("cuMemPoolSetAccess", Needs::kDriver, [&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(descriptions),
                                count);
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return call("cuMemPoolGetAccess", Needs::kDriver, [&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                                reinterpret_cast<cudaMemLocation*>(location));
  });
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                CUmemAllocationType type) {
  return call("cuMemGetDefaultMemPool", Needs::kDriver, [&] {
    return cudaMemGetDefaultMemPool(pool, reinterpret_cast<cudaMemLocation*>(location),
                                    static_cast<cudaMemAllocationType>(type));
  });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call("cuMemGetMemPool", Needs::kDriver, [&] {
    return cudaMemGetMemPool(pool, reinterpret_cast<cudaMemLocation*>(location),
                             static_cast<cudaMemAllocationType>(type));
  });
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return call("cuMemSetMemPool", Needs::kDriver, [&] {
    return cudaMemSetMemPool(reinterpret_cast<cudaMemLocation*>(location),
                             static_cast<cudaMemAllocationType>(type), pool);
  });
}

// ---- managed memory

CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                     CUmemLocation location) {
  return call("cuMemAdvise", Needs::kContext, [&] {
    return cudaMemAdvise(pointer(address), bytes, static_cast<cudaMemoryAdvise>(advice),
                         location_of(location));
  });
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUmemLocation location,
                            unsigned flags, CUstream stream) {
  return call("cuMemPrefetchAsync", Needs::kContext, [&] {
    return cudaMemPrefetchAsync(pointer(address), bytes, location_of(location), flags, stream);
  });
}

}  // extern "C"
