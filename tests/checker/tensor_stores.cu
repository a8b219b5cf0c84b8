// Pairs that misuse bulk and tensor stores and reductions: sources overwritten too early or
// uninitialised, groups without a wait, and overlapping boxes.
#include "tests/checker/checker.h"
#include "tests/checker/tensor_copies.cuh"

namespace {

// A tile is computed as a whole, including elements that were never loaded. Storing those elements
// to global memory is the mistake.
template <bool faulty>
__global__ void bulk_store_of_garbage(const int* x, int* y, int n) {
  __shared__ __align__(16) int in[32], out[32];
  if (threadIdx.x < n) in[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 3 * in[threadIdx.x];
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, out, faulty ? 128 : 80);  // FAULT bulk_store_of_garbage
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR_ON_TWO(bulk_store_of_garbage, "uninitialised", (1, 32), Buffer<int>(32, 1),
            Buffer<int>(32, 1), 20)

// The tensor ends within the box: elements beyond its end are not stored.
template <bool faulty>
__global__ void tensor_store_of_garbage(const __grid_constant__ CUtensorMap map, const int* x) {
  __shared__ __align__(128) int in[kBoxBytes / 4], out[kBoxBytes / 4];
  if (threadIdx.x < 3 * kWidth) in[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 3 * in[threadIdx.x];
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE_BOX(&map, 0, 0, out);  // FAULT tensor_store_of_garbage
  }
}
PAIR(tensor_store_of_garbage, "uninitialised") {
  Buffer<int> x(kWidth * kHeight, 1), y(kWidth * kHeight, 1);
  tensor_store_of_garbage<faulty><<<1, 128>>>(map_of(y, faulty ? 4 : 3), x);
}

// Every lane of a warp stores the tile, as an epilogue of CUTLASS does. Storing equal bytes is
// legal, and reported as information.
template <bool faulty>
__global__ void tensor_store_by_every_lane(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[2][kBoxBytes / 4];
  tile[0][threadIdx.x] = threadIdx.x;
  tile[1][threadIdx.x] = -1;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x < 32) {
    STORE_BOX(&map, 0, 0, tile[faulty && threadIdx.x == 9]);  // FAULT tensor_store_by_every_lane
  }
}
PAIR_WITH_INFORMATION(tensor_store_by_every_lane, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_by_every_lane<faulty><<<1, 128>>>(map_of(x));
}

template <bool faulty>
__global__ void bulk_store_by_every_warp(int* y) {
  __shared__ __align__(16) int tile[2][128];
  tile[0][threadIdx.x] = threadIdx.x;
  tile[1][threadIdx.x] = -1;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    BULK_STORE(y, tile[faulty && threadIdx.x == 64], 512);  // FAULT bulk_store_by_every_warp
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR_WITH_INFORMATION(bulk_store_by_every_warp, "race") {
  Buffer<int> y(128);
  bulk_store_by_every_warp<faulty><<<1, 128>>>(y);
}

// Boxes of loads may start before the tensor; boxes of stores may not.
template <bool faulty>
__global__ void tensor_store_before_the_tensor(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  for (int i = 0; i < kBoxBytes / 4; ++i) tile[i] = i;
  PROXY_FENCE();
  STORE_BOX(&map, 0, faulty ? -1 : kHeight - 1, tile);  // FAULT tensor_store_before_the_tensor
}
PAIR_ON_TENSOR(tensor_store_before_the_tensor, "invalid-instruction", 1)

template <bool faulty>
__global__ void tensor_source_overwritten(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT tensor_source_overwritten
    BULK_COMMIT();
    if (!faulty) BULK_WAIT();
    tile[5] = 99;  // FAULT tensor_source_overwritten
    if (faulty) BULK_WAIT();
  }
}
PAIR_ON_TENSOR(tensor_source_overwritten, "race", 128)

// The wait is not followed by a barrier for the other threads.
template <bool faulty>
__global__ void tensor_source_overwritten_by_another(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT tensor_source_overwritten_by_another
    BULK_COMMIT();
  }
  __syncthreads();
  if (threadIdx.x == 0) BULK_WAIT();
  if (!faulty) __syncthreads();
  tile[threadIdx.x] = -1;  // FAULT tensor_source_overwritten_by_another
}
PAIR_ON_TENSOR(tensor_source_overwritten_by_another, "race", 128)

