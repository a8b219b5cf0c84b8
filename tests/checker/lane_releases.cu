// Pairs in which one lane of a warp releases. The release covers the lane's own operations and
// those that happen before them. It covers operations of the other lanes only if they synchronised
// with the lane before, by __syncwarp or a barrier (PTX ISA 8.8, 8.9.5).
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

#define ARRIVE_FOR(bar, count)                                                                  \
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(count) \
               : "memory")

__device__ void release(int* flag, int value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ int acquire(const int* flag) {
  int v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  return v;
}
__device__ int count_release(int* counter) {
  int before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(counter)
               : "memory");
  return before;
}

// A warp fills a buffer and one lane signals that it is full.
template <bool faulty>
__global__ void lane_arrives_for_its_warp(int* y) {
  __shared__ int s[32];
  SHARED_BARRIER(full, 1);
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;  // FAULT lane_arrives_for_its_warp
    if (!faulty) __syncwarp();
    if (threadIdx.x == 0) ARRIVE(&full);
  } else {
    WAIT_PHASE(&full, 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT lane_arrives_for_its_warp
  }
}
PAIR_ON(lane_arrives_for_its_warp, "race", (1, 64), Buffer<int>(32))

// One arrival with count 32 is still the release of one thread.
template <bool faulty>
__global__ void one_arrival_for_all(int* y) {
  __shared__ int s[32];
  SHARED_BARRIER(full, 32);
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;  // FAULT one_arrival_for_all
    if (!faulty) {
      ARRIVE(&full);
    } else if (threadIdx.x == 7) {
      ARRIVE_FOR(&full, 32);
    }
  } else {
    WAIT_PHASE(&full, 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT one_arrival_for_all
  }
}
PAIR_ON(one_arrival_for_all, "race", (1, 64), Buffer<int>(32))

// A ring whose consumers release a slot by one lane, while other lanes may still read it.
template <bool faulty>
__global__ void lane_gives_back_a_slot(const int* x, int* y) {
  __shared__ int slot[2][32];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x < 2) {
    INIT(full + threadIdx.x, 32);
    INIT(empty + threadIdx.x, 1);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  int sum = 0;
  for (int t = 0; t < 6; ++t) {
    const int k = t & 1, parity = t >> 1 & 1;
    if (threadIdx.x < 32) {
      WAIT_PHASE(empty + k, parity ^ 1);
      slot[k][lane] = x[t * 32 + lane];  // FAULT lane_gives_back_a_slot
      ARRIVE(full + k);
    } else {
      WAIT_PHASE(full + k, parity);
      sum += slot[k][31 - lane];  // FAULT lane_gives_back_a_slot
      if (!faulty) __syncwarp();
      if (lane == 0) ARRIVE(empty + k);
    }
  }
  if (threadIdx.x >= 32) y[lane] = sum;
}
PAIR_ON_TWO(lane_gives_back_a_slot, "race", (1, 64), Buffer<int>(192, 1), Buffer<int>(32))

// The other lanes have exited; an exit does not synchronise with the lane that arrives.
template <bool faulty>
__global__ void lanes_end_before_one_arrives(int* y) {
  __shared__ int s[32];
  SHARED_BARRIER(full, 1);
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;  // FAULT lanes_end_before_one_arrives
    if (!faulty) __syncwarp();
    if (threadIdx.x != 0) return;
    ARRIVE(&full);
  } else {
    WAIT_PHASE(&full, 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT lanes_end_before_one_arrives
  }
}
PAIR_ON(lanes_end_before_one_arrives, "race", (1, 64), Buffer<int>(32))

// All lanes but the last exit. The last lane has not synchronised with them when it arrives.
template <bool faulty>
__global__ void last_lane_arrives_alone(int* y) {
  __shared__ int s[32];
  SHARED_BARRIER(full, 1);
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;  // FAULT last_lane_arrives_alone
    if (!faulty) __syncwarp();
    if (threadIdx.x != 31) asm volatile("exit;");
    ARRIVE(&full);
  } else {
    WAIT_PHASE(&full, 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT last_lane_arrives_alone
  }
}
PAIR_ON(last_lane_arrives_alone, "race", (1, 64), Buffer<int>(32))

