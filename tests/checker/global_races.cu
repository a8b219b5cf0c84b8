// Races in global memory: between blocks, between warps of a block, and the patterns that order them.
#include <cooperative_groups.h>
#include <cuda/atomic>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// Every block writes the same words.
template <bool faulty>
__global__ void blocks_share_an_array(int* y) {
  y[faulty ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;  // FAULT blocks_share_an_array
}
PAIR(blocks_share_an_array, "race") {
  Buffer<int> y(128);
  blocks_share_an_array<faulty><<<4, 32>>>(y);
}

// One scratch array for all blocks.
template <bool faulty>
__global__ void scratch_of_the_grid(const int* x, int* scratch, int* y) {
  int* const s = scratch + (faulty ? 0 : blockIdx.x * blockDim.x);
  s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + blockIdx.x;  // FAULT scratch_of_the_grid
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  // FAULT scratch_of_the_grid
}
PAIR(scratch_of_the_grid, "race") {
  Buffer<int> x(128, 1), scratch(128), y(128);
  scratch_of_the_grid<faulty><<<2, 64>>>(x, scratch, y);
}

// A counter without an atomic.
template <bool faulty>
__global__ void plain_counter(int* count) {
  if (threadIdx.x != 0) return;
  if (faulty) {
    *count = *count + 1;  // FAULT plain_counter
  } else {
    atomicAdd(count, 1);
  }
}
PAIR(plain_counter, "race") {
  Buffer<int> count(1, 0);
  plain_counter<faulty><<<8, 32>>>(count);
}

// Neighbouring blocks exchange their edges without a barrier of the grid.
template <bool faulty>
__global__ void halo_in_place(int* x, const int* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const int left = (faulty ? x : from)[(i + n - 1) % n];  // FAULT halo_in_place
  x[i] = left + 1;                                        // FAULT halo_in_place
}
PAIR(halo_in_place, "race") {
  Buffer<int> x(128, 1), from(128, 1);
  halo_in_place<faulty><<<4, 32>>>(x, from);
}

// The edge between blocks read only: a block reads what its neighbour writes.
template <bool faulty>
__global__ void reads_the_next_block(int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i;  // FAULT reads_the_next_block
  __syncthreads();
  const int next = faulty ? (i + 1) % n : blockIdx.x * blockDim.x + (threadIdx.x + 1) % blockDim.x;
  y[i] = x[next];  // FAULT reads_the_next_block
}
PAIR(reads_the_next_block, "race") {
  Buffer<int> x(128), y(128);
  reads_the_next_block<faulty><<<4, 32>>>(x, y);
}

// atomicAdd of block scope, from several blocks.
template <bool faulty>
__global__ void block_scope_atomic(int* count) {
  if (faulty) {
    atomicAdd_block(count, 1);  // FAULT block_scope_atomic
  } else {
    atomicAdd_block(count + blockIdx.x, 1);
  }
}
PAIR(block_scope_atomic, "race") {
  Buffer<int> count(4, 0);
  block_scope_atomic<faulty><<<4, 32>>>(count);
}

template <bool faulty>
__global__ void block_scope_reference(int* count) {
  if (faulty) {
    cuda::atomic_ref<int, cuda::thread_scope_block>(*count).fetch_add(1, cuda::memory_order_relaxed);  // FAULT block_scope_reference
  } else {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*count).fetch_add(1, cuda::memory_order_relaxed);
  }
}
PAIR(block_scope_reference, "race") {
  Buffer<int> count(1, 0);
  block_scope_reference<faulty><<<4, 32>>>(count);
}

// Zeroing by one block, additions by all.
template <bool faulty>
__global__ void zeroed_by_the_first_block(int* bins) {
  if (faulty && blockIdx.x == 0) bins[threadIdx.x] = 0;  // FAULT zeroed_by_the_first_block
  __syncthreads();
  atomicAdd(bins + threadIdx.x, 1);  // FAULT zeroed_by_the_first_block
}
PAIR(zeroed_by_the_first_block, "race") {
  Buffer<int> bins(32, 0);
  zeroed_by_the_first_block<faulty><<<4, 32>>>(bins);
}

// Zeroing and additions in one block, in global memory, with no barrier between.
template <bool faulty>
__global__ void zeroing_without_barrier(int* bins) {
  bins[threadIdx.x] = 0;  // FAULT zeroing_without_barrier
  if (!faulty) __syncthreads();
  atomicAdd(bins + (threadIdx.x + 32) % 64, 1);  // FAULT zeroing_without_barrier
}
PAIR(zeroing_without_barrier, "race") {
  Buffer<int> bins(64, 0);
  zeroing_without_barrier<faulty><<<1, 64>>>(bins);
}

