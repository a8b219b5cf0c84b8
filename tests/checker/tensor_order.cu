// Tensor Memory: the order of copies, shifts, loads, stores and products. Four warps; thread 0
// issues all single-thread instructions.
#include "tests/checker/checker.h"
#include "tests/checker/tensor.cuh"

namespace {

// All warps store to eight columns from `first` on, fenced for a product by thread 0.
#define TENSOR_FILLED(first)                                                       \
  for (unsigned c = 0; c < 8; ++c) TENSOR_STORE(own + (first) + c, 0x3c003c00u);    \
  WAIT_STORES();                                                                   \
  FENCE_BEFORE()

template <bool faulty>
__global__ void tensor_copy_read_before_the_commit(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    TENSOR_COPY(tm, a);
    TENSOR_COMMIT(&bar);
  }
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_copy_read_before_the_commit
  WAIT_LOADS(r);
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_copy_read_before_the_commit, "async-order")

template <bool faulty>
__global__ void tensor_commit_before_the_copy(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    if (faulty) TENSOR_COMMIT(&bar);
    TENSOR_COPY(tm, a);
    if (!faulty) TENSOR_COMMIT(&bar);
  }
  WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_commit_before_the_copy
  WAIT_LOADS(r);
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_commit_before_the_copy, "async-order")

template <bool faulty>
__global__ void tensor_copied_bytes_overwritten(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    TENSOR_COPY(tm, a);  // FAULT tensor_copied_bytes_overwritten
    TENSOR_COMMIT(&bar);
  }
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  tile[threadIdx.x] = 0;  // FAULT tensor_copied_bytes_overwritten
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_copied_bytes_overwritten, "race")

template <bool faulty>
__global__ void tensor_copy_without_a_proxy_fence(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(!faulty);
  if (threadIdx.x == 0) {
    TENSOR_COPY(tm, a);  // FAULT tensor_copy_without_a_proxy_fence
    TENSOR_COMMIT(&bar);
  }
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_copy_without_a_proxy_fence, "missing-proxy-fence")

template <bool faulty>
__global__ void tensor_copy_over_a_store_in_flight(unsigned* y) {
  TENSOR_BLOCK();
  if (first_warp) {
    TENSOR_STORE(own, threadIdx.x);
    if (!faulty) WAIT_STORES();
  }
  FENCE_BEFORE();
  TENSOR_FACTORS(true);
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_COPY(tm, a);  // FAULT tensor_copy_over_a_store_in_flight
    TENSOR_COMMIT(&bar);
  }
  if (faulty && first_warp) WAIT_STORES();
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_copy_over_a_store_in_flight, "async-order")

template <bool faulty>
__global__ void tensor_shift_read_before_the_commit(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FILLED(0);
  __syncthreads();
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_SHIFT(tm);
    TENSOR_COMMIT(&bar);
  }
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_shift_read_before_the_commit
  WAIT_LOADS(r);
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_shift_read_before_the_commit, "async-order")

template <bool faulty>
__global__ void tensor_shift_of_a_store_in_flight(unsigned* y) {
  TENSOR_BLOCK();
  for (unsigned c = 0; c < 8; ++c) TENSOR_STORE(own + c, threadIdx.x);
  if (!faulty) WAIT_STORES();
  FENCE_BEFORE();
  __syncthreads();
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_SHIFT(tm);  // FAULT tensor_shift_of_a_store_in_flight
    TENSOR_COMMIT(&bar);
  }
  if (faulty) WAIT_STORES();
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_shift_of_a_store_in_flight, "async-order")

// The factor A is in Tensor Memory.
template <bool faulty>
__global__ void tensor_factor_stored_and_not_waited_for(unsigned* y) {
  TENSOR_BLOCK();
  for (unsigned c = 0; c < 8; ++c) TENSOR_STORE(own + 32 + c, 0x3c003c00u);
  if (!faulty) WAIT_STORES();
  FENCE_BEFORE();
  TENSOR_FACTORS(true);
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    // FAULT tensor_factor_stored_and_not_waited_for
    TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16", tm, tm + 32, b, kind,
                              false);
    TENSOR_COMMIT(&bar);
  }
  if (faulty) WAIT_STORES();
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_factor_stored_and_not_waited_for, "async-order")

template <bool faulty>
__global__ void tensor_factor_stored_over(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FILLED(32);
  TENSOR_FACTORS(true);
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16", tm, tm + 32, b, kind, false);
    TENSOR_COMMIT(&bar);
  }
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  TENSOR_STORE(own + 32, 0u);  // FAULT tensor_factor_stored_over
  WAIT_STORES();
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_factor_stored_over, "async-order")

template <bool faulty>
__global__ void tensor_accumulator_stored_over(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  if (!faulty) WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  TENSOR_STORE(own, 0u);  // FAULT tensor_accumulator_stored_over
  WAIT_STORES();
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_accumulator_stored_over, "async-order")

