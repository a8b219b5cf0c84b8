// Copies through tensor maps: data used too early, bytes that are miscounted, fences between
// proxies that are missing, maps, boxes and addresses that are wrong.
#include <cuda.h>

#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;
using lockstep::checker::StrictProxies;

#define TENSOR_LOAD(to, map, x, y, bar)                                                         \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),                                        \
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))                                        \
      : "memory")
#define TENSOR_STORE(map, x, y, from)                                                           \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"( \
          map),                                                                                 \
      "r"(x), "r"(y), "r"(shared_address(from))                                                 \
      : "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

constexpr int kWidth = 32, kHeight = 8;            // of the tensor, of int
constexpr int kBoxBytes = 4 * kWidth * kHeight / 2;  // boxes are half as high

// A map of kHeight rows of kWidth int at `data`, in boxes of half the height.
CUtensorMap map_of(int* data, int height = kHeight) {
  using Encode =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                   const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                   &found);
  CUtensorMap map{};
  const cuuint64_t sizes[] = {kWidth, static_cast<cuuint64_t>(height)}, strides[] = {4 * kWidth};
  const cuuint32_t box[] = {kWidth, kHeight / 2}, steps[] = {1, 1};
  if (function != nullptr) {
    reinterpret_cast<Encode>(function)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides,
                                       box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  return map;
}

template <bool faulty>
__global__ void tensor_data_before_its_phase(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kBoxBytes);
    TENSOR_LOAD(tile, &map, 0, 0, &bar);  // FAULT tensor_data_before_its_phase
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT tensor_data_before_its_phase
}
PAIR(tensor_data_before_its_phase, "race") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_data_before_its_phase<faulty><<<1, 128>>>(map_of(x), y);
}

// What lies outside of the tensor counts, too.
template <bool faulty>
__global__ void tensor_bytes_of_what_is_inside(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? kBoxBytes + 16 : kBoxBytes);
    TENSOR_LOAD(tile, &map, 0, -2, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT tensor_bytes_of_what_is_inside
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(tensor_bytes_of_what_is_inside, "deadlock") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_bytes_of_what_is_inside<faulty><<<1, 128>>>(map_of(x), y);
}

