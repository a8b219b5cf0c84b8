// Allocating and freeing memory, pools, and managed memory.
#include <cstring>

#include "simulator/driver/call.h"

using namespace lockstep::driver;
using lockstep::memory::Address;
using lockstep::runtime::Contexts;

namespace {

// The return address of the API function that contains this expression.
#define CALLER __builtin_return_address(0)

// Runs `make()`, which stores an address at `result`, and notes the allocation's caller.
template <class Make>
CUresult allocate(const char* function, const void* caller, void* result, Make&& make,
                  Needs needs = Needs::kContext) {
  return locked(function, needs, [&](Runtime& r, Device&) {
    if (const CUresult made = result_of(make()); made != CUDA_SUCCESS || result == nullptr)
      return made;
    const Address address = *static_cast<const Address*>(result);
    if (address == 0) return CUDA_SUCCESS;  // no bytes
    if (const auto* a = r.memory->find(address); a != nullptr)
      r.note_allocated(*a, function, caller);
    if (Context* context = Contexts::created_current()) context->memory.insert(address);
    return CUDA_SUCCESS;
  });
}

// An address within an allocation determines the context; any other needs a current one. As on an
// H200.
Needs needs_to_free(CUdeviceptr address) {
  Runtime& r = Runtime::get();
  std::lock_guard lock(r.lock);
  const auto* a = r.memory == nullptr ? nullptr : r.memory->find(address);
  return address == 0 || (a != nullptr && !a->freed) ? Needs::kHandle : Needs::kContext;
}

void** place(CUdeviceptr* address) { return reinterpret_cast<void**>(address); }

// The location of a device's number, or of the host.
cudaMemLocation location_of(CUdevice device) {
  cudaMemLocation location{};
  location.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

}  // namespace

// Earlier forms, from before version 12 of the API.
namespace lockstep::driver {
CUresult advise_1(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return call("cuMemAdvise", Needs::kContext, [&] {
    return cudaMemAdvise(pointer(address), bytes, static_cast<cudaMemoryAdvise>(advice),
                         location_of(device));
  });
}
CUresult prefetch_1(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
  return call("cuMemPrefetchAsync", needs_of(stream), [&] {
    return cudaMemPrefetchAsync(pointer(address), bytes, location_of(device), 0, stream);
  });
}
}  // namespace lockstep::driver

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return allocate("cuMemAlloc", CALLER, address, [&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(place(address), bytes);
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return call("cuMemFree", needs_to_free(address), [&] { return cudaFree(pointer(address)); });
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

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return call("cuIpcGetMemHandle", Needs::kContext, [&] {
    return cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), pointer(address));
  });
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return call("cuIpcOpenMemHandle", Needs::kContext, [&] {
    cudaIpcMemHandle_t same;
    std::memcpy(same.reserved, handle.reserved, sizeof same.reserved);
    return cudaIpcOpenMemHandle(reinterpret_cast<void**>(address), same, flags);
  });
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return call("cuIpcOpenEventHandle", Needs::kContext, [&] {
    cudaIpcEventHandle_t same;
    std::memcpy(same.reserved, handle.reserved, sizeof same.reserved);
    return cudaIpcOpenEventHandle(event, same);
  });
}

CUresult cuMemAllocHost(void** address, std::size_t bytes) {
  return allocate("cuMemAllocHost", CALLER, address,
                  [&] { return cudaMallocHost(address, bytes); });
}
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return allocate("cuMemHostAlloc", CALLER, address, [&] {
    constexpr unsigned kKnown =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    return (flags & ~kKnown) != 0 ? cudaErrorInvalidValue : cudaHostAlloc(address, bytes, flags);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate(
      "cuMemAllocAsync", CALLER, address,
      [&] { return cudaMallocAsync(place(address), bytes, stream); }, needs_of(stream));
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate(
      "cuMemAllocFromPoolAsync", CALLER, address,
      [&] { return cudaMallocFromPoolAsync(place(address), bytes, pool, stream); },
      needs_of(stream));
}

}  // extern "C"
