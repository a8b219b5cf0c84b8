// Contexts: each device's primary context, contexts that a program creates, and each thread's stack
// of contexts.
#include "simulator/driver/call.h"
#include "simulator/runtime/graph/destruction.h"
#include "simulator/runtime/work/executor.h"

using namespace lockstep::driver;
using lockstep::runtime::contexts;
using lockstep::runtime::Contexts;

namespace {

// Whether an H200's driver (580) accepts these flags of a context: at most one way to wait.
bool are_flags(unsigned flags) {
  const unsigned way = flags & CU_CTX_SCHED_MASK;
  return (flags & ~CU_CTX_FLAGS_MASK) == 0 && (way & (way - 1)) == 0;
}

// Runs `body(runtime, primary context)`.
template <class Body>
CUresult about_primary(const char* function, CUdevice device, Body&& body) {
  return locked(function, Needs::kDriver, [&](Runtime& r, Device&) {
    if (!r.device_exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    return body(r, contexts().primary(device));
  });
}

// The context of a handle; nullptr stands for the current context.
Context* named(CUcontext handle) {
  return handle == nullptr ? Contexts::current() : find_context(handle);
}

CUresult create(const char* function, CUcontext* result, unsigned flags, CUdevice device) {
  return locked(function, Needs::kDriver, [&](Runtime& r, Device&) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!r.device_exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (!are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = r.devices[static_cast<std::size_t>(device)].error;
        error != cudaSuccess)
      return result_of(error);
    Context* const context = contexts().create(device, flags);
    Contexts::push(context);
    *result = handle_of(context);
    return CUDA_SUCCESS;
  });
}

CUresult refuse_affinity(const char* function) {
  return call(function, Needs::kDriver, [&] {
    Runtime::get().explain(function,
                           "contexts on a part of a device are not supported by the simulated GPU");
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  });
}

}  // namespace

// Earlier forms of functions that later versions of the API changed.
namespace lockstep::driver {
CUresult create_context_2(CUcontext* context, unsigned flags, CUdevice device) {
  return create("cuCtxCreate", context, flags, device);
}
CUresult create_context_3(CUcontext* context, CUexecAffinityParam* affinity, int count,
                          unsigned flags, CUdevice device) {
  if (affinity != nullptr || count != 0) return refuse_affinity("cuCtxCreate");
  return create("cuCtxCreate", context, flags, device);
}
}  // namespace lockstep::driver

extern "C" {

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                     CUdevice device) {
  if (parameters != nullptr &&
      (parameters->execAffinityParams != nullptr || parameters->cigParams != nullptr))
    return refuse_affinity("cuCtxCreate");
  return create("cuCtxCreate", context, flags, device);
}