template <bool faulty>
__global__ void tensor_store_without_a_proxy_fence(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;  // FAULT tensor_store_without_a_proxy_fence
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT tensor_store_without_a_proxy_fence
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR(tensor_store_without_a_proxy_fence, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_without_a_proxy_fence<faulty><<<1, 128>>>(map_of(x));
}

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
PAIR(bulk_store_without_a_proxy_fence, "missing-proxy-fence") {
  Buffer<int> y(128);
  bulk_store_without_a_proxy_fence<faulty><<<1, 128>>>(y);
}

// A tile is computed as a whole, also of what was never loaded: a copy may leave that out, and must
// not take it to global memory.
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
PAIR(bulk_store_of_garbage, "uninitialised") {
  Buffer<int> x(32, 1), y(32, 1);
  bulk_store_of_garbage<faulty><<<1, 32>>>(x, y, 20);
}

// The tensor ends within the box: what lies past it is not stored.
template <bool faulty>
__global__ void tensor_store_of_garbage(const __grid_constant__ CUtensorMap map, const int* x) {
  __shared__ __align__(128) int in[kBoxBytes / 4], out[kBoxBytes / 4];
  if (threadIdx.x < 3 * kWidth) in[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 3 * in[threadIdx.x];
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 0, 0, out);  // FAULT tensor_store_of_garbage
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR(tensor_store_of_garbage, "uninitialised") {
  Buffer<int> x(kWidth * kHeight, 1), y(kWidth * kHeight, 1);
  tensor_store_of_garbage<faulty><<<1, 128>>>(map_of(y, faulty ? 4 : 3), x);
}

// Every lane of a warp stores the tile, as an epilogue of CUTLASS does: the same bytes are legal,
// and reported as information.
template <bool faulty>
__global__ void tensor_store_by_every_lane(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[2][kBoxBytes / 4];
  tile[0][threadIdx.x] = threadIdx.x;
  tile[1][threadIdx.x] = -1;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x < 32) {
    TENSOR_STORE(&map, 0, 0, tile[faulty && threadIdx.x == 9]);  // FAULT tensor_store_by_every_lane
    BULK_COMMIT();
    BULK_WAIT();
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

// The elected lane copies, and counts the bytes if it is lane 0, as in CUTLASS: it is on every GPU.
template <bool faulty>
__global__ void elected_lane_is_lane_0(const int* x, int* y) {
  __shared__ __align__(16) int tile[32];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, -1; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  if (elected) {
    if (threadIdx.x == (faulty ? 31 : 0)) EXPECT(&bar, 128);
    BULK_LOAD(tile, x, 128, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT elected_lane_is_lane_0
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(elected_lane_is_lane_0, "deadlock") {
  Buffer<int> x(32, 1), y(32);
  elected_lane_is_lane_0<faulty><<<1, 32>>>(x, y);
}

// The copy does not read what the stores left, it overwrites it: which of the two stays needs the
// fence all the same.
template <bool faulty>
__global__ void tensor_load_over_ordinary_stores(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  tile[threadIdx.x] = 0;  // FAULT tensor_load_over_ordinary_stores
  if (!faulty) PROXY_FENCE();
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kBoxBytes);
    TENSOR_LOAD(tile, &map, 0, 0, &bar);  // FAULT tensor_load_over_ordinary_stores
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(tensor_load_over_ordinary_stores, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_load_over_ordinary_stores<faulty><<<1, 128>>>(map_of(x), y);
}

// A pipeline: what the threads have read before the barrier they have, and what a copy brought
// there is no store of theirs. Where they have stored as well, the fence is missing.
template <bool faulty>
__global__ void tensor_load_over_what_was_changed(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  int sum = 0;
  for (unsigned turn = 0; turn < 3; ++turn) {
    if (threadIdx.x == 0) {
      EXPECT(&bar, kBoxBytes);
      TENSOR_LOAD(tile, &map, 0, 0, &bar);  // FAULT tensor_load_over_what_was_changed
    }
    WAIT_PHASE(&bar, turn % 2);
    sum += tile[threadIdx.x];
    if (faulty) tile[threadIdx.x] = sum;  // FAULT tensor_load_over_what_was_changed
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR(tensor_load_over_what_was_changed, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_load_over_what_was_changed<faulty><<<1, 128>>>(map_of(x), y);
}

// DeepGEMM 389. With strict-proxies a fence is missing where threads have only read, too.
template <bool faulty>
__device__ void reads_between_loads(const CUtensorMap* map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  int sum = 0;
  for (unsigned turn = 0; turn < 3; ++turn) {
    if (threadIdx.x == 0) {
      EXPECT(&bar, kBoxBytes);
      // FAULT tensor_load_over_what_was_read tensor_load_over_what_a_cluster_read
      TENSOR_LOAD(tile, map, 0, 0, &bar);
    }
    WAIT_PHASE(&bar, turn % 2);
    sum += tile[threadIdx.x];
    if (!faulty) PROXY_FENCE();
    __syncthreads();
    if (!faulty && gridDim.x == 1 && threadIdx.x == 0) {  // reads the tile in the copy's own proxy
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

// The thread that copies knows nothing of the others' stores before the barrier.
template <bool faulty>
__global__ void proxy_fence_before_the_barrier(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  tile[threadIdx.x] = threadIdx.x;  // FAULT proxy_fence_before_the_barrier
  if (faulty && threadIdx.x == 0) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!faulty) PROXY_FENCE();
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT proxy_fence_before_the_barrier
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR(proxy_fence_before_the_barrier, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1);
  proxy_fence_before_the_barrier<faulty><<<1, 128>>>(map_of(x));
}

// Dynamic shared memory lies behind the static variables, at the alignment that was asked for; a
// tile wants 128 bytes.
template <bool faulty>
__global__ void dynamic_tile_without_alignment(const __grid_constant__ CUtensorMap map, int* y) {
  extern __shared__ __align__(16) unsigned char tile_and_more[];
  __shared__ __align__(8) unsigned long long bar;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile_and_more));
  int* const tile = reinterpret_cast<int*>(tile_and_more + (faulty ? 0 : (128 - at % 128) % 128));
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kBoxBytes);
    TENSOR_LOAD(tile, &map, 0, 0, &bar);  // FAULT dynamic_tile_without_alignment
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(dynamic_tile_without_alignment, "misaligned") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  dynamic_tile_without_alignment<faulty><<<1, 128, kBoxBytes + 128>>>(map_of(x), y);
}

// A fence after the stores and before the copy, of which a relaxed read of a flag says nothing.
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
    TENSOR_STORE(&map, 0, 0, tile);  // FAULT proxy_fence_that_nothing_orders
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR(proxy_fence_that_nothing_orders, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1);
  proxy_fence_that_nothing_orders<faulty><<<1, 128>>>(map_of(x));
}

// In a loop every turn's stores need their own.
template <bool faulty>
__global__ void proxy_fence_in_the_first_turn(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  for (int turn = 0; turn < 2; ++turn) {
    tile[threadIdx.x] = threadIdx.x + turn;  // FAULT proxy_fence_in_the_first_turn
    if (!faulty || turn == 0) PROXY_FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
      TENSOR_STORE(&map, 0, 4 * turn, tile);  // FAULT proxy_fence_in_the_first_turn
      BULK_COMMIT();
      BULK_WAIT();
    }
    __syncthreads();
  }
}
PAIR(proxy_fence_in_the_first_turn, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1);
  proxy_fence_in_the_first_turn<faulty><<<1, 128>>>(map_of(x));
}

// A map that the kernel itself brings into global memory.
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
    EXPECT(&bar, kBoxBytes);
    TENSOR_LOAD(tile, copy, 0, 0, &bar);  // FAULT tensor_map_without_its_fence
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
__global__ void tensor_map_that_is_none(const CUtensorMap* map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  TENSOR_LOAD(tile, map, 0, 0, &bar);  // FAULT tensor_map_that_is_none
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_map_that_is_none, "invalid-instruction") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  Buffer<CUtensorMap> maps(1, 0);
  const CUtensorMap map = map_of(x);
  if (!faulty) cudaMemcpy(maps, &map, sizeof map, cudaMemcpyHostToDevice);
  tensor_map_that_is_none<faulty><<<1, 1>>>(maps, y);
}

template <bool faulty>
__global__ void tensor_map_misaligned(const char* map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  TENSOR_LOAD(tile, map, 0, 0, &bar);  // FAULT tensor_map_misaligned
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_map_misaligned, "misaligned") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  Buffer<char> maps(256, 0);
  const CUtensorMap map = map_of(x);
  char* const place = static_cast<char*>(maps) + (faulty ? 32 : 64);
  cudaMemcpy(place, &map, sizeof map, cudaMemcpyHostToDevice);
  tensor_map_misaligned<faulty><<<1, 1>>>(place, y);
}

template <bool faulty>
__global__ void tensor_box_misaligned(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4 + 32];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  TENSOR_LOAD(tile + (faulty ? 16 : 32), &map, 0, 0, &bar);  // FAULT tensor_box_misaligned
  WAIT_PHASE(&bar, 0);
  *y = tile[32];
}
PAIR(tensor_box_misaligned, "misaligned") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  tensor_box_misaligned<faulty><<<1, 1>>>(map_of(x), y);
}

