// Starting the driver, its devices and their properties.
#include <cudaProfiler.h>

#include <algorithm>
#include <cstring>

#include "simulator/driver/call.h"

using namespace lockstep::driver;

namespace {

template <class Ask>
CUresult about_device(const char* function, CUdevice device, Ask&& ask) {
  return call(function, Needs::kDriver, [&] {
    return Runtime::get().device_exists(device) ? result_of(ask()) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  return call("cuInit", Needs::kNothing, [&] {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const Runtime& r = Runtime::get();
    if (r.start_error == cudaSuccess) initialise();
    return result_of(r.start_error);
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return about_device("cuDeviceGet", ordinal, [&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return about_device("cuDeviceGetName", device, [&]() -> cudaError_t {
    cudaDeviceProp properties;
    if (name == nullptr || length <= 0) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess) return error;
    std::strncpy(name, properties.name, static_cast<std::size_t>(length));
    name[length - 1] = '\0';
    return cudaSuccess;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return about_device("cuDeviceGetUuid", device, [&]() -> cudaError_t {
    cudaDeviceProp properties;
    if (uuid == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) *uuid = properties.uuid;
    return error;
  });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return about_device("cuDeviceTotalMem", device, [&] {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = Runtime::get().memory_capacity;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return about_device("cuDeviceGetAttribute", device, [&] {
    if (which == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED && value != nullptr) {
      *value = 1;
      return cudaSuccess;
    }
    if (which == CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED && value != nullptr) {
      *value = Runtime::get().settings.profile->compute_capability() >= 90;
      return cudaSuccess;
    }
    // The runtime API has no enumerators for these attributes.
    const bool of_streams = which == CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS ||
                            which == CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR;
    if (of_streams && value != nullptr) {
      *value = 1;
      return cudaSuccess;
    }
    // Both APIs use the same numbers for attributes.
    return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(which), device);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return about_device("cuDeviceComputeCapability", device, [&] {
    if (major == nullptr || minor == nullptr) return cudaErrorInvalidValue;
    cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
  });
}

CUresult cuDeviceGetProperties(CUdevprop* result, CUdevice device) {
  return about_device("cuDeviceGetProperties", device, [&] {
    cudaDeviceProp p;
    if (result == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess) return error;
    *result = {};
    result->maxThreadsPerBlock = p.maxThreadsPerBlock;
    std::copy_n(p.maxThreadsDim, 3, result->maxThreadsDim);
    std::copy_n(p.maxGridSize, 3, result->maxGridSize);
    result->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    result->totalConstantMemory = static_cast<int>(p.totalConstMem);
    result->SIMDWidth = p.warpSize;
    result->memPitch = static_cast<int>(p.memPitch);
    result->regsPerBlock = p.regsPerBlock;
    result->textureAlign = static_cast<int>(p.textureAlignment);
    return cudaDeviceGetAttribute(&result->clockRate, cudaDevAttrClockRate, device);
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return about_device("cuDeviceGetPCIBusId", device,
                      [&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return about_device("cuDeviceCanAccessPeer", device,
                      [&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute which, CUdevice from,
                                 CUdevice to) {
  return about_device("cuDeviceGetP2PAttribute", from, [&] {
    return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(which), from, to);
  });
}

// No device supports restricting a context to a part of it.
CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType /*type*/,
                                        CUdevice device) {
  return about_device("cuDeviceGetExecAffinitySupport", device, [&] {
    if (supported == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return about_device("cuDeviceGetDefaultMemPool", device,
                      [&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return call("cuDeviceGetMemPool", Needs::kDriver, [&] {
    return Runtime::get().device_exists(device) ? cudaDeviceGetMemPool(pool, device)
                                                : cudaErrorInvalidValue;
  });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return about_device("cuDeviceSetMemPool", device,
                      [&] { return cudaDeviceSetMemPool(device, pool); });
}
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return about_device("cuDeviceGraphMemTrim", device,
                      [&] { return cudaDeviceGraphMemTrim(device); });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return about_device("cuDeviceGetGraphMemAttribute", device, [&] {
    return cudaDeviceGetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute),
                                          value);
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return about_device("cuDeviceSetGraphMemAttribute", device, [&] {
    return cudaDeviceSetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute),
                                          value);
  });
}

CUresult cuProfilerStart() {
  return call("cuProfilerStart", Needs::kContext, [] { return cudaSuccess; });
}
CUresult cuProfilerStop() {
  return call("cuProfilerStop", Needs::kContext, [] { return cudaSuccess; });
}

}  // extern "C"
