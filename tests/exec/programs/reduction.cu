// A sum with cooperative groups: warp tiles reduce, then one atomicAdd for each
// tile.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void sum(const int* x, int n, unsigned long long* total) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i];
  const int of_tile = cg::reduce(tile, mine, cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(total, static_cast<unsigned long long>(of_tile));
}

int main() {
  const int n = 50000;
  int* host = new int[n];
  unsigned long long expected = 0;
  for (int i = 0; i < n; ++i) host[i] = i % 97, expected += host[i];
  int* x;
  unsigned long long* total;
  CUDA(cudaMalloc(&x, n * sizeof(int)));
  CUDA(cudaMalloc(&total, sizeof(unsigned long long)));
  CUDA(cudaMemcpy(x, host, n * sizeof(int), cudaMemcpyHostToDevice));
  CUDA(cudaMemset(total, 0, sizeof(unsigned long long)));
  int blocks = 0, threads = 0;
  CUDA(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, sum));
  EXPECT(blocks > 0 && threads >= 32);
  sum<<<16, 128>>>(x, n, total);
  CUDA(cudaGetLastError());
  unsigned long long got = 0;
  CUDA(cudaMemcpy(&got, total, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got == expected);
  delete[] host;
  std::printf("sum %llu\nPASSED\n", got);
  return 0;
}
