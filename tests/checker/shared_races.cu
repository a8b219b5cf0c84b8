// Pairs of races in shared memory, and the ways to synchronise threads of a block.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// Hidden if the lanes of a warp execute in lock-step.
template <bool faulty>
__global__ void hidden_by_lock_step(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // FAULT hidden_by_lock_step
  if (!faulty) __syncwarp();
  y[threadIdx.x] = s[31 - threadIdx.x];  // FAULT hidden_by_lock_step
}
PAIR_ON(hidden_by_lock_step, "race", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void between_warps(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // FAULT between_warps
  if (faulty) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT between_warps
}
PAIR_ON(between_warps, "race", (1, 64), Buffer<int>(64))

// A loop over tiles that misses its second barrier.
template <bool faulty>
__global__ void tile_overwritten(const int* x, int* y) {
  __shared__ int tile[64];
  int sum = 0;
  for (int t = 0; t < 4; ++t) {
    tile[threadIdx.x] = x[t * 64 + threadIdx.x];  // FAULT tile_overwritten
    __syncthreads();
    sum += tile[63 - threadIdx.x];  // FAULT tile_overwritten
    if (!faulty) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR_ON_TWO(tile_overwritten, "race", (1, 64), Buffer<int>(256, 1), Buffer<int>(64))

// A tree reduction without synchronisation within the last warp.
template <bool faulty>
__global__ void reduction_tail(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];  // FAULT reduction_tail
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];  // FAULT reduction_tail
    if (!faulty || step > 32) __syncthreads();
  }
  if (threadIdx.x == 0) *y = s[0];  // FAULT reduction_tail
}
PAIR_ON_TWO(reduction_tail, "race", (1, 64), Buffer<int>(64, 1), Buffer<int>(1))

template <bool faulty>
__global__ void zeroing_and_atomics(const int* x, int* y) {
  __shared__ int bins[64];
  bins[threadIdx.x] = 1;
  __syncthreads();
  bins[threadIdx.x] = 0;  // FAULT zeroing_and_atomics
  if (!faulty) __syncthreads();
  atomicAdd(bins + (x[threadIdx.x] + 63 - threadIdx.x) % 64, 1);  // FAULT zeroing_and_atomics
  __syncthreads();
  y[threadIdx.x] = bins[threadIdx.x];
}
PAIR_ON_TWO(zeroing_and_atomics, "race", (1, 64), Buffer<int>(64, 0), Buffer<int>(64))

template <bool faulty>
__global__ void plain_bin(int* y) {
  __shared__ int bin;
  if (threadIdx.x == 0) bin = 0;
  __syncthreads();
  if (faulty) {
    bin = bin + 1;  // FAULT plain_bin
  } else {
    atomicAdd(&bin, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) *y = bin;
}
PAIR_ON(plain_bin, "race", (1, 64), Buffer<int>(1))

template <bool faulty>
__global__ void same_value_in_shared(int* y, int value) {
  __shared__ int flag;
  flag = faulty ? static_cast<int>(threadIdx.x) : value;  // FAULT same_value_in_shared
  __syncthreads();
  y[threadIdx.x] = flag;
}
PAIR_WITH_INFORMATION(same_value_in_shared, "race") {
  Buffer<int> y(64);
  same_value_in_shared<faulty><<<1, 64>>>(y, 3);
}

// A producer warp and a consumer warp synchronise at two named barriers. The faulty consumer
// returns the buffer to the producer before it reads the buffer.
template <bool faulty>
__global__ void specialised_warps(const int* x, int* y) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int t = 0; t < 4; ++t) {
      if (t > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      s[lane] = x[t * 32 + lane];  // FAULT specialised_warps
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    int sum = 0;
    for (int t = 0; t < 4; ++t) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      if (faulty && t < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
      sum += s[31 - lane];  // FAULT specialised_warps
      if (!faulty && t < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
    y[lane] = sum;
  }
}
PAIR_ON_TWO(specialised_warps, "race", (1, 64), Buffer<int>(128, 1), Buffer<int>(32))

template <bool faulty>
__global__ void bytes_in_shared(int* y) {
  __shared__ unsigned char s[64];
  // FAULT bytes_in_shared
  s[faulty ? threadIdx.x / 2 : threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = s[(63 - threadIdx.x) / (faulty ? 2 : 1)];
}
PAIR_ON(bytes_in_shared, "race", (1, 64), Buffer<int>(64))

// __syncwarp for each half of the warp, and a read across the halves.
template <bool faulty>
__global__ void half_a_warp(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // FAULT half_a_warp
  __syncwarp(faulty ? (threadIdx.x < 16 ? 0xffffu : 0xffff0000u) : ~0u);
  y[threadIdx.x] = s[threadIdx.x ^ 16];  // FAULT half_a_warp
}
PAIR_ON(half_a_warp, "race", (1, 32), Buffer<int>(32))

// A vote makes lanes converge but does not order memory.
template <bool faulty>
__global__ void vote_as_a_barrier(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // FAULT vote_as_a_barrier
  const bool all = __all_sync(~0u, s[threadIdx.x] >= 0);
  if (!faulty) __syncwarp();
  y[threadIdx.x] = s[31 - threadIdx.x] + all;  // FAULT vote_as_a_barrier
}
PAIR_ON(vote_as_a_barrier, "race", (1, 32), Buffer<int>(32))

// A barrier of two warps does not cover the third warp.
template <bool faulty>
__global__ void barrier_of_two_of_three(int* y) {
  __shared__ int s[96];
  s[threadIdx.x] = threadIdx.x;  // FAULT barrier_of_two_of_three
  if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  // FAULT barrier_of_two_of_three
  if (threadIdx.x < 32) y[threadIdx.x] = s[threadIdx.x + (faulty ? 64 : 32)];
}
PAIR_ON(barrier_of_two_of_three, "race", (1, 96), Buffer<int>(32))

// A scan by doubling: the read of one step races with the write of the next.
template <bool faulty>
__global__ void scan_by_doubling(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const int left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;  // FAULT scan_by_doubling
    if (!faulty) __syncthreads();
    s[threadIdx.x] += left;  // FAULT scan_by_doubling
    __syncthreads();
  }
  y[threadIdx.x] = s[threadIdx.x];
}
PAIR_ON_TWO(scan_by_doubling, "race", (1, 64), Buffer<int>(64, 1), Buffer<int>(64))

template <bool faulty>
__global__ void transposed_tile(const float* x, float* y) {
  __shared__ float tile[8][9];
  const int i = threadIdx.x % 8, j = threadIdx.x / 8;
  tile[j][i] = x[j * 8 + i];  // FAULT transposed_tile
  if (!faulty) __syncthreads();
  y[j * 8 + i] = tile[i][j];  // FAULT transposed_tile
}
PAIR_ON_TWO(transposed_tile, "race", (1, 64), Buffer<float>(64, 0), Buffer<float>(64))

// One thread reads the sum while others still add to it.
template <bool faulty>
__global__ void plain_read_of_a_sum(int* y) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);  // FAULT plain_read_of_a_sum
  if (!faulty) __syncthreads();
  if (threadIdx.x == 0) *y = sum;  // FAULT plain_read_of_a_sum
}
PAIR_ON(plain_read_of_a_sum, "race", (1, 64), Buffer<int>(1))