// An uncommitted operation belongs to no group: wait_group does not wait for it.
template <bool faulty>
__global__ void tensor_store_not_committed(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT tensor_store_not_committed
    if (!faulty) BULK_COMMIT();
    BULK_WAIT();
  }
  __syncthreads();
  tile[threadIdx.x] = -1;  // FAULT tensor_store_not_committed
}
PAIR_ON_TENSOR(tensor_store_not_committed, "race", 128)

// Bulk groups are per thread.
template <bool faulty>
__global__ void tensor_store_waited_for_by_another(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT tensor_store_waited_for_by_another
    BULK_COMMIT();
  }
  if (threadIdx.x == (faulty ? 1 : 0)) BULK_WAIT();
  __syncthreads();
  tile[threadIdx.x] = -1;  // FAULT tensor_store_waited_for_by_another
}
PAIR_ON_TENSOR(tensor_store_waited_for_by_another, "race", 128)

// wait_group 1 after two groups completes the first group only.
template <bool faulty>
__global__ void tensor_store_of_two_groups_the_second(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[2][kBoxBytes / 4];
  tile[0][threadIdx.x] = tile[1][threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile[0]);
    BULK_COMMIT();
    TENSOR_STORE(&map, 0, 4, tile[1]);  // FAULT tensor_store_of_two_groups_the_second
    BULK_COMMIT();
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  }
  __syncthreads();
  tile[faulty][threadIdx.x] = -1;  // FAULT tensor_store_of_two_groups_the_second
  __syncthreads();
  if (threadIdx.x == 0) BULK_WAIT();
}
PAIR_ON_TENSOR(tensor_store_of_two_groups_the_second, "race", 128)

// One thread stores boxes that have rows in common.
template <bool faulty>
__global__ void tensor_stores_that_overlap(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[2][kBoxBytes / 4];
  tile[0][threadIdx.x] = threadIdx.x;
  tile[1][threadIdx.x] = -1;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile[0]);               // FAULT tensor_stores_that_overlap
    TENSOR_STORE(&map, 0, faulty ? 3 : 4, tile[1]);  // FAULT tensor_stores_that_overlap
    BULK_COMMIT();
    BULK_WAIT_WRITTEN();
  }
}
PAIR_ON_TENSOR(tensor_stores_that_overlap, "race", 128)

// Two reductions commute; a reduction and a store to the same box do not.
template <bool faulty>
__global__ void tensor_store_and_reduction(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_REDUCE("add", &map, 0, 0, tile);                // FAULT tensor_store_and_reduction
    if (faulty) TENSOR_STORE(&map, 0, 0, tile);            // FAULT tensor_store_and_reduction
    if (!faulty) TENSOR_REDUCE("add", &map, 0, 0, tile);
    BULK_COMMIT();
    BULK_WAIT_WRITTEN();
  }
}
PAIR_ON_TENSOR(tensor_store_and_reduction, "race", 128)

// Two blocks store to one box without atomics; reductions are atomic.
template <bool faulty>
__global__ void tensor_stores_of_two_blocks(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x + blockIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (faulty) {
      TENSOR_STORE(&map, 0, 0, tile);  // FAULT tensor_stores_of_two_blocks
    } else {
      TENSOR_REDUCE("add", &map, 0, 0, tile);
    }
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR(tensor_stores_of_two_blocks, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_stores_of_two_blocks<faulty><<<2, 128>>>(map_of(x));
}

}  // namespace