CUresult cuCtxDestroy(CUcontext handle) {
  return locked("cuCtxDestroy", Needs::kDriver, [&](Runtime& r, Device&) {
    Context* const context = find_context(handle);
    if (context == nullptr || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    unload_modules_of(r, *context);
    lockstep::runtime::destroy_context(r, *context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent(CUcontext handle) {
  return locked("cuCtxPushCurrent", Needs::kDriver, [&](Runtime&, Device&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* const context = find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    Contexts::push(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent(CUcontext* handle) {
  return locked("cuCtxPopCurrent", Needs::kDriver, [&](Runtime&, Device&) {
    const Context* const context = Contexts::pop();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = handle_of(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  return locked("cuCtxSetCurrent", Needs::kDriver, [&](Runtime&, Device&) {
    Context* const context = handle == nullptr ? nullptr : find_context(handle);
    if (context == nullptr && handle != nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    Contexts::set_current(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return locked("cuCtxGetCurrent", Needs::kDriver, [&](Runtime&, Device&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of(Contexts::current());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return locked("cuCtxGetDevice", Needs::kDriver, [&](Runtime&, Device&) {
    const Context* const context = Contexts::current();
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return locked("cuCtxGetDevice", Needs::kDriver, [&](Runtime&, Device&) {
    const Context* const context = named(handle);
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return locked("cuCtxGetFlags", Needs::kContext, [&](Runtime&, Device&) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // A primary context always maps pinned memory; cuDevicePrimaryCtxGetState leaves that out. No
    // context names core dumps. The driver of an H200 (580) answers so.
    const Context& context = *Contexts::current();
    *flags = (context.set_flags.value_or(context.flags) & ~CU_CTX_COREDUMP_ENABLE) |
             (context.primary ? CU_CTX_MAP_HOST : 0);
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return locked("cuCtxSetFlags", Needs::kContext, [&](Runtime&, Device&) {
    if (!are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    Contexts::current()->set_flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return locked("cuCtxGetId", Needs::kDriver, [&](Runtime&, Device&) {
    const Context* const context = named(handle);
    if (context == nullptr)
      return handle == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
  });
}

// Returns the same version for every context, like the driver of CUDA 13.
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return locked("cuCtxGetApiVersion", Needs::kDriver, [&](Runtime&, Device&) {
    if (named(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return call("cuCtxSynchronize", Needs::kContext, [] { return cudaDeviceSynchronize(); });
}
CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return locked("cuCtxSynchronize", Needs::kDriver, [&](Runtime& r, Device&) {
    const Context* const context = named(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const Device& device = r.devices[static_cast<std::size_t>(context->device)];
    lockstep::runtime::wait_for(r, lockstep::runtime::Clock(r.order.all_of(device.ordinal)));
    return result_of(device.error);
  });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return call("cuCtxGetLimit", Needs::kContext, [&] {
    // No context shares the simulated GPU with graphics.
    if (limit == CU_LIMIT_CIG_ENABLED && value != nullptr) {
      *value = 0;
      return cudaSuccess;
    }
    return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit));
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return call("cuCtxSetCacheConfig", Needs::kContext, [&] {
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL
               ? cudaErrorInvalidValue
               : cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config));
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return call("cuCtxGetSharedMemConfig", Needs::kContext, [&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig /*config*/) {
  return call("cuCtxSetSharedMemConfig", Needs::kContext, [] { return CUDA_SUCCESS; });
}
CUresult cuCtxResetPersistingL2Cache() {
  return call("cuCtxResetPersistingL2Cache", Needs::kContext,
              [] { return cudaCtxResetPersistingL2Cache(); });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return call("cuCtxEnablePeerAccess", Needs::kContext, [&] {
    const Context* const context = find_context(peer);
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                              : result_of(cudaDeviceEnablePeerAccess(context->device, flags));
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return call("cuCtxDisablePeerAccess", Needs::kContext, [&] {
    const Context* const context = find_context(peer);
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                              : result_of(cudaDeviceDisablePeerAccess(context->device));
  });
}

// ---- primary contexts

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  return about_primary("cuDevicePrimaryCtxRetain", device, [&](Runtime& r, Context& context) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = r.devices[static_cast<std::size_t>(device)].error;
        error == cudaErrorDevicesUnavailable)
      return result_of(error);
    ++context.retained;
    context.active = true;
    *handle = handle_of(&context);
    return CUDA_SUCCESS;
  });
}

// The context keeps its contents after its last release. Only a reset of the device destroys
// them.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return about_primary("cuDevicePrimaryCtxRelease", device, [&](Runtime&, Context& context) {
    if (context.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--context.retained == 0) context.active = false;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return about_primary("cuDevicePrimaryCtxReset", device, [&](Runtime& r, Context& context) {
    unload_modules_of(r, context);
    lockstep::runtime::reset_device(r, r.devices[static_cast<std::size_t>(device)]);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return about_primary("cuDevicePrimaryCtxGetState", device, [&](Runtime&, const Context& context) {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags;
    *active = context.active ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return about_primary("cuDevicePrimaryCtxSetFlags", device, [&](Runtime&, Context& context) {
    if (!are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
