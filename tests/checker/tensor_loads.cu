// Pairs that misuse loads through tensor maps: data read too early, wrong byte counts, and invalid
// maps, boxes and addresses.
#include "tests/checker/checker.h"
#include "tests/checker/tensor_copies.cuh"

namespace {

template <bool faulty>
__global__ void tensor_data_before_its_phase(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x == 0) {
    LOAD_BOX(tile, &map, 0, 0, &bar);  // FAULT tensor_data_before_its_phase
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT tensor_data_before_its_phase
}
PAIR_FROM_TENSOR(tensor_data_before_its_phase, "race", 128)

// The bytes of a box outside the tensor count towards the mbarrier's transaction too.
template <bool faulty>
__global__ void tensor_bytes_of_what_is_inside(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? kBoxBytes + 16 : kBoxBytes);
    TENSOR_LOAD(tile, &map, 0, -2, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT tensor_bytes_of_what_is_inside
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_FROM_TENSOR(tensor_bytes_of_what_is_inside, "deadlock", 128)

// The elected lane copies; lane 0 expects the bytes, as in CUTLASS. All GPUs elect lane 0.
template <bool faulty>
__global__ void elected_lane_is_lane_0(const int* x, int* y) {
  __shared__ __align__(16) int tile[32];
  SHARED_BARRIER(bar, 1);
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, -1; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  if (elected) {
    if (threadIdx.x == (faulty ? 31 : 0)) EXPECT(&bar, 128);
    BULK_LOAD(tile, x, 128, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT elected_lane_is_lane_0
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON_TWO(elected_lane_is_lane_0, "deadlock", (1, 32), Buffer<int>(32, 1), Buffer<int>(32))

// Dynamic shared memory starts behind the static variables, at its declared alignment; the tile of
// a tensor copy needs 128 bytes.
template <bool faulty>
__global__ void dynamic_tile_without_alignment(const __grid_constant__ CUtensorMap map, int* y) {
  extern __shared__ __align__(16) unsigned char tile_and_more[];
  __shared__ __align__(8) unsigned long long bar;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile_and_more));
  int* const tile = reinterpret_cast<int*>(tile_and_more + (faulty ? 0 : (128 - at % 128) % 128));
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    LOAD_BOX(tile, &map, 0, 0, &bar);  // FAULT dynamic_tile_without_alignment
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(dynamic_tile_without_alignment, "misaligned") {
  Buffer<int> x(kWidth * kHeight, 1), y(128);
  dynamic_tile_without_alignment<faulty><<<1, 128, kBoxBytes + 128>>>(map_of(x), y);
}

template <bool faulty>
__global__ void tensor_map_that_is_none(const CUtensorMap* map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  LOAD_BOX(tile, map, 0, 0, &bar);  // FAULT tensor_map_that_is_none
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
  LOAD_BOX(tile, map, 0, 0, &bar);  // FAULT tensor_map_misaligned
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
  LOAD_BOX(tile + (faulty ? 16 : 32), &map, 0, 0, &bar);  // FAULT tensor_box_misaligned
  WAIT_PHASE(&bar, 0);
  *y = tile[32];
}
PAIR_FROM_TENSOR(tensor_box_misaligned, "misaligned", 1)

template <bool faulty>
__global__ void tensor_box_past_its_array(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[faulty ? kBoxBytes / 4 - 32 : kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  LOAD_BOX(tile, &map, 0, 0, &bar);  // FAULT tensor_box_past_its_array
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR_FROM_TENSOR(tensor_box_past_its_array, "out-of-bounds", 1)

template <bool faulty>
__global__ void tensor_larger_than_its_memory(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  LOAD_BOX(tile, &map, 0, kHeight - 2, &bar);  // FAULT tensor_larger_than_its_memory
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR(tensor_larger_than_its_memory, "out-of-bounds") {
  Buffer<int> x(kWidth * kHeight, 1), y(1);
  tensor_larger_than_its_memory<faulty><<<1, 1>>>(map_of(x, faulty ? 2 * kHeight : kHeight), y);
}

// The innermost coordinate must be a multiple of 16 bytes.
template <bool faulty>
__global__ void tensor_coordinate_between_pieces(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  __shared__ unsigned long long bar;
  INIT(&bar, 1);
  LOAD_BOX(tile, &map, faulty ? 2 : 4, 0, &bar);  // FAULT tensor_coordinate_between_pieces
  WAIT_PHASE(&bar, 0);
  *y = tile[0];
}
PAIR_FROM_TENSOR(tensor_coordinate_between_pieces, "invalid-instruction", 1)

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
PAIR_FROM_TENSOR(tensor_of_another_rank, "invalid-instruction", 1)

// The parity of the preceding phase, which is complete: the wait returns at once.
template <bool faulty>
__global__ void tensor_wait_for_the_other_parity(const __grid_constant__ CUtensorMap map, int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x == 0) {
    LOAD_BOX(tile, &map, 0, 0, &bar);  // FAULT tensor_wait_for_the_other_parity
  }
  WAIT_PHASE(&bar, faulty ? 1 : 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT tensor_wait_for_the_other_parity
}
PAIR_FROM_TENSOR(tensor_wait_for_the_other_parity, "race", 128)

// A box is loaded while slower threads still read the previous box.
template <bool faulty>
__global__ void tensor_box_before_its_readers_are_done(const __grid_constant__ CUtensorMap map,
                                                       int* y) {
  __shared__ __align__(128) int tile[kBoxBytes / 4];
  SHARED_BARRIER(bar, 1);
  int sum = 0;
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x == 0) {
      LOAD_BOX(tile, &map, 0, 4 * turn, &bar);  // FAULT tensor_box_before_its_readers_are_done
    }
    WAIT_PHASE(&bar, turn);
    __syncthreads();
    sum += tile[threadIdx.x];  // FAULT tensor_box_before_its_readers_are_done
    if (!faulty) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR_FROM_TENSOR(tensor_box_before_its_readers_are_done, "race", 128)

// A multicast to a block whose mbarrier may not be initialised yet.
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
