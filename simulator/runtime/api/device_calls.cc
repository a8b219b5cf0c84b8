// Devices: choosing, synchronising and resetting them, their limits and settings, peers, versions.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/destruction.h"
#include "simulator/runtime/state/access_policy.h"
#include "simulator/runtime/state/contexts.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/executor.h"

using lockstep::runtime::api;
using lockstep::runtime::Device;
using lockstep::runtime::end_call;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::start_driver;
using lockstep::runtime::thread_state;

namespace {

constexpr int kVersion = 13000;
// A driver compiles PTX of every toolkit up to its version. Programs with a newer toolkit inside
// compile by themselves, to machine code, unless the driver is as new (Warp 1.19: CUDA 13.4).
constexpr int kDriverVersion = 13050;

bool exists(const Runtime& r, int device) {
  return device >= 0 && device < static_cast<int>(r.devices.size());
}

// What a limit is until set; 0 for one that the device does not have.
std::size_t default_limit(cudaLimit limit) {
  switch (limit) {
    case cudaLimitStackSize: return 1024;
    case cudaLimitPrintfFifoSize: return 8650752;
    case cudaLimitMallocHeapSize: return 8 << 20;
    case cudaLimitDevRuntimePendingLaunchCount: return 2048;
    case cudaLimitMaxL2FetchGranularity: return 64;
    default: return 0;
  }
}

// CU_LIMIT_SHMEM_SIZE of the driver API, of contexts that share a device with graphics. It can only
// be queried; the runtime's header has no name for it.
constexpr auto kSharedMemorySize = static_cast<cudaLimit>(7);

cudaError_t unknown_limit(cudaLimit limit) {
  return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
}

cudaError_t answer(int* result, int value, const char* function = __builtin_FUNCTION()) {
  if (result == nullptr) return end_call(cudaErrorInvalidValue, function);
  *result = value;
  return cudaSuccess;
}

// The bus that DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal numbers names, with or without the domain
// or the function. -1: another domain, device or function than ours have. None: no such text.
std::optional<int> bus_named(const char* text) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  int end = 0;
  if (std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) != 4) {
    function = 0;
    if (std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &device, &end) != 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x.%x%n", &bus, &device, &function, &end) != 3) return {};
    }
  }
  if (text[end] != '\0') return {};
  return domain == 0 && device == 0 && function == 0 ? static_cast<int>(bus) : -1;
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) { return answer(version, kVersion); }
cudaError_t cudaDriverGetVersion(int* version) {
  start_driver();
  return answer(version, kDriverVersion);
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<int>(r.devices.size());
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device& d) -> cudaError_t {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = d.ordinal;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (!exists(r, device)) return cudaErrorInvalidDevice;
    thread_state().device = device;
    lockstep::runtime::contexts().use_primary(device);
    // A device that was reset after an error cannot be had again.
    const cudaError_t error = r.current().error;
    return error == cudaErrorDevicesUnavailable ? error : cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) {
    if (!exists(r, device)) return cudaErrorInvalidDevice;
    lockstep::runtime::contexts().primary(device).active = true;  // and no thread's
    return cudaSuccess;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (!exists(r, devices[i])) return cudaErrorInvalidDevice;
    }
    // The first of them is the thread's device. Its context is made by the first call that wants
    // one.
    if (count > 0 && lockstep::runtime::Contexts::current() != nullptr)
      lockstep::runtime::contexts().use_primary(devices[0]);
    if (count > 0) thread_state().device = devices[0];
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device& d) -> cudaError_t {
    const unsigned schedule = flags & cudaDeviceScheduleMask;
    if ((flags & ~cudaDeviceMask) != 0 || (schedule & (schedule - 1)) != 0)
      return cudaErrorInvalidValue;
    constexpr unsigned kNamed = cudaDeviceScheduleMask | cudaDeviceMapHost |
                                cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
    d.flags = (flags & kNamed) | cudaDeviceMapHost;
    lockstep::runtime::contexts().primary(d.ordinal).flags = flags;
    lockstep::runtime::contexts().bind(d.ordinal);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device& d) -> cudaError_t {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = d.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api(__func__, Reach::kDevice, [](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error =
            lockstep::runtime::check_device_wait(r, d, "cudaDeviceSynchronize");
        error != cudaSuccess)
      return error;
    if (lockstep::runtime::is_changed(r, "cudaDeviceSynchronize", "wait-removed"))
      return cudaSuccess;
    lockstep::runtime::wait_for(r, lockstep::runtime::Clock(r.order.all_of(d.ordinal)));
    return d.error;
  });
}

