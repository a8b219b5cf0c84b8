// A program that measures its kernels as benchmarks do: many launches on the same data.
#include "check.h"

__global__ void scale(float* to, const float* from, float by) {
  to[threadIdx.x] = by * from[threadIdx.x];
}

__global__ void accumulate(float* sum, const float* from) { atomicAdd(sum, from[threadIdx.x]); }

int main() {
  constexpr int kCount = 128, kTimes = 500;
  float *from, *to, *sum, values[kCount];
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  CUDA(cudaMalloc(&from, sizeof values));
  CUDA(cudaMalloc(&to, sizeof values));
  CUDA(cudaMalloc(&sum, sizeof *sum));
  CUDA(cudaMemcpy(from, values, sizeof values, cudaMemcpyHostToDevice));
  for (int i = 0; i < kTimes; ++i) {
    CUDA(cudaMemsetAsync(sum, 0, sizeof *sum));
    scale<<<1, kCount>>>(to, from, 2);
    accumulate<<<1, kCount>>>(sum, to);
  }
  float got = 0;
  CUDA(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got == kCount * (kCount - 1));
  std::puts("PASSED");
  return 0;
}
