#include <cuda_runtime.h>

__global__ void add(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i]);
}

extern "C" int total(const float* x, float* out, int n, cudaStream_t stream) {
  if (cudaMemsetAsync(out, 0, sizeof *out, stream) != cudaSuccess) return 1;
  add<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
  return cudaGetLastError() != cudaSuccess;
}