cudaError_t cudaDeviceReset() {
  return api(__func__, Reach::kHost, [](Runtime& r, Device& d) {
    reset_device(r, d);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (limit == cudaLimitPersistingL2CacheSize) {
      const auto it = d.limits.find(limit);
      // At first three tenths of the most, as on an H100.
      const auto most =
          static_cast<std::size_t>(lockstep::runtime::largest_persisting_l2(*r.settings.profile));
      *value = it == d.limits.end() ? most / 10 * 3 : it->second;
      return cudaSuccess;
    }
    if (limit == kSharedMemorySize) {
      *value = r.limits.shared_per_block_optin;
      return cudaSuccess;
    }
    if (default_limit(limit) == 0) return unknown_limit(limit);
    const auto it = d.limits.find(limit);
    *value = it == d.limits.end() ? default_limit(limit) : it->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaDeviceSetLimit"); error != cudaSuccess)
      return error;
    if (limit == kSharedMemorySize) return cudaErrorNotPermitted;
    if (limit != cudaLimitPersistingL2CacheSize && default_limit(limit) == 0)
      return unknown_limit(limit);
    if (limit == cudaLimitPersistingL2CacheSize) {
      const int most = lockstep::runtime::largest_persisting_l2(*r.settings.profile);
      if (most == 0) return cudaErrorUnsupportedLimit;
      if (value > static_cast<std::size_t>(most)) {
        r.explain("cudaDeviceSetLimit", "the device sets at most " + std::to_string(most) +
                                            " bytes of the L2 cache aside");
        return cudaErrorInvalidValue;
      }
    }
    // As an H100 shows.
    if (limit == cudaLimitPersistingL2CacheSize || limit == cudaLimitStackSize)
      lockstep::runtime::wait_for(r, lockstep::runtime::Clock(r.order.all_of(d.ordinal)));
    constexpr std::size_t kLargestFetch = 128;
    if (limit == cudaLimitMaxL2FetchGranularity && value > kLargestFetch)
      return cudaErrorInvalidValue;
    constexpr std::size_t kLargestStack = 512 * 1024, kStackUnit = 16;
    if (limit == cudaLimitStackSize) {
      if (value > kLargestStack) return cudaErrorInvalidValue;
      value = (value + kStackUnit - 1) / kStackUnit * kStackUnit;
    }
    d.limits[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device& d) -> cudaError_t {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = d.cache_config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device& d) {
    d.cache_config = config;
    return cudaSuccess;
  });
}

// Banks are four bytes wide on every device since sm_50.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig /*config*/) {
  return api(__func__, Reach::kDevice, [](Runtime&, Device&) { return cudaSuccess; });
}

// Makes no context, as on an H100.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return api(__func__, Reach::kHost, [](Runtime&, Device& d) -> cudaError_t {
    return lockstep::runtime::Contexts::current() == nullptr ? cudaErrorDeviceUninitialized
                                                             : d.error;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (text == nullptr || length < 13) return cudaErrorInvalidValue;
    if (!exists(r, device)) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    const std::optional<int> bus = bus_named(text);
    if (!bus) return cudaErrorInvalidValue;
    if (!exists(r, *bus - 1)) return cudaErrorInvalidDevice;
    *device = *bus - 1;
    return cudaSuccess;
  });
}

// All memory lies in one window, so every device can reach every other's.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!exists(r, device) || !exists(r, peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (!exists(r, peer)) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (peer == d.ordinal) return cudaErrorPeerAccessUnsupported;
    return d.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (!exists(r, peer)) return cudaErrorInvalidDevice;
    return d.peers.erase(peer) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr which, int from, int to) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (value == nullptr || which < cudaDevP2PAttrPerformanceRank ||
        which > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
      return cudaErrorInvalidValue;
    if (!exists(r, from) || !exists(r, to) || from == to) return cudaErrorInvalidDevice;
    *value = which == cudaDevP2PAttrAccessSupported ||
             which == cudaDevP2PAttrNativeAtomicSupported ||
             which == cudaDevP2PAttrCudaArrayAccessSupported;
    return cudaSuccess;
  });
}

// Nothing is profiled. Starting makes the device's context, as on an H100.
cudaError_t cudaProfilerStart() {
  return api(__func__, Reach::kDevice, [](Runtime&, Device&) { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return api(__func__, Reach::kHost, [](Runtime&, Device&) { return cudaSuccess; });
}

}  // extern "C"