// Between the warps of one block.
template <bool faulty>
__global__ void warps_of_a_block(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;  // FAULT warps_of_a_block
  if (!faulty) __syncthreads();
  y[threadIdx.x] = x[63 - threadIdx.x];  // FAULT warps_of_a_block
}
PAIR(warps_of_a_block, "race") {
  Buffer<int> x(64, 0), y(64);
  warps_of_a_block<faulty><<<1, 64>>>(x, y);
}

// Between the lanes of one warp: hidden as long as they run in lock-step.
template <bool faulty>
__global__ void lanes_of_a_warp(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;  // FAULT lanes_of_a_warp
  if (!faulty) __syncwarp();
  y[threadIdx.x] = x[31 - threadIdx.x];  // FAULT lanes_of_a_warp
}
PAIR(lanes_of_a_warp, "race") {
  Buffer<int> x(32, 0), y(32);
  lanes_of_a_warp<faulty><<<1, 32>>>(x, y);
}

// Two lanes, one word, one instruction.
template <bool faulty>
__global__ void one_word_many_lanes(int* y) {
  y[faulty ? threadIdx.x / 2 : threadIdx.x] = threadIdx.x;  // FAULT one_word_many_lanes
}
PAIR(one_word_many_lanes, "race") {
  Buffer<int> y(32);
  one_word_many_lanes<faulty><<<1, 32>>>(y);
}

// The same value by everybody is legal, and told.
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
  if (x[blockIdx.x * blockDim.x + threadIdx.x] == 5) *found = faulty ? static_cast<int>(threadIdx.x) + 1 : 1;  // FAULT same_flag
}
PAIR_WITH_INFORMATION(same_flag, "race") {
  Buffer<int> x(128, 0), found(1, 0);
  int fives[128];
  for (int i = 0; i < 128; ++i) fives[i] = i % 9 == 0 ? 5 : 1;
  cudaMemcpy(x, fives, sizeof fives, cudaMemcpyHostToDevice);
  same_flag<faulty><<<4, 32>>>(x, found);
}

// The last block adds up what the others left: with a fence before the ticket, and all threads' work before the fence.
template <bool faulty>
__global__ void last_block_without_fence(const int* x, int* part, unsigned* tickets, int* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = x[blockIdx.x];  // FAULT last_block_without_fence
    if (!faulty) __threadfence();
    last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = part[threadIdx.x];  // FAULT last_block_without_fence
}
PAIR(last_block_without_fence, "race") {
  Buffer<int> x(8, 1), part(8), y(8);
  Buffer<unsigned> tickets(1, 0);
  last_block_without_fence<faulty><<<8, 32>>>(x, part, tickets, y);
}

template <bool faulty>
__global__ void last_block_of_many_threads(const int* x, int* part, unsigned* tickets, int* y) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];  // FAULT last_block_of_many_threads
  if (!faulty) __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b * blockDim.x + threadIdx.x];  // FAULT last_block_of_many_threads
    y[threadIdx.x] = sum;
  }
}
PAIR(last_block_of_many_threads, "race") {
  Buffer<int> x(64, 1), part(64 * 6), y(64);
  Buffer<unsigned> tickets(1, 0);
  last_block_of_many_threads<faulty><<<6, 64>>>(x, part, tickets, y);
}

// The same with more blocks than anybody keeps apart, every thread fencing for itself.
template <bool faulty>
__global__ void last_of_many_blocks(const int* x, int* part, unsigned* tickets, int* y) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];  // FAULT last_of_many_blocks
  if (!faulty) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b * blockDim.x + threadIdx.x];  // FAULT last_of_many_blocks
    y[threadIdx.x] = sum;
  }
}
PAIR(last_of_many_blocks, "race") {
  Buffer<int> x(64, 1), part(64 * 100), y(64);
  Buffer<unsigned> tickets(1, 0);
  last_of_many_blocks<faulty><<<100, 64>>>(x, part, tickets, y);
}

// A fence that reaches the block only.
template <bool faulty>
__global__ void fence_of_the_block(int* part, unsigned* tickets, int* y) {
  if (threadIdx.x != 0) return;
  part[blockIdx.x] = 1;  // FAULT fence_of_the_block
  if (faulty) {
    __threadfence_block();
  } else {
    __threadfence();
  }
  if (atomicInc(tickets, gridDim.x) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // FAULT fence_of_the_block
    *y = sum;
  }
}
PAIR(fence_of_the_block, "race") {
  Buffer<int> part(8), y(1);
  Buffer<unsigned> tickets(1, 0);
  fence_of_the_block<faulty><<<8, 32>>>(part, tickets, y);
}

