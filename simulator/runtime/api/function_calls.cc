// What can be asked and set about a kernel: attributes, names, parameters, occupancy.
#include <algorithm>
#include <cstring>
#include <string>

#include "simulator/runtime/state/occupancy.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/launcher.h"

using lockstep::engine::Kernel;
using lockstep::runtime::api;
using lockstep::runtime::blocks_per_multiprocessor;
using lockstep::runtime::Device;
using lockstep::runtime::dynamic_shared_limit;
using lockstep::runtime::KernelEntry;
using lockstep::runtime::Profile;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::unknown_kernel;

namespace {

// Runs `body(runtime, device, entry, kernel)` with the loaded kernel behind a host function or
// handle.
template <class Body>
cudaError_t about(const char* name, const void* function, Body&& body) {
  return api(name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    KernelEntry* entry = r.modules.find_kernel(function);
    if (entry == nullptr) return unknown_kernel(function);
    const Kernel* kernel = nullptr;
    if (const cudaError_t error = r.modules.get(r, *entry, d.ordinal, &kernel);
        error != cudaSuccess)
      return error;
    return body(r, d, *entry, *kernel);
  });
}

cudaError_t set_attribute(Runtime& r, int device, KernelEntry& entry, const Kernel& kernel,
                          cudaFuncAttribute which, int value) {
  KernelEntry::Attributes& attributes = entry.attributes[device];
  switch (which) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<std::uint64_t>(value) + kernel.static_shared_bytes() >
                           r.limits.shared_per_block_optin) {
        r.explain("cudaFuncSetAttribute", kernel.name() + ": " + std::to_string(value) +
                                              " bytes of dynamic and " +
                                              std::to_string(kernel.static_shared_bytes()) +
                                              " of static shared memory; the device has " +
                                              std::to_string(r.limits.shared_per_block_optin));
        return cudaErrorInvalidValue;
      }
      attributes.max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      attributes.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      attributes.non_portable_cluster = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet: return cudaErrorInvalidValue;  // read only
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      if (value < 0) return cudaErrorInvalidValue;
      attributes.required_cluster[which - cudaFuncAttributeRequiredClusterWidth] = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      if (value < cudaClusterSchedulingPolicyDefault ||
          value > cudaClusterSchedulingPolicyLoadBalancing)
        return cudaErrorInvalidValue;
      attributes.cluster_policy = value;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t set_and_note(Runtime& r, int device, const void* function, KernelEntry& entry,
                         const Kernel& kernel, cudaFuncAttribute which, int value) {
  const cudaError_t error = set_attribute(r, device, entry, kernel, which, value);
  if (error == cudaSuccess && r.limits_are_aside)
    r.limits_set.push_back({function, entry.name.c_str(), device, which, value});
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* function) {
  return about(__func__, function,
               [&](Runtime& r, Device& d, KernelEntry& entry, const Kernel& kernel) -> cudaError_t {
                 if (result == nullptr) return cudaErrorInvalidValue;
                 std::memset(result, 0, sizeof *result);
                 const KernelEntry::Attributes& set = entry.attributes[d.ordinal];
                 const auto required = kernel.required_cluster();
                 result->sharedSizeBytes = kernel.static_shared_bytes();
                 result->constSizeBytes = kernel.constant_bytes();
                 result->localSizeBytes = kernel.local_bytes();
                 result->maxThreadsPerBlock =
                     static_cast<int>(std::min(1024u, kernel.max_threads_per_block()));
                 result->numRegs = kernel.registers();
                 result->ptxVersion = kernel.ptx_target();
                 result->binaryVersion = r.settings.profile->compute_capability();
                 result->maxDynamicSharedSizeBytes =
                     static_cast<int>(dynamic_shared_limit(r, entry, kernel, d.ordinal));
                 result->preferredShmemCarveout = set.carveout;
                 result->clusterDimMustBeSet = 0;
                 if (required.count() != 0) {
                   result->requiredClusterWidth = static_cast<int>(required.x);
                   result->requiredClusterHeight = static_cast<int>(required.y);
                   result->requiredClusterDepth = static_cast<int>(required.z);
                 }
                 result->clusterSchedulingPolicyPreference = set.cluster_policy;
                 result->nonPortableClusterSizeAllowed = set.non_portable_cluster;
                 return cudaSuccess;
               });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  if (which < cudaFuncAttributeMaxDynamicSharedMemorySize || which >= cudaFuncAttributeMax)
    return lockstep::runtime::end_call(cudaErrorInvalidValue, __func__);
  const cudaError_t error = about(
      __func__, function, [&](Runtime& r, Device& d, KernelEntry& entry, const Kernel& kernel) {
        return set_and_note(r, d.ordinal, function, entry, kernel, which, value);
      });
  // As an H200 shows: success takes the place of an earlier error.
  if (error == cudaSuccess) lockstep::runtime::thread_state().last_error = cudaSuccess;
  return error;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t function, cudaFuncAttribute which,
                                            int value, int device) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    KernelEntry* entry = r.modules.find_kernel(function);
    if (entry == nullptr) return cudaErrorInvalidDeviceFunction;
    if (device < 0 || device >= static_cast<int>(r.devices.size())) return cudaErrorInvalidDevice;
    const Kernel* kernel = nullptr;
    if (const cudaError_t error = r.modules.get(r, *entry, device, &kernel); error != cudaSuccess)
      return error;
    return set_and_note(r, device, function, *entry, *kernel, which, value);
  });
}

