// The entry points that nvcc's constructors and kernel stubs call. Their signatures are those of
// crt/host_runtime.h.
//
// Order: RegisterFatBinary, RegisterFunction, RegisterVar, RegisterManagedVar,
// RegisterFatBinaryEnd; at exit Unregister. For <<<>>>: Push, on a kernel's first use GetKernel,
// Pop, LaunchKernel.
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/executor.h"

using lockstep::runtime::api;
using lockstep::runtime::CallConfiguration;
using lockstep::runtime::Device;
using lockstep::runtime::FatBinary;
using lockstep::runtime::KernelEntry;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::thread_state;
using lockstep::runtime::VariableEntry;

namespace {

FatBinary* binary_of(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

cudaError_t get_kernel(const char* function, Reach reach, cudaKernel_t* kernel,
                       const void* host_function) {
  return api(function, reach, [&](Runtime& r, Device&) -> cudaError_t {
    KernelEntry* entry = r.modules.find_kernel(host_function);
    if (kernel == nullptr) return cudaErrorInvalidValue;
    if (entry == nullptr) return cudaErrorInvalidDeviceFunction;
    *kernel = reinterpret_cast<cudaKernel_t>(entry);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  return reinterpret_cast<void**>(runtime.modules.add(wrapper, /*registered=*/true));
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** handle) {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  lockstep::runtime::remove_code(runtime, binary_of(handle));
}

void __cudaRegisterFunction(void** handle, const char* host_function, char* /*device_function*/,
                            const char* device_name, int /*thread_limit*/, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  runtime.modules.add_kernel(binary_of(handle), host_function, device_name);
}

void __cudaRegisterVar(void** handle, char* host_variable, char* /*device_address*/,
                       const char* device_name, int /*external*/, size_t size, int constant,
                       int /*global*/) {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  VariableEntry variable;
  variable.host_shadow = host_variable;
  variable.name = device_name;
  variable.size = size;
  variable.constant = constant != 0;
  runtime.modules.add_variable(binary_of(handle), variable);
}

void __cudaRegisterManagedVar(void** handle, void** slot, char* /*device_address*/,
                              const char* device_name, int /*external*/, size_t size, int constant,
                              int /*global*/) {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  VariableEntry variable;
  variable.host_shadow = slot;
  variable.name = device_name;
  variable.size = size;
  variable.constant = constant != 0;
  variable.managed_slot = slot;
  runtime.modules.add_variable(binary_of(handle), variable);
}

// Called before the host touches a __managed__ variable: fills the pointers through which it does.
// Not 0 on success.
char __cudaInitModule(void** handle) {
  const cudaError_t error =
      api("__cudaInitModule", Reach::kHost, [&](Runtime& r, Device& d) -> cudaError_t {
        FatBinary* binary = binary_of(handle);
        if (!r.modules.known(binary)) return cudaErrorInvalidResourceHandle;
        return r.modules.load(r, *binary, d.ordinal);
      });
  return error == cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return get_kernel("cudaGetKernel", Reach::kHost, kernel, host_function);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  thread_state().pushed.push_back(CallConfiguration{
      grid, block, shared, stream,
      lockstep::runtime::call_stack(lockstep::runtime::CallStack::kMostOfLaunch)});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  auto& pushed = thread_state().pushed;
  if (pushed.empty()) return lockstep::runtime::end_call(cudaErrorMissingConfiguration);
  const CallConfiguration& top = pushed.back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  thread_state().launched_from = top.stack;
  pushed.pop_back();
  return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* entry) {
  return __cudaGetKernel(kernel, entry);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  // A cudaFunction_t is as opaque as a cudaKernel_t; both are the same thing here.
  return get_kernel(__func__, Reach::kContext, reinterpret_cast<cudaKernel_t*>(function), symbol);
}

}  // extern "C"
