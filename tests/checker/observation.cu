// Pairs for observation: a thread that reads a strong write's value is ordered after that write.
// Chains of atomics, and flags that are reset (PTX ISA 8.9.2, 8.9.5).
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// The last block resets the counter by a plain store: it has observed all other atomics. In the
// faulty kernel the fourth of eight blocks resets it.
template <bool faulty>
__global__ void last_block_resets(unsigned* count) {
  // FAULT last_block_resets
  if (threadIdx.x == 0 && atomicAdd(count, 1) == (faulty ? 3 : gridDim.x - 1)) *count = 0;
}
PAIR_ON(last_block_resets, "race", (8, 32), Buffer<unsigned>(1, 0))

template <bool faulty>
__global__ void last_block_reads(unsigned* count, unsigned* y) {
  if (threadIdx.x != 0) return;
  // FAULT last_block_reads
  const unsigned before = atomicAdd(count, 1);
  // FAULT last_block_reads
  if (before == gridDim.x - 1 || (faulty && before == 2)) y[blockIdx.x] = *count;
}
PAIR_ON_TWO(last_block_reads, "race", (8, 32), Buffer<unsigned>(1, 0), Buffer<unsigned>(8))

// Another thread of the last block resets the counter, after a barrier.
template <bool faulty>
__global__ void last_block_hands_on(unsigned* count) {
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;  // FAULT last_block_hands_on
  __syncthreads();
  // FAULT last_block_hands_on
  if (threadIdx.x == 40 && (faulty ? blockIdx.x == 2 : last)) *count = 0;
}
PAIR_ON(last_block_hands_on, "race", (8, 64), Buffer<unsigned>(1, 0))

// The counters of a histogram: each lane resets one of them.
template <bool faulty>
__global__ void last_block_resets_many(unsigned* bins, unsigned* count, unsigned* y) {
  __shared__ bool last;
  atomicAdd(bins + threadIdx.x, 1);  // FAULT last_block_resets_many
  if (!faulty) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  if (!faulty) __threadfence();
  const unsigned other = (threadIdx.x + 1) % blockDim.x;
  y[threadIdx.x] = bins[other];  // FAULT last_block_resets_many
  bins[other] = 0;               // FAULT last_block_resets_many
  if (threadIdx.x == 0) *count = 0;
}
PAIR(last_block_resets_many, "race") {
  Buffer<unsigned> bins(64, 0), count(1, 0), y(64);
  last_block_resets_many<faulty><<<6, 64>>>(bins, count, y);
}

// The thread that has observed a flag resets it.
template <bool faulty>
__global__ void flag_taken_back(int* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicExch(flag, 1);  // FAULT flag_taken_back
  } else {
    if (!faulty) {
      while (*static_cast<volatile int*>(flag) == 0) {
      }
    }
    *flag = 0;  // FAULT flag_taken_back
  }
}
PAIR_ON(flag_taken_back, "race", (2, 32), Buffer<int>(1, 0))

// One thread observes the flag; another resets it after a barrier of the block.
template <bool faulty>
__global__ void flag_taken_back_by_another(int* flag, int* y) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) atomicExch(flag, 1);  // FAULT flag_taken_back_by_another
    return;
  }
  if (threadIdx.x == 0) {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
  }
  if (!faulty) __syncthreads();
  if (threadIdx.x == 32) y[0] = *flag;  // FAULT flag_taken_back_by_another
}
PAIR_ON_TWO(flag_taken_back_by_another, "race", (2, 64), Buffer<int>(1, 0), Buffer<int>(1))

// Observing a relaxed flag orders the flag's write, not the data written before it.
template <bool faulty>
__global__ void observing_orders_one_place(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT observing_orders_one_place
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    y[0] = *flag;
    if (!faulty) __threadfence();
    y[1] = *data;  // FAULT observing_orders_one_place
  }
}
PAIR(observing_orders_one_place, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(2);
  observing_orders_one_place<faulty><<<2, 32>>>(data, flag, y);
}

// A counter in shared memory.
template <bool faulty>
__global__ void shared_flag_taken_back(int* y) {
  __shared__ int flag, count;
  if (threadIdx.x == 0) flag = count = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&flag, 1);  // FAULT shared_flag_taken_back
  } else if (threadIdx.x == 32) {
    if (!faulty) {
      while (*static_cast<volatile int*>(&flag) == 0) {
      }
    }
    flag = 0;  // FAULT shared_flag_taken_back
  }
  if (threadIdx.x % 32 == 0 && atomicAdd(&count, 1) == 1) count = 0;
  __syncthreads();
  if (threadIdx.x == 0) *y = count;
}
PAIR_ON(shared_flag_taken_back, "race", (1, 64), Buffer<int>(1))

// A plain read does not observe: it races with the write itself.
template <bool faulty>
__global__ void plain_reading_observes_nothing(int* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicExch(flag, 1);  // FAULT plain_reading_observes_nothing
  } else if (faulty) {
    if (*flag == 1) *flag = 0;  // FAULT plain_reading_observes_nothing
  } else {
    atomicCAS(flag, 1, 0);
  }
}
PAIR_ON(plain_reading_observes_nothing, "race", (2, 32), Buffer<int>(1, 0))

}  // namespace
