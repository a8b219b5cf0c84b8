// A sum in one launch: every block stores its part; the last block to finish sums the parts and
// resets the counter.
#include "program.h"

namespace last_block_sum {

__device__ unsigned arrived = 0;

template <int kThreads>
__device__ double block_sum(double mine, int mistake) {
  __shared__ double parts[kThreads];
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      parts[threadIdx.x] += parts[threadIdx.x + half];
      if (mistake == 3) __syncthreads();
    }
    if (mistake != 3) __syncthreads();
  }
  const double sum = parts[0];
  __syncthreads();
  return sum;
}

__global__ void sum(const float* x, int n, double* parts, double* total, int mistake) {
  __shared__ bool last;
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    mine += x[i];
  const double part = block_sum<64>(mine, mistake);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;
    if (mistake != 1) __threadfence();
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  if (mistake != 2) __syncthreads();
  if (!last) return;
  const double all = block_sum<64>(threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0, mistake);
  if (threadIdx.x == 0) *total = all, arrived = 0;
}

PROGRAM(last_block_sum, 3) {
  const int n = 5555;
  std::vector<float> x(n);
  Random random(29);
  long long expected = 0;
  for (float& v : x) {
    const int k = random.below(20001) - 10000;
    v = k / 64.0f, expected += k;
  }
  Buffer<float> d_x(x);
  Buffer<double> parts(9), total(1);
  double sums[3];
  for (double& s : sums) {  // the counter must be right for each launch
    sum<<<9, 64>>>(d_x, n, parts, total, mistake);
    s = total.host()[0];
  }
  const bool right = sums[0] * 64 == expected && sums[1] == sums[0] && sums[2] == sums[0];
  return verdict(right, "%g %g %g, %g expected", sums[0], sums[1], sums[2], expected / 64.0);
}

}  // namespace last_block_sum
