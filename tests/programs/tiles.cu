// Cooperative groups: tiles of eight lanes and of two warps reduce, scan and vote. Lanes with equal
// keys elect one that counts for all.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "program.h"

namespace tiles {

namespace cg = cooperative_groups;

__global__ void sums(const int* x, int n, int* of_tile, unsigned char* agree, int mistake) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int mine = i < n ? x[i] : 0;
  if (mistake == 1) {
    if (i >= n) return;  // the last tile, with its sum, is partial
    int sum = mine;
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d, 8);
    if (tile.thread_rank() == 0) of_tile[i / 8] = sum, agree[i / 8] = 0;
    return;
  }
  const int sum = cg::reduce(tile, mine, cg::plus<int>()),
            most = cg::reduce(tile, mine, cg::greater<int>());
  const bool all = tile.all(mine == tile.shfl(mine, 0));
  if (tile.thread_rank() == 0) of_tile[i / 8] = sum + 1000 * most, agree[i / 8] = all;
}

// Tiles larger than a warp synchronise through shared memory reserved by the system.
__global__ void sums_of_two_warps(const int* x, int n, int* of_tile) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = cg::reduce(tile, i < n ? x[i] : 0, cg::plus<int>());
  tile.sync();
  if (tile.thread_rank() == 0) of_tile[i / 64] = sum;
}

__global__ void count(const unsigned char* keys, int n, int* counts, int mistake) {
  __shared__ int mine[12];
  if (threadIdx.x < 12) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned here = mistake == 2 ? 0xffffffff : __activemask();
    const unsigned same = __match_any_sync(here, static_cast<unsigned>(keys[i]));
    if ((same & ((1u << threadIdx.x % 32) - 1)) == 0) atomicAdd(&mine[keys[i]], __popc(same));
  }
  __syncthreads();
  if (threadIdx.x < 12) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

PROGRAM(tiles, 2) {
  const int n = 325, padded = 384;
  std::vector<int> x(n);
  std::vector<unsigned char> keys(n);
  Random random(97);
  for (int i = 0; i < n; ++i)
    x[i] = i / 8 % 3 == 0 ? 7 : random.below(90),
    keys[i] = static_cast<unsigned char>(random.below(12));
  Buffer<int> d_x(x), d_sums(padded / 8), d_counts(12);
  Buffer<unsigned char> d_keys(keys), d_agree(padded / 8);
  d_counts.zero();
  sums<<<padded / 128, 128>>>(d_x, n, d_sums, d_agree, mistake);
  Buffer<int> d_large(padded / 64);
  sums_of_two_warps<<<padded / 128, 128>>>(d_x, n, d_large);
  count<<<2, 64>>>(d_keys, n, d_counts, mistake);
  const std::vector<int> got = d_sums.host(), counts = d_counts.host();
  const std::vector<unsigned char> agree = d_agree.host();
  const std::vector<int> large = d_large.host();
  int wrong = 0;
  for (int t = 0; t < padded / 64; ++t) {
    int sum = 0;
    for (int i = 64 * t; i < std::min(n, 64 * t + 64); ++i) sum += x[i];
    wrong += large[t] != sum;
  }
  for (int t = 0; t < divide_up(n, 8); ++t) {
    int sum = 0, most = 0;
    bool all = true;
    for (int i = 8 * t; i < 8 * t + 8; ++i) {
      const int v = i < n ? x[i] : 0;
      sum += v, most = std::max(most, v), all &= v == x[8 * t];
    }
    wrong += got[t] != sum + 1000 * most || agree[t] != all;
  }
  for (int k = 0; k < 12; ++k) wrong += counts[k] != std::count(keys.begin(), keys.end(), k);
  return verdict(wrong == 0, "%d wrong", wrong);
}

}  // namespace tiles
