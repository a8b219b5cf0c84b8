// A kernel that calls a function, and reads variables, of linked_part.cu; built with -rdc=true.
#include "check.h"
#include "linked.h"

using Operation = int (*)(int);
__device__ int negated(int x) { return -x; }
__device__ Operation operations[2] = {twice, negated};

__global__ void apply(int* x, int which) {
  const int i = threadIdx.x;
  x[i] = operations[which](i) * factors[i % 4] + offset;
}

int main() {
  const int device_offset = 1000;
  CUDA(cudaMemcpyToSymbol(offset, &device_offset, sizeof device_offset));
  int *x, host[64];
  CUDA(cudaMalloc(&x, sizeof host));
  for (int which = 0; which < 2; ++which) {
    apply<<<1, 64>>>(x, which);
    CUDA(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i) EXPECT(host[i] == (which == 0 ? 2 * i : -i) * (i % 4 + 1) + 1000);
  }
  std::printf("PASSED\n");
}
