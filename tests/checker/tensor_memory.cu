// Tensor Memory: missing commits, waits and fences; columns of other blocks; lanes of other warps.
// Four warps; thread 0 multiplies.
#include "tests/checker/checker.h"
#include "tests/checker/tensor.cuh"

namespace {

template <bool faulty>
__global__ void tensor_read_before_the_commit(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_read_before_the_commit
  WAIT_LOADS(r);
  y[threadIdx.x] = r;
  WAIT_PHASE(&bar, 0);
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_read_before_the_commit, "async-order")

// Reads the address that the allocation writes to shared memory, before a barrier.
template <bool faulty>
__global__ void tensor_address_without_a_barrier(unsigned* y) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) ALLOCATE(&base, kColumns);  // FAULT tensor_address_without_a_barrier
  if (!faulty) __syncthreads();
  const unsigned at = base;  // FAULT tensor_address_without_a_barrier
  y[threadIdx.x] = at >> 16;
  __syncthreads();
  if (threadIdx.x < 32) FREE(at, kColumns);
}
PAIR_ON_ONE_BLOCK(tensor_address_without_a_barrier, "race")

template <bool faulty>
__global__ void tensor_commit_before_the_product(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    if (faulty) TENSOR_COMMIT(&bar);
    TENSOR_MULTIPLY(tm, a, b, kind, false);
    if (!faulty) TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_commit_before_the_product
  WAIT_LOADS(r);
  y[threadIdx.x] = r;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_commit_before_the_product, "async-order")

template <bool faulty>
__global__ void tensor_no_fence_after_the_wait(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  if (faulty) FENCE_AFTER();
  WAIT_PHASE(&bar, 0);
  if (!faulty) FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_no_fence_after_the_wait
  WAIT_LOADS(r);
  y[threadIdx.x] = r;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_no_fence_after_the_wait, "async-order")

template <bool faulty>
__global__ void tensor_used_before_wait_ld(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_STORE(own, threadIdx.x);
  WAIT_STORES();
  unsigned r, n = 1;
  TENSOR_LOAD(r, own);
  if (!faulty) WAIT_LOADS(r);
  n += r;  // FAULT tensor_used_before_wait_ld
  if (faulty) WAIT_LOADS(n);
  y[threadIdx.x] = n;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_used_before_wait_ld, "async-order")

template <bool faulty>
__global__ void tensor_loaded_before_wait_st(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_STORE(own, threadIdx.x);
  if (!faulty) WAIT_STORES();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_loaded_before_wait_st
  WAIT_LOADS(r);
  if (faulty) WAIT_STORES();
  y[threadIdx.x] = r;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_loaded_before_wait_st, "async-order")

// All warps store the initial accumulator.
template <bool faulty>
__global__ void tensor_no_fence_before_the_barrier(unsigned* y) {
  TENSOR_BLOCK();
  for (unsigned c = 0; c < kWide; ++c) TENSOR_STORE(own + c, 0u);
  WAIT_STORES();
  if (!faulty) FENCE_BEFORE();
  TENSOR_FACTORS(true);
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, true);  // FAULT tensor_no_fence_before_the_barrier
    TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 0;
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_no_fence_before_the_barrier, "async-order")

template <bool faulty>
__global__ void tensor_no_fence_after_the_barrier(unsigned* y) {
  TENSOR_BLOCK();
  for (unsigned c = 0; c < kWide; ++c) TENSOR_STORE(own + c, 0u);
  WAIT_STORES();
  FENCE_BEFORE();
  TENSOR_FACTORS(true);
  if (!faulty) FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, true);  // FAULT tensor_no_fence_after_the_barrier
    TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 0;
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_no_fence_after_the_barrier, "async-order")

template <bool faulty>
__global__ void tensor_factor_overwritten(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, false);  // FAULT tensor_factor_overwritten
    TENSOR_COMMIT(&bar);
  }
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  tile[threadIdx.x] = 0;  // FAULT tensor_factor_overwritten
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 0;
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_factor_overwritten, "race")

template <bool faulty>
__global__ void tensor_factors_without_a_proxy_fence(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(!faulty);
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, false);  // FAULT tensor_factors_without_a_proxy_fence
    TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 0;
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_factors_without_a_proxy_fence, "missing-proxy-fence")

// The first product of a sum must have enable-input-d false.
template <bool faulty>
__global__ void tensor_first_product_adds(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k)
      TENSOR_MULTIPLY(tm, a, b, kind, faulty || k != 0);  // FAULT tensor_first_product_adds
    TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 0;
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_first_product_adds, "uninitialised")

