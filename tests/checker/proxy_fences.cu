// Pairs with missing or early fences between the generic and the async proxy.
#include "tests/checker/checker.h"
#include "tests/checker/tensor_copies.cuh"

namespace {

template <bool faulty>
__global__ void tensor_store_without_a_proxy_fence(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;  // FAULT tensor_store_without_a_proxy_fence
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE_BOX(&map, 0, 0, tile);  // FAULT tensor_store_without_a_proxy_fence
  }
}
PAIR_ON_TENSOR(tensor_store_without_a_proxy_fence, "missing-proxy-fence", 128)

template <bool faulty>
__global__ void bulk_store_without_a_proxy_fence(int* y) {
  __shared__ __align__(16) int tile[128];
  tile[threadIdx.x] = threadIdx.x;  // FAULT bulk_store_without_a_proxy_fence
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, tile, 512);  // FAULT bulk_store_without_a_proxy_fence
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR_ON(bulk_store_without_a_proxy_fence, "missing-proxy-fence", (1, 128), Buffer<int>(128))

// The copy overwrites the result of ordinary stores without reading it. It still needs the fence:
// otherwise either value may remain.
template <bool faulty>
__global__ void tensor_load_over_ordinary_stores(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  tile[threadIdx.x] = 0;  // FAULT tensor_load_over_ordinary_stores
  if (!faulty) PROXY_FENCE();
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    LOAD_BOX(tile, &map, 0, 0, &bar);  // FAULT tensor_load_over_ordinary_stores
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_FROM_TENSOR(tensor_load_over_ordinary_stores, "missing-proxy-fence", 128)

// A pipeline that only reads a copied tile needs no proxy fence before the next copy. If threads
// also store to the tile, it does.
template <bool faulty>
__global__ void tensor_load_over_what_was_changed(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  SHARED_BARRIER(bar, 1);
  int sum = 0;
  for (unsigned turn = 0; turn < 3; ++turn) {
    if (threadIdx.x == 0) {
      LOAD_BOX(tile, &map, 0, 0, &bar);  // FAULT tensor_load_over_what_was_changed
    }
    WAIT_PHASE(&bar, turn % 2);
    sum += tile[threadIdx.x];
    if (faulty) tile[threadIdx.x] = sum;  // FAULT tensor_load_over_what_was_changed
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR_FROM_TENSOR(tensor_load_over_what_was_changed, "missing-proxy-fence", 128)

// DeepGEMM 389. With strict-proxies the fence is also required after mere reads.
template <bool faulty>
__device__ void reads_between_loads(const CUtensorMap* map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  SHARED_BARRIER(bar, 1);
  int sum = 0;
  for (unsigned turn = 0; turn < 3; ++turn) {
    if (threadIdx.x == 0) {
      // FAULT tensor_load_over_what_was_read tensor_load_over_what_a_cluster_read
      LOAD_BOX(tile, map, 0, 0, &bar);
    }
    WAIT_PHASE(&bar, turn % 2);
    sum += tile[threadIdx.x];
    if (!faulty) PROXY_FENCE();
    __syncthreads();
    if (!faulty && gridDim.x == 1 && threadIdx.x == 0) {  // reads the tile in the async proxy
      TENSOR_STORE(map, 0, 0, tile);
      BULK_COMMIT();
      BULK_WAIT_WRITTEN();
    }
  }
  y[threadIdx.x] = sum;
}
template <bool faulty>
__global__ void tensor_load_over_what_was_read(const __grid_constant__ CUtensorMap map, int* y) {
  reads_between_loads<faulty>(&map, y);
}
PAIR(tensor_load_over_what_was_read, "missing-proxy-fence") {
  const StrictProxies strict;
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_load_over_what_was_read<faulty><<<1, 128>>>(map_of(x), y);
}

template <bool faulty>
__global__ void __cluster_dims__(2)
    tensor_load_over_what_a_cluster_read(const __grid_constant__ CUtensorMap map, int* y) {
  reads_between_loads<faulty>(&map, y + 128 * blockIdx.x);
}
PAIR(tensor_load_over_what_a_cluster_read, "missing-proxy-fence") {
  const StrictProxies strict;
  Buffer<int> x(kWidth * kHeight, 1), y(256);
  tensor_load_over_what_a_cluster_read<faulty><<<2, 128>>>(map_of(x), y);
}

// A proxy fence before the barrier does not cover the other threads' stores.
template <bool faulty>
__global__ void proxy_fence_before_the_barrier(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;  // FAULT proxy_fence_before_the_barrier
  if (faulty && threadIdx.x == 0) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!faulty) PROXY_FENCE();
    STORE_BOX(&map, 0, 0, tile);  // FAULT proxy_fence_before_the_barrier
  }
}
PAIR_ON_TENSOR(proxy_fence_before_the_barrier, "missing-proxy-fence", 128)

// A fence after the stores and before the copy. A relaxed flag does not order it.
template <bool faulty>
__global__ void proxy_fence_that_nothing_orders(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ int fenced;
  if (threadIdx.x == 0) fenced = 0;
  tile[threadIdx.x] = threadIdx.x;  // FAULT proxy_fence_that_nothing_orders
  __syncthreads();
  if (threadIdx.x == 0) {
    PROXY_FENCE();
    *static_cast<volatile int*>(&fenced) = 1;
  }
  if (!faulty) __syncthreads();
  if (threadIdx.x == 96) {
    while (*static_cast<volatile int*>(&fenced) == 0) {
    }
    STORE_BOX(&map, 0, 0, tile);  // FAULT proxy_fence_that_nothing_orders
  }
}
PAIR_ON_TENSOR(proxy_fence_that_nothing_orders, "missing-proxy-fence", 128)

// In a loop, the stores of every turn need a fence.
template <bool faulty>
__global__ void proxy_fence_in_the_first_turn(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  for (int turn = 0; turn < 2; ++turn) {
    tile[threadIdx.x] = threadIdx.x + turn;  // FAULT proxy_fence_in_the_first_turn
    if (!faulty || turn == 0) PROXY_FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
      STORE_BOX(&map, 0, 4 * turn, tile);  // FAULT proxy_fence_in_the_first_turn
    }
    __syncthreads();
  }
}
PAIR_ON_TENSOR(proxy_fence_in_the_first_turn, "missing-proxy-fence", 128)

// The kernel itself writes a tensor map to global memory.
template <bool faulty>
__global__ void tensor_map_without_its_fence(const __grid_constant__ CUtensorMap map,
                                             CUtensorMap* copy, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  // FAULT tensor_map_without_its_fence
  reinterpret_cast<int*>(copy)[threadIdx.x] = reinterpret_cast<const int*>(&map)[threadIdx.x];
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    if (!faulty)
      asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
    LOAD_BOX(tile, copy, 0, 0, &bar);  // FAULT tensor_map_without_its_fence
    WAIT_PHASE(&bar, 0);
    *y = tile[0];
  }
}
PAIR(tensor_map_without_its_fence, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  Buffer<CUtensorMap> copy(1);
  tensor_map_without_its_fence<faulty><<<1, 32>>>(map_of(x), copy, y);
}

template <bool faulty>
__global__ void tensor_reduction_without_a_proxy_fence(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;  // FAULT tensor_reduction_without_a_proxy_fence
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_REDUCE("add", &map, 0, 0, tile);  // FAULT tensor_reduction_without_a_proxy_fence
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR_ON_TENSOR(tensor_reduction_without_a_proxy_fence, "missing-proxy-fence", 128)

}  // namespace
