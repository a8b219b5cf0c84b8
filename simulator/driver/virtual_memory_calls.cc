// Virtual memory management: reserved address ranges, physical memory and the mappings between
// them.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>

#include "simulator/driver/call.h"
#include "simulator/driver/virtual_memory.h"
#include "simulator/runtime/work/executor.h"

using namespace lockstep::driver;
using lockstep::memory::Address;

namespace {

VirtualMemory& state() { return virtual_memory(); }

void drop_if_unused(Runtime& r, CUmemGenericAllocationHandle handle) {
  Physical* const p = state().find(handle);
  if (p == nullptr || p->held != 0 || p->mapped) return;
  r.memory->unclaim(p->device(), p->bytes);
  state().physical.erase(handle);
}

// In the order in which an H200's driver (580) judges them.
CUresult check_properties(Runtime& r, const char* function, const CUmemAllocationProp* p) {
  if (p == nullptr || p->location.type == CU_MEM_LOCATION_TYPE_INVALID)
    return CUDA_ERROR_INVALID_VALUE;
  if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      p->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    r.explain(function,
              "only memory of a device, without handles for other processes, is supported by the "
              "simulated GPU");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!r.device_exists(p->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  return p->type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags which) {
  return call("cuMemGetAllocationGranularity", Needs::kDriver, [&] {
    if (bytes == nullptr || properties == nullptr || which < 0 ||
        which > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = kGranularity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr /*wished*/, unsigned long long flags) {
  return locked("cuMemAddressReserve", Needs::kDriver, [&](Runtime& r, Device&) {
    if (address == nullptr || bytes == 0 || bytes % kGranularity != 0 ||
        (alignment & (alignment - 1)) != 0 || flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const Address begin = r.memory->reserve_range(bytes, std::max(alignment, kGranularity));
    if (begin == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    state().reserved[begin] = bytes;
    *address = begin;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return locked("cuMemAddressFree", Needs::kDriver, [&](Runtime& r, Device&) {
    const auto it = state().reserved.find(address);
    if (it == state().reserved.end() || it->second != bytes) return CUDA_ERROR_INVALID_VALUE;
    const auto first = state().mappings.lower_bound(address);
    if (first != state().mappings.end() && first->first < address + bytes) {
      r.explain("cuMemAddressFree", "something is still mapped there");
      return CUDA_ERROR_INVALID_VALUE;
    }
    r.memory->release_range(address);
    state().reserved.erase(it);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return locked("cuMemCreate", Needs::kDriver, [&](Runtime& r, Device&) {
    if (handle == nullptr || bytes == 0 || bytes % kGranularity != 0 || flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_properties(r, "cuMemCreate", properties);
        result != CUDA_SUCCESS)
      return result;
    if (!r.memory->claim(properties->location.id, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto physical = std::make_unique<Physical>();
    physical->bytes = bytes;
    physical->properties = *properties;
    *handle = reinterpret_cast<CUmemGenericAllocationHandle>(physical.get());
    state().physical.emplace(*handle, std::move(physical));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return locked("cuMemRelease", Needs::kDriver, [&](Runtime& r, Device&) {
    if (Multicast* const m = state().find_multicast(handle); m != nullptr && m->held != 0) {
      --m->held;
      drop_multicast(handle);
      return CUDA_SUCCESS;
    }
    Physical* const p = state().find(handle);
    if (p == nullptr || p->held == 0) return CUDA_ERROR_INVALID_VALUE;
    --p->held;
    drop_if_unused(r, handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return locked("cuMemMap", Needs::kDriver, [&](Runtime& r, Device&) {
    Physical* const p = state().find(handle);
    Multicast* const m = state().find_multicast(handle);
    if (p == nullptr && m == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (offset != 0 || bytes != (p != nullptr ? p->bytes : m->properties.size)) {
      r.explain("cuMemMap", "only memory as a whole can be mapped");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (flags != 0 || address % kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto range = state().reserved.upper_bound(address);
    if (range == state().reserved.begin()) return CUDA_ERROR_INVALID_VALUE;
    const auto& [begin, room] = *std::prev(range);
    if (address - begin >= room || bytes > room - (address - begin))
      return CUDA_ERROR_INVALID_VALUE;
    const auto after = state().mappings.lower_bound(address);
    const bool taken = (after != state().mappings.end() && after->first < address + bytes) ||
                       (after != state().mappings.begin() &&
                        std::prev(after)->first + std::prev(after)->second.bytes > address);
    if (taken) return CUDA_ERROR_INVALID_VALUE;
    bool& mapped = p != nullptr ? p->mapped : m->mapped;
    if (mapped) {
      r.explain("cuMemMap",
                "memory that is mapped at two addresses is not supported by the simulated GPU");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    mapped = true;
    state().mappings[address] = {bytes, handle, false};
    return CUDA_SUCCESS;
  });
}

// Makes mapped memory accessible; before this call it cannot be reached. All devices share one
// address range, so access for one device is access for all.
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptions,
                        std::size_t count) {
  return locked("cuMemSetAccess", Needs::kDriver, [&](Runtime& r, Device&) {
    lockstep::runtime::run_all(r);
    if (descriptions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (descriptions[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
      if (!r.device_exists(descriptions[i].location.id)) return CUDA_ERROR_INVALID_VALUE;
      if (descriptions[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        r.explain("cuMemSetAccess",
                  "access other than to read and write is not supported by the simulated GPU");
        return CUDA_ERROR_NOT_SUPPORTED;
      }
    }
    const bool whole = state().for_each(address, bytes, [&](Address at, Mapping& mapping) {
      if (std::exchange(mapping.accessible, true)) return;
      if (state().find_multicast(mapping.handle) != nullptr) return;
      Physical& p = *state().find(mapping.handle);
      r.memory->back(at, mapping.bytes, p.device());
      if (p.contents.empty()) return;
      // All bytes count as written: the written state was not kept while the memory was unmapped.
      std::memcpy(r.memory->host(*r.memory->find(at), at), p.contents.data(), p.contents.size());
      r.memory->mark_written(at, p.contents.size());
      p.contents.clear();
    });
    refresh_multicast(r);
    return whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return locked("cuMemUnmap", Needs::kDriver, [&](Runtime& r, Device&) {
    lockstep::runtime::run_all(r);
    const bool whole = state().for_each(address, bytes, [&](Address at, Mapping& mapping) {
      const CUmemGenericAllocationHandle handle = mapping.handle;
      if (Multicast* const m = state().find_multicast(handle)) {
        m->mapped = false;
        state().mappings.erase(at);
        drop_multicast(handle);
        return;
      }
      Physical& p = *state().find(handle);
      if (mapping.accessible) {
        const std::byte* const begin = r.memory->host(*r.memory->find(at), at);
        if (p.held != 0) p.contents.assign(begin, begin + p.bytes);
        r.memory->unback(at, mapping.bytes);
      }
      p.mapped = false;
      state().mappings.erase(at);
      drop_if_unused(r, handle);
    });
    refresh_multicast(r);
    return whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  return locked("cuMemGetAccess", Needs::kDriver, [&](Runtime& r, Device&) {
    if (flags == nullptr || location == nullptr || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    if (!r.device_exists(location->id)) return CUDA_ERROR_INVALID_DEVICE;
    const auto after = state().mappings.upper_bound(address);
    if (after == state().mappings.begin() ||
        address - std::prev(after)->first >= std::prev(after)->second.bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = std::prev(after)->second.accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                 : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return locked("cuMemGetAllocationPropertiesFromHandle", Needs::kDriver, [&](Runtime&, Device&) {
    const Physical* const p = state().find(handle);
    if (properties == nullptr || p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = p->properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return locked("cuMemRetainAllocationHandle", Needs::kDriver, [&](Runtime&, Device&) {
    const auto at = reinterpret_cast<Address>(address);
    const auto after = state().mappings.upper_bound(at);
    if (handle == nullptr || after == state().mappings.begin() ||
        at - std::prev(after)->first >= std::prev(after)->second.bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = std::prev(after)->second.handle;
    if (Multicast* const m = state().find_multicast(*handle)) {
      ++m->held;
    } else {
      ++state().find(*handle)->held;
    }
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