// The product of the next tile starts before the previous result has been read.
template <bool faulty>
__global__ void tensor_product_over_loads_in_flight(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  WAIT_PHASE(&bar, 0);
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);
  if (!faulty) WAIT_LOADS(r);
  FENCE_BEFORE();
  __syncthreads();
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, false);  // FAULT tensor_product_over_loads_in_flight
    TENSOR_COMMIT(&bar);
  }
  if (faulty) WAIT_LOADS(r);
  y[threadIdx.x] = r;
  WAIT_PHASE(&bar, 1);
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_product_over_loads_in_flight, "async-order")

template <bool faulty>
__global__ void tensor_product_over_loads_without_a_fence(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  WAIT_PHASE(&bar, 0);
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);
  WAIT_LOADS(r);
  if (!faulty) FENCE_BEFORE();
  __syncthreads();
  FENCE_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, false);  // FAULT tensor_product_over_loads_without_a_fence
    TENSOR_COMMIT(&bar);
  }
  y[threadIdx.x] = r;
  WAIT_PHASE(&bar, 1);
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_product_over_loads_without_a_fence, "async-order")

template <bool faulty>
__global__ void tensor_second_phase_not_waited_for(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  TENSOR_PRODUCT(true);
  WAIT_PHASE(&bar, faulty ? 0 : 1);  // FAULT tensor_second_phase_not_waited_for
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_second_phase_not_waited_for
  WAIT_LOADS(r);
  WAIT_PHASE(&bar, 1);
  y[threadIdx.x] = r;
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_second_phase_not_waited_for, "async-order, deadlock")

// A wait for the parity of the preceding phase returns at once.
template <bool faulty>
__global__ void tensor_wrong_parity(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  TENSOR_PRODUCT(false);
  WAIT_PHASE(&bar, faulty ? 1 : 0);  // FAULT tensor_wrong_parity
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_wrong_parity
  WAIT_LOADS(r);
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_wrong_parity, "async-order, deadlock")

// A commit covers only the operations of the thread that executes it.
template <bool faulty>
__global__ void tensor_commit_by_another_thread(unsigned* y) {
  TENSOR_BLOCK();
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) TENSOR_MULTIPLY(tm, a, b, kind, false);
  if (faulty) __syncthreads();
  if (threadIdx.x == (faulty ? 32 : 0)) TENSOR_COMMIT(&bar);
  WAIT_PHASE(&bar, 0);
  __syncthreads();
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT tensor_commit_by_another_thread
  WAIT_LOADS(r);
  y[threadIdx.x] = r;
  if (faulty && threadIdx.x == 0) TENSOR_COMMIT(&bar);
  if (faulty) WAIT_PHASE(&bar, 1);
  FENCE_AFTER();
  TENSOR_END();
}
PAIR_ON_ONE_BLOCK(tensor_commit_by_another_thread, "async-order")

// Two warps accumulate in the same columns without synchronisation.
template <bool faulty>
__global__ void tensor_products_of_two_warps(unsigned* y) {
  TENSOR_BLOCK();
  __shared__ unsigned long long second;
  if (threadIdx.x == 0) INIT(&second, 1);
  TENSOR_FACTORS(true);
  if (threadIdx.x == 0) {
    TENSOR_MULTIPLY(tm, a, b, kind, false);  // FAULT tensor_products_of_two_warps
    TENSOR_COMMIT(&bar);
  }
  if (!faulty) WAIT_PHASE(&bar, 0);
  if (!faulty) FENCE_AFTER();
  if (threadIdx.x == 32) {
    TENSOR_MULTIPLY(tm, a, b, kind, false);  // FAULT tensor_products_of_two_warps
    TENSOR_COMMIT(&second);
  }
  WAIT_PHASE(&second, 0);
  TENSOR_WAITED();
}
PAIR_ON_ONE_BLOCK(tensor_products_of_two_warps, "race")

// Warps 0 and 4 access the same lanes.
template <bool faulty>
__global__ void tensor_stores_of_two_warps(unsigned* y) {
  TENSOR_BLOCK();
  const unsigned warp = threadIdx.x / 32;
  TENSOR_STORE(own + (faulty ? 0 : warp / 4), warp);  // FAULT tensor_stores_of_two_warps
  WAIT_STORES();
  y[threadIdx.x] = 0;
  TENSOR_END();
}
PAIR(tensor_stores_of_two_warps, "race") { ON_ONE_BLOCK_OF(tensor_stores_of_two_warps, 256); }

template <bool faulty>
__global__ void tensor_load_of_what_another_warp_stores(unsigned* y) {
  TENSOR_BLOCK();
  if (threadIdx.x < 128) {
    TENSOR_STORE(own, threadIdx.x);  // FAULT tensor_load_of_what_another_warp_stores
    WAIT_STORES();
    FENCE_BEFORE();
  }
  if (!faulty) __syncthreads();
  if (threadIdx.x >= 128) {
    FENCE_AFTER();
    unsigned r;
    TENSOR_LOAD(r, own);  // FAULT tensor_load_of_what_another_warp_stores
    WAIT_LOADS(r);
  }
  y[threadIdx.x] = 0;
  TENSOR_END();
}
PAIR(tensor_load_of_what_another_warp_stores, "race") {
  ON_ONE_BLOCK_OF(tensor_load_of_what_another_warp_stores, 256);
}

}  // namespace