// Hints about caches and banks change nothing that a program can observe.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return about(__func__, function, [&](Runtime&, Device&, KernelEntry&, const Kernel&) {
    return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual
               ? cudaErrorInvalidValue
               : cudaSuccess;
  });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig /*config*/) {
  return about(__func__, function,
               [](Runtime&, Device&, KernelEntry&, const Kernel&) { return cudaSuccess; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    const KernelEntry* entry = r.modules.find_kernel(function);
    if (name == nullptr) return cudaErrorInvalidValue;
    if (entry == nullptr) return unknown_kernel(function);
    *name = entry->name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return about(__func__, function,
               [&](Runtime&, Device&, KernelEntry&, const Kernel& kernel) -> cudaError_t {
                 if (offset == nullptr || index >= kernel.parameter_sizes().size())
                   return cudaErrorInvalidValue;
                 *offset = kernel.parameter_offsets()[index];
                 if (size != nullptr) *size = kernel.parameter_sizes()[index];
                 return cudaSuccess;
               });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared, unsigned flags) {
  if ((flags & ~cudaOccupancyDisableCachingOverride) != 0)
    return lockstep::runtime::end_call(cudaErrorInvalidValue, __func__);
  return about(__func__, function,
               [&](Runtime& r, Device& d, KernelEntry& entry, const Kernel& kernel) -> cudaError_t {
                 if (blocks == nullptr || threads <= 0) return cudaErrorInvalidValue;
                 // A limit below the usual one does not count, as an H200 shows.
                 const std::size_t limit = std::max<std::size_t>(
                     dynamic_shared_limit(r, entry, kernel, d.ordinal),
                     r.limits.shared_per_block - kernel.static_shared_bytes());
                 *blocks = blocks_per_multiprocessor(*r.settings.profile, kernel, threads,
                                                     dynamic_shared, limit);
                 return cudaSuccess;
               });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function, threads, dynamic_shared, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return about(__func__, function,
               [&](Runtime& r, Device& d, KernelEntry& entry, const Kernel& kernel) -> cudaError_t {
                 if (bytes == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
                 const Profile& p = *r.settings.profile;
                 if (blocks_per_multiprocessor(p, kernel, threads, 0, 0) < blocks)
                   return cudaErrorInvalidValue;
                 const std::uint32_t share = p.shared_per_multiprocessor /
                                             static_cast<std::uint32_t>(blocks) /
                                             p.shared_allocation_unit * p.shared_allocation_unit;
                 const std::uint32_t most = std::min(share, p.shared_per_block_optin);
                 *bytes = std::min<std::size_t>(most - std::min(most, kernel.static_shared_bytes()),
                                                dynamic_shared_limit(r, entry, kernel, d.ordinal));
                 return cudaSuccess;
               });
}

static int most_of_a_cluster(Runtime& r, const Device& d, KernelEntry& entry) {
  return entry.attributes[d.ordinal].non_portable_cluster ? r.settings.profile->largest_cluster()
                                                          : Profile::kPortableClusterSize;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return about(__func__, function,
               [&](Runtime& r, Device& d, KernelEntry& entry, const Kernel&) -> cudaError_t {
                 if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
                 if (!r.settings.profile->clusters) return cudaErrorNotSupported;
                 *size = most_of_a_cluster(r, d, entry);
                 return cudaSuccess;
               });
}

namespace {
// As the device says of itself (lockstepSetProperty).
int multiprocessors(const Runtime& r) {
  const auto changed = r.changed_properties.find(cudaDevAttrMultiProcessorCount);
  return changed == r.changed_properties.end() ? r.settings.profile->multiprocessors
                                               : changed->second;
}
}  // namespace

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return about(__func__, function,
               [&](Runtime& r, Device& d, KernelEntry& entry, const Kernel& kernel) -> cudaError_t {
                 if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
                 if (!r.settings.profile->clusters) return cudaErrorNotSupported;
                 int size = 1;
                 for (unsigned i = 0; i < config->numAttrs; ++i) {
                   const auto& c = config->attrs[i].val.clusterDim;
                   if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
                     size = static_cast<int>(c.x * c.y * c.z);
                 }
                 if (size <= 0) return cudaErrorInvalidClusterSize;
                 const int threads =
                     static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z);
                 const int blocks = blocks_per_multiprocessor(
                     *r.settings.profile, kernel, threads, config->dynamicSmemBytes,
                     dynamic_shared_limit(r, entry, kernel, d.ordinal));
                 *clusters =
                     size > most_of_a_cluster(r, d, entry) ? 0 : blocks * multiprocessors(r) / size;
                 return cudaSuccess;
               });
}

}  // extern "C"
