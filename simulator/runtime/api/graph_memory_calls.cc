// What a device keeps for the memory of graphs (state/graph_memory.h).
#include "simulator/runtime/state/runtime.h"

using namespace lockstep::runtime;

namespace {

std::uint64_t* find(GraphMemory::Usage& usage, cudaGraphMemAttributeType attribute) {
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent: return &usage.used;
    case cudaGraphMemAttrUsedMemHigh: return &usage.used_high;
    case cudaGraphMemAttrReservedMemCurrent: return &usage.reserved;
    case cudaGraphMemAttrReservedMemHigh: return &usage.reserved_high;
  }
  return nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (!r.device_exists(device)) return cudaErrorInvalidDevice;
    r.graph_memory.trim(r, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (!r.device_exists(device)) return cudaErrorInvalidDevice;
    const std::uint64_t* const number = find(r.graph_memory.usage(device), attribute);
    if (number == nullptr || value == nullptr) return cudaErrorInvalidValue;
    *static_cast<std::uint64_t*>(value) = *number;
    return cudaSuccess;
  });
}

// A high watermark is reset to zero, and to nothing else: it is then what is so now.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (!r.device_exists(device)) return cudaErrorInvalidDevice;
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (!high || value == nullptr || *static_cast<const std::uint64_t*>(value) != 0)
      return cudaErrorInvalidValue;
    GraphMemory::Usage& usage = r.graph_memory.usage(device);
    (attribute == cudaGraphMemAttrUsedMemHigh ? usage.used_high : usage.reserved_high) =
        attribute == cudaGraphMemAttrUsedMemHigh ? usage.used : usage.reserved;
    return cudaSuccess;
  });
}

}  // extern "C"
