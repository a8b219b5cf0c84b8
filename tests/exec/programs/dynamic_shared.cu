// A transpose through dynamic shared memory, more than a kernel has by default.
#include <vector>

#include "check.h"

__global__ void reverse(const int* from, int* to, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = from[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = tile[n - 1 - i];
}

int main() {
  constexpr int n = 16 * 1024, bytes = n * sizeof(int);
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = 3 * i;
  int *from, *to;
  CUDA(cudaMalloc(&from, bytes));
  CUDA(cudaMalloc(&to, bytes));
  CUDA(cudaMemcpy(from, host.data(), bytes, cudaMemcpyHostToDevice));
  reverse<<<1, 256, bytes>>>(from, to, n);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reverse<<<1, 256, bytes>>>(from, to, n);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(host.data(), to, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 3 * (n - 1 - i));
  std::printf("PASSED\n");
  return 0;
}
