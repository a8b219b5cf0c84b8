// Prefix sums in one pass (decoupled look-back): each block takes a ticket, publishes its sum, and
// adds the sums of earlier blocks.
#include "program.h"

namespace look_back {

constexpr int kBlock = 64;
struct Tile {
  volatile int state;  // 0: nothing published, 1: own sum, 2: inclusive prefix sum
  int own, all;
};

__global__ void scan(const int* from, int* to, int n, Tile* tiles, int* ticket, int mistake) {
  __shared__ int tile, before, sums[kBlock / 32];
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  const int i = tile * kBlock + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = i < n ? from[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, d);
    if (lane >= d) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += sums[w];
  if (threadIdx.x == kBlock - 1) {
    tiles[tile].own = sum;
    if (mistake != 1) __threadfence();
    tiles[tile].state = 1;
    int all = 0;
    for (int t = tile - 1; t >= 0; --t) {
      int state;
      while ((state = tiles[t].state) == 0) {
      }
      __threadfence();
      all += state == 2 ? tiles[t].all : tiles[t].own;
      if (state == 2) break;
    }
    before = all;
    tiles[tile].all = all + sum;
    if (mistake != 1) __threadfence();
    tiles[tile].state = 2;
  }
  __syncthreads();
  if (i < n) to[i] = before + sum;
}

PROGRAM(look_back, 2) {
  const int n = 1999, blocks = divide_up(n, kBlock);
  std::vector<int> from(n);
  Random random(26);
  for (int& f : from) f = random.below(2000) - 900;
  Buffer<int> d_from(from), to(n), ticket(1);
  Buffer<Tile> tiles(blocks);
  tiles.zero();
  if (mistake != 2) ticket.zero();
  scan<<<blocks, kBlock>>>(d_from, to, n, tiles, ticket, mistake);
  const std::vector<int> got = to.host();
  int wrong = 0;
  for (int i = 0, sum = 0; i < n; ++i) wrong += got[i] != (sum += from[i]);
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace look_back
