// Device code that a program loads through the driver API: modules, which belong to a context, and
// lookups of kernel handles.
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
      nullptr;        // set if it is the module of that library in the context (cuLibraryGetModule)
  std::string bytes;  // the contents of a file, if loaded from one
  std::map<std::string, runtime::KernelEntry*> kernels;  // requested kernels, by mangled name
};

// Returns nullptr for an invalid handle. Call under the device lock.
Module* find_module(CUmodule handle);
// The module of a kernel; nullptr if a library contains it, or nvcc's constructors registered it.
Module* module_of(const runtime::KernelEntry& kernel);
// The module of a library in the current context.
CUmodule module_of_library(CUlibrary library, runtime::FatBinary* binary);
void forget_modules_of_library(CUlibrary library);

// The kernel of a function or kernel handle; nullptr if the handle is invalid. A kernel is a
// function in whichever context it is launched in.
runtime::KernelEntry* find_kernel(const void* handle);

// The runtime's configuration for the same launch.
cudaLaunchConfig_t config_of(const CUlaunchConfig& config);
// Pointers to a kernel's arguments that are packed in one buffer (`extra`,
// CU_LAUNCH_PARAM_BUFFER_POINTER). Empty if there is no `extra`.
CUresult arguments_of(Runtime& r, Device& d, const runtime::KernelEntry& entry, void** parameters,
                      void** extra, std::vector<void*>* result);

// Reads a file. Returns false if it cannot be read.
bool read_file(const char* path, std::string* bytes);

}  // namespace lockstep::driver
