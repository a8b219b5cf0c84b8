// printf in a kernel.
#include "check.h"

__global__ void hello(const char* name) {
  printf("hello %s from thread %d of %d: %5.2f %c %llx %%\n", name, threadIdx.x, blockDim.x,
         threadIdx.x * 1.5, 'a' + threadIdx.x, 0x1234567890ull);
}

__device__ char name[] = "world";

int main() {
  void* address = nullptr;
  CUDA(cudaGetSymbolAddress(&address, name));
  hello<<<1, 3>>>(static_cast<const char*>(address));
  CUDA(cudaDeviceSynchronize());
  std::printf("PASSED\n");
  return 0;
}
