// Launching kernels.
#include <cstring>

#include "simulator/driver/code.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"

using namespace lockstep::driver;
using lockstep::runtime::Contexts;
using lockstep::runtime::demangled;
using lockstep::runtime::KernelEntry;

namespace lockstep::driver {

cudaLaunchConfig_t config_of(const CUlaunchConfig& c) {
  cudaLaunchConfig_t same{};
  same.gridDim = dim3(c.gridDimX, c.gridDimY, c.gridDimZ);
  same.blockDim = dim3(c.blockDimX, c.blockDimY, c.blockDimZ);
  same.dynamicSmemBytes = c.sharedMemBytes;
  same.stream = c.hStream;
  // Both APIs have the same union of attributes, with the same numbers.
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  same.attrs = reinterpret_cast<cudaLaunchAttribute*>(c.attrs);
  same.numAttrs = c.numAttrs;
  return same;
}

CUresult arguments_of(Runtime& r, Device& d, const KernelEntry& entry, void** parameters,
                      void** extra, std::vector<void*>* result) {
  if (extra == nullptr) return CUDA_SUCCESS;
  if (parameters != nullptr) return CUDA_ERROR_INVALID_VALUE;
  char* buffer = nullptr;
  std::size_t size = 0;
  for (void** e = extra; *e != CU_LAUNCH_PARAM_END; e += 2) {
    if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<char*>(e[1]);
    } else if (*e == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = *static_cast<std::size_t*>(e[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  const lockstep::engine::Kernel* kernel = nullptr;
  if (const cudaError_t error = r.modules.get(r, entry, d.ordinal, &kernel); error != cudaSuccess)
    return result_of(error);
  const auto sizes = kernel->parameter_sizes();
  const auto offsets = kernel->parameter_offsets();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (buffer == nullptr || offsets[i] + sizes[i] > size) {
      r.explain("cuLaunchKernel", demangled(entry.name) +
                                      ": the buffer of parameters ends before parameter " +
                                      std::to_string(i));
      return CUDA_ERROR_INVALID_VALUE;
    }
    result->push_back(buffer + offsets[i]);
  }
  const std::size_t used = offsets.back();
  if (size > used) {
    r.explain("cuLaunchKernel", demangled(entry.name) + ": the buffer of parameters has " +
                                    std::to_string(size) + " bytes, the parameters " +
                                    std::to_string(used));
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  return CUDA_SUCCESS;
}

}  // namespace lockstep::driver

namespace {

// Notes that a launch was refused (call_errors.h), as the runtime's own launches do.
CUresult refused(Runtime& r, const KernelEntry* entry, CUresult result) {
  lockstep::runtime::note_refused_launch(r, entry == nullptr ? "" : demangled(entry->name));
  return result;
}

CUresult launch(const char* name, CUfunction function, const cudaLaunchConfig_t& config,
                void** parameters, void** extra) {
  return locked(name, needs_of(config.stream), [&](Runtime& r, Device&) {
    const KernelEntry* const entry = find_kernel(function);
    if (entry == nullptr) return refused(r, nullptr, CUDA_ERROR_INVALID_HANDLE);
    const lockstep::driver::Context* const context = context_of(r, config.stream);
    if (const Module* module = module_of(*entry);
        module != nullptr && module->library == nullptr && module->context != context) {
      r.explain(name, demangled(entry->name) +
                          ": its module was loaded into another context than the stream's");
      return refused(r, entry, CUDA_ERROR_INVALID_HANDLE);
    }
    // Without a context the stream is none, which the launch reports.
    const OnDevice there(context != nullptr ? context->device : thread_state().device);
    Device& d = r.current();
    std::vector<void*> unpacked;
    if (const CUresult result = arguments_of(r, d, *entry, parameters, extra, &unpacked);
        result != CUDA_SUCCESS)
      return refused(r, entry, result);
    return result_of(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(function),
                                         extra != nullptr ? unpacked.data() : parameters));
  });
}

CUresult launch(const char* name, CUfunction function, dim3 grid, dim3 block, unsigned shared,
                CUstream stream, bool cooperative, void** parameters, void** extra) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = cooperative ? 1 : 0;
  return launch(name, function, config, parameters, extra);
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra) {
  return launch("cuLaunchKernel", function, dim3(grid_x, grid_y, grid_z),
                dim3(block_x, block_y, block_z), shared, stream, false, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters) {
  return launch("cuLaunchCooperativeKernel", function, dim3(grid_x, grid_y, grid_z),
                dim3(block_x, block_y, block_z), shared, stream, true, parameters, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (config == nullptr)
    return call("cuLaunchKernelEx", Needs::kContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  return launch("cuLaunchKernelEx", function, config_of(*config), parameters, extra);
}

}  // extern "C"
