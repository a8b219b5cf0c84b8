// Stream-ordered memory pools. A pool is a handle with attributes: its memory comes from the device
// like any other and goes back when freed, so there is never anything cached to trim.
#include <cstring>
#include <map>
#include <memory>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/transfers.h"

using lockstep::runtime::api;
using lockstep::runtime::check_unsafe;
using lockstep::runtime::Device;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

namespace {

constexpr const char* kOnlyOnDevices =
    "only pools of a device's own memory, without handles to share, are supported by the "
    "simulated GPU";

struct Pool {
  int device = 0;
  bool is_default = false;
  std::map<cudaMemPoolAttr, std::uint64_t> attributes;
};

// Guarded by the device lock.
std::map<cudaMemPool_t, std::unique_ptr<Pool>>& pools() {
  static auto* const all = new std::map<cudaMemPool_t, std::unique_ptr<Pool>>;
  return *all;
}

cudaMemPool_t make_pool(int device, bool is_default) {
  auto pool = std::make_unique<Pool>();
  pool->device = device;
  pool->is_default = is_default;
  const auto handle = reinterpret_cast<cudaMemPool_t>(pool.get());
  pools().emplace(handle, std::move(pool));
  return handle;
}

Pool* find_pool(cudaMemPool_t handle) {
  const auto it = pools().find(handle);
  return it == pools().end() ? nullptr : it->second.get();
}

cudaMemPool_t default_pool(int device) {
  for (const auto& [handle, pool] : pools()) {
    if (pool->is_default && pool->device == device) return handle;
  }
  return make_pool(device, true);
}

// The reuse policies are ints, on by default; the others are 64-bit numbers, 0 by default.
bool is_flag(cudaMemPoolAttr a) {
  return a == cudaMemPoolReuseFollowEventDependencies || a == cudaMemPoolReuseAllowOpportunistic ||
         a == cudaMemPoolReuseAllowInternalDependencies;
}
bool is_known(cudaMemPoolAttr a) {
  return a >= cudaMemPoolReuseFollowEventDependencies && a <= cudaMemPoolAttrUsedMemHigh;
}

// Refuses the pools of managed memory and of the host.
cudaError_t check_of_device(const char* function, const cudaMemLocation* location,
                            cudaMemAllocationType type) {
  return api(function, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (location == nullptr ||
        (type != cudaMemAllocationTypePinned && type != cudaMemAllocationTypeManaged))
      return cudaErrorInvalidValue;
    if (type == cudaMemAllocationTypePinned && location->type == cudaMemLocationTypeDevice)
      return cudaSuccess;
    r.explain(function, kOnlyOnDevices);
    return cudaErrorNotSupported;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!r.device_exists(device)) return cudaErrorInvalidDevice;
    *pool = default_pool(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!r.device_exists(device)) return cudaErrorInvalidDevice;
    const Device& d = r.devices[static_cast<std::size_t>(device)];
    *pool = d.current_pool != nullptr ? d.current_pool : default_pool(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaDeviceSetMemPool"); error != cudaSuccess)
      return error;
    if (!r.device_exists(device)) return cudaErrorInvalidDevice;
    const Pool* p = find_pool(pool);
    if (p == nullptr || p->device != device) return cudaErrorInvalidValue;
    r.devices[static_cast<std::size_t>(device)].current_pool = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaMemPoolCreate"); error != cudaSuccess)
      return error;
    if (pool == nullptr || props == nullptr || props->location.type == cudaMemLocationTypeInvalid ||
        (props->allocType != cudaMemAllocationTypePinned &&
         props->allocType != cudaMemAllocationTypeManaged))
      return cudaErrorInvalidValue;
    if (props->handleTypes != cudaMemHandleTypeNone ||
        props->allocType == cudaMemAllocationTypeManaged ||
        props->location.type != cudaMemLocationTypeDevice) {
      r.explain("cudaMemPoolCreate", kOnlyOnDevices);
      return cudaErrorNotSupported;
    }
    if (!r.device_exists(props->location.id)) return cudaErrorInvalidValue;
    *pool = make_pool(props->location.id, false);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    const Pool* p = find_pool(pool);
    if (p == nullptr || p->is_default) return cudaErrorInvalidValue;
    for (Device& d : r.devices) {
      if (d.current_pool == pool) d.current_pool = nullptr;
    }
    pools().erase(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t /*keep*/) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaMemPoolTrimTo"); error != cudaSuccess)
      return error;
    return find_pool(pool) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaMemPoolSetAttribute"); error != cudaSuccess)
      return error;
    Pool* p = find_pool(pool);
    if (p == nullptr || value == nullptr || !is_known(which)) return cudaErrorInvalidValue;
    std::uint64_t number = 0;
    std::memcpy(&number, value, is_flag(which) ? sizeof(int) : sizeof number);
    // What is used can be read alone, and its high-water marks can be set to 0.
    const bool is_mark =
        which == cudaMemPoolAttrReservedMemHigh || which == cudaMemPoolAttrUsedMemHigh;
    if (which == cudaMemPoolAttrReservedMemCurrent || which == cudaMemPoolAttrUsedMemCurrent ||
        (is_mark && number != 0))
      return cudaErrorInvalidValue;
    p->attributes[which] = number;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaMemPoolGetAttribute"); error != cudaSuccess)
      return error;
    const Pool* p = find_pool(pool);
    if (p == nullptr || value == nullptr || !is_known(which)) return cudaErrorInvalidValue;
    const auto it = p->attributes.find(which);
    const std::uint64_t number = it != p->attributes.end() ? it->second : is_flag(which) ? 1 : 0;
    std::memcpy(value, &number, is_flag(which) ? sizeof(int) : sizeof number);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  {
    std::lock_guard lock(Runtime::get().lock);
    if (find_pool(pool) == nullptr) return lockstep::runtime::end_call(cudaErrorInvalidValue);
  }
  return cudaMallocAsync(pointer, size, stream);
}

// All memory lies in one window: every device reaches every pool, and says so.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions,
                                 size_t count) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    const Pool* p = find_pool(pool);
    if (p == nullptr || (count != 0 && descriptions == nullptr)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const cudaMemAccessDesc& d = descriptions[i];
      if (d.location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (!r.device_exists(d.location.id)) return cudaErrorInvalidDevice;
      // A pool cannot be taken from its own device.
      if (d.location.id == p->device && d.flags != cudaMemAccessFlagsProtReadWrite)
        return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (flags == nullptr || location == nullptr || find_pool(pool) == nullptr)
      return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (!r.device_exists(location->id)) return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  const cudaError_t error = check_of_device(__func__, location, type);
  return error != cudaSuccess ? error : cudaDeviceGetDefaultMemPool(pool, location->id);
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  const cudaError_t error = check_of_device(__func__, location, type);
  return error != cudaSuccess ? error : cudaDeviceGetMemPool(pool, location->id);
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  const cudaError_t error = check_of_device(__func__, location, type);
  return error != cudaSuccess ? error : cudaDeviceSetMemPool(location->id, pool);
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaMallocFromPoolAsync, _ptsz)
