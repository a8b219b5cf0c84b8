// A kernel that GoogleTest tests check, and a kernel that no test launches.
#include "tested.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// No test launches it.
__global__ void clear(int n, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0;
}

void launch_saxpy(int threads, int n, float a, const float* x, float* y) {
  saxpy<<<(n + threads - 1) / threads, threads>>>(n, a, x, y);
}