template <bool faulty>
__global__ void tensor_descriptor_of_hopper(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    const unsigned long long of = faulty ? a & ~(1ull << 46) : a;
    TENSOR_MULTIPLY(tm, of, b, kind, false);  // FAULT tensor_descriptor_of_hopper
    TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 0;
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_descriptor_of_hopper, "invalid-instruction")

template <bool faulty>
__global__ void tensor_lanes_of_another_warp(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_STORE(faulty ? tm : own, threadIdx.x);  // FAULT tensor_lanes_of_another_warp
  WAIT_STORES();
  y[threadIdx.x] = 0;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_lanes_of_another_warp, "invalid-instruction")

template <bool faulty>
__global__ void tensor_past_the_columns(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_STORE(own + kColumns - !faulty, threadIdx.x);  // FAULT tensor_past_the_columns
  WAIT_STORES();
  y[threadIdx.x] = 0;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_past_the_columns, "out-of-bounds")

template <bool faulty>
__global__ void tensor_column_never_written(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_STORE(own, threadIdx.x);
  WAIT_STORES();
  unsigned r;
  TENSOR_LOAD(r, own + faulty);
  WAIT_LOADS(r);
  y[threadIdx.x] = r + 1;  // FAULT tensor_column_never_written
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_column_never_written, "uninitialised")

template <bool faulty>
__global__ void tensor_never_freed(unsigned* y) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    ALLOCATE(&base, kColumns);  // FAULT tensor_never_freed
    __syncwarp();
    if (!faulty) FREE(base, kColumns);
  }
  y[threadIdx.x] = 0;
}
PAIR_ON_ONE_BLOCK(tensor_never_freed, "invalid-instruction")

template <bool faulty>
__global__ void tensor_used_after_it_was_freed(unsigned* y) {
  TENSOR_BLOCK();
  if (faulty) {
    if (first_warp) FREE(tm, kColumns);
    __syncthreads();
  }
  TENSOR_STORE(own, threadIdx.x);  // FAULT tensor_used_after_it_was_freed
  WAIT_STORES();
  y[threadIdx.x] = 0;
  if (!faulty) {
    TENSOR_END();
  }
}
PAIR_ON_ONE_BLOCK(tensor_used_after_it_was_freed, "use-after-free")

template <bool faulty>
__global__ void tensor_allocated_without_the_permit(unsigned* y) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    if (faulty) RELINQUISH();
    ALLOCATE(&base, kColumns);  // FAULT tensor_allocated_without_the_permit
    if (!faulty) RELINQUISH();
    __syncwarp();
    FREE(base, kColumns);
  }
  y[threadIdx.x] = 0;
}
PAIR_ON_ONE_BLOCK(tensor_allocated_without_the_permit, "invalid-instruction")

template <bool faulty>
__global__ void tensor_freed_under_a_product(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  if (!faulty) WAIT_PHASE(&bar, 0);
  FENCE_BEFORE();
  __syncthreads();
  FENCE_AFTER();
  if (first_warp) FREE(tm, kColumns);  // FAULT tensor_freed_under_a_product
  y[threadIdx.x] = 0;
}
PAIR_ON_ONE_BLOCK(tensor_freed_under_a_product, "async-order")

// One thread waits for the factors and multiplies them: the reads belong to that thread.
template <bool faulty>
__global__ void tensor_factors_not_waited_for(unsigned* y) {
  TENSOR_BLOCK();
  __shared__ __align__(128) Half tile[kA + kB];
  __shared__ unsigned long long full;
  constexpr unsigned kBytes = sizeof tile;
  if (threadIdx.x == 0) {
    INIT(&full, 1);
    EXPECT(&full, kBytes);
    BULK_LOAD(tile, y, kBytes, &full);  // FAULT tensor_factors_not_waited_for
    if (!faulty) WAIT_PHASE(&full, 0);
    const auto a = tensor_descriptor(tile, 2048), b = tensor_descriptor(tile + kA, 16 * kWide);
    TENSOR_MULTIPLY(tm, a, b, product_of(kWide), false);  // FAULT tensor_factors_not_waited_for
    TENSOR_COMMIT(&bar);
    WAIT_PHASE(&full, 0);
  }
  WAIT_PHASE(&bar, 0);
  FENCE_AFTER();
  TENSOR_END();
}
PAIR(tensor_factors_not_waited_for, "race") {
  Buffer<unsigned> y((kA + kB) / 2, 0);
  tensor_factors_not_waited_for<faulty><<<1, 128>>>(y);
}

}  // namespace
