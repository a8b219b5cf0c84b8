// Selection with several items per thread, loaded striped and processed blocked. Items behind the
// end count as selected and are subtracted at the end. Selected items of a block stay in order; the
// order of blocks is unspecified.
#include "program.h"

namespace selection {

constexpr int kThreads = 64, kItems = 4, kTile = kThreads * kItems;

struct IsOdd {
  __device__ bool operator()(int x) const { return x & 1; }
};

__global__ void select(const int* in, int n, int* out, int* total, int mistake) {
  __shared__ int tile[kTile], sums[kThreads], base;
  const int t = threadIdx.x, first = blockIdx.x * kTile;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int j = k * kThreads + t;
    if (mistake == 2 ? first + j <= n : first + j < n) tile[j] = in[first + j];
  }
  __syncthreads();
  int items[kItems], flags[kItems], mine = 0;
#pragma unroll
  for (int k = 0; k < kItems; ++k) items[k] = tile[kItems * t + k];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    flags[k] = 1;
    if (first + kItems * t + k < n) flags[k] = IsOdd()(items[k]);
    mine += flags[k];
  }
  sums[t] = mine;
  __syncthreads();
  int before = 0;
  for (int other = 0; other < t; ++other) before += sums[other];
  if (t == kThreads - 1)
    base = atomicAdd(total, before + mine - (mistake == 1 ? 0 : max(0, first + kTile - n)));
  __syncthreads();
  int at = base + before;
  for (int k = 0; k < kItems; ++k)
    if (flags[k] && first + kItems * t + k < n) out[at++] = items[k];
}

PROGRAM(selection, 2) {
  const int n = 1003;
  std::vector<int> x(n), expected;
  Random random(30);
  for (int& v : x) v = random.below(1000);
  for (const int v : x)
    if (v % 2) expected.push_back(v);
  Buffer<int> in(x), out(n), total(1);
  total.zero();
  CUDA(cudaMemset(out, 0, n * sizeof(int)));
  select<<<divide_up(n, kTile), kThreads>>>(in, n, out, total, mistake);
  std::vector<int> got = out.host();
  const int size = total.host()[0];
  got.resize(std::clamp(size, 0, n));
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  return verdict(got == expected, "%d selected, %zu expected", size, expected.size());
}

}  // namespace selection
