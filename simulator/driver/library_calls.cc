// Libraries: device code that any context can use, and its kernels.
#include "simulator/driver/code.h"

using namespace lockstep::driver;
using lockstep::runtime::KernelEntry;

namespace {

// Both APIs use the same numbers for options.
cudaJitOption* jit(CUjit_option* options) {
  return static_cast<cudaJitOption*>(static_cast<void*>(options));
}
cudaLibraryOption* own(CUlibraryOption* options) {
  return static_cast<cudaLibraryOption*>(static_cast<void*>(options));
}

// A missing name is CUDA_ERROR_NOT_FOUND here, unlike in the runtime's functions for kernels that
// nvcc has registered.
CUresult found(cudaError_t error) {
  return error == cudaErrorSymbolNotFound ? CUDA_ERROR_NOT_FOUND : result_of(error);
}

}  // namespace

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption* library_options,
                           void** library_values, unsigned library_count) {
  return call(
      "cuLibraryLoadData", Needs::kDriver,
      [&] {
        return cudaLibraryLoadData(library, code, jit(options), values, count, own(library_options),
                                   library_values, library_count);
      },
      Loads::kCode);
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption* library_options,
                               void** library_values, unsigned library_count) {
  return call(
      "cuLibraryLoadFromFile", Needs::kDriver,
      [&] {
        return cudaLibraryLoadFromFile(library, path, jit(options), values, count,
                                       own(library_options), library_values, library_count);
      },
      Loads::kCode);
}

CUresult cuLibraryUnload(CUlibrary library) {
  return call("cuLibraryUnload", Needs::kDriver, [&] {
    std::lock_guard lock(Runtime::get().lock);
    const cudaError_t error = cudaLibraryUnload(library);
    if (error == cudaSuccess) forget_modules_of_library(library);
    return error;
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return call(
      "cuLibraryGetKernel", Needs::kDriver,
      [&] { return found(cudaLibraryGetKernel(kernel, library, name)); }, Loads::kKernel);
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return call("cuLibraryGetGlobal", Needs::kContext, [&] {
    if (name != nullptr && *name == '\0') return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error =
        cudaLibraryGetGlobal(reinterpret_cast<void**>(address), bytes, library, name);
    if (error != cudaErrorSymbolNotFound) return result_of(error);
    cudaKernel_t kernel = nullptr;
    return no_variable(cudaLibraryGetKernel(&kernel, library, name) == cudaSuccess);
  });
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                             const char* name) {
  return call("cuLibraryGetManaged", Needs::kContext, [&] {
    if (name != nullptr && *name == '\0') return CUDA_ERROR_INVALID_VALUE;
    return found(cudaLibraryGetManaged(reinterpret_cast<void**>(address), bytes, library, name));
  });
}

// The module that represents the library in the current context. A CUlibrary points to its code
// (api/library_calls.cc).
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return locked("cuLibraryGetModule", Needs::kContext, [&](Runtime& r, Device&) {
    auto* const binary = reinterpret_cast<lockstep::runtime::FatBinary*>(library);
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!r.modules.known(binary)) return CUDA_ERROR_INVALID_HANDLE;
    *module = module_of_library(library, binary);
    return CUDA_SUCCESS;
  });
}

// ---- kernels: the handle is the function's in any context

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return locked("cuKernelGetFunction", Needs::kContext, [&](Runtime&, Device&) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (find_kernel(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return locked("cuKernelGetLibrary", Needs::kDriver, [&](Runtime&, Device&) {
    const KernelEntry* const entry = find_kernel(kernel);
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *library = reinterpret_cast<CUlibrary>(entry->binary);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
