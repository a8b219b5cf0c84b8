// Kernels whose accesses are proved all, in part or not at all before launch. Tests name lines.
#include <cuda_runtime.h>

#include "check.h"

__global__ void reversed(const int* in, int* out) {
  __shared__ int cells[64];
  cells[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = cells[63 - threadIdx.x];
}

__global__ void gathered(const int* in, const int* index, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];  // the line that data decides
}

__global__ void raced(int* out) {
  __shared__ int cells[64];
  cells[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = cells[63 - threadIdx.x];
}

// Long enough for a profile of some hundred samples.
__global__ void busy(int* out, int rounds) {
  __shared__ int cells[64];
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    cells[threadIdx.x] = sum;
    __syncthreads();
    sum += 3 * cells[63 - threadIdx.x] + i;
    __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void multiplying(float* out, int rounds) {
  float d[4] = {};
  for (int i = 0; i < rounds; ++i) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(i));
  }
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

int main(int argc, char** argv) {
  int *in, *out, host[128];
  for (int i = 0; i < 128; ++i) host[i] = 127 - i;
  CUDA(cudaMalloc(&in, sizeof host));
  CUDA(cudaMalloc(&out, sizeof host));
  if (argc > 1) {
    if (argv[1][0] == 'b') busy<<<2, 64>>>(out, 160000);
    if (argv[1][0] == 'm') multiplying<<<1, 32>>>(reinterpret_cast<float*>(out), 60000);
    CUDA(cudaDeviceSynchronize());
    return 0;
  }
  CUDA(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  for (int i = 0; i < 2; ++i) reversed<<<2, 64>>>(in, out);
  gathered<<<2, 64>>>(in, in, out);
  raced<<<1, 64>>>(out);
  CUDA(cudaDeviceSynchronize());
  return 0;
}