template <bool faulty>
__global__ void tensor_box_past_its_array(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[faulty ? kBoxBytes / 4 - 32 : kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  TENSOR_LOAD(tile, &map, 0, 0, &bar);  // FAULT tensor_box_past_its_array
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_box_past_its_array, "out-of-bounds") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  tensor_box_past_its_array<faulty><<<1, 1>>>(map_of(x), y);
}

template <bool faulty>
__global__ void tensor_larger_than_its_memory(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  TENSOR_LOAD(tile, &map, 0, kHeight - 2, &bar);  // FAULT tensor_larger_than_its_memory
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_larger_than_its_memory, "out-of-bounds") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  tensor_larger_than_its_memory<faulty><<<1, 1>>>(map_of(x, faulty ? 2 * kHeight : kHeight), y);
}

// The innermost coordinate counts whole 16 bytes.
template <bool faulty>
__global__ void tensor_coordinate_between_pieces(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  TENSOR_LOAD(tile, &map, faulty ? 2 : 4, 0, &bar);  // FAULT tensor_coordinate_between_pieces
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_coordinate_between_pieces, "invalid-instruction") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  tensor_coordinate_between_pieces<faulty><<<1, 1>>>(map_of(x), y);
}

// Loads may begin before the tensor, stores may not.
template <bool faulty>
__global__ void tensor_store_before_the_tensor(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  for (int i = 0; i < kBoxBytes / 4; ++i) tile[i] = i;
  PROXY_FENCE();
  TENSOR_STORE(&map, 0, faulty ? -1 : kHeight - 1, tile);  // FAULT tensor_store_before_the_tensor
  BULK_COMMIT();
  BULK_WAIT();
}
PAIR(tensor_store_before_the_tensor, "invalid-instruction") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_before_the_tensor<faulty><<<1, 1>>>(map_of(x));
}

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
PAIR(tensor_source_overwritten, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_source_overwritten<faulty><<<1, 128>>>(map_of(x));
}

// The other threads hear of the wait by no barrier.
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
PAIR(tensor_source_overwritten_by_another, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_source_overwritten_by_another<faulty><<<1, 128>>>(map_of(x));
}

// What is not committed belongs to no group, and no wait waits for it.
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
PAIR(tensor_store_not_committed, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_not_committed<faulty><<<1, 128>>>(map_of(x));
}

