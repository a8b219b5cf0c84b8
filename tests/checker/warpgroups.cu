// Pairs that misuse wgmma: missing fences, groups and waits, operands that change too early, and
// instructions that not all four warps execute.
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"
#include "tests/checker/matrix.cuh"

namespace {

using lockstep::checker::Buffer;
using Half = unsigned short;

// A: 64 x 16, B: 8 x 16, as consecutive core matrices of 8 x 8 halves: two along k, then the next
// eight rows.
constexpr int kA = 64 * 16, kB = 8 * 16;
__device__ __forceinline__ unsigned long long matrix(const Half* p) {
  return descriptor_of(p, 128, 256);
}

// Fills both factors with ones, visible to the async proxy, and synchronises the block.
__device__ __forceinline__ void fill(Half* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = 0x3c00;
  PROXY_FENCE();
  __syncthreads();
}

#define FACTORS()                                \
  __shared__ __align__(128) Half tile[kA + kB];  \
  fill(tile, kA + kB);                           \
  const unsigned long long a = matrix(tile), b = matrix(tile + kA); \
  float d[4] = {}

template <bool faulty>
__global__ void wgmma_without_a_fence(float* y) {
  FACTORS();
  if (!faulty) WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_without_a_fence
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_without_a_fence, "async-order", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_accumulator_after_the_fence(const float* x, float* y) {
  FACTORS();
  if (!faulty) d[1] = x[threadIdx.x];
  WRITTEN(d);
  WGMMA_FENCE();
  if (faulty) d[1] = x[threadIdx.x];
  WGMMA(d, a, b, true);  // FAULT wgmma_accumulator_after_the_fence
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[1];
}
PAIR_ON_TWO(wgmma_accumulator_after_the_fence, "async-order", (1, 128),
            Buffer<float>(128, 1), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_factor_after_the_fence(const unsigned* x, float* y) {
  FACTORS();
  unsigned r[4] = {x[threadIdx.x], 0, 0, 0};
  if (!faulty) r[2] = x[128 + threadIdx.x];
  WGMMA_FENCE();
  if (faulty) r[2] = x[128 + threadIdx.x];
  WGMMA_OF_REGISTERS(d, r, b);  // FAULT wgmma_factor_after_the_fence
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0] + static_cast<float>(a);
}
PAIR(wgmma_factor_after_the_fence, "async-order") {
  Buffer<unsigned> x(256);
  Buffer<float> y(128);
  cudaMemset(x, 0, 512);
  cudaMemset(x + 128, 2, 512);
  wgmma_factor_after_the_fence<faulty><<<1, 128>>>(x, y);
}

// Between two multiplications the accumulator is scaled, as softmax does.
template <bool faulty>
__global__ void wgmma_accumulator_scaled_between(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  for (float& v : d) v *= 0.25f;
  WRITTEN(d);
  if (!faulty) WGMMA_FENCE();
  WGMMA(d, a, b, true);  // FAULT wgmma_accumulator_scaled_between
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_accumulator_scaled_between, "async-order", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_result_before_the_wait(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_result_before_the_wait
  WGMMA_COMMIT();
  if (!faulty) WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];  // FAULT wgmma_result_before_the_wait
  WGMMA_WAIT(0);
}
PAIR_ON(wgmma_result_before_the_wait, "async-order", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_one_group_may_be_left(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_one_group_may_be_left
  WGMMA_COMMIT();
  WGMMA_WAIT(faulty ? 1 : 0);
  y[threadIdx.x] = d[0];  // FAULT wgmma_one_group_may_be_left
}
PAIR_ON(wgmma_one_group_may_be_left, "async-order", (1, 128), Buffer<float>(128))

// wait_group 1 completes the first of two groups only.
template <bool faulty>
__global__ void wgmma_of_two_groups_the_second(float* y) {
  FACTORS();
  float e[4] = {};
  WGMMA_FENCE();
  WGMMA(d, a, b, false);
  WGMMA_COMMIT();
  WGMMA(e, a, b, false);  // FAULT wgmma_of_two_groups_the_second
  WGMMA_COMMIT();
  WGMMA_WAIT(1);
  y[threadIdx.x] = (faulty ? e : d)[0];  // FAULT wgmma_of_two_groups_the_second
  WGMMA_WAIT(0);
}
PAIR_ON(wgmma_of_two_groups_the_second, "async-order", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_without_a_commit(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_without_a_commit
  if (!faulty) WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];  // FAULT wgmma_without_a_commit
}
PAIR_ON(wgmma_without_a_commit, "async-order", (1, 128), Buffer<float>(128))

// A wait covers the executing warp only.
template <bool faulty>
__global__ void wgmma_where_one_warp_does_not_wait(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_where_one_warp_does_not_wait
  WGMMA_COMMIT();
  if (!faulty || threadIdx.x / 32 != 2) WGMMA_WAIT(0);
  __syncthreads();
  y[threadIdx.x] = d[0];  // FAULT wgmma_where_one_warp_does_not_wait
}
PAIR_ON(wgmma_where_one_warp_does_not_wait, "async-order", (1, 128), Buffer<float>(128))

// The result is copied to shared memory before the wait.
template <bool faulty>
__global__ void wgmma_result_through_shared_memory(float* y) {
  FACTORS();
  __shared__ float out[128];
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_result_through_shared_memory
  WGMMA_COMMIT();
  if (!faulty) WGMMA_WAIT(0);
  out[threadIdx.x] = d[2];  // FAULT wgmma_result_through_shared_memory
  if (faulty) WGMMA_WAIT(0);
  __syncthreads();
  y[threadIdx.x] = out[127 - threadIdx.x];
}
PAIR_ON(wgmma_result_through_shared_memory, "async-order", (1, 128), Buffer<float>(128))

// ---- Shared memory.

template <bool faulty>
__global__ void wgmma_a_overwritten(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_a_overwritten
  WGMMA_COMMIT();
  if (!faulty) WGMMA_WAIT(0);
  if (!faulty) __syncthreads();
  tile[threadIdx.x] = 0x4000;  // FAULT wgmma_a_overwritten
  if (faulty) WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_a_overwritten, "race", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_b_overwritten_by_another_warpgroup(float* y) {
  FACTORS();
  if (threadIdx.x < 128) {
    WGMMA_FENCE();
    WGMMA(d, a, b, false);  // FAULT wgmma_b_overwritten_by_another_warpgroup
    WGMMA_COMMIT();
    if (!faulty) WGMMA_WAIT(0);
  }
  __syncthreads();
  // FAULT wgmma_b_overwritten_by_another_warpgroup
  if (threadIdx.x >= 128) tile[kA + threadIdx.x - 128] = 0x4000;
  __syncthreads();
  if (threadIdx.x >= 128) return;
  if (faulty) WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_b_overwritten_by_another_warpgroup, "race", (1, 256), Buffer<float>(128))

// The result is never used, but the tile is reused without a wait.
template <bool faulty>
__global__ void wgmma_never_waited_for(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_never_waited_for
  WGMMA_COMMIT();
  if (!faulty) WGMMA_WAIT(0);
  __syncthreads();
  tile[kA + threadIdx.x] = 0x4000;  // FAULT wgmma_never_waited_for
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON(wgmma_never_waited_for, "race", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_without_a_proxy_fence(float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  // FAULT wgmma_without_a_proxy_fence
  for (int i = threadIdx.x; i < kA + kB; i += 128) tile[i] = 0x3c00;
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  float d[4] = {};
  WGMMA_FENCE();
  WGMMA(d, matrix(tile), matrix(tile + kA), false);  // FAULT wgmma_without_a_proxy_fence
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_without_a_proxy_fence, "missing-proxy-fence", (1, 128), Buffer<float>(128))

// tilelang 2634: the compiler put the fence before dense multiplications only. A stores two of each
// four elements along k; B has 32 along k.
template <bool faulty>
__global__ void wgmma_sparse_without_a_proxy_fence(float* y) {
  __shared__ __align__(128) Half tile[kA + 2 * kB];
  // FAULT wgmma_sparse_without_a_proxy_fence
  for (int i = threadIdx.x; i < kA + 2 * kB; i += 128) tile[i] = 0x3c00;
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  float d[4] = {};
  WGMMA_FENCE();
  // FAULT wgmma_sparse_without_a_proxy_fence
  WGMMA_SPARSE(d, matrix(tile), descriptor_of(tile + kA, 128, 512), 0x44444444u);
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_sparse_without_a_proxy_fence, "missing-proxy-fence", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_before_the_barrier(float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  // FAULT wgmma_before_the_barrier
  for (int i = threadIdx.x; i < kA + kB; i += 128) tile[i] = 0x3c00;
  PROXY_FENCE();
  if (!faulty) __syncthreads();
  float d[4] = {};
  WGMMA_FENCE();
  WGMMA(d, matrix(tile), matrix(tile + kA), false);  // FAULT wgmma_before_the_barrier
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_before_the_barrier, "race, uninitialised, missing-proxy-fence", (1, 128),
        Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_past_shared_memory(float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  fill(tile, kA + kB);
  float d[4] = {};
  WGMMA_FENCE();
  // FAULT wgmma_past_shared_memory
  WGMMA(d, descriptor_of(tile, 128, faulty ? 512 : 256), matrix(tile + kA), false);
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_past_shared_memory, "out-of-bounds", (1, 128), Buffer<float>(128))

// The wrong leading dimension: the instruction reads uninitialised shared memory.
template <bool faulty>
__global__ void wgmma_of_another_leading_dimension(float* y) {
  __shared__ __align__(128) Half tile[2 * kA];
  fill(tile, kA + kB);
  float d[4] = {};
  WGMMA_FENCE();
  // FAULT wgmma_of_another_leading_dimension
  WGMMA(d, matrix(tile), descriptor_of(tile + kA, faulty ? 256 : 128, 256), false);
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_of_another_leading_dimension, "uninitialised", (1, 128), Buffer<float>(128))

// ---- A tile that a bulk copy loads.

template <bool faulty>
__global__ void wgmma_before_its_tile_has_come(const Half* x, float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, 2 * (kA + kB));
    BULK_LOAD(tile, x, 2 * (kA + kB), &bar);  // FAULT wgmma_before_its_tile_has_come
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  float d[4] = {};
  WGMMA_FENCE();
  WGMMA(d, matrix(tile), matrix(tile + kA), false);  // FAULT wgmma_before_its_tile_has_come
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON_TWO(wgmma_before_its_tile_has_come, "race", (1, 128), Buffer<Half>(kA + kB, 1),
            Buffer<float>(128))

// The next tile is loaded over this one while a multiplication still reads it.
template <bool faulty>
__global__ void wgmma_while_the_next_tile_comes(const Half* x, float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  SHARED_BARRIER(bar, 1);
  float d[4] = {};
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x == 0) {
      EXPECT(&bar, 2 * (kA + kB));
      // FAULT wgmma_while_the_next_tile_comes
      BULK_LOAD(tile, x + turn * (kA + kB), 2 * (kA + kB), &bar);
    }
    WAIT_PHASE(&bar, turn);
    WGMMA_FENCE();
    WGMMA(d, matrix(tile), matrix(tile + kA), turn != 0);  // FAULT wgmma_while_the_next_tile_comes
    WGMMA_COMMIT();
    if (!faulty) WGMMA_WAIT(0);
    __syncthreads();
  }
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR(wgmma_while_the_next_tile_comes, "race") {
  Buffer<Half> x(2 * (kA + kB), 1);
  Buffer<float> y(128);
  cudaMemset(x + kA + kB, 2, 2 * (kA + kB));
  wgmma_while_the_next_tile_comes<faulty><<<1, 128>>>(x, y);
}

// ---- The warps that execute the instruction.

template <bool faulty>
__global__ void wgmma_by_three_warps(float* y) {
  FACTORS();
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_by_three_warps
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_by_three_warps, "invalid-instruction", (1, faulty ? 96 : 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_after_an_exit(float* y, int threads) {
  FACTORS();
  if (threadIdx.x >= threads) return;
  WGMMA_FENCE();  // FAULT wgmma_after_an_exit
  WGMMA(d, a, b, false);
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_after_an_exit, "invalid-mask", (1, 128), Buffer<float>(128), faulty ? 120 : 128)

template <bool faulty>
__global__ void wgmma_of_warps_at_two_places(float* y) {
  FACTORS();
  WGMMA_FENCE();
  if (!faulty || threadIdx.x < 96) {
    WGMMA(d, a, b, false);  // FAULT wgmma_of_warps_at_two_places
  } else {
    WGMMA(d, a, b, false);  // FAULT wgmma_of_warps_at_two_places
  }
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_of_warps_at_two_places, "barrier-divergence", (1, 128), Buffer<float>(128))

// One of the four warps does not execute the multiplication.
template <bool faulty>
__global__ void wgmma_without_the_last_warp(float* y) {
  FACTORS();
  WGMMA_FENCE();
  if (!faulty || threadIdx.x < 96) WGMMA(d, a, b, false);  // FAULT wgmma_without_the_last_warp
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_without_the_last_warp, "barrier-divergence", (1, 128), Buffer<float>(128))

// One of the four warps exits early.
template <bool faulty>
__global__ void wgmma_after_a_warp_has_left(float* y, int idle) {
  FACTORS();
  if (threadIdx.x / 32 == idle) return;
  WGMMA_FENCE();
  WGMMA(d, a, b, false);  // FAULT wgmma_after_a_warp_has_left
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}

PAIR_ON(wgmma_after_a_warp_has_left, "barrier-divergence", (1, 128),
        Buffer<float>(128), faulty ? 0 : 4)

template <bool faulty>
__global__ void wgmma_once_more_in_one_warp(float* y) {
  FACTORS();
  WGMMA_FENCE();
  const int turns = faulty && threadIdx.x / 32 == 1 ? 3 : 2;
  for (int i = 0; i < turns; ++i) WGMMA(d, a, b, i != 0);  // FAULT wgmma_once_more_in_one_warp
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_once_more_in_one_warp, "barrier-divergence", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_descriptors_that_differ(float* y) {
  FACTORS();
  WGMMA_FENCE();
  // FAULT wgmma_descriptors_that_differ
  WGMMA(d, a, faulty && threadIdx.x % 32 == 7 ? a : b, false);
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_descriptors_that_differ, "invalid-instruction", (1, 128), Buffer<float>(128))

template <bool faulty>
__global__ void wgmma_predicates_that_differ(float* y) {
  FACTORS();
  WRITTEN(d);
  WGMMA_FENCE();
  WGMMA(d, a, b, faulty ? threadIdx.x % 2 : 1);  // FAULT wgmma_predicates_that_differ
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_predicates_that_differ, "invalid-instruction", (1, 128), Buffer<float>(128))

// Multiplications of one shape on the same registers need no fence in between; two shapes do.
template <bool faulty>
__global__ void wgmma_two_shapes_on_one_accumulator(float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  fill(tile, kA + kB);
  const unsigned long long a = matrix(tile), b = matrix(tile + kA);
  float e[8] = {};
  float* const upper = e + 4;
  WRITTEN(e);
  WRITTEN(upper);
  WGMMA_FENCE();
  WGMMA(e, a, b, true);
  if (!faulty) {
    WGMMA_COMMIT();
    WGMMA_WAIT(0);
    WGMMA_FENCE();
  }
  WGMMA_OF_16(e, a, a);  // FAULT wgmma_two_shapes_on_one_accumulator
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  y[threadIdx.x] = e[0] + e[7];
}
PAIR_ON(wgmma_two_shapes_on_one_accumulator, "async-order", (1, 128), Buffer<float>(128))

// One thread of the warpgroup releases the tile for all four warps. This is correct after its wait:
// the multiplication is one operation of all four.
template <bool faulty>
__global__ void wgmma_tile_given_back_by_one_thread(float* y) {
  __shared__ __align__(128) Half tile[kA + kB];
  __shared__ unsigned long long free;
  if (threadIdx.x == 0) INIT(&free, 1);
  fill(tile, kA + kB);
  if (threadIdx.x >= 128) {
    WAIT_PHASE(&free, 0);
    // FAULT wgmma_tile_given_back_by_one_thread
    for (int i = threadIdx.x - 128; i < kA + kB; i += 32) tile[i] = 0;
    return;
  }
  float d[4] = {};
  WGMMA_FENCE();
  WGMMA(d, matrix(tile), matrix(tile + kA), false);  // FAULT wgmma_tile_given_back_by_one_thread
  WGMMA_COMMIT();
  if (faulty && threadIdx.x == 40) ARRIVE(&free);
  WGMMA_WAIT(0);
  if (!faulty && threadIdx.x == 40) ARRIVE(&free);
  y[threadIdx.x] = d[0];
}
PAIR_ON(wgmma_tile_given_back_by_one_thread, "race", (1, 160), Buffer<float>(128))

}  // namespace
