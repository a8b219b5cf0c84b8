// Clusters: their barrier, and the shared memory of other blocks.
#include <cooperative_groups.h>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void __cluster_dims__(2) block_has_left(int* y) {
  const auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (cluster.block_rank() == 0) {
    for (int k = 0; k < 2000 && faulty; ++k) __nanosleep(1);
    y[threadIdx.x] = cluster.map_shared_rank(s, 1)[threadIdx.x];  // FAULT block_has_left
  }
  if (!faulty) cluster.sync();
}

template <bool faulty>
__global__ void __cluster_dims__(2) reads_before_the_barrier(int* y) {
  const auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[32];
  s[threadIdx.x] = 0;
  cluster.sync();
  s[threadIdx.x] = threadIdx.x;  // FAULT reads_before_the_barrier
  if (!faulty) cluster.sync();
  y[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[31 - threadIdx.x];  // FAULT reads_before_the_barrier
  cluster.sync();
}
PAIR(reads_before_the_barrier, "race") {
  Buffer<int> y(64);
  reads_before_the_barrier<faulty><<<2, 32>>>(y);
}

// Both blocks write the first one's array.
template <bool faulty>
__global__ void __cluster_dims__(2) writes_of_two_blocks(int* y) {
  const auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[64];
  int* const first = cluster.map_shared_rank(s, 0);
  cluster.sync();
  first[faulty ? threadIdx.x : cluster.block_rank() * 32 + threadIdx.x] = cluster.block_rank();  // FAULT writes_of_two_blocks
  cluster.sync();
  if (cluster.block_rank() == 0) y[threadIdx.x] = s[threadIdx.x] + (faulty ? 0 : s[32 + threadIdx.x]);
}
PAIR(writes_of_two_blocks, "race") {
  Buffer<int> y(32);
  writes_of_two_blocks<faulty><<<2, 32>>>(y);
}

template <bool faulty>
__global__ void __cluster_dims__(2) atomics_of_two_blocks(int* y) {
  const auto cluster = cooperative_groups::this_cluster();
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;  // FAULT atomics_of_two_blocks
  if (!faulty) cluster.sync();
  atomicAdd(cluster.map_shared_rank(&count, 0), 1);  // FAULT atomics_of_two_blocks
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) *y = count;
}
PAIR(atomics_of_two_blocks, "race") {
  Buffer<int> y(1);
  atomics_of_two_blocks<faulty><<<2, 32>>>(y);
}

// Within one block of a cluster as in any other.
template <bool faulty>
__global__ void __cluster_dims__(2) warps_in_a_cluster(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // FAULT warps_in_a_cluster
  if (!faulty) __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  // FAULT warps_in_a_cluster
}
PAIR(warps_in_a_cluster, "race") {
  Buffer<int> y(128);
  warps_in_a_cluster<faulty><<<2, 64>>>(y);
}

template <bool faulty>
__global__ void __cluster_dims__(2) rank_outside(int* y) {
  const auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  y[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(s, faulty ? 2 : 1)[threadIdx.x];  // FAULT rank_outside
  cluster.sync();
}
PAIR(rank_outside, "out-of-bounds") {
  Buffer<int> y(64);
  rank_outside<faulty><<<2, 32>>>(y);
}

PAIR(block_has_left, "use-after-free") {
  Buffer<int> y(32);
  block_has_left<faulty><<<2, 32>>>(y);
}

}  // namespace