// Message passing: a flag with release and acquire.
template <bool faulty>
__global__ void message_by_release(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT message_by_release
    f.store(1, faulty ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    *y = *data;  // FAULT message_by_release
  }
}
PAIR(message_by_release, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  message_by_release<faulty><<<2, 32>>>(data, flag, y);
}

template <bool faulty>
__global__ void message_by_acquire(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT message_by_acquire
    f.store(1, cuda::memory_order_release);
  } else {
    while (f.load(faulty ? cuda::memory_order_relaxed : cuda::memory_order_acquire) == 0) {
    }
    *y = *data;  // FAULT message_by_acquire
  }
}
PAIR(message_by_acquire, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  message_by_acquire<faulty><<<2, 32>>>(data, flag, y);
}

// The older idiom: volatile flags and fences.
template <bool faulty>
__global__ void message_by_volatile(int* data, volatile int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT message_by_volatile
    if (!faulty) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *y = *data;  // FAULT message_by_volatile
  }
}
PAIR(message_by_volatile, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  message_by_volatile<faulty><<<2, 32>>>(data, flag, y);
}

// A flag that nobody else can see change: neither volatile nor atomic.
template <bool faulty>
__global__ void plain_flag(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    if (faulty) {
      *flag = 1;  // FAULT plain_flag
    } else {
      atomicExch(flag, 1);
    }
  } else {
    const int seen = faulty ? *flag : atomicAdd(flag, 0);  // FAULT plain_flag
    __threadfence();
    *y = seen != 0 ? *data : 0;
  }
}
PAIR(plain_flag, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  plain_flag<faulty><<<2, 32>>>(data, flag, y);
}

// The rest of the block reads before the waiting thread has told it to.
template <bool faulty>
__global__ void one_thread_waits(int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 42;  // FAULT one_thread_waits
    __syncthreads();
    if (threadIdx.x == 0) f.store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0) {
      while (f.load(cuda::memory_order_acquire) == 0) {
      }
    }
    if (!faulty) __syncthreads();
    y[threadIdx.x] = data[threadIdx.x];  // FAULT one_thread_waits
  }
}
PAIR(one_thread_waits, "race") {
  Buffer<int> data(64, 0), flag(1, 0), y(64);
  one_thread_waits<faulty><<<2, 64>>>(data, flag, y);
}

// A chain: each block waits for the one before it, as a decoupled look-back does.
template <bool faulty>
__global__ void chained_sum(const int* x, int* sums, int* flags) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    volatile int* const flag = flags + blockIdx.x - 1;
    while (*flag == 0) {
    }
    __threadfence();
    before = sums[blockIdx.x - 1];  // FAULT chained_sum
  }
  sums[blockIdx.x] = before + x[blockIdx.x];  // FAULT chained_sum
  if (!faulty) __threadfence();
  *static_cast<volatile int*>(flags + blockIdx.x) = 1;
}
PAIR(chained_sum, "race") {
  Buffer<int> x(40, 1), sums(40), flags(40, 0);
  chained_sum<faulty><<<40, 32>>>(x, sums, flags);
}

// A lock around a plain counter.
template <bool faulty>
__global__ void locked_counter(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count = *count + 1;  // FAULT locked_counter
  if (!faulty) __threadfence();
  atomicExch(lock, 0);
}
PAIR(locked_counter, "race") {
  Buffer<int> lock(1, 0), count(1, 0);
  locked_counter<faulty><<<6, 32>>>(lock, count);
}

// Two phases with a barrier of the grid between them.
template <bool faulty>
__global__ void grid_barrier(int* x, int* y) {
  const auto grid = cooperative_groups::this_grid();
  const int i = grid.thread_rank(), n = grid.size();
  x[i] = i;  // FAULT grid_barrier
  if (!faulty) {
    grid.sync();
  } else {
    __syncthreads();
  }
  y[i] = x[n - 1 - i];  // FAULT grid_barrier
  if (!faulty) {
    grid.sync();
    x[i] = y[n - 1 - i];
  }
}
PAIR(grid_barrier, "race") {
  Buffer<int> x(256, 0), y(256);
  int *px = x, *py = y;
  void* arguments[] = {&px, &py};
  cudaLaunchCooperativeKernel(grid_barrier<faulty>, 4, 64, arguments, 0, nullptr);
}

template <bool faulty>
__global__ void many_at_a_grid_barrier(int* x, int* y) {
  const auto grid = cooperative_groups::this_grid();
  const int i = grid.thread_rank(), n = grid.size();
  for (int round = 0; round < 3; ++round) {
    x[i] = round;  // FAULT many_at_a_grid_barrier
    grid.sync();
    y[i] = x[n - 1 - i];  // FAULT many_at_a_grid_barrier
    if (!faulty) grid.sync();
  }
}
PAIR(many_at_a_grid_barrier, "race") {
  Buffer<int> x(64 * 40, 0), y(64 * 40);
  int *px = x, *py = y;
  void* arguments[] = {&px, &py};
  cudaLaunchCooperativeKernel(many_at_a_grid_barrier<faulty>, 40, 64, arguments, 0, nullptr);
}