// The last lane releases to another block.
template <bool faulty>
__global__ void last_lane_sets_a_flag_alone(int* x, int* flag, int* y) {
  if (blockIdx.x == 0) {
    x[threadIdx.x] = threadIdx.x;  // FAULT last_lane_sets_a_flag_alone
    if (!faulty) __syncwarp();
    if (threadIdx.x != 31) asm volatile("exit;");
    release(flag, 1);
  } else {
    while (acquire(flag) == 0) {
    }
    y[threadIdx.x] = x[31 - threadIdx.x];  // FAULT last_lane_sets_a_flag_alone
  }
}
PAIR(last_lane_sets_a_flag_alone, "race") {
  Buffer<int> x(32), flag(1, 0), y(32);
  last_lane_sets_a_flag_alone<faulty><<<2, 32>>>(x, flag, y);
}

// Half of the warp synchronises before one of its lanes arrives, the other half afterwards.
template <bool faulty>
__global__ void half_a_warp_meets_first(int* y) {
  __shared__ int s[32];
  SHARED_BARRIER(full, 1);
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;  // FAULT half_a_warp_meets_first
    if (threadIdx.x < 16 || !faulty) __syncwarp(faulty ? 0xffff : ~0u);
    if (threadIdx.x == 0) ARRIVE(&full);
    __syncwarp();
  } else {
    WAIT_PHASE(&full, 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT half_a_warp_meets_first
  }
}
PAIR_ON(half_a_warp_meets_first, "race", (1, 64), Buffer<int>(32))

// CUDA guide, shuffles: "These intrinsics do not imply a memory barrier".
template <bool faulty>
__global__ void shuffle_before_an_arrival(int* y) {
  __shared__ int s[32];
  SHARED_BARRIER(full, 1);
  if (threadIdx.x < 32) {
    int sum = threadIdx.x;
    s[threadIdx.x] = sum;  // FAULT shuffle_before_an_arrival
    for (int k = 16; k != 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
    if (!faulty) __syncwarp();
    if (threadIdx.x == 0) ARRIVE(&full);
    if (threadIdx.x == 31) y[32] = sum;
  } else {
    WAIT_PHASE(&full, 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT shuffle_before_an_arrival
  }
}
PAIR_ON(shuffle_before_an_arrival, "race", (1, 64), Buffer<int>(33))

// One lane sets a flag for its warp; another block waits for it.
template <bool faulty>
__global__ void lane_stores_a_flag_for_its_warp(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;  // FAULT lane_stores_a_flag_for_its_warp
    if (!faulty) __syncwarp();
    if (threadIdx.x == 0) release(flag, 1);
  } else {
    if (threadIdx.x == 0) {
      while (acquire(flag) == 0) {
      }
    }
    __syncthreads();
    y[threadIdx.x] = data[31 - threadIdx.x];  // FAULT lane_stores_a_flag_for_its_warp
  }
}
PAIR(lane_stores_a_flag_for_its_warp, "race") {
  Buffer<int> data(32, 0), flag(1, 0), y(32);
  lane_stores_a_flag_for_its_warp<faulty><<<2, 32>>>(data, flag, y);
}

// Each lane sets a flag of its own; in the faulty kernel one lane sets it for all.
template <bool faulty>
__global__ void flag_of_each_lane(int* data, int* flag, int* y) {
  const int i = threadIdx.x;
  if (blockIdx.x == 0) {
    data[i] = i;  // FAULT flag_of_each_lane
    if (faulty ? i == 3 : true) release(flag + i, 1);
  } else {
    while (acquire(flag + (faulty ? 3 : i)) == 0) {
    }
    y[i] = data[i];  // FAULT flag_of_each_lane
  }
}
PAIR(flag_of_each_lane, "race") {
  Buffer<int> data(32, 0), flag(32, 0), y(32);
  flag_of_each_lane<faulty><<<2, 32>>>(data, flag, y);
}

// The last of several warps sums the results of all warps.
template <bool faulty>
__global__ void lane_counts_its_warp_in(int* part, int* count, int* y) {
  part[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;  // FAULT lane_counts_its_warp_in
  if (!faulty) __syncwarp();
  int before = 0;
  if (threadIdx.x == 0) before = count_release(count);
  before = __shfl_sync(~0u, before, 0);
  __syncwarp();
  if (before != gridDim.x - 1) return;
  int sum = 0;
  // FAULT lane_counts_its_warp_in
  for (int b = 0; b < gridDim.x; ++b) sum += part[b * 32 + threadIdx.x];
  y[threadIdx.x] = sum;
}
PAIR(lane_counts_its_warp_in, "race") {
  Buffer<int> part(128, 0), count(1, 0), y(32);
  lane_counts_its_warp_in<faulty><<<4, 32>>>(part, count, y);
}

// An older idiom: one lane executes a fence and sets a volatile flag.
template <bool faulty>
__global__ void lane_fences_for_its_warp(int* data, volatile int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;  // FAULT lane_fences_for_its_warp
    if (!faulty) __syncwarp();
    if (threadIdx.x == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    y[threadIdx.x] = data[31 - threadIdx.x];  // FAULT lane_fences_for_its_warp
  }
}
PAIR(lane_fences_for_its_warp, "race") {
  Buffer<int> data(32, 0), flag(1, 0), y(32);
  lane_fences_for_its_warp<faulty><<<2, 32>>>(data, flag, y);
}

// All lanes fence before one lane sets the flag: the check does not report such programs.
template <bool faulty>
__global__ void warp_fences_before_a_lanes_flag(int* data, volatile int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;  // FAULT warp_fences_before_a_lanes_flag
    if (!faulty || threadIdx.x < 16) __threadfence();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    y[threadIdx.x] = data[31 - threadIdx.x];  // FAULT warp_fences_before_a_lanes_flag
  }
}
PAIR(warp_fences_before_a_lanes_flag, "race") {
  Buffer<int> data(32, 0), flag(1, 0), y(32);
  warp_fences_before_a_lanes_flag<faulty><<<2, 32>>>(data, flag, y);
}

// A release to the threads of the same block, by a flag in shared memory.
template <bool faulty>
__global__ void lane_releases_in_its_block(int* y) {
  __shared__ int s[32], flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;  // FAULT lane_releases_in_its_block
    if (!faulty) __syncwarp();
    if (threadIdx.x == 0)
      asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(shared_address(&flag)) : "memory");
  } else {
    int v;
    do {
      asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
                   : "=r"(v)
                   : "r"(shared_address(&flag))
                   : "memory");
    } while (v == 0);
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // FAULT lane_releases_in_its_block
  }
}
PAIR_ON(lane_releases_in_its_block, "race", (1, 64), Buffer<int>(32))

