// Block-wide and warp-wide cub: a histogram's peak by BlockReduce, positions by BlockScan, and rows
// sorted by BlockRadixSort.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "program.h"

namespace cub_block {

constexpr int kThreads = 64, kItems = 3, kRow = kThreads * kItems;

struct Larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

__global__ void rows(const int* in, int* sorted, int* most, int* warps, int* positive,
                     int mistake) {
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename WarpReduce::TempStorage warp[kThreads / 32];
  } storage;
  const int t = threadIdx.x, first = blockIdx.x * kRow + kItems * t;
  int mine[kItems], best = INT_MIN, count = 0;
  for (int i = 0; i < kItems; ++i)
    mine[i] = in[first + i], best = max(best, mine[i]), count += mine[i] > 0;
  const int all = Reduce(storage.reduce).Reduce(best, Larger());
  if (t == (mistake == 2 ? kThreads - 1 : 0)) most[blockIdx.x] = all;
  __syncthreads();  // the storage is reused here and below
  const int of_warp = WarpReduce(storage.warp[t / 32]).Sum(count);
  if (t % 32 == 0) warps[blockIdx.x * (kThreads / 32) + t / 32] = of_warp;
  __syncthreads();
  int place;
  Scan(storage.scan).ExclusiveSum(count, place);
  for (int i = 0; i < kItems; ++i)
    if (mine[i] > 0) positive[blockIdx.x * kRow + place++] = mine[i];
  if (mistake != 1) __syncthreads();
  Sort(storage.sort).Sort(mine);
  for (int i = 0; i < kItems; ++i) sorted[first + i] = mine[i];
}

PROGRAM(cub_block, 2) {
  const int blocks = 3, n = blocks * kRow;
  std::vector<int> x(n);
  Random random(114);
  for (int& v : x) v = static_cast<int>(random());
  Buffer<int> in(x), sorted(n), most(blocks), warps(blocks * 2), positive(n);
  CUDA(cudaMemset(positive, 0, n * sizeof(int)));
  rows<<<blocks, kThreads>>>(in, sorted, most, warps, positive, mistake);
  const std::vector<int> got = sorted.host(), tops = most.host(), counts = warps.host(),
                         chosen = positive.host();
  int wrong = 0;
  for (int b = 0; b < blocks; ++b) {
    std::vector<int> row(x.begin() + b * kRow, x.begin() + (b + 1) * kRow), above;
    for (int w = 0; w < 2; ++w)
      wrong += counts[2 * b + w] != std::count_if(row.begin() + 96 * w, row.begin() + 96 * (w + 1),
                                                  [](int v) { return v > 0; });
    for (const int v : row)
      if (v > 0) above.push_back(v);
    above.resize(kRow, 0);
    wrong += !std::equal(above.begin(), above.end(), chosen.begin() + b * kRow);
    std::sort(row.begin(), row.end());
    wrong += tops[b] != row.back();
    for (int i = 0; i < kRow; ++i) wrong += got[b * kRow + i] != row[i];
  }
  return verdict(wrong == 0, "%d wrong", wrong);
}

}  // namespace cub_block
