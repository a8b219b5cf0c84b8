// Multicast objects: one address range for memory of several devices. Kernels reach them through
// multimem instructions only.
#include <algorithm>
#include <map>
#include <memory>

#include "simulator/driver/call.h"
#include "simulator/driver/virtual_memory.h"
#include "simulator/runtime/work/executor.h"

namespace lockstep::driver {

VirtualMemory& virtual_memory() {
  static auto* const all = new VirtualMemory;
  return *all;
}

void refresh_multicast(Runtime& r) {
  VirtualMemory& v = virtual_memory();
  std::map<CUmemGenericAllocationHandle, memory::Address> places;
  for (const auto& [address, mapping] : v.mappings) {
    if (mapping.accessible) places[mapping.handle] = address;
  }
  std::map<memory::Address, memory::MulticastRange> ranges;
  for (const auto& [handle, object] : v.multicast) {
    const auto at = places.find(handle);
    if (at == places.end()) continue;
    memory::MulticastRange& range = ranges[at->second];
    range.bytes = object->properties.size;
    range.devices = object->devices;
    for (const Multicast::Binding& b : object->bindings) {
      memory::Address base = b.address;
      if (b.handle != 0) {
        const auto place = places.find(b.handle);
        base = place == places.end() ? 0 : place->second + b.memory_offset;
      }
      range.parts.push_back({b.device, b.offset, b.bytes, base});
    }
  }
  r.memory->multicast.assign(std::move(ranges));
}

void drop_multicast(CUmemGenericAllocationHandle handle) {
  const Multicast* const m = virtual_memory().find_multicast(handle);
  if (m != nullptr && m->held == 0 && !m->mapped) virtual_memory().multicast.erase(handle);
}

namespace {

bool has_multicast(const Runtime& r) { return r.settings.profile->compute_capability() >= 90; }

CUresult check(Runtime& r, const char* function, const CUmulticastObjectProp* p) {
  if (!has_multicast(r)) {
    r.explain(function, "needs a device of compute capability 9.0");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (p == nullptr || p->numDevices == 0 || p->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (p->handleTypes != 0) {
    r.explain(function, "handles for other processes are not supported by the simulated GPU");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

// Binds memory of a device. A place of the object holds at most one binding of each device.
CUresult bind(Runtime& r, CUmemGenericAllocationHandle object, const Multicast::Binding& b) {
  Multicast* const m = virtual_memory().find_multicast(object);
  if (m == nullptr || b.bytes == 0 || b.offset % kGranularity != 0 || b.bytes % kGranularity != 0 ||
      b.memory_offset % kGranularity != 0 || b.offset > m->properties.size ||
      b.bytes > m->properties.size - b.offset)
    return CUDA_ERROR_INVALID_VALUE;
  // Memory can be bound only after all devices were added.
  if (m->devices.size() != m->properties.numDevices ||
      std::find(m->devices.begin(), m->devices.end(), b.device) == m->devices.end())
    return CUDA_ERROR_INVALID_DEVICE;
  for (const Multicast::Binding& other : m->bindings) {
    if (other.device == b.device && other.offset < b.offset + b.bytes &&
        b.offset < other.offset + other.bytes)
      return CUDA_ERROR_INVALID_VALUE;
  }
  runtime::run_all(r);
  m->bindings.push_back(b);
  refresh_multicast(r);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace lockstep::driver

using namespace lockstep::driver;

extern "C" {

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                           const CUmulticastObjectProp* properties) {
  return locked("cuMulticastCreate", Needs::kDriver, [&](Runtime& r, Device&) {
    if (const CUresult result = check(r, "cuMulticastCreate", properties); result != CUDA_SUCCESS)
      return result;
    if (handle == nullptr || properties->size == 0 || properties->size % kGranularity != 0)
      return CUDA_ERROR_INVALID_VALUE;
    auto object = std::make_unique<Multicast>();
    object->properties = *properties;
    *handle = reinterpret_cast<CUmemGenericAllocationHandle>(object.get());
    virtual_memory().multicast.emplace(*handle, std::move(object));
    return CUDA_SUCCESS;
  });
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
  return locked("cuMulticastAddDevice", Needs::kDriver, [&](Runtime& r, Device&) {
    Multicast* const m = virtual_memory().find_multicast(handle);
    if (m == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!r.device_exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (m->devices.size() == m->properties.numDevices ||
        std::find(m->devices.begin(), m->devices.end(), device) != m->devices.end())
      return CUDA_ERROR_INVALID_VALUE;
    m->devices.push_back(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, std::size_t offset,
                            CUmemGenericAllocationHandle memory, std::size_t memory_offset,
                            std::size_t bytes, unsigned long long flags) {
  return locked("cuMulticastBindMem", Needs::kDriver, [&](Runtime& r, Device&) {
    const Physical* const p = virtual_memory().find(memory);
    if (p == nullptr || flags != 0 || memory_offset > p->bytes || bytes > p->bytes - memory_offset)
      return CUDA_ERROR_INVALID_VALUE;
    return bind(r, handle, {p->device(), offset, bytes, memory, 0, memory_offset});
  });
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, std::size_t offset,
                             CUdeviceptr address, std::size_t bytes, unsigned long long flags) {
  return locked("cuMulticastBindAddr", Needs::kDriver, [&](Runtime& r, Device&) {
    const auto* const a = r.memory->find(address);
    if (a == nullptr || flags != 0 || bytes > a->end - address) return CUDA_ERROR_INVALID_VALUE;
    return bind(r, handle, {a->device, offset, bytes, 0, address, 0});
  });
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, std::size_t offset,
                           std::size_t bytes) {
  return locked("cuMulticastUnbind", Needs::kDriver, [&](Runtime& r, Device&) {
    Multicast* const m = virtual_memory().find_multicast(handle);
    if (m == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto there = std::find_if(m->bindings.begin(), m->bindings.end(), [&](const auto& b) {
      return b.device == device && b.offset == offset && b.bytes == bytes;
    });
    if (there == m->bindings.end()) return CUDA_ERROR_INVALID_VALUE;
    lockstep::runtime::run_all(r);
    m->bindings.erase(there);
    refresh_multicast(r);
    return CUDA_SUCCESS;
  });
}

CUresult cuMulticastGetGranularity(std::size_t* bytes, const CUmulticastObjectProp* properties,
                                   CUmulticastGranularity_flags /*which*/) {
  return locked("cuMulticastGetGranularity", Needs::kDriver, [&](Runtime& r, Device&) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = kGranularity;
    return check(r, "cuMulticastGetGranularity", properties);
  });
}

}  // extern "C"
