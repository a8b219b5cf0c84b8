// Moving averages with asynchronous copies to shared memory, double-buffered: the kernel uses one
// tile while the next is copied.
#include <cuda_pipeline.h>

#include "program.h"

namespace async_tiles {

constexpr int kTile = 64, kReach = 4;

__global__ void average(const float* in, float* out, int n, int tiles, int mistake) {
  __shared__ alignas(16) float buffer[2][kTile + 2 * kReach];
  const int t = threadIdx.x, first = blockIdx.x * tiles;
  const auto fetch = [&](int tile) {
    float* to = buffer[tile % 2];
    for (int i = 4 * t; i < kTile + 2 * kReach; i += 4 * kTile) {
      const int from = tile * kTile - kReach + i;
      if (from >= 0 && from + 4 <= n) {
        __pipeline_memcpy_async(to + i, in + from, 16);
      } else {
        for (int k = 0; k < 4; ++k) to[i + k] = from + k >= 0 && from + k < n ? in[from + k] : 0;
      }
    }
    __pipeline_commit();
  };
  fetch(first);
  for (int tile = first; tile < first + tiles; ++tile) {
    if (tile + 1 < first + tiles) fetch(tile + 1);
    if (mistake != 1) __pipeline_wait_prior(tile + 1 < first + tiles ? 1 : 0);
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * kReach; ++k) sum += buffer[tile % 2][t + k];
    if (tile * kTile + t < n) out[tile * kTile + t] = sum;
    if (mistake != 2) __syncthreads();
  }
}

PROGRAM(async_tiles, 2) {
  const int n = 1003, tiles = 4;
  std::vector<float> x(n);
  Random random(121);
  for (float& v : x) v = static_cast<float>(random.below(1000));
  Buffer<float> in(x), out(n);
  average<<<divide_up(n, kTile * tiles), kTile>>>(in, out, n, tiles, mistake);
  const std::vector<float> got = out.host();
  std::vector<int> sums(n + 1, 0);
  for (int i = 0; i < n; ++i) sums[i + 1] = sums[i] + static_cast<int>(x[i]);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += got[i] !=
             static_cast<float>(sums[std::min(n, i + kReach + 1)] - sums[std::max(0, i - kReach)]);
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace async_tiles
