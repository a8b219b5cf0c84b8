// All shortest paths (Floyd and Warshall) in tiles: the diagonal tile, then the tiles of its row
// and column, then all others.
#include "program.h"

namespace floyd_warshall {

constexpr int kTile = 16, kFar = 1 << 29;

__device__ int load(const int* d, int n, int y, int x) {
  return y < n && x < n ? d[y * n + x] : kFar;
}

__global__ void relax(int* d, int n, int k, int phase, int mistake) {
  __shared__ int row[kTile][kTile + 1], column[kTile][kTile + 1];
  const int by = phase == 1 ? k : blockIdx.y, bx = phase == 1 ? k : blockIdx.x, ty = threadIdx.y,
            tx = threadIdx.x;
  if (phase == 2 && (by == k) == (bx == k)) return;  // phase 2: only the row or the column
  if (phase == 3 && (by == k || bx == k)) return;
  const int y = by * kTile + ty, x = bx * kTile + tx;
  column[ty][tx] = load(d, n, y, k * kTile + tx);
  row[ty][tx] = load(d, n, k * kTile + ty, x);
  int mine = load(d, n, y, x);
  __syncthreads();
  for (int i = 0; i < kTile; ++i) {
    mine = min(mine, column[ty][i] + row[i][tx]);
    if (phase == 3) continue;
    if (mistake != 2) __syncthreads();
    if (bx == k) column[ty][tx] = mine;
    if (by == k) row[ty][tx] = mine;
    __syncthreads();
  }
  if (mistake == 1 ? y <= n && x < n : y < n && x < n) d[y * n + x] = mine;
}

PROGRAM(floyd_warshall, 2) {
  const int n = 41, tiles = divide_up(n, kTile);
  std::vector<int> d(n * n, kFar);
  Random random(55);
  for (int i = 0; i < n; ++i) d[i * n + i] = 0;
  for (int e = 0; e < 4 * n; ++e) d[random.below(n) * n + random.below(n)] = 1 + random.below(100);
  for (int i = 0; i < n; ++i) d[i * n + i] = 0;
  Buffer<int> d_d(d);
  const dim3 block(kTile, kTile), all(tiles, tiles);
  for (int k = 0; k < tiles; ++k) {
    relax<<<1, block>>>(d_d, n, k, 1, mistake);
    relax<<<all, block>>>(d_d, n, k, 2, mistake);
    relax<<<all, block>>>(d_d, n, k, 3, mistake);
  }
  // The reference relaxes every edge n times from each vertex.
  std::vector<int> expected(n * n, kFar);
  for (int s = 0; s < n; ++s) {
    int* to = &expected[s * n];
    to[s] = 0;
    for (int round = 0; round < n; ++round)
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) to[b] = std::min(to[b], to[a] + d[a * n + b]);
  }
  const std::vector<int> got = d_d.host();
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += std::min(got[i], kFar) != std::min(expected[i], kFar);
  return verdict(wrong == 0, "%d of %d wrong", wrong, n * n);
}

}  // namespace floyd_warshall
