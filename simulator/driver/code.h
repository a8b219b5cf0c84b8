// Device code that a program loads through the driver API: modules, which belong to a context, and
// the kernels of their handles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/driver/call.h"
#include "simulator/runtime/state/modules.h"

namespace lockstep::driver {

struct Module {
  runtime::FatBinary* binary = nullptr;
  const Context* context = nullptr;
  CUlibrary library =
      nullptr;        // the library that this module is, loaded in the context (cuLibraryGetModule)
  std::string bytes;  // the contents of the file, if the code was loaded from one
  std::map<std::string, runtime::KernelEntry*>
      kernels;  // by mangled name; those that the program has looked up
};

// The module of a handle; nullptr if the handle is invalid. Call under the device lock.
Module* find_module(CUmodule handle);
// The module that contains a kernel. nullptr if the kernel is a library's or was registered by
// nvcc's constructors.
Module* module_of(const runtime::KernelEntry& kernel);
// The module that represents a library in the current context.
CUmodule module_of_library(CUlibrary library, runtime::FatBinary* binary);
void forget_modules_of_library(CUlibrary library);

// The kernel of a CUfunction or a CUkernel; nullptr if the handle is invalid. A CUkernel is a
// function in whichever context it is launched in.
runtime::KernelEntry* find_kernel(const void* handle);

// The same launch in the runtime's structure.
cudaLaunchConfig_t config_of(const CUlaunchConfig& config);
// Pointers to a kernel's arguments, if the arguments lie in one buffer (`extra`,
// CU_LAUNCH_PARAM_BUFFER_POINTER). Leaves `*result` empty without `extra`.
CUresult arguments_of(Runtime& r, Device& d, const runtime::KernelEntry& entry, void** parameters,
                      void** extra, std::vector<void*>* result);

// The result for a name that is no variable's. The driver of an H200 (580) answers so.
inline CUresult no_variable(bool is_a_kernel) {
  return is_a_kernel ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
}

// Reads a file; false if it cannot be read.
bool read_file(const char* path, std::string* bytes);

}  // namespace lockstep::driver
