// Attributes of functions and kernels; occupancy.
#include <algorithm>

#include "simulator/driver/code.h"

using namespace lockstep::driver;
using lockstep::runtime::KernelEntry;

namespace {

CUresult attribute(int* value, CUfunction_attribute which, const void* function) {
  cudaFuncAttributes a;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (find_kernel(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const cudaError_t error = cudaFuncGetAttributes(&a, function); error != cudaSuccess)
    return result_of(error);
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = a.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(a.sharedSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(a.constSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(a.localSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = a.numRegs; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = a.ptxVersion; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = a.binaryVersion; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = a.cacheModeCA; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = a.maxDynamicSharedSizeBytes;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = a.preferredShmemCarveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = a.clusterDimMustBeSet;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      *value = a.requiredClusterWidth;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      *value = a.requiredClusterHeight;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = a.requiredClusterDepth;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = a.nonPortableClusterSizeAllowed;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = a.clusterSchedulingPolicyPreference;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

// Runs `ask()`, which calls the runtime API about the function behind a handle. `unknown` is the
// result for a handle that is none.
template <class Ask>
CUresult about(const char* name, const void* function, Ask&& ask,
               CUresult unknown = CUDA_ERROR_INVALID_HANDLE, Needs needs = Needs::kHandle) {
  return call(name, needs,
              [&] { return find_kernel(function) == nullptr ? unknown : result_of(ask()); });
}

// The same for the occupancy, which is a device's.
template <class Ask>
CUresult about_occupancy(const char* name, const void* function, Ask&& ask) {
  return about(name, function, std::forward<Ask>(ask), CUDA_ERROR_INVALID_HANDLE, Needs::kContext);
}

CUresult set_cache_config(CUfunc_cache config) {
  return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

// Runs `ask()` with `device` as the current device, so that it concerns the kernel as loaded there.
template <class Ask>
CUresult on_device(const char* name, const void* function, CUdevice device, Ask&& ask) {
  return locked(name, Needs::kDriver, [&](Runtime& r, Device&) {
    if (!r.device_exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (find_kernel(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const OnDevice there(device);
    return result_of(ask());
  });
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  return about("cuFuncGetAttribute", function, [&] { return attribute(value, which, function); });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                              CUdevice device) {
  return on_device("cuKernelGetAttribute", kernel, device,
                   [&] { return attribute(value, which, kernel); });
}

// Both APIs use the same numbers for the attributes that can be set.
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  return about("cuFuncSetAttribute", function, [&] {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(function),
                                static_cast<cudaFuncAttribute>(which), value);
  });
}
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                              CUdevice device) {
  return on_device("cuKernelSetAttribute", kernel, device, [&] {
    return cudaKernelSetAttributeForDevice(kernel, static_cast<cudaFuncAttribute>(which), value,
                                           device);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return about("cuFuncSetCacheConfig", function, [&] { return set_cache_config(config); });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return on_device("cuKernelSetCacheConfig", kernel, device,
                   [&] { return set_cache_config(config); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig /*config*/) {
  return about("cuFuncSetSharedMemConfig", function, [] { return cudaSuccess; });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return locked("cuFuncGetModule", Needs::kHandle, [&](Runtime&, Device&) {
    const KernelEntry* const entry = find_kernel(function);
    if (module == nullptr || entry == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Module* const own = module_of(*entry);
    *module = own != nullptr && own->library == nullptr
                  ? reinterpret_cast<CUmodule>(const_cast<Module*>(own))
                  : module_of_library(reinterpret_cast<CUlibrary>(entry->binary), entry->binary);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return about(
      "cuFuncGetName", function, [&] { return cudaFuncGetName(name, function); },
      CUDA_ERROR_INVALID_VALUE);
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return about("cuKernelGetName", kernel, [&] { return cudaFuncGetName(name, kernel); });
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  return about(
      "cuFuncGetParamInfo", function,
      [&] { return cudaFuncGetParamInfo(function, index, offset, size); },
      CUDA_ERROR_INVALID_VALUE);
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
  return about("cuKernelGetParamInfo", kernel,
               [&] { return cudaFuncGetParamInfo(kernel, index, offset, size); });
}

// Always loaded: code is loaded whole.
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return about("cuFuncIsLoaded", function, [&] {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return about("cuFuncLoad", function, [] { return CUDA_SUCCESS; });
}

// ---- occupancy

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t dynamic_shared) {
  return about_occupancy("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads,
                                                              std::size_t dynamic_shared,
                                                              unsigned flags) {
  return about_occupancy("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", function, [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                  dynamic_shared, flags);
  });
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int threads) {
  return about_occupancy("cuOccupancyAvailableDynamicSMemPerBlock", function, [&] {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

// Finds the block size, a multiple of a warp, that keeps the most threads resident on a
// multiprocessor, and the number of blocks that fills the device. The same search as the runtime's
// in cuda_runtime.h.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* least_grid, int* best_block,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_of_block,
                                                   std::size_t dynamic_shared, int block_limit,
                                                   unsigned flags) {
  return about_occupancy("cuOccupancyMaxPotentialBlockSizeWithFlags", function, [&] {
    if (least_grid == nullptr || best_block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaFuncAttributes a;
    if (const cudaError_t error = cudaFuncGetAttributes(&a, function); error != cudaSuccess)
      return result_of(error);
    const int device = thread_state().device;
    int warp = 0, processors = 0, device_limit = 0;
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxThreadsPerBlock, device);
    int limit = std::min(device_limit, a.maxThreadsPerBlock);
    if (block_limit != 0) limit = std::min(limit, block_limit);
    int best_threads = 0;
    for (int aligned = (limit + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
      const int block = std::min(aligned, limit);
      int blocks = 0;
      const std::size_t shared =
          shared_of_block != nullptr ? shared_of_block(block) : dynamic_shared;
      const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
          &blocks, function, block, shared, flags);
      if (error != cudaSuccess) return result_of(error);
      if (block * blocks <= best_threads) continue;
      best_threads = block * blocks;
      *best_block = block;
      *least_grid = blocks * processors;
    }
    // No block of any size fits.
    if (best_threads == 0) *best_block = *least_grid = 0;
    return CUDA_SUCCESS;
  });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* least_grid, int* best_block, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block,
                                          std::size_t dynamic_shared, int block_limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(least_grid, best_block, function,
                                                   shared_of_block, dynamic_shared, block_limit,
                                                   CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  return about_occupancy("cuOccupancyMaxPotentialClusterSize", function, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = config_of(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &same);
  });
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return about_occupancy("cuOccupancyMaxActiveClusters", function, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = config_of(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &same);
  });
}

}  // extern "C"
