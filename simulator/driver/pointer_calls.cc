// Attributes of addresses.
#include <set>

#include "simulator/driver/call.h"

using namespace lockstep::driver;
using lockstep::memory::Allocation;
using lockstep::memory::Kind;
using lockstep::runtime::contexts;

namespace {

bool is_for_host(const Allocation& a) {
  return a.kind == Kind::kManaged || a.kind == Kind::kPinned || a.kind == Kind::kRegistered;
}

template <class T>
CUresult put(void* result, T value) {
  *static_cast<T*>(result) = value;
  return CUDA_SUCCESS;
}

const Allocation* live_at(Runtime& r, CUdeviceptr address) {
  const Allocation* const a = r.memory->find(address);
  return a == nullptr || a->freed ? nullptr : a;
}

// The allocations whose copies the program wants to be synchronous: their numbers, which are never
// used again.
std::set<unsigned long long>& synchronous_copies() {
  static auto* const all = new std::set<unsigned long long>;
  return *all;
}

CUresult answer(const Allocation& a, CUpointer_attribute which, CUdeviceptr address, void* result) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put<CUcontext>(result, handle_of(contexts().owner_of(a.base, a.device)));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(result, a.kind == Kind::kPinned || a.kind == Kind::kRegistered
                                       ? CU_MEMORYTYPE_HOST
                                       : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put<CUdeviceptr>(result, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!is_for_host(a)) return CUDA_ERROR_INVALID_VALUE;
      return put<void*>(result, pointer(address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put<int>(result, synchronous_copies().count(a.id) != 0 ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put<unsigned long long>(result, a.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put<int>(result, a.kind == Kind::kManaged);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put<int>(result, a.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put<int>(result,
                      a.kind == Kind::kDevice && Runtime::get().pool_memory.count(a.base) == 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put<CUdeviceptr>(result, a.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put<std::size_t>(result, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put<int>(result, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put<unsigned long long>(result, 0);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return put<int>(result, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put<unsigned>(result, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put<CUmemoryPool>(result, nullptr);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return put<std::size_t>(result, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return put<void*>(result, pointer(a.base));
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return put<int>(result, 0);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return put<unsigned long long>(result, a.id);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

// The attributes of an address that CUDA did not allocate.
CUresult answer_nothing(CUpointer_attribute which, void* result) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put<int>(result, -2);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return put<unsigned>(result, 0);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return put<int>(result, 0);
    default: return put<unsigned long long>(result, 0);
  }
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* result, CUpointer_attribute which, CUdeviceptr address) {
  return locked("cuPointerGetAttribute", Needs::kDriver, [&](Runtime& r, Device&) {
    const Allocation* const a = live_at(r, address);
    return result == nullptr || a == nullptr ? CUDA_ERROR_INVALID_VALUE
                                             : answer(*a, which, address, result);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** results,
                                CUdeviceptr address) {
  return locked("cuPointerGetAttributes", Needs::kDriver, [&](Runtime& r, Device&) {
    if (count == 0 || which == nullptr || results == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Allocation* const a = live_at(r, address);
    for (unsigned i = 0; i < count; ++i) {
      if (results[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      if (a == nullptr || answer(*a, which[i], address, results[i]) != CUDA_SUCCESS)
        answer_nothing(which[i], results[i]);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr address) {
  return locked("cuPointerSetAttribute", Needs::kDriver, [&](Runtime& r, Device&) {
    const Allocation* const a = live_at(r, address);
    if (value == nullptr || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || a == nullptr)
      return CUDA_ERROR_INVALID_VALUE;
    if (*static_cast<const unsigned*>(value) != 0) {
      synchronous_copies().insert(a->id);
    } else {
      synchronous_copies().erase(a->id);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  return locked("cuMemGetAddressRange", Needs::kContext, [&](Runtime& r, Device&) {
    const Allocation* const a = live_at(r, address);
    if (a == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = a->base;
    if (size != nullptr) *size = a->size;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