// With two alternating buffers a loop needs one barrier; with one buffer it needs two.
template <bool faulty>
__global__ void buffers_in_turn(const int* x, int* y) {
  extern __shared__ int dynamic[];
  int sum = 0;
  for (int t = 0; t < 4; ++t) {
    int* const s = dynamic + (faulty ? 0 : (t & 1) * 64);
    s[threadIdx.x] = x[t * 64 + threadIdx.x];  // FAULT buffers_in_turn
    __syncthreads();
    sum += s[63 - threadIdx.x];  // FAULT buffers_in_turn
  }
  y[threadIdx.x] = sum;
}
PAIR_ON_TWO(buffers_in_turn, "race", (1, 64, 512), Buffer<int>(256, 1), Buffer<int>(64))

// A broadcast word is overwritten for the next round.
template <bool faulty>
__global__ void broadcast_word(int* y) {
  __shared__ int word;
  int sum = 0;
  for (int t = 0; t < 3; ++t) {
    if (threadIdx.x == 0) word = t;  // FAULT broadcast_word
    __syncthreads();
    sum += word;  // FAULT broadcast_word
    if (!faulty) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR_ON(broadcast_word, "race", (1, 64), Buffer<int>(64))

// Tiles of a warp synchronise only their own lanes.
template <bool faulty>
__global__ void tiles_of_a_warp(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;            // FAULT tiles_of_a_warp
  __syncwarp(0xffu << (threadIdx.x & 24));  // the sync of a cooperative_groups tile of 8
  y[threadIdx.x] = s[threadIdx.x ^ (faulty ? 8 : 4)];  // FAULT tiles_of_a_warp
}
PAIR_ON(tiles_of_a_warp, "race", (1, 32), Buffer<int>(32))

// Two barriers with different numbers do not synchronise with each other.
template <bool faulty>
__global__ void barriers_that_do_not_meet(int* y) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;  // FAULT barriers_that_do_not_meet
  if (faulty) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  }
  y[threadIdx.x] = s[127 - threadIdx.x];  // FAULT barriers_that_do_not_meet
}
PAIR_ON(barriers_that_do_not_meet, "race", (1, 128), Buffer<int>(128))

// An atomic flag in shared memory: the data needs a fence.
template <bool faulty>
__global__ void shared_flag_without_fence(const int* x, int* y) {
  __shared__ int data[8], flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data[x[0]] = 42;  // FAULT shared_flag_without_fence
    if (!faulty) __threadfence_block();
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    if (!faulty) __threadfence_block();
    *y = data[x[1]];  // FAULT shared_flag_without_fence
  }
}
PAIR_ON_TWO(shared_flag_without_fence, "race", (1, 64), Buffer<int>(2, 0), Buffer<int>(1))

// Reads, then writes: the lanes must synchronise in between.
template <bool faulty>
__global__ void shifted_in_place(int* y) {
  __shared__ int s[33];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) s[32] = 0;
  __syncwarp();
  const int next = s[threadIdx.x + 1];  // FAULT shifted_in_place
  if (!faulty) __syncwarp();
  s[threadIdx.x] = next;  // FAULT shifted_in_place
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x];
}
PAIR_ON(shifted_in_place, "race", (1, 32), Buffer<int>(32))

}  // namespace
