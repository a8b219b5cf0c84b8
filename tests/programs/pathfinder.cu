// The cheapest path down a grid, several rows in a launch: blocks overlap by a halo that shrinks
// with each row.
#include "program.h"

namespace pathfinder {

constexpr int kBlock = 64, kRows = 6;

__global__ void descend(const unsigned char* wall, const int* from, int* to, int columns, int start,
                        int rows, int halo, int mistake) {
  __shared__ int cost[2][kBlock];
  const int inner = kBlock - 2 * halo, t = threadIdx.x,
            x = static_cast<int>(blockIdx.x) * inner - halo + t;
  const bool inside = x >= 0 && x < columns;
  if (inside) cost[0][t] = from[x];
  int now = 0;
  for (int r = 0; r < rows; ++r) {
    __syncthreads();
    if (inside && t > r && t < kBlock - 1 - r) {
      int best = cost[now][t];
      if (x > 0) best = min(best, cost[now][t - 1]);
      if (x < columns - 1) best = min(best, cost[now][t + 1]);
      cost[1 - now][t] = best + wall[(start + r) * columns + x];
    }
    now = 1 - now;
  }
  if (mistake == 2) __syncthreads();
  if (inside && t >= halo && t < kBlock - halo) to[x] = cost[mistake == 2 ? 1 - now : now][t];
}

PROGRAM(pathfinder, 2) {
  const int columns = 301, rows = 20, halo = mistake == 1 ? kRows - 2 : kRows;
  std::vector<unsigned char> wall(columns * rows);
  Random random(56);
  for (unsigned char& w : wall) w = static_cast<unsigned char>(random.below(10));
  Buffer<unsigned char> d_wall(wall);
  Buffer<int> from(columns), to(columns);
  from.zero();
  for (int r = 0; r < rows; r += kRows) {
    descend<<<divide_up(columns, kBlock - 2 * halo), kBlock>>>(
        d_wall, from, to, columns, r, std::min(kRows, rows - r), halo, mistake);
    from.swap(to);
  }
  // The reference goes up from each position at the bottom.
  const std::vector<int> got = from.host();
  int wrong = 0;
  for (int end = 0; end < columns; ++end) {
    std::vector<int> cost(columns, 1 << 20), next;
    cost[end] = wall[(rows - 1) * columns + end];
    for (int r = rows - 2; r >= 0; --r) {
      next.assign(columns, 1 << 20);
      for (int x = 0; x < columns; ++x)
        for (int d = -1; d <= 1; ++d)
          if (x + d >= 0 && x + d < columns)
            next[x] = std::min(next[x], cost[x + d] + wall[r * columns + x]);
      cost = next;
    }
    wrong += got[end] != *std::min_element(cost.begin(), cost.end());
  }
  return verdict(wrong == 0, "%d of %d wrong", wrong, columns);
}

}  // namespace pathfinder
