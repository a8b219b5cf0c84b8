#include <cstddef>

#include "sums.h"

namespace {

constexpr int kBlock = 256;

// Adds the sum of each block's values to `total`.
__global__ void add_blocks(const int* values, int n, unsigned long long* total) {
  __shared__ long long sums[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  sums[threadIdx.x] = i < n ? values[i] : 0;
  for (int half = kBlock / 2; half > 0; half /= 2) {
#ifndef PLANTED_BUG
    __syncthreads();
#endif
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(sums[0]));
}

}  // namespace

long long sum(const int* values, int n) {
  if (n == 0) return 0;
  int* on_device = nullptr;
  unsigned long long* total = nullptr;
  const std::size_t bytes = sizeof(int) * static_cast<std::size_t>(n);
  long long result = -1;
  if (cudaMalloc(&on_device, bytes) == cudaSuccess &&
      cudaMalloc(&total, sizeof *total) == cudaSuccess &&
      cudaMemcpy(on_device, values, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
      cudaMemset(total, 0, sizeof *total) == cudaSuccess) {
    add_blocks<<<(n + kBlock - 1) / kBlock, kBlock>>>(on_device, n, total);
    if (cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess)
      result = -1;
  }
  cudaFree(total);
  cudaFree(on_device);
  return result;
}
