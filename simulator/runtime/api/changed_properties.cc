#include "simulator/runtime/api/changed_properties.h"

namespace lockstep::runtime {
namespace {

// The fields that hold a property, each beside its attribute (cudaDeviceGetAttribute, CUDA Runtime
// API).
template <class Visit>
void each_field(cudaDeviceProp& p, Visit visit) {
  visit(cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock);
  visit(cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]);
  visit(cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]);
  visit(cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]);
  visit(cudaDevAttrMaxGridDimX, p.maxGridSize[0]);
  visit(cudaDevAttrMaxGridDimY, p.maxGridSize[1]);
  visit(cudaDevAttrMaxGridDimZ, p.maxGridSize[2]);
  visit(cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock);
  visit(cudaDevAttrTotalConstantMemory, p.totalConstMem);
  visit(cudaDevAttrWarpSize, p.warpSize);
  visit(cudaDevAttrMaxPitch, p.memPitch);
  visit(cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock);
  visit(cudaDevAttrTextureAlignment, p.textureAlignment);
  visit(cudaDevAttrTexturePitchAlignment, p.texturePitchAlignment);
  visit(cudaDevAttrSurfaceAlignment, p.surfaceAlignment);
  visit(cudaDevAttrMultiProcessorCount, p.multiProcessorCount);
  visit(cudaDevAttrCanMapHostMemory, p.canMapHostMemory);
  visit(cudaDevAttrConcurrentKernels, p.concurrentKernels);
  visit(cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth);
  visit(cudaDevAttrL2CacheSize, p.l2CacheSize);
  visit(cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor);
  visit(cudaDevAttrAsyncEngineCount, p.asyncEngineCount);
  visit(cudaDevAttrUnifiedAddressing, p.unifiedAddressing);
  visit(cudaDevAttrComputeCapabilityMajor, p.major);
  visit(cudaDevAttrComputeCapabilityMinor, p.minor);
  visit(cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported);
  visit(cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported);
  visit(cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported);
  visit(cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor);
  visit(cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor);
  visit(cudaDevAttrManagedMemory, p.managedMemory);
  visit(cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess);
  visit(cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported);
  visit(cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem);
  visit(cudaDevAttrCooperativeLaunch, p.cooperativeLaunch);
  visit(cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin);
  visit(cudaDevAttrHostRegisterSupported, p.hostRegisterSupported);
  visit(cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor);
  visit(cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock);
  visit(cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported);
  visit(cudaDevAttrClusterLaunch, p.clusterLaunch);
}

}  // namespace

void change_properties(cudaDeviceProp& prop, const std::map<int, int>& values) {
  if (values.empty()) return;
  each_field(prop, [&values](cudaDeviceAttr which, auto& field) {
    if (const auto changed = values.find(which); changed != values.end())
      field = static_cast<std::remove_reference_t<decltype(field)>>(changed->second);
  });
}

}  // namespace lockstep::runtime
