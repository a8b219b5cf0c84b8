// Tensor Memory of pairs of blocks (.cta_group::2): one block relies on an operation of the other
// without synchronising with it.
#include "tests/checker/checker.h"
#include "tests/checker/tensor.cuh"

namespace {

#define PAIR_KERNEL(name)                                      \
  template <bool faulty>                                       \
  __global__ void __cluster_dims__(2) name(unsigned* y)
#define PRODUCT_OF_THE_PAIR()                    \
  if (issues) {                                  \
    PAIR_MULTIPLY(tm, a, b, kind, false);        \
    PAIR_COMMIT(&bar, 3);                        \
  }
#define PAIR_WAITED()                                                \
  WAIT_PHASE(&bar, 0);                                               \
  y[blockIdx.x * 128 + threadIdx.x] = 0;                             \
  FENCE_AFTER();                                                     \
  PAIR_END()

// The block that did not issue the product reads its half before the commit completes.
PAIR_KERNEL(pair_reads_before_the_commit) {
  PAIR_BLOCK();
  PRODUCT_OF_THE_PAIR();  // FAULT pair_reads_before_the_commit
  if (!faulty || !second) WAIT_PHASE(&bar, 0);
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT pair_reads_before_the_commit
  WAIT_LOADS(r);
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_reads_before_the_commit, "async-order, race")

PAIR_KERNEL(pair_reads_without_a_fence) {
  PAIR_BLOCK();
  PRODUCT_OF_THE_PAIR();
  WAIT_PHASE(&bar, 0);
  if (!faulty || !second) FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT pair_reads_without_a_fence
  WAIT_LOADS(r);
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_reads_without_a_fence, "async-order")

PAIR_KERNEL(pair_commit_to_one_block) {
  PAIR_BLOCK();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, false);
    PAIR_COMMIT(&bar, faulty ? 1 : 3);
  }
  WAIT_PHASE(&bar, 0);
  y[blockIdx.x * 128 + threadIdx.x] = 0;
  FENCE_AFTER();
  PAIR_END();  // FAULT pair_commit_to_one_block
}
PAIR_ON_A_PAIR(pair_commit_to_one_block, "deadlock")

// The product accumulates onto values that the other block has stored.
PAIR_KERNEL(pair_store_not_waited_for) {
  PAIR_BLOCK();
  for (unsigned c = 0; c < 2 * kWide; ++c) TENSOR_STORE(own + c, 0u);
  if (!faulty || !second) WAIT_STORES();
  FENCE_BEFORE();
  CLUSTER_SYNC();
  FENCE_AFTER();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, true);  // FAULT pair_store_not_waited_for
    PAIR_COMMIT(&bar, 3);
  }
  WAIT_PHASE(&bar, 0);
  if (faulty) WAIT_STORES();
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_store_not_waited_for, "async-order")

PAIR_KERNEL(pair_store_without_a_fence_before) {
  PAIR_BLOCK();
  for (unsigned c = 0; c < 2 * kWide; ++c) TENSOR_STORE(own + c, 0u);
  WAIT_STORES();
  if (!faulty || !second) FENCE_BEFORE();
  CLUSTER_SYNC();
  FENCE_AFTER();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, true);  // FAULT pair_store_without_a_fence_before
    PAIR_COMMIT(&bar, 3);
  }
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_store_without_a_fence_before, "async-order")

PAIR_KERNEL(pair_store_without_a_fence_after) {
  PAIR_BLOCK();
  for (unsigned c = 0; c < 2 * kWide; ++c) TENSOR_STORE(own + c, 0u);
  WAIT_STORES();
  FENCE_BEFORE();
  CLUSTER_SYNC();
  if (!faulty) FENCE_AFTER();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, true);  // FAULT pair_store_without_a_fence_after
    PAIR_COMMIT(&bar, 3);
  }
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_store_without_a_fence_after, "async-order")

// Executes the issuing block second, by a relaxed atomic, which does not synchronise.
#define PAIR_COMES_AFTER()                                                   \
  __syncthreads();                                                           \
  if (threadIdx.x == 0 && second) atomicExch(y + 256, 1u);                   \
  if (issues) {                                                              \
    while (atomicAdd(y + 256, 0u) == 0) {                                    \
    }                                                                        \
  }                                                                          \
  __syncthreads()

// The issuer has synchronised with the threads of its own block only.
PAIR_KERNEL(pair_store_of_the_other_block_unordered) {
  PAIR_BLOCK();
  for (unsigned c = 0; c < 2 * kWide; ++c)
    TENSOR_STORE(own + c, 0u);  // FAULT pair_store_of_the_other_block_unordered
  WAIT_STORES();
  FENCE_BEFORE();
  PAIR_COMES_AFTER();
  if (!faulty) {
    CLUSTER_SYNC();
  }
  FENCE_AFTER();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, true);  // FAULT pair_store_of_the_other_block_unordered
    PAIR_COMMIT(&bar, 3);
  }
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_store_of_the_other_block_unordered, "race")

