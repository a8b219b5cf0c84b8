// The finding async-order, which needs wgmma and so sm_90a: docs/guide/findings.md quotes this.
//
//   nvcc -gencode arch=compute_90a,code=compute_90a -lineinfo -o warpgroup \
//     examples/findings/warpgroup.cu
//   lockstep exec -- ./warpgroup            reports the finding
//   lockstep exec -- ./warpgroup repaired   reports nothing
#include <cuda_fp16.h>

// Describes a matrix in shared memory to wgmma: not swizzled, 8 x 8 elements after one another.
__device__ unsigned long long descriptor(const __half* matrix) {
  const unsigned long long address = __cvta_generic_to_shared(matrix);
  return address >> 4 | 8ull << 16 | 16ull << 32;
}

__device__ void fill(__half* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = __float2half(1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

__global__ void multiply(float* y) {
  __shared__ alignas(128) __half factors[64 * 16 + 16 * 8];
  fill(factors, 64 * 16 + 16 * 8);
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(factors)), "l"(descriptor(factors + 64 * 16)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  y[threadIdx.x] = d[0];
}

__global__ void multiply_repaired(float* y) {
  __shared__ alignas(128) __half factors[64 * 16 + 16 * 8];
  fill(factors, 64 * 16 + 16 * 8);
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(factors)), "l"(descriptor(factors + 64 * 16)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]) : : "memory");
  y[threadIdx.x] = d[0];
}

int main(int argc, char**) {
  float* y = nullptr;
  cudaMalloc(&y, 128 * sizeof(float));
  (argc > 1 ? multiply_repaired : multiply)<<<1, 128>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
}
