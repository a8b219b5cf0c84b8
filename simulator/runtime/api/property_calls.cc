// cudaGetDeviceProperties and cudaDeviceGetAttribute: the profile, in CUDA's words. What the
// simulated GPU does not have is 0, so also the limits of mipmaps.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "simulator/runtime/api/changed_properties.h"
#include "simulator/runtime/state/access_policy.h"
#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/profile.h"
#include "simulator/runtime/state/runtime.h"

using lockstep::runtime::api;
using lockstep::runtime::change_properties;
using lockstep::runtime::Device;
using lockstep::runtime::ImageLimits;
using lockstep::runtime::Profile;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

namespace {

constexpr int kWarpSize = 32, kMaxThreads = 1024;
constexpr int kConstantBytes = 64 * 1024, kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr unsigned kMaxPitch = 2147483647u;
constexpr int kPciBus = 1;  // device 0's bus; each later device is on the next one
constexpr int kCopyEngines = 3;

void put_image_limits(cudaDeviceProp& prop) {
  using L = ImageLimits;
  prop.maxTexture1D = L::kTexture1D;
  prop.maxSurface1D = L::kSurface1D;
  std::ranges::copy(L::kTexture2D, prop.maxTexture2D);
  std::ranges::copy(L::kTexture2D, prop.maxSurface2D);
  std::ranges::copy(L::kPitched2D, prop.maxTexture2DLinear);
  std::ranges::copy(L::kGather2D, prop.maxTexture2DGather);
  std::ranges::copy(L::kTexture3D, prop.maxTexture3D);
  std::ranges::copy(L::kTexture3D, prop.maxSurface3D);
  std::ranges::copy(L::kDeep3D, prop.maxTexture3DAlt);
  std::ranges::copy(L::kLayered1D, prop.maxTexture1DLayered);
  std::ranges::copy(L::kLayered1D, prop.maxSurface1DLayered);
  std::ranges::copy(L::kLayered2D, prop.maxTexture2DLayered);
  std::ranges::copy(L::kLayered2D, prop.maxSurface2DLayered);
  prop.maxTextureCubemap = prop.maxSurfaceCubemap = L::kCubemap;
  std::ranges::copy(L::kLayeredCubemap, prop.maxTextureCubemapLayered);
  std::ranges::copy(L::kLayeredCubemap, prop.maxSurfaceCubemapLayered);
}

cudaDeviceProp properties(const Runtime& r, int device) {
  const Profile& p = *r.settings.profile;
  cudaDeviceProp prop;
  std::memset(&prop, 0, sizeof prop);
  std::snprintf(prop.name, sizeof prop.name, "Lockstep simulated GPU (%.*s)",
                static_cast<int>(p.name.size()), p.name.data());
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
  const int dims[] = {static_cast<int>(block.x), static_cast<int>(block.y),
                      static_cast<int>(block.z)};
  const int grids[] = {static_cast<int>(grid.x), static_cast<int>(grid.y),
                       static_cast<int>(grid.z)};
  std::copy_n(dims, 3, prop.maxThreadsDim);
  std::copy_n(grids, 3, prop.maxGridSize);
  prop.totalConstMem = kConstantBytes;
  prop.major = p.major;
  prop.minor = p.minor;
  prop.textureAlignment = kTextureAlignment;
  prop.texturePitchAlignment = kTexturePitchAlignment;
  prop.surfaceAlignment = kTextureAlignment;
  put_image_limits(prop);
  prop.multiProcessorCount = p.multiprocessors;
  prop.canMapHostMemory = 1;
  prop.concurrentKernels = 1;
  prop.pciBusID = kPciBus + device;
  prop.asyncEngineCount = kCopyEngines;
  prop.unifiedAddressing = 1;
  prop.memoryBusWidth = p.bus_bits;
  prop.l2CacheSize = p.l2_bytes;
  prop.ipcEventSupported = 1;
  prop.persistingL2CacheMaxSize = lockstep::runtime::largest_persisting_l2(p);
  prop.accessPolicyMaxWindowSize = lockstep::runtime::largest_access_window(p);
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

bool image_attribute(const cudaDeviceProp& prop, cudaDeviceAttr which, int* value) {
  switch (which) {
    case cudaDevAttrMaxTexture1DWidth: *value = prop.maxTexture1D; return true;
    case cudaDevAttrMaxTexture1DLinearWidth: *value = ImageLimits::kLinear1D; return true;
    case cudaDevAttrMaxTexture2DWidth: *value = prop.maxTexture2D[0]; return true;
    case cudaDevAttrMaxTexture2DHeight: *value = prop.maxTexture2D[1]; return true;
    case cudaDevAttrMaxTexture2DLinearWidth: *value = prop.maxTexture2DLinear[0]; return true;
    case cudaDevAttrMaxTexture2DLinearHeight: *value = prop.maxTexture2DLinear[1]; return true;
    case cudaDevAttrMaxTexture2DLinearPitch: *value = prop.maxTexture2DLinear[2]; return true;
    case cudaDevAttrMaxTexture2DGatherWidth: *value = prop.maxTexture2DGather[0]; return true;
    case cudaDevAttrMaxTexture2DGatherHeight: *value = prop.maxTexture2DGather[1]; return true;
    case cudaDevAttrMaxTexture3DWidth: *value = prop.maxTexture3D[0]; return true;
    case cudaDevAttrMaxTexture3DHeight: *value = prop.maxTexture3D[1]; return true;
    case cudaDevAttrMaxTexture3DDepth: *value = prop.maxTexture3D[2]; return true;
    case cudaDevAttrMaxTexture3DWidthAlt: *value = prop.maxTexture3DAlt[0]; return true;
    case cudaDevAttrMaxTexture3DHeightAlt: *value = prop.maxTexture3DAlt[1]; return true;
    case cudaDevAttrMaxTexture3DDepthAlt: *value = prop.maxTexture3DAlt[2]; return true;
    case cudaDevAttrMaxTexture1DLayeredWidth: *value = prop.maxTexture1DLayered[0]; return true;
    case cudaDevAttrMaxTexture1DLayeredLayers: *value = prop.maxTexture1DLayered[1]; return true;
    case cudaDevAttrMaxTexture2DLayeredWidth: *value = prop.maxTexture2DLayered[0]; return true;
    case cudaDevAttrMaxTexture2DLayeredHeight: *value = prop.maxTexture2DLayered[1]; return true;
    case cudaDevAttrMaxTexture2DLayeredLayers: *value = prop.maxTexture2DLayered[2]; return true;
    case cudaDevAttrMaxTextureCubemapWidth: *value = prop.maxTextureCubemap; return true;
    case cudaDevAttrMaxTextureCubemapLayeredWidth:
      *value = prop.maxTextureCubemapLayered[0];
      return true;
    case cudaDevAttrMaxTextureCubemapLayeredLayers:
      *value = prop.maxTextureCubemapLayered[1];
      return true;
    case cudaDevAttrMaxSurfaceCubemapWidth: *value = prop.maxSurfaceCubemap; return true;
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
      *value = prop.maxSurfaceCubemapLayered[0];
      return true;
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers:
      *value = prop.maxSurfaceCubemapLayered[1];
      return true;
    case cudaDevAttrMaxSurface1DWidth: *value = prop.maxSurface1D; return true;
    case cudaDevAttrMaxSurface2DWidth: *value = prop.maxSurface2D[0]; return true;
    case cudaDevAttrMaxSurface2DHeight: *value = prop.maxSurface2D[1]; return true;
    case cudaDevAttrMaxSurface3DWidth: *value = prop.maxSurface3D[0]; return true;
    case cudaDevAttrMaxSurface3DHeight: *value = prop.maxSurface3D[1]; return true;
    case cudaDevAttrMaxSurface3DDepth: *value = prop.maxSurface3D[2]; return true;
    case cudaDevAttrMaxSurface1DLayeredWidth: *value = prop.maxSurface1DLayered[0]; return true;
    case cudaDevAttrMaxSurface1DLayeredLayers: *value = prop.maxSurface1DLayered[1]; return true;
    case cudaDevAttrMaxSurface2DLayeredWidth: *value = prop.maxSurface2DLayered[0]; return true;
    case cudaDevAttrMaxSurface2DLayeredHeight: *value = prop.maxSurface2DLayered[1]; return true;
    case cudaDevAttrMaxSurface2DLayeredLayers: *value = prop.maxSurface2DLayered[2]; return true;
    default: return false;
  }
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
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(prop.sharedMemPerBlock);
      return true;
    case cudaDevAttrTotalConstantMemory: *value = static_cast<int>(prop.totalConstMem); return true;
    case cudaDevAttrWarpSize: *value = prop.warpSize; return true;
    case cudaDevAttrMaxPitch: *value = static_cast<int>(prop.memPitch); return true;
    case cudaDevAttrMaxRegistersPerBlock: *value = prop.regsPerBlock; return true;
    case cudaDevAttrClockRate: *value = p.clock_khz; return true;
    case cudaDevAttrTextureAlignment: *value = static_cast<int>(prop.textureAlignment); return true;
    case cudaDevAttrTexturePitchAlignment:
      *value = static_cast<int>(prop.texturePitchAlignment);
      return true;
    case cudaDevAttrSurfaceAlignment: *value = static_cast<int>(prop.surfaceAlignment); return true;
    case cudaDevAttrGpuOverlap: *value = 1; return true;
    case cudaDevAttrMultiProcessorCount: *value = prop.multiProcessorCount; return true;
    case cudaDevAttrCanMapHostMemory: *value = prop.canMapHostMemory; return true;
    case cudaDevAttrConcurrentKernels: *value = prop.concurrentKernels; return true;
    case cudaDevAttrPciBusId: *value = prop.pciBusID; return true;
    case cudaDevAttrMemoryClockRate: *value = p.memory_clock_khz; return true;
    case cudaDevAttrGlobalMemoryBusWidth: *value = prop.memoryBusWidth; return true;
    case cudaDevAttrIpcEventSupport: *value = prop.ipcEventSupported; return true;
    case cudaDevAttrL2CacheSize: *value = prop.l2CacheSize; return true;
    case cudaDevAttrMaxPersistingL2CacheSize: *value = prop.persistingL2CacheMaxSize; return true;
    case cudaDevAttrMaxAccessPolicyWindowSize: *value = prop.accessPolicyMaxWindowSize; return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = prop.maxThreadsPerMultiProcessor;
      return true;
    case cudaDevAttrAsyncEngineCount: *value = prop.asyncEngineCount; return true;
    case cudaDevAttrUnifiedAddressing: *value = prop.unifiedAddressing; return true;
    case cudaDevAttrComputeCapabilityMajor: *value = prop.major; return true;
    case cudaDevAttrComputeCapabilityMinor: *value = prop.minor; return true;
    case cudaDevAttrStreamPrioritiesSupported: *value = prop.streamPrioritiesSupported; return true;
    case cudaDevAttrGlobalL1CacheSupported: *value = prop.globalL1CacheSupported; return true;
    case cudaDevAttrLocalL1CacheSupported: *value = prop.localL1CacheSupported; return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(prop.sharedMemPerMultiprocessor);
      return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = prop.regsPerMultiprocessor; return true;
    case cudaDevAttrManagedMemory: *value = prop.managedMemory; return true;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      *value = p.single_to_double_ratio;
      return true;
    case cudaDevAttrConcurrentManagedAccess: *value = prop.concurrentManagedAccess; return true;
    case cudaDevAttrComputePreemptionSupported:
      *value = prop.computePreemptionSupported;
      return true;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      *value = prop.canUseHostPointerForRegisteredMem;
      return true;
    case cudaDevAttrCooperativeLaunch: *value = prop.cooperativeLaunch; return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(prop.sharedMemPerBlockOptin);
      return true;
    case cudaDevAttrHostRegisterSupported: *value = prop.hostRegisterSupported; return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = prop.maxBlocksPerMultiProcessor;
      return true;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(prop.reservedSharedMemPerBlock);
      return true;
    case cudaDevAttrMemoryPoolsSupported: *value = prop.memoryPoolsSupported; return true;
    case cudaDevAttrClusterLaunch: *value = prop.clusterLaunch; return true;
    case cudaDevAttrMemSyncDomainCount: *value = 4; return true;
    case cudaDevAttrNumaId: *value = -1; return true;
    default:
      if (image_attribute(prop, which, value)) return true;
      // Everything else is a feature that the simulated GPU does not have.
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
    change_properties(*prop, r.changed_properties);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (device < 0 || device >= static_cast<int>(r.devices.size())) return cudaErrorInvalidDevice;
    if (!attribute(r, properties(r, device), which, value)) return cudaErrorInvalidValue;
    if (const auto changed = r.changed_properties.find(which);
        changed != r.changed_properties.end())
      *value = changed->second;
    return cudaSuccess;
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
