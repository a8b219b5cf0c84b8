// cudaGetDeviceProperties and cudaDeviceGetAttribute: the profile, in CUDA's words. Of the limits of textures only the alignments are told; the others are 0.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "simulator/runtime/profile.h"
#include "simulator/runtime/runtime.h"

using lockstep::runtime::api;
using lockstep::runtime::Device;
using lockstep::runtime::Profile;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

namespace {

constexpr int kWarpSize = 32, kMaxThreads = 1024;
constexpr int kConstantBytes = 64 * 1024, kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr unsigned kMaxPitch = 2147483647u;
constexpr int kPciBus = 1;  // device 0's bus; each later device is on the next one
constexpr int kCopyEngines = 3;

cudaDeviceProp properties(const Runtime& r, int device) {
  const Profile& p = *r.settings.profile;
  cudaDeviceProp prop;
  std::memset(&prop, 0, sizeof prop);
  std::snprintf(prop.name, sizeof prop.name, "Lockstep simulated GPU (%.*s)", static_cast<int>(p.name.size()), p.name.data());
  // Sixteen characters that say what it is; the last is the device's number.
  std::memcpy(prop.uuid.bytes, "LOCKSTEP-SIM-", 13);
  prop.uuid.bytes[13] = static_cast<char>(p.major);
  prop.uuid.bytes[14] = static_cast<char>(p.minor);
  prop.uuid.bytes[15] = static_cast<char>(device);
  prop.totalGlobalMem = r.memory_capacity;
  prop.sharedMemPerBlock = r.limits.shared_per_block;
  prop.regsPerBlock = static_cast<int>(r.limits.registers_per_block);
  prop.warpSize = kWarpSize;
  prop.memPitch = kMaxPitch;
  prop.maxThreadsPerBlock = kMaxThreads;
  const auto& block = r.limits.max_block;
  const auto& grid = r.limits.max_grid;
  const int dims[] = {static_cast<int>(block.x), static_cast<int>(block.y), static_cast<int>(block.z)};
  const int grids[] = {static_cast<int>(grid.x), static_cast<int>(grid.y), static_cast<int>(grid.z)};
  std::copy_n(dims, 3, prop.maxThreadsDim);
  std::copy_n(grids, 3, prop.maxGridSize);
  prop.totalConstMem = kConstantBytes;
  prop.major = p.major;
  prop.minor = p.minor;
  prop.textureAlignment = kTextureAlignment;
  prop.texturePitchAlignment = kTexturePitchAlignment;
  prop.surfaceAlignment = kTextureAlignment;
  prop.multiProcessorCount = p.multiprocessors;
  prop.canMapHostMemory = 1;
  prop.concurrentKernels = 1;
  prop.pciBusID = kPciBus + device;
  prop.asyncEngineCount = kCopyEngines;
  prop.unifiedAddressing = 1;
  prop.memoryBusWidth = p.bus_bits;
  prop.l2CacheSize = p.l2_bytes;
  prop.maxThreadsPerMultiProcessor = p.threads_per_multiprocessor;
  prop.streamPrioritiesSupported = 1;
  prop.globalL1CacheSupported = 1;
  prop.localL1CacheSupported = 1;
  prop.sharedMemPerMultiprocessor = p.shared_per_multiprocessor;
  prop.regsPerMultiprocessor = Profile::kRegistersPerMultiprocessor;
  prop.managedMemory = 1;
  prop.concurrentManagedAccess = 1;
  prop.computePreemptionSupported = 1;
  prop.canUseHostPointerForRegisteredMem = 1;
  prop.cooperativeLaunch = 1;
  prop.sharedMemPerBlockOptin = p.shared_per_block_optin;
  prop.maxBlocksPerMultiProcessor = p.blocks_per_multiprocessor;
  prop.reservedSharedMemPerBlock = p.shared_reserved_per_block;
  prop.hostRegisterSupported = 1;
  prop.memoryPoolsSupported = 1;
  prop.clusterLaunch = p.clusters;
  return prop;
}

bool attribute(const Runtime& r, const cudaDeviceProp& prop, cudaDeviceAttr which, int* value) {
  const Profile& p = *r.settings.profile;
  switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: *value = prop.maxThreadsPerBlock; return true;
    case cudaDevAttrMaxBlockDimX: *value = prop.maxThreadsDim[0]; return true;
    case cudaDevAttrMaxBlockDimY: *value = prop.maxThreadsDim[1]; return true;
    case cudaDevAttrMaxBlockDimZ: *value = prop.maxThreadsDim[2]; return true;
    case cudaDevAttrMaxGridDimX: *value = prop.maxGridSize[0]; return true;
    case cudaDevAttrMaxGridDimY: *value = prop.maxGridSize[1]; return true;
    case cudaDevAttrMaxGridDimZ: *value = prop.maxGridSize[2]; return true;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(prop.sharedMemPerBlock); return true;
    case cudaDevAttrTotalConstantMemory: *value = static_cast<int>(prop.totalConstMem); return true;
    case cudaDevAttrWarpSize: *value = prop.warpSize; return true;
    case cudaDevAttrMaxPitch: *value = static_cast<int>(prop.memPitch); return true;
    case cudaDevAttrMaxRegistersPerBlock: *value = prop.regsPerBlock; return true;
    case cudaDevAttrClockRate: *value = p.clock_khz; return true;
    case cudaDevAttrTextureAlignment: *value = static_cast<int>(prop.textureAlignment); return true;
    case cudaDevAttrTexturePitchAlignment: *value = static_cast<int>(prop.texturePitchAlignment); return true;
    case cudaDevAttrSurfaceAlignment: *value = static_cast<int>(prop.surfaceAlignment); return true;
    case cudaDevAttrGpuOverlap: *value = 1; return true;
    case cudaDevAttrMultiProcessorCount: *value = prop.multiProcessorCount; return true;
    case cudaDevAttrCanMapHostMemory: *value = prop.canMapHostMemory; return true;
    case cudaDevAttrConcurrentKernels: *value = prop.concurrentKernels; return true;
    case cudaDevAttrPciBusId: *value = prop.pciBusID; return true;
    case cudaDevAttrMemoryClockRate: *value = p.memory_clock_khz; return true;
    case cudaDevAttrGlobalMemoryBusWidth: *value = prop.memoryBusWidth; return true;
    case cudaDevAttrL2CacheSize: *value = prop.l2CacheSize; return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = prop.maxThreadsPerMultiProcessor; return true;
    case cudaDevAttrAsyncEngineCount: *value = prop.asyncEngineCount; return true;
    case cudaDevAttrUnifiedAddressing: *value = prop.unifiedAddressing; return true;
    case cudaDevAttrComputeCapabilityMajor: *value = prop.major; return true;
    case cudaDevAttrComputeCapabilityMinor: *value = prop.minor; return true;
    case cudaDevAttrStreamPrioritiesSupported: *value = prop.streamPrioritiesSupported; return true;
    case cudaDevAttrGlobalL1CacheSupported: *value = prop.globalL1CacheSupported; return true;
    case cudaDevAttrLocalL1CacheSupported: *value = prop.localL1CacheSupported; return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(prop.sharedMemPerMultiprocessor); return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = prop.regsPerMultiprocessor; return true;
    case cudaDevAttrManagedMemory: *value = prop.managedMemory; return true;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = p.single_to_double_ratio; return true;
    case cudaDevAttrConcurrentManagedAccess: *value = prop.concurrentManagedAccess; return true;
    case cudaDevAttrComputePreemptionSupported: *value = prop.computePreemptionSupported; return true;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: *value = prop.canUseHostPointerForRegisteredMem; return true;
    case cudaDevAttrCooperativeLaunch: *value = prop.cooperativeLaunch; return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(prop.sharedMemPerBlockOptin); return true;
    case cudaDevAttrHostRegisterSupported: *value = prop.hostRegisterSupported; return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = prop.maxBlocksPerMultiProcessor; return true;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = static_cast<int>(prop.reservedSharedMemPerBlock); return true;
    case cudaDevAttrMemoryPoolsSupported: *value = prop.memoryPoolsSupported; return true;
    case cudaDevAttrClusterLaunch: *value = prop.clusterLaunch; return true;
    case cudaDevAttrMemSyncDomainCount: *value = 4; return true;
    case cudaDevAttrNumaId: *value = -1; return true;
    default:
      // Everything else is a feature that the simulated GPU does not have, or a texture limit.
      *value = 0;
      return which >= cudaDevAttrMaxThreadsPerBlock && which < cudaDevAttrMax;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (prop == nullptr) return cudaErrorInvalidValue;
    if (device < 0 || device >= static_cast<int>(r.devices.size())) return cudaErrorInvalidDevice;
    *prop = properties(r, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (device < 0 || device >= static_cast<int>(r.devices.size())) return cudaErrorInvalidDevice;
    return attribute(r, properties(r, device), which, value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// The device that has most of what is asked for; they are all alike, so the first.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device&) -> cudaError_t {
    if (device == nullptr || prop == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

}  // extern "C"
