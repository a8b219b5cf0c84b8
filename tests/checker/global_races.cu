// Pairs of races in global memory: between blocks, between warps of a block, and between lanes.
// Synchronisation between blocks is in grid_order.cu.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// Every block writes the same words.
template <bool faulty>
__global__ void blocks_share_an_array(int* y) {
  // FAULT blocks_share_an_array
  y[faulty ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}
PAIR_ON(blocks_share_an_array, "race", (4, 32), Buffer<int>(128))

// All blocks use one scratch array.
template <bool faulty>
__global__ void scratch_of_the_grid(const int* x, int* scratch, int* y) {
  int* const s = scratch + (faulty ? 0 : blockIdx.x * blockDim.x);
  // FAULT scratch_of_the_grid
  s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + blockIdx.x;
  __syncthreads();
  // FAULT scratch_of_the_grid
  y[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
PAIR(scratch_of_the_grid, "race") {
  Buffer<int> x(128, 1), scratch(128), y(128);
  scratch_of_the_grid<faulty><<<2, 64>>>(x, scratch, y);
}

// A counter incremented without an atomic.
template <bool faulty>
__global__ void plain_counter(int* count) {
  if (threadIdx.x != 0) return;
  if (faulty) {
    *count = *count + 1;  // FAULT plain_counter
  } else {
    atomicAdd(count, 1);
  }
}
PAIR_ON(plain_counter, "race", (8, 32), Buffer<int>(1, 0))

// Neighbouring blocks exchange their edges without a grid barrier.
template <bool faulty>
__global__ void halo_in_place(int* x, const int* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const int left = (faulty ? x : from)[(i + n - 1) % n];  // FAULT halo_in_place
  x[i] = left + 1;                                        // FAULT halo_in_place
}
PAIR_ON_TWO(halo_in_place, "race", (4, 32), Buffer<int>(128, 1), Buffer<int>(128, 1))

// Only the edge between blocks is shared: a block reads an element that its neighbour writes.
template <bool faulty>
__global__ void reads_the_next_block(int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i;  // FAULT reads_the_next_block
  __syncthreads();
  const int next = faulty ? (i + 1) % n : blockIdx.x * blockDim.x + (threadIdx.x + 1) % blockDim.x;
  y[i] = x[next];  // FAULT reads_the_next_block
}
PAIR_ON_TWO(reads_the_next_block, "race", (4, 32), Buffer<int>(128), Buffer<int>(128))

// Several blocks execute atomicAdd of block scope on one word.
template <bool faulty>
__global__ void block_scope_atomic(int* count) {
  if (faulty) {
    atomicAdd_block(count, 1);  // FAULT block_scope_atomic
  } else {
    atomicAdd_block(count + blockIdx.x, 1);
  }
}
PAIR_ON(block_scope_atomic, "race", (4, 32), Buffer<int>(4, 0))

template <bool faulty>
__global__ void block_scope_builtin(int* count) {
  if (faulty) {
    // FAULT block_scope_builtin
    __nv_atomic_fetch_add(count, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  } else {
    __nv_atomic_fetch_add(count, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
}
PAIR_ON(block_scope_builtin, "race", (4, 32), Buffer<int>(1, 0))

// One block zeroes the bins while all blocks add to them.
template <bool faulty>
__global__ void zeroed_by_the_first_block(int* bins) {
  if (faulty && blockIdx.x == 0) bins[threadIdx.x] = 0;  // FAULT zeroed_by_the_first_block
  __syncthreads();
  atomicAdd(bins + threadIdx.x, 1);  // FAULT zeroed_by_the_first_block
}
PAIR_ON(zeroed_by_the_first_block, "race", (4, 32), Buffer<int>(32, 0))

// One block zeroes bins in global memory and adds to them, without a barrier in between.
template <bool faulty>
__global__ void zeroing_without_barrier(int* bins) {
  bins[threadIdx.x] = 0;  // FAULT zeroing_without_barrier
  if (!faulty) __syncthreads();
  atomicAdd(bins + (threadIdx.x + 32) % 64, 1);  // FAULT zeroing_without_barrier
}
PAIR_ON(zeroing_without_barrier, "race", (1, 64), Buffer<int>(64, 0))

// A race between the warps of one block.
template <bool faulty>
__global__ void warps_of_a_block(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;  // FAULT warps_of_a_block
  if (!faulty) __syncthreads();
  y[threadIdx.x] = x[63 - threadIdx.x];  // FAULT warps_of_a_block
}
PAIR_ON_TWO(warps_of_a_block, "race", (1, 64), Buffer<int>(64, 0), Buffer<int>(64))

// A race between the lanes of one warp, hidden if they execute in lock-step.
template <bool faulty>
__global__ void lanes_of_a_warp(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;  // FAULT lanes_of_a_warp
  if (!faulty) __syncwarp();
  y[threadIdx.x] = x[31 - threadIdx.x];  // FAULT lanes_of_a_warp
}
PAIR_ON_TWO(lanes_of_a_warp, "race", (1, 32), Buffer<int>(32, 0), Buffer<int>(32))

// Two lanes write one word in one instruction.
template <bool faulty>
__global__ void one_word_many_lanes(int* y) {
  y[faulty ? threadIdx.x / 2 : threadIdx.x] = threadIdx.x;  // FAULT one_word_many_lanes
}
PAIR_ON(one_word_many_lanes, "race", (1, 32), Buffer<int>(32))

// All threads write the same value: legal, and reported as information.
template <bool faulty>
__global__ void same_value(int* y) {
  *y = faulty ? static_cast<int>(blockIdx.x) : 7;  // FAULT same_value
}
PAIR_WITH_INFORMATION(same_value, "race") {
  Buffer<int> y(1);
  same_value<faulty><<<4, 32>>>(y);
}

template <bool faulty>
__global__ void same_flag(const int* x, int* found) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] == 5)
    // FAULT same_flag
    *found = faulty ? static_cast<int>(threadIdx.x) + 1 : 1;
}
PAIR_WITH_INFORMATION(same_flag, "race") {
  Buffer<int> x(128, 0), found(1, 0);
  int fives[128];
  for (int i = 0; i < 128; ++i) fives[i] = i % 9 == 0 ? 5 : 1;
  cudaMemcpy(x, fives, sizeof fives, cudaMemcpyHostToDevice);
  same_flag<faulty><<<4, 32>>>(x, found);
}

// Elements of one byte: writes to neighbouring bytes of a word do not race.
template <bool faulty>
__global__ void bytes_of_a_word(unsigned char* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[faulty ? i / 2 : i] = static_cast<unsigned char>(i);  // FAULT bytes_of_a_word
}
PAIR_ON(bytes_of_a_word, "race", (5, 50), Buffer<unsigned char>(256))

// A wide store overlaps a narrow store of another block.
template <bool faulty>
__global__ void wide_and_narrow(int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *reinterpret_cast<int4*>(y) = make_int4(1, 2, 3, 4);  // FAULT wide_and_narrow
  } else {
    y[faulty ? 3 : 4] = 5;  // FAULT wide_and_narrow
  }
}
PAIR_ON(wide_and_narrow, "race", (2, 32), Buffer<int>(8))

// A __device__ variable, shared by all blocks.
__device__ int shared_by_all[32];
template <bool faulty>
__global__ void device_variable(int* y) {
  // FAULT device_variable
  if (faulty || blockIdx.x == 0) shared_by_all[threadIdx.x] = blockIdx.x + threadIdx.x;
  __syncthreads();
  // FAULT device_variable
  if (faulty || blockIdx.x == 0) y[blockIdx.x * 32 + threadIdx.x] = shared_by_all[31 - threadIdx.x];
}
PAIR_ON(device_variable, "race", (2, 32), Buffer<int>(64))

// Grid-stride loops: each element belongs to one thread in every turn.
template <bool faulty>
__global__ void grid_stride(float* y, int n) {
  const int step = gridDim.x * blockDim.x - (faulty ? 1 : 0);
  for (int turn = 0; turn < 2; ++turn) {
    // FAULT grid_stride
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = y[i] * 2 + turn;
  }
}
PAIR_ON(grid_stride, "race", (3, 64), Buffer<float>(1000, 0), 1000)

// A plain read of a counter that other blocks increment atomically.
template <bool faulty>
__global__ void plain_read_of_a_counter(int* count, int* y) {
  if (threadIdx.x != 0) return;
  atomicAdd(count, 1);                                            // FAULT plain_read_of_a_counter
  y[blockIdx.x] = faulty ? *count : atomicAdd(count, 0);  // FAULT plain_read_of_a_counter
}
PAIR_ON_TWO(plain_read_of_a_counter, "race", (4, 32), Buffer<int>(1, 0), Buffer<int>(4))

// A histogram's atomics race with the plain normalisation by the last block.
template <bool faulty>
__global__ void normalised_too_early(float* bins) {
  atomicAdd(bins + threadIdx.x, 1.0f);                                // FAULT normalised_too_early
  if (faulty && blockIdx.x == gridDim.x - 1) bins[threadIdx.x] /= 4;  // FAULT normalised_too_early
}
PAIR_ON(normalised_too_early, "race", (4, 32), Buffer<float>(32, 0))

// Tiles of 16 columns, each written with 17 columns.
template <bool faulty>
__global__ void overlapping_tiles(float* y, int width) {
  const int x = blockIdx.x * 16 + threadIdx.x;
  // FAULT overlapping_tiles
  if (threadIdx.x < 16 + faulty && x < width) y[blockIdx.y * width + x] = blockIdx.x;
}
PAIR_ON(overlapping_tiles, "race", (dim3(4, 4), 32), Buffer<float>(64 * 4), 64)

// A work queue whose head is advanced without an atomic.
template <bool faulty>
__global__ void queue_without_atomics(unsigned* head, int* taken) {
  if (threadIdx.x != 0) return;
  unsigned i;
  if (faulty) {
    i = *head;      // FAULT queue_without_atomics
    *head = i + 1;  // FAULT queue_without_atomics
  } else {
    i = atomicAdd(head, 1u);
  }
  taken[blockIdx.x] = i;
}
PAIR_ON_TWO(queue_without_atomics, "race", (4, 32), Buffer<unsigned>(1, 0), Buffer<int>(4))

// A 16-byte atomic exchange, and a plain read of half of the slot.
template <bool faulty>
__global__ void plain_half_of_a_wide_atomic(int4* slot, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    // FAULT plain_half_of_a_wide_atomic
    asm volatile(
        "{ .reg .b128 v, o; .reg .b64 z; mov.b64 z, 1; mov.b128 v, {z, z}; atom.global.exch.b128 "
        "o, [%0], v; }" ::"l"(slot)
        : "memory");
  } else {
    y[0] = faulty ? reinterpret_cast<int*>(slot)[2] : 0;  // FAULT plain_half_of_a_wide_atomic
  }
}
PAIR_ON_TWO(plain_half_of_a_wide_atomic, "race", (2, 32), Buffer<int4>(1, 0), Buffer<int>(1))

}  // namespace
