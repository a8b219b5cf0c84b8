// Device code that a program loads while it runs (cudaLibraryLoadData): PTX as text, or a fat
// binary, in memory or in a file.
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/executor.h"

using namespace lockstep::runtime;

namespace {

// What was loaded, with the bytes that it refers to. Guarded by the device lock.
struct Library {
  FatBinary* binary = nullptr;
  std::string bytes;                            // a file's
  std::map<std::string, KernelEntry*> kernels;  // by mangled name, as asked for
};
std::map<cudaLibrary_t, Library>& libraries() {
  static auto* const all = new std::map<cudaLibrary_t, Library>;
  return *all;
}

Library* find(cudaLibrary_t handle) {
  const auto it = libraries().find(handle);
  return it == libraries().end() ? nullptr : &it->second;
}

template <class Body>
cudaError_t about(const char* function, cudaLibrary_t handle, Body&& body) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Library* library = find(handle);
    return library == nullptr ? cudaErrorInvalidResourceHandle : body(r, d, *library);
  });
}

// Makes a library of code whose first bytes say what it is.
cudaError_t load(Runtime& r, Device& d, const char* function, const void* code, std::string&& bytes,
                 const CodeLimits& limits, cudaLibrary_t* result) {
  Library library;
  cudaError_t unknown = cudaSuccess;
  std::string why;
  library.binary = r.modules.add_code(code, limits, &unknown, &why);
  if (library.binary == nullptr) {
    r.explain(function, why);
    return unknown;
  }
  if (const cudaError_t error = r.modules.load(r, *library.binary, d.ordinal);
      error != cudaSuccess) {
    lockstep::runtime::remove_code(r, library.binary);
    return error;
  }
  library.bytes = std::move(bytes);
  *result = reinterpret_cast<cudaLibrary_t>(library.binary);
  libraries().emplace(*result, std::move(library));
  return cudaSuccess;
}

// Both APIs number them alike.
const CUjit_option* jit_options(const cudaJitOption* options) {
  return static_cast<const CUjit_option*>(static_cast<const void*>(options));
}

// Of a library's own options none changes anything here; one that does not exist is refused.
cudaError_t check(Runtime& r, JitOptions& jit, const cudaLibraryOption* options, unsigned count) {
  if (count != 0 && options == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] < 0 || static_cast<int>(options[i]) >= CU_LIBRARY_NUM_OPTIONS)
      return cudaErrorInvalidValue;
  }
  return jit.check(r.settings.profile->compute_capability());
}

// The handle of a kernel of the library, made when first asked for.
KernelEntry* kernel_named(Runtime& r, Library& library, const std::string& name) {
  KernelEntry*& entry = library.kernels[name];
  if (entry == nullptr) entry = r.modules.add_kernel(library.binary, nullptr, name.c_str());
  return entry;
}

cudaError_t find_variable(const char* function, cudaLibrary_t handle, const char* name,
                          bool managed, void** address, size_t* bytes) {
  return about(function, handle, [&](Runtime& r, Device& d, Library& library) -> cudaError_t {
    if (name == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = r.modules.load(r, *library.binary, d.ordinal);
        error != cudaSuccess)
      return error;
    const auto* a = library.binary->loaded.at(d.ordinal).module->find_variable(name);
    if (a == nullptr || (managed && a->kind != lockstep::memory::Kind::kManaged))
      return cudaErrorSymbolNotFound;
    if (address != nullptr) *address = reinterpret_cast<void*>(a->base);
    if (bytes != nullptr) *bytes = a->size;
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption* library_options,
                                void** /*library_values*/, unsigned library_count) {
  JitOptions jit(count, jit_options(options), values);
  const Reach reach = library == nullptr || code == nullptr ? Reach::kHost : Reach::kDevice;
  CallResult ended;
  const cudaError_t result = api(
      __func__, reach,
      [&](Runtime& r, Device& d) -> cudaError_t {
        if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t error = check(r, jit, library_options, library_count);
            error != cudaSuccess)
          return error;
        return load(r, d, "cudaLibraryLoadData", code, {}, jit.limits(), library);
      },
      &ended);
  jit.finish(result, ended.reason);
  return result;
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption* library_options, void** /*library_values*/,
                                    unsigned library_count) {
  JitOptions jit(count, jit_options(options), values);
  CallResult ended;
  const cudaError_t result = api(
      __func__, Reach::kDevice,
      [&](Runtime& r, Device& d) -> cudaError_t {
        if (library == nullptr || path == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t error = check(r, jit, library_options, library_count);
            error != cudaSuccess)
          return error;
        std::ifstream file(path, std::ios::binary);
        if (!file) return cudaErrorFileNotFound;
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.size() < 16) return cudaErrorInvalidKernelImage;
        const char* read =
            bytes.data();  // stays when the string moves: it is longer than any that lies in place
        return load(r, d, "cudaLibraryLoadFromFile", read, std::move(bytes), jit.limits(), library);
      },
      &ended);
  jit.finish(result, ended.reason);
  return result;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return about(__func__, handle, [&](Runtime& r, Device&, Library& library) {
    lockstep::runtime::remove_code(r, library.binary);
    libraries().erase(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return about(__func__, handle, [&](Runtime& r, Device& d, Library& library) -> cudaError_t {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = r.modules.load(r, *library.binary, d.ordinal);
        error != cudaSuccess)
      return error;
    if (library.binary->loaded.at(d.ordinal).module->find_kernel(name) == nullptr)
      return cudaErrorSymbolNotFound;
    auto* const entry = kernel_named(r, library, name);
    const lockstep::engine::Kernel* loaded = nullptr;
    if (const cudaError_t error = r.modules.get(r, *entry, d.ordinal, &loaded);
        error != cudaSuccess)
      return error;
    *kernel = reinterpret_cast<cudaKernel_t>(entry);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return about(__func__, handle, [&](Runtime& r, Device& d, Library& library) -> cudaError_t {
    if (count == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = r.modules.load(r, *library.binary, d.ordinal);
        error != cudaSuccess)
      return error;
    *count = static_cast<unsigned>(library.binary->loaded.at(d.ordinal).module->kernels().size());
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t handle) {
  return about(__func__, handle, [&](Runtime& r, Device& d, Library& library) -> cudaError_t {
    if (kernels == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = r.modules.load(r, *library.binary, d.ordinal);
        error != cudaSuccess)
      return error;
    const auto all = library.binary->loaded.at(d.ordinal).module->kernels();
    for (unsigned i = 0; i < count && i < all.size(); ++i)
      kernels[i] = reinterpret_cast<cudaKernel_t>(kernel_named(r, library, all[i]->name()));
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return find_variable(__func__, library, name, false, address, bytes);
}
cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return find_variable(__func__, library, name, true, address, bytes);
}

}  // extern "C"