// A lane reads a word before its release, and reads it again after the release.
template <bool faulty>
__global__ void reads_again_after_its_arrival(int* y) {
  __shared__ int s;
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    s = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = *static_cast<volatile int*>(&y[1]) + s;
    ARRIVE(&bar);
    asm volatile("" ::: "memory");
    if (faulty) sum += s;  // FAULT reads_again_after_its_arrival
    y[0] = sum;
  } else if (threadIdx.x == 32) {
    WAIT_PHASE(&bar, 0);
    s = 2;  // FAULT reads_again_after_its_arrival
  }
}
PAIR_ON(reads_again_after_its_arrival, "race", (1, 64), Buffer<int>(2, 0))

// The second read is in global memory, and another thread has read the word too.
template <bool faulty>
__global__ void reads_again_beside_another(int* x, int* y) {
  __shared__ unsigned long long bar;
  __shared__ volatile int another_has_read;
  if (threadIdx.x == 0) {
    INIT(&bar, 2);
    another_has_read = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = *x;
    while (another_has_read == 0) {
    }
    ARRIVE(&bar);
    asm volatile("" ::: "memory");
    if (faulty) sum += *x;  // FAULT reads_again_beside_another
    y[0] = sum;
  } else if (threadIdx.x == 32) {
    y[1] = *x;
    another_has_read = 1;
    ARRIVE(&bar);
  } else if (threadIdx.x == 64) {
    WAIT_PHASE(&bar, 0);
    *x = 2;  // FAULT reads_again_beside_another
  }
}
PAIR_ON_TWO(reads_again_beside_another, "race", (1, 96), Buffer<int>(1, 0), Buffer<int>(2))

}  // namespace
