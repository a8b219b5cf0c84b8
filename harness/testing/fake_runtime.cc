// A CUDA runtime of a dozen functions on host memory, for tests of the harness itself. Its
// "kernels" are host functions that write to memory.
//
// It has the properties on which the harness relies: 256-byte alignment, fresh memory that is not
// zero, and errors that stick until they are cleared. It checks no access: errors that the memory
// contract finds with this runtime, it also finds on silicon, which has no such checks.
#include "harness/testing/fake_runtime.h"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

namespace lockstep::testing {
namespace {

Fake the_fake;
cudaError_t last_error = cudaSuccess;

cudaError_t returned(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace

Fake& fake() { return the_fake; }

}  // namespace lockstep::testing

using lockstep::testing::fake;
using lockstep::testing::last_error;
using lockstep::testing::returned;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  if (fake().sticky != cudaSuccess) return static_cast<cudaError_t>(fake().sticky);
  if (fake().free_bytes < bytes) return returned(cudaErrorMemoryAllocation);
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*pointer, 0xcd, bytes);
  ++fake().live;
  ++fake().allocations;
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  if (pointer) --fake().live;
  return static_cast<cudaError_t>(fake().sticky);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (fake().sticky != cudaSuccess) return static_cast<cudaError_t>(fake().sticky);
  if (kind == cudaMemcpyHostToDevice) ++fake().under_way;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  for (size_t y = 0; y < height; ++y) {
    const cudaError_t error =
        cudaMemcpy(static_cast<char*>(to) + y * to_pitch,
                   static_cast<const char*>(from) + y * from_pitch, width, kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  fake().under_way = 0;
  return static_cast<cudaError_t>(fake().sticky);
}

cudaError_t cudaDeviceSynchronize() { return cudaStreamSynchronize(nullptr); }

cudaError_t cudaGetLastError() {
  if (fake().sticky != cudaSuccess) return static_cast<cudaError_t>(fake().sticky);
  if (fake().launch_error != cudaSuccess)
    last_error = static_cast<cudaError_t>(std::exchange(fake().launch_error, cudaSuccess));
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  return fake().sticky != cudaSuccess ? static_cast<cudaError_t>(fake().sticky) : last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorIllegalAddress         ? "cudaErrorIllegalAddress"
         : error == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration"
                                                  : "cudaErrorOther";
}
const char* cudaGetErrorString(cudaError_t) { return "as the test planted it"; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake().devices;
  return fake().devices ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  std::memset(p, 0, sizeof *p);
  std::strcpy(p->name, "Fake GPU");
  p->major = 8;
  p->minor = 6;
  p->totalGlobalMem = std::size_t{1} << 33;
  p->warpSize = 32;
  for (int i = 0; i < 16; ++i) p->uuid.bytes[i] = static_cast<char>(0xf0 + i);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  *value = which == cudaDevAttrManagedMemory;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* v) { return *v = 13000, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* v) { return *v = 13000, cudaSuccess; }

}  // extern "C"
