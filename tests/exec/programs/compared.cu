// Every effect of a launch that a test can see: bytes of a variable, of an allocation for a later
// launch, and of host memory; instruction counts. Each part checks one effect; some parts do not
// check a launch at all.
#include <dlfcn.h>

#include <cstring>

#include "check.h"
#include "simulator/extension.h"

__device__ int variable = 5;

__global__ void to_variable(int add) { variable += add; }
__global__ void to_scratch(int* scratch) { scratch[threadIdx.x] = 3 * threadIdx.x + 1; }
__global__ void from_scratch(const int* scratch, int* values) {
  values[threadIdx.x] = scratch[31 - threadIdx.x] & 15;
}
__global__ void to_host(int* mapped) {
  if (threadIdx.x < 8) mapped[threadIdx.x] = 7;
}
// The stored values do not depend on the number of iterations.
__global__ void count(int* values, int times) {
  for (int i = 0; i < times; ++i) __syncthreads();
  values[threadIdx.x] = 1;
}
__global__ void nobody_looks(int* values) { values[threadIdx.x] = 11; }

int* device_ints(int number) {
  int* ints;
  CUDA(cudaMalloc(&ints, number * sizeof(int)));
  CUDA(cudaMemset(ints, 0, number * sizeof(int)));
  return ints;
}

int main() {
  const auto begin_part =
      reinterpret_cast<lockstepBeginPart_t>(dlsym(RTLD_DEFAULT, "lockstepBeginPart"));
  const auto reset_counters =
      reinterpret_cast<lockstepResetCounters_t>(dlsym(RTLD_DEFAULT, "lockstepResetCounters"));
  const auto read_counters =
      reinterpret_cast<lockstepReadCounters_t>(dlsym(RTLD_DEFAULT, "lockstepReadCounters"));
  for (int times = 1; times <= 2; ++times) {
    if (begin_part()) {
      int value = 5;
      CUDA(cudaMemcpyToSymbol(variable, &value, sizeof value));
      to_variable<<<1, 1>>>(times);
      CUDA(cudaMemcpyFromSymbol(&value, variable, sizeof value));
      EXPECT(value == 5 + times);
    }
    if (begin_part()) {
      int *const scratch = device_ints(32), *const on_device = device_ints(32), values[32];
      to_scratch<<<1, 32>>>(scratch);
      from_scratch<<<1, 32>>>(scratch, on_device);
      CUDA(cudaMemcpy(values, on_device, sizeof values, cudaMemcpyDeviceToHost));
      for (int i = 0; i < 8 * times; ++i) EXPECT(values[i] == ((3 * (31 - i) + 1) & 15));
      CUDA(cudaFree(scratch));
      CUDA(cudaFree(on_device));
    }
    if (begin_part()) {
      int *mapped, *on_device;
      CUDA(cudaHostAlloc(&mapped, 16 * sizeof(int), cudaHostAllocMapped));
      std::memset(mapped, 0, 16 * sizeof(int));
      CUDA(cudaHostGetDevicePointer(&on_device, mapped, 0));
      to_host<<<1, 32>>>(on_device);
      CUDA(cudaDeviceSynchronize());
      for (int i = 0; i < 16; ++i) EXPECT(mapped[i] == (i < 8 ? 7 : 0));
      CUDA(cudaFreeHost(mapped));
    }
    if (begin_part()) {
      int* const values = device_ints(32);
      lockstepCounters once{sizeof once}, again{sizeof again};
      for (lockstepCounters* c : {&once, &again}) {
        reset_counters();
        count<<<1, 32>>>(values, c == &once ? 3 : 5);
        CUDA(cudaDeviceSynchronize());
        read_counters(c);
      }
      EXPECT(times == 1 || (once.barriers == 3 && again.barriers == 5));
      CUDA(cudaFree(values));
    }
    if (begin_part()) {
      int* const values = device_ints(64);
      count<<<1, 32>>>(values, 2);
      nobody_looks<<<1, 32>>>(values);
      CUDA(cudaDeviceSynchronize());
      CUDA(cudaFree(values));
    }
  }
  std::printf("PASSED\n");
}
