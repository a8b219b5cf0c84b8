// Density of smoothed particles. Cells hold linked lists, as in many fluid codes, built by one
// atomicExch for each particle.
#include "program.h"

namespace sph {

__global__ void clear(int* head, int cells) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x)
    head[i] = -1;
}

__global__ void insert(const ushort2* at, int n, int size, int across, int* head, int* next,
                       int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* const mine = &head[at[i].y / size * across + at[i].x / size];
  if (mistake == 1)
    next[i] = *mine, *mine = i;
  else
    next[i] = atomicExch(mine, i);
}

__global__ void density(const ushort2* at, int n, int size, int across, const int* head,
                        const int* next, unsigned* rho, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const ushort2 p = at[i];
  const int cx = p.x / size, cy = p.y / size;
  unsigned sum = 0;
  for (int y = max(cy - 1, 0); y <= min(cy + 1, across - 1); ++y)
    for (int x = max(cx - 1, 0); x <= (mistake == 2 ? cx + 1 : min(cx + 1, across - 1)); ++x)
      for (int j = head[y * across + x]; j >= 0; j = next[j]) {
        const int dx = p.x - at[j].x, dy = p.y - at[j].y, d = size * size - dx * dx - dy * dy;
        if (d > 0) sum += d;
      }
  rho[i] = sum;
}

PROGRAM(sph, 2) {
  const int n = 600, size = 40, across = 13;
  std::vector<ushort2> at(n);
  Random random(7);
  for (ushort2& p : at) p = make_ushort2(random.below(size * across), random.below(size * across));
  Buffer<ushort2> d_at(at);
  Buffer<int> head(across * across), next(n);
  Buffer<unsigned> rho(n);
  clear<<<2, 48>>>(head, across * across);
  insert<<<divide_up(n, 128), 128>>>(d_at, n, size, across, head, next, mistake);
  density<<<divide_up(n, 128), 128>>>(d_at, n, size, across, head, next, rho, mistake);
  std::vector<unsigned> expected(n, 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int dx = at[i].x - at[j].x, dy = at[i].y - at[j].y;
      expected[i] += std::max(0, size * size - dx * dx - dy * dy);
    }
  const std::vector<unsigned> got = rho.host();
  return verdict(got == expected, "density %u of the first, %u expected", got[0], expected[0]);
}

}  // namespace sph
