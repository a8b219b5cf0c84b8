// Device code that a program loads through the driver API: modules, which belong to a context, and
// what of a kernel's handle has to be known.
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
      nullptr;        // it is that library's, as it is loaded in the context (cuLibraryGetModule)
  std::string bytes;  // a file's
  std::map<std::string, runtime::KernelEntry*> kernels;  // by mangled name, as asked for
};

// nullptr for a handle that is none. Under the device lock.
Module* find_module(CUmodule handle);
// The module that a kernel is of; nullptr when it is a library's, or nvcc's constructors registered
// it.
Module* module_of(const runtime::KernelEntry& kernel);
// A library as it is in the current context.
CUmodule module_of_library(CUlibrary library, runtime::FatBinary* binary);
void forget_modules_of_library(CUlibrary library);

// The kernel of a handle, of either kind: a kernel is a function in whichever context it is
// launched in. nullptr when it is none.
runtime::KernelEntry* find_kernel(const void* handle);

// The runtime's description of the same launch.
cudaLaunchConfig_t config_of(const CUlaunchConfig& config);
// Pointers to a kernel's arguments, of those that lie in one buffer (`extra`,
// CU_LAUNCH_PARAM_BUFFER_POINTER). Nothing where there is no `extra`.
CUresult arguments_of(Runtime& r, Device& d, const runtime::KernelEntry& entry, void** parameters,
                      void** extra, std::vector<void*>* result);

// The contents of a file; false when it cannot be read.
bool read_file(const char* path, std::string* bytes);

}  // namespace lockstep::driver
