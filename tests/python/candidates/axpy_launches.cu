// Several kinds of launches: a cluster with much dynamic shared memory, and a cooperative grid.
// Also a variable that the last kernel clears, and stream-ordered memory.
#include <cuda_runtime.h>

__device__ float factor;

__global__ void set(float a) { factor = a; }

__global__ void add(const float* x, float* y, int n) {
  extern __shared__ float staged[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  staged[16000 + threadIdx.x] = i < n ? x[i] : 0;
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
  if (i < n) y[i] = fmaf(factor, staged[16000 + threadIdx.x], y[i]);
}

__global__ void wipe(float* scratch) {
  scratch[blockIdx.x] = factor;
  if (blockIdx.x == 0) factor = 0;
}

__global__ void touch(float* scratch) { scratch[blockIdx.x] += 1; }

extern "C" int axpy(float a, const float* x, float* y, int n, cudaStream_t stream) {
  set<<<1, 1, 0, stream>>>(a);
  cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 70000);
  cudaLaunchAttribute cluster[1]{};
  cluster[0].id = cudaLaunchAttributeClusterDimension;
  cluster[0].val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2 * ((n + 255) / 256));
  config.blockDim = dim3(128);
  config.dynamicSmemBytes = 70000;
  config.stream = stream;
  config.attrs = cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, add, x, y, n);
  float* scratch = nullptr;
  cudaMallocAsync(reinterpret_cast<void**>(&scratch), 256, stream);
  cudaMemsetAsync(scratch, 0, 256, stream);
  void* arguments[] = {&scratch};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(touch), dim3(4), dim3(1), arguments, 0,
                              stream);
  wipe<<<1, 1, 0, stream>>>(scratch);
  cudaFreeAsync(scratch, stream);
  return cudaGetLastError();
}