// The next product starts before the other block has read its half of the last result.
PAIR_KERNEL(pair_product_over_unordered_loads) {
  PAIR_BLOCK();
  PRODUCT_OF_THE_PAIR();
  WAIT_PHASE(&bar, 0);
  FENCE_AFTER();
  unsigned r;
  TENSOR_LOAD(r, own);  // FAULT pair_product_over_unordered_loads
  WAIT_LOADS(r);
  FENCE_BEFORE();
  PAIR_COMES_AFTER();
  if (!faulty) {
    CLUSTER_SYNC();
  }
  FENCE_AFTER();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, false);  // FAULT pair_product_over_unordered_loads
    PAIR_COMMIT(&bar, 3);
  }
  y[blockIdx.x * 128 + threadIdx.x] = r;
  WAIT_PHASE(&bar, 1);
  FENCE_AFTER();
  PAIR_END();
}
PAIR_ON_A_PAIR(pair_product_over_unordered_loads, "race")

PAIR_KERNEL(pair_asks_for_two_numbers) {
  __shared__ unsigned base;
  const unsigned columns = faulty && __clusterRelativeBlockRank() == 1 ? 64 : 32;
  if (threadIdx.x < 32) {
    PAIR_ALLOCATE(&base, columns);  // FAULT pair_asks_for_two_numbers
    __syncwarp();
    PAIR_FREE(base, columns);
  }
  y[blockIdx.x * 128 + threadIdx.x] = 0;
  CLUSTER_SYNC();
}
PAIR_ON_A_PAIR(pair_asks_for_two_numbers, "invalid-instruction")

PAIR_KERNEL(pair_frees_in_one_block) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    PAIR_ALLOCATE(&base, 32);  // FAULT pair_frees_in_one_block
    __syncwarp();
    if (!faulty || __clusterRelativeBlockRank() == 0) PAIR_FREE(base, 32);
  }
  y[blockIdx.x * 128 + threadIdx.x] = 0;
  CLUSTER_SYNC();
}
PAIR_ON_A_PAIR(pair_frees_in_one_block, "invalid-instruction")

PAIR_KERNEL(pair_of_which_one_allocates) {
  __shared__ unsigned base;
  if (threadIdx.x < 32 && (!faulty || __clusterRelativeBlockRank() == 0)) {
    PAIR_ALLOCATE(&base, 32);  // FAULT pair_of_which_one_allocates
    __syncwarp();
    PAIR_FREE(base, 32);
  }
  y[blockIdx.x * 128 + threadIdx.x] = 0;
}
PAIR_ON_A_PAIR(pair_of_which_one_allocates, "invalid-instruction")

PAIR_KERNEL(pair_uses_both_groups) {
  PAIR_BLOCK();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, false);
    if (faulty) {
      TENSOR_COMMIT(&bar);  // FAULT pair_uses_both_groups
    } else {
      PAIR_COMMIT(&bar, 3);
    }
  }
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_uses_both_groups, "invalid-instruction")

template <bool faulty>
__global__ void pair_without_a_cluster(unsigned* y) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    PAIR_ALLOCATE(&base, 32);  // FAULT pair_without_a_cluster
    __syncwarp();
    PAIR_FREE(base, 32);
  }
  y[blockIdx.x * 128 + threadIdx.x] = 0;
}
PAIR(pair_without_a_cluster, "invalid-instruction") {
  Buffer<unsigned> y(256);
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 128;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = faulty ? 1 : 2;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, pair_without_a_cluster<faulty>, static_cast<unsigned*>(y));
}

// Each block holds half of B. The second overwrites its half while the product reads it.
PAIR_KERNEL(pair_factor_of_the_other_block_overwritten) {
  PAIR_BLOCK();
  if (issues) {
    PAIR_MULTIPLY(tm, a, b, kind, false);  // FAULT pair_factor_of_the_other_block_overwritten
    PAIR_COMMIT(&bar, 3);
  }
  CLUSTER_SYNC();
  if (!faulty) WAIT_PHASE(&bar, 0);
  if (second)
    tile[kA + threadIdx.x] = 0;  // FAULT pair_factor_of_the_other_block_overwritten
  CLUSTER_SYNC();
  PAIR_WAITED();
}
PAIR_ON_A_PAIR(pair_factor_of_the_other_block_overwritten, "race")

}  // namespace