// Elements of a byte: neighbours in one word are no race, the same byte is one.
template <bool faulty>
__global__ void bytes_of_a_word(unsigned char* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[faulty ? i / 2 : i] = static_cast<unsigned char>(i);  // FAULT bytes_of_a_word
}
PAIR(bytes_of_a_word, "race") {
  Buffer<unsigned char> y(256);
  bytes_of_a_word<faulty><<<5, 50>>>(y);
}

// A wide store over what another block stores narrowly.
template <bool faulty>
__global__ void wide_and_narrow(int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *reinterpret_cast<int4*>(y) = make_int4(1, 2, 3, 4);  // FAULT wide_and_narrow
  } else {
    y[faulty ? 3 : 4] = 5;  // FAULT wide_and_narrow
  }
}
PAIR(wide_and_narrow, "race") {
  Buffer<int> y(8);
  wide_and_narrow<faulty><<<2, 32>>>(y);
}

// A variable of the module, one for all blocks.
__device__ int shared_by_all[32];
template <bool faulty>
__global__ void device_variable(int* y) {
  if (faulty || blockIdx.x == 0) shared_by_all[threadIdx.x] = blockIdx.x + threadIdx.x;  // FAULT device_variable
  __syncthreads();
  if (faulty || blockIdx.x == 0) y[blockIdx.x * 32 + threadIdx.x] = shared_by_all[31 - threadIdx.x];  // FAULT device_variable
}
PAIR(device_variable, "race") {
  Buffer<int> y(64);
  device_variable<faulty><<<2, 32>>>(y);
}

// Loops over the grid: every element belongs to one thread, in every turn.
template <bool faulty>
__global__ void grid_stride(float* y, int n) {
  const int step = gridDim.x * blockDim.x - (faulty ? 1 : 0);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = y[i] * 2 + turn;  // FAULT grid_stride
  }
}
PAIR(grid_stride, "race") {
  Buffer<float> y(1000, 0);
  grid_stride<faulty><<<3, 64>>>(y, 1000);
}

// A plain read of what other blocks count.
template <bool faulty>
__global__ void plain_read_of_a_counter(int* count, int* y) {
  if (threadIdx.x != 0) return;
  atomicAdd(count, 1);                                            // FAULT plain_read_of_a_counter
  y[blockIdx.x] = faulty ? *count : atomicAdd(count, 0);  // FAULT plain_read_of_a_counter
}
PAIR(plain_read_of_a_counter, "race") {
  Buffer<int> count(1, 0), y(4);
  plain_read_of_a_counter<faulty><<<4, 32>>>(count, y);
}

// A fence without a flag orders nothing.
template <bool faulty>
__global__ void fence_without_a_flag(int* data, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 42;  // FAULT fence_without_a_flag
    __threadfence();
  } else {
    __threadfence();
    y[threadIdx.x] = faulty ? data[threadIdx.x] : 0;  // FAULT fence_without_a_flag
  }
}
PAIR(fence_without_a_flag, "race") {
  Buffer<int> data(32, 0), y(32);
  fence_without_a_flag<faulty><<<2, 32>>>(data, y);
}

// The atomics of a histogram, and its plain normalisation by whoever comes last to this line.
template <bool faulty>
__global__ void normalised_too_early(float* bins) {
  atomicAdd(bins + threadIdx.x, 1.0f);                                // FAULT normalised_too_early
  if (faulty && blockIdx.x == gridDim.x - 1) bins[threadIdx.x] /= 4;  // FAULT normalised_too_early
}
PAIR(normalised_too_early, "race") {
  Buffer<float> bins(32, 0);
  normalised_too_early<faulty><<<4, 32>>>(bins);
}

// Tiles of 16 columns, written as if they had 17.
template <bool faulty>
__global__ void overlapping_tiles(float* y, int width) {
  const int x = blockIdx.x * 16 + threadIdx.x;
  if (threadIdx.x < 16 + faulty && x < width) y[blockIdx.y * width + x] = blockIdx.x;  // FAULT overlapping_tiles
}
PAIR(overlapping_tiles, "race") {
  Buffer<float> y(64 * 4);
  overlapping_tiles<faulty><<<dim3(4, 4), 32>>>(y, 64);
}

// A work queue whose elements are taken without an atomic.
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
PAIR(queue_without_atomics, "race") {
  Buffer<unsigned> head(1, 0);
  Buffer<int> taken(4);
  queue_without_atomics<faulty><<<4, 32>>>(head, taken);
}

}  // namespace
