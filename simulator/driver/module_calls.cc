// Modules: device code in a context.
#include <cstdlib>
#include <cstring>
#include <list>

#include "simulator/driver/code.h"
#include "simulator/runtime/work/executor.h"

using namespace lockstep::driver;
using lockstep::runtime::CodeLimits;
using lockstep::runtime::Contexts;
using lockstep::runtime::FatBinary;
using lockstep::runtime::JitOptions;
using lockstep::runtime::KernelEntry;

namespace lockstep::driver {
namespace {

// Guarded by the device lock.
std::list<Module>& modules() {
  static auto* const all = new std::list<Module>;
  return *all;
}

CUmodule handle_of(Module& module) { return reinterpret_cast<CUmodule>(&module); }

// Loads code into the current context. `bytes`: the contents of the file that contains `code`,
// moved into the module, or nullptr.
CUresult load(Runtime& r, Device& d, const char* function, const void* code, std::string* bytes,
              const CodeLimits& limits, CUmodule* result) {
  cudaError_t error = cudaSuccess;
  std::string why;
  FatBinary* const binary = r.modules.add_code(code, limits, &error, &why);
  if (binary == nullptr) {
    r.explain(function, why);
    return result_of(error);
  }
  error = r.modules.load(r, *binary, d.ordinal);
  if (error != cudaSuccess) {
    lockstep::runtime::remove_code(r, binary);
    return result_of(error);
  }
  Module& module = modules().emplace_back();
  module.binary = binary;
  module.context = Contexts::current();
  if (bytes != nullptr) module.bytes.swap(*bytes);
  *result = handle_of(module);
  return CUDA_SUCCESS;
}

CUresult load_data(const char* function, CUmodule* module, const void* image, unsigned count = 0,
                   const CUjit_option* options = nullptr, void** values = nullptr) {
  JitOptions jit(count, options, values);
  lockstep::runtime::CallResult ended;
  const CUresult result = locked(
      function, Needs::kContext,
      [&](Runtime& r, Device& d) {
        if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const cudaError_t checked = jit.check(r.settings.profile->compute_capability());
        return checked != cudaSuccess ? result_of(checked)
                                      : load(r, d, function, image, nullptr, jit.limits(), module);
      },
      Loads::kCode, &ended);
  jit.finish(static_cast<cudaError_t>(result), ended.reason);
  return result;
}

// Runs `body(runtime, module, loaded code)`.
template <class Body>
CUresult about(const char* function, CUmodule handle, Body&& body, Loads loads = Loads::kNoCode) {
  return locked(
      function, Needs::kHandle,
      [&](Runtime& r, Device&) {
        Module* const module = find_module(handle);
        if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        const int device = module->context->device;
        // A library's code is loaded at its first use.
        if (const cudaError_t error = r.modules.load(r, *module->binary, device);
            error != cudaSuccess)
          return result_of(error);
        return body(r, *module, *module->binary->loaded.at(device).module);
      },
      loads);
}

KernelEntry* kernel_named(Runtime& r, Module& module, const std::string& name) {
  KernelEntry*& entry = module.kernels[name];
  if (entry == nullptr) entry = r.modules.add_kernel(module.binary, nullptr, name.c_str());
  return entry;
}

}  // namespace

Module* find_module(CUmodule handle) {
  for (Module& module : modules()) {
    if (handle_of(module) == handle) return &module;
  }
  return nullptr;
}

Module* module_of(const KernelEntry& kernel) {
  for (Module& module : modules()) {
    if (module.binary == kernel.binary) return &module;
  }
  return nullptr;
}

CUmodule module_of_library(CUlibrary library, FatBinary* binary) {
  const Context* const context = Contexts::current();
  for (Module& module : modules()) {
    if (module.library == library && module.context == context) return handle_of(module);
  }
  Module& module = modules().emplace_back();
  module.binary = binary;
  module.context = context;
  module.library = library;
  return handle_of(module);
}

void forget_modules_of_library(CUlibrary library) {
  modules().remove_if([&](const Module& m) { return m.library == library; });
}

void unload_modules_of(Runtime& r, const Context& context) {
  for (const Module& module : modules()) {
    if (module.context == &context && module.library == nullptr)
      lockstep::runtime::remove_code(r, module.binary);
  }
  modules().remove_if([&](const Module& m) { return m.context == &context; });
}

}  // namespace lockstep::driver

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_data("cuModuleLoadData", module, image);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_data("cuModuleLoadFatBinary", module, image);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return load_data("cuModuleLoadDataEx", module, image, count, options, values);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return locked(
      "cuModuleLoad", Needs::kContext,
      [&](Runtime& r, Device& d) {
        std::string bytes;
        if (module == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (!read_file(path, &bytes)) return CUDA_ERROR_FILE_NOT_FOUND;
        if (bytes.size() < 16) return CUDA_ERROR_INVALID_IMAGE;
        // The pointer stays valid when the strings are swapped: the string is too long for the
        // small-string buffer.
        const char* const code = bytes.data();
        return load(r, d, "cuModuleLoad", code, &bytes, {}, module);
      },
      Loads::kCode);
}

CUresult cuModuleUnload(CUmodule handle) {
  return locked("cuModuleUnload", Needs::kContext, [&](Runtime& r, Device&) {
    Module* const module = find_module(handle);
    if (module == nullptr || module->library != nullptr) return CUDA_ERROR_INVALID_HANDLE;
    lockstep::runtime::remove_code(r, module->binary);
    modules().remove_if([&](const Module& m) { return &m == module; });
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return about(
      "cuModuleGetFunction", handle,
      [&](Runtime& r, Module& module, const auto& loaded) {
        if (function == nullptr || name == nullptr || *name == '\0')
          return CUDA_ERROR_INVALID_VALUE;
        if (loaded.find_kernel(name) == nullptr) return CUDA_ERROR_NOT_FOUND;
        KernelEntry* const entry = kernel_named(r, module, name);
        const lockstep::engine::Kernel* kernel = nullptr;
        if (const cudaError_t error = r.modules.get(r, *entry, module.context->device, &kernel);
            error != cudaSuccess)
          return result_of(error);
        *function = reinterpret_cast<CUfunction>(entry);
        return CUDA_SUCCESS;
      },
      Loads::kKernel);
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return about("cuModuleGetFunctionCount", handle, [&](Runtime&, Module&, const auto& loaded) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(loaded.kernels().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return about(
      "cuModuleEnumerateFunctions", handle, [&](Runtime& r, Module& module, const auto& loaded) {
        if (functions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
        const auto all = loaded.kernels();
        for (unsigned i = 0; i < count && i < all.size(); ++i)
          functions[i] = reinterpret_cast<CUfunction>(kernel_named(r, module, all[i]->name()));
        return CUDA_SUCCESS;
      });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule handle,
                           const char* name) {
  return about("cuModuleGetGlobal", handle, [&](Runtime&, Module&, const auto& loaded) {
    if (name == nullptr || *name == '\0' || (address == nullptr && bytes == nullptr))
      return CUDA_ERROR_INVALID_VALUE;
    const auto* const variable = loaded.find_variable(name);
    if (variable == nullptr) return no_variable(loaded.find_kernel(name) != nullptr);
    if (address != nullptr) *address = variable->base;
    if (bytes != nullptr) *bytes = variable->size;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call("cuModuleGetLoadingMode", Needs::kDriver, [&] {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const char* const asked = std::getenv("CUDA_MODULE_LOADING");
    *mode = asked != nullptr && std::strcmp(asked, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING
                                                                 : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