// Groups are a thread's own.
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
PAIR(tensor_store_waited_for_by_another, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_waited_for_by_another<faulty><<<1, 128>>>(map_of(x));
}

// Of two groups the first is done when one may be left.
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
PAIR(tensor_store_of_two_groups_the_second, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_of_two_groups_the_second<faulty><<<1, 128>>>(map_of(x));
}

#define TENSOR_LOAD_OF_A_LINE(to, map, x, bar)                                                  \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2}], [%3];" ::"r"(shared_address(to)),                                            \
      "l"(map), "r"(x), "r"(shared_address(bar))                                                \
      : "memory")
#define TENSOR_MULTICAST(to, map, x, y, bar, blocks)                                               \
  asm volatile(                                                                                    \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."          \
      "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),              \
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(static_cast<unsigned short>(blocks)) \
      : "memory")
#define TENSOR_REDUCE(op, map, x, y, from)                             \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op \
               ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),    \
               "r"(x), "r"(y), "r"(shared_address(from))               \
               : "memory")

// Boxes that have rows in common, by one thread.
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
PAIR(tensor_stores_that_overlap, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_stores_that_overlap<faulty><<<1, 128>>>(map_of(x));
}

// Two reductions come in any order; a reduction and a store to the same box do not.
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
PAIR(tensor_store_and_reduction, "race") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_store_and_reduction<faulty><<<1, 128>>>(map_of(x));
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
PAIR(tensor_reduction_without_a_proxy_fence, "missing-proxy-fence") {
  Buffer<int> x(kWidth * kHeight, 1);
  tensor_reduction_without_a_proxy_fence<faulty><<<1, 128>>>(map_of(x));
}

// Plain stores of two blocks to one box; reductions are atomic.
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

template <bool faulty>
__global__ void tensor_of_another_rank(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  EXPECT(&bar, kBoxBytes);
  if (faulty) {
    TENSOR_LOAD_OF_A_LINE(tile, &map, 0, &bar);  // FAULT tensor_of_another_rank
  } else {
    TENSOR_LOAD(tile, &map, 0, 0, &bar);
  }
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_of_another_rank, "invalid-instruction") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  tensor_of_another_rank<faulty><<<1, 1>>>(map_of(x), y);
}

// The parity of the phase before: it is over already.
template <bool faulty>
__global__ void tensor_wait_for_the_other_parity(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kBoxBytes);
    TENSOR_LOAD(tile, &map, 0, 0, &bar);  // FAULT tensor_wait_for_the_other_parity
  }
  WAIT_PHASE(&bar, faulty ? 1 : 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT tensor_wait_for_the_other_parity
}
PAIR(tensor_wait_for_the_other_parity, "race") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_wait_for_the_other_parity<faulty><<<1, 128>>>(map_of(x), y);
}

// A box comes while slower threads still read the last one.
template <bool faulty>
__global__ void tensor_box_before_its_readers_are_done(const __grid_constant__ CUtensorMap map,
                                                       int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  int sum = 0;
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x == 0) {
      EXPECT(&bar, kBoxBytes);
      TENSOR_LOAD(tile, &map, 0, 4 * turn, &bar);  // FAULT tensor_box_before_its_readers_are_done
    }
    WAIT_PHASE(&bar, turn);
    __syncthreads();
    sum += tile[threadIdx.x];  // FAULT tensor_box_before_its_readers_are_done
    if (!faulty) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR(tensor_box_before_its_readers_are_done, "race") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  tensor_box_before_its_readers_are_done<faulty><<<1, 128>>>(map_of(x), y);
}

// To a block that may not have a barrier yet.
template <bool faulty>
__global__ void __cluster_dims__(2)
    tensor_multicast_unasked(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);  // FAULT tensor_multicast_unasked
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    EXPECT(&bar, kBoxBytes);  // FAULT tensor_multicast_unasked
  }
  if (!faulty) {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  if (threadIdx.x == 0 && __clusterRelativeBlockRank() == 0) {
    TENSOR_MULTICAST(tile, &map, 0, 0, &bar, 3);  // FAULT tensor_multicast_unasked
  }
  __syncthreads();
  WAIT_PHASE(&bar, 0);
  y[128 * __clusterRelativeBlockRank() + threadIdx.x] = tile[threadIdx.x];
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
PAIR(tensor_multicast_unasked, "mbarrier-misuse, race") {
  Buffer<int> x(kWidth * kHeight, 1), y(256);
  tensor_multicast_unasked<faulty><<<2, 128>>>(map_of(x), y);
}

}  // namespace
