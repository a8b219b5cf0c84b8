// Pairs about barriers, masks and shuffles, and kernels that hang or trap.
#include <cassert>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void barrier_in_a_branch(int* y) {
  if (!faulty || threadIdx.x < 40) __syncthreads();  // FAULT barrier_in_a_branch
  y[threadIdx.x] = 1;
  if (faulty) __syncthreads();  // FAULT barrier_in_a_branch
}
PAIR_ON(barrier_in_a_branch, "barrier-divergence", (1, 64), Buffer<int>(64))

template <bool faulty>
__global__ void barriers_of_two_branches(int* y) {
  if (faulty && (threadIdx.x & 1)) {
    y[threadIdx.x] = 2;
    __syncthreads();  // FAULT barriers_of_two_branches
  } else {
    y[threadIdx.x] = 1;
    __syncthreads();  // FAULT barriers_of_two_branches
  }
}
PAIR_ON(barriers_of_two_branches, "barrier-divergence", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void barrier_counts(int* y) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // FAULT barrier_counts
  } else {
    if (faulty) {
      asm volatile("bar.sync 1, 96;" ::: "memory");  // FAULT barrier_counts
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
    }
  }
  y[threadIdx.x] = 1;
}
PAIR_ON(barrier_counts, "barrier-divergence", (1, 64), Buffer<int>(64))

template <bool faulty>
__global__ void barrier_of_part_of_a_warp(int* y) {
  // FAULT barrier_of_part_of_a_warp
  asm volatile("bar.sync 1, %0;" ::"r"(faulty ? 40 : 64) : "memory");
  y[threadIdx.x] = 1;
}
PAIR_ON(barrier_of_part_of_a_warp, "invalid-instruction", (1, 64), Buffer<int>(64))

// Two warps wait for each other at different barriers.
template <bool faulty>
__global__ void barriers_crossed(int* y) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // FAULT barriers_crossed
    asm volatile("bar.sync 2, 64;" ::: "memory");
  } else {
    if (faulty) {
      asm volatile("bar.sync 2, 64;" ::: "memory");  // FAULT barriers_crossed
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    }
  }
  y[threadIdx.x] = 1;
}
PAIR_ON(barriers_crossed, "deadlock", (1, 64), Buffer<int>(64))

template <bool faulty>
__global__ void mask_without_the_caller(int* y) {
  // FAULT mask_without_the_caller
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_sync(faulty ? 0xff : 0xffff, threadIdx.x, 0);
}
PAIR_ON(mask_without_the_caller, "invalid-mask", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void mask_of_lanes_that_never_come(int* y) {
  if (threadIdx.x < 16) {
    // FAULT mask_of_lanes_that_never_come
    y[threadIdx.x] = __any_sync(faulty ? 0xffffffffu : 0xffffu, threadIdx.x == 3);
  } else if (faulty) {
    __syncthreads();
  }
}
PAIR_ON(mask_of_lanes_that_never_come, "invalid-mask", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void shuffle_from_an_inactive_lane(int* y) {
  if (threadIdx.x < 16) {
    const int v = __shfl_sync(0xffff, static_cast<int>(threadIdx.x), faulty ? 20 : 10);
    y[threadIdx.x] = v + 1;  // FAULT shuffle_from_an_inactive_lane
  }
}
PAIR_ON(shuffle_from_an_inactive_lane, "inactive-lane", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void inactive_lane_to_the_host(int* y) {
  if (threadIdx.x < 16) {
    // FAULT inactive_lane_to_the_host
    y[threadIdx.x] = __shfl_sync(0xffff, static_cast<int>(threadIdx.x), faulty ? 20 : 10);
  }
}
PAIR(inactive_lane_to_the_host, "inactive-lane") {
  Buffer<int> y(16);
  inactive_lane_to_the_host<faulty><<<1, 32>>>(y);
  y.fetch();
}

template <bool faulty>
__global__ void never_ends(volatile int* flag, int* y) {
  while (*flag == 0) {  // FAULT never_ends
  }
  *y = 1;
}
PAIR_ON_TWO(never_ends, "deadlock", (1, 1), Buffer<int>(1, faulty ? 0 : 1), Buffer<int>(1))

template <bool faulty>
__global__ void traps(int* y) {
  y[0] = 1;
  if (faulty) __trap();  // FAULT traps
}
PAIR_ON(traps, "trap", (1, 1), Buffer<int>(1))

template <bool faulty>
__global__ void asserts(const int* x) {
  assert(x[0] == (faulty ? 2 : 1));  // FAULT asserts
}
PAIR(asserts, "assert") {
  Buffer<int> x(1);
  const int one = 1;
  cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice);
  asserts<faulty><<<1, 1>>>(x);
}

__device__ __noinline__ int deep(int n, volatile int* y) {
  volatile int room[64];
  room[n & 63] = n;
  if (n == 0) return room[0];
  return deep(n - 1, y) + room[n & 63];  // FAULT recursion_without_end
}
template <bool faulty>
__global__ void recursion_without_end(int* y) {
  y[0] = deep(faulty ? 100000 : 5, y);  // FAULT recursion_without_end
}
PAIR_ON(recursion_without_end, "stack-overflow", (1, 1), Buffer<int>(1))

// Lanes leave the loop one by one although the mask still names them; they then wait at the barrier
// after the loop.
template <bool faulty>
__global__ void mask_of_a_loop(const int* trips, int* y) {
  int sum = 0;
  const int n = trips[threadIdx.x];
  // FAULT mask_of_a_loop
  for (int k = 0; k < (faulty ? n : 4); ++k) sum += __shfl_down_sync(~0u, k, 1);
  __syncthreads();
  y[threadIdx.x] = sum;
}
PAIR(mask_of_a_loop, "invalid-mask") {
  Buffer<int> trips(32), y(32);
  int counts[32];
  for (int i = 0; i < 32; ++i) counts[i] = i % 4 + 1;
  cudaMemcpy(trips, counts, sizeof counts, cudaMemcpyHostToDevice);
  mask_of_a_loop<faulty><<<1, 32>>>(trips, y);
}

template <bool faulty>
__global__ void syncwarp_without_the_caller(int* y) {
  __syncwarp(faulty ? 0x7fffffff : ~0u);  // FAULT syncwarp_without_the_caller
  y[threadIdx.x] = 1;
}
PAIR_ON(syncwarp_without_the_caller, "invalid-mask", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void reduction_with_a_wrong_mask(int* y) {
  // FAULT reduction_with_a_wrong_mask
  y[threadIdx.x] = __reduce_add_sync(faulty ? 0xffff : ~0u, threadIdx.x);
}
PAIR_ON(reduction_with_a_wrong_mask, "invalid-mask", (1, 32), Buffer<int>(32))

// Each half of the warp names the other in its mask and waits at a different operation.
template <bool faulty>
__global__ void two_operations_of_one_warp(int* y) {
  int v;
  if (!faulty || threadIdx.x < 16) {
    v = __shfl_sync(~0u, static_cast<int>(threadIdx.x), 3);  // FAULT two_operations_of_one_warp
  } else {
    v = __any_sync(~0u, threadIdx.x == 17);  // FAULT two_operations_of_one_warp
  }
  y[threadIdx.x] = v;
}
PAIR_ON(two_operations_of_one_warp, "invalid-mask", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void barrier_that_is_none(int* y, int id) {
  asm volatile("barrier.sync %0;" ::"r"(id) : "memory");  // FAULT barrier_that_is_none
  y[threadIdx.x] = 1;
}
PAIR_ON(barrier_that_is_none, "invalid-instruction", (1, 64), Buffer<int>(64), faulty ? 16 : 15)

template <bool faulty>
__global__ void barriers_of_one_warp_differ(int* y) {
  // FAULT barriers_of_one_warp_differ
  asm volatile("barrier.sync %0, 32;" ::"r"(faulty ? threadIdx.x / 16 + 1 : 1) : "memory");
  y[threadIdx.x] = 1;
}
PAIR_ON(barriers_of_one_warp_differ, "invalid-instruction", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void counting_barrier_in_a_branch(int* y) {
  int n = 0;
  if (!faulty || threadIdx.x % 2 == 0) {
    n = __syncthreads_count(threadIdx.x < 7);  // FAULT counting_barrier_in_a_branch
  } else {
    __syncthreads();  // FAULT counting_barrier_in_a_branch
  }
  y[threadIdx.x] = n;
}
PAIR_ON(counting_barrier_in_a_branch, "barrier-divergence", (1, 64), Buffer<int>(64))

// One warp leaves the loop, and skips its barrier, one turn before the other.
template <bool faulty>
__global__ void barrier_in_a_loop(int* y) {
  const int turns = faulty ? 2 + threadIdx.x / 32 : 3;
  for (int t = 0; t < turns; ++t) __syncthreads();      // FAULT barrier_in_a_loop
  asm volatile("barrier.sync 1, 64;" ::: "memory");  // FAULT barrier_in_a_loop
  y[threadIdx.x] = 1;
}
PAIR_ON(barrier_in_a_loop, "barrier-divergence", (1, 64), Buffer<int>(64))

// The consumers wait for a producer that skipped the barrier.
template <bool faulty>
__global__ void nobody_arrives(int* y) {
  if (threadIdx.x < 32) {
    if (!faulty) asm volatile("barrier.arrive 1, 64;" ::: "memory");
    asm volatile("barrier.sync 2, 64;" ::: "memory");  // FAULT nobody_arrives
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");  // FAULT nobody_arrives
    asm volatile("barrier.sync 2, 64;" ::: "memory");
  }
  y[threadIdx.x] = 1;
}
PAIR_ON(nobody_arrives, "deadlock", (1, 64), Buffer<int>(64))

// ---- kernels that cannot end --------------------------------------------------------------------

template <bool faulty>
__global__ void lock_never_released(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // FAULT lock_never_released
  }
  __threadfence();
  atomicAdd(count, 1);
  __threadfence();
  if (!faulty) atomicExch(lock, 0);
}
PAIR_ON_TWO(lock_never_released, "deadlock", (4, 32), Buffer<int>(1, 0), Buffer<int>(1, 0))

// A hang between the lanes of one warp.
template <bool faulty>
__global__ void lock_taken_twice(int* lock, int* y) {
  if (threadIdx.x < 2) {
    for (int round = 0; round < 2; ++round) {
      while (atomicCAS(lock, 0, 1) != 0) {  // FAULT lock_taken_twice
      }
      if (!faulty) atomicExch(lock, 0);
    }
  }
  y[threadIdx.x] = 1;
}
PAIR_ON_TWO(lock_taken_twice, "deadlock", (1, 32), Buffer<int>(1, 0), Buffer<int>(32))

// A hand-written grid barrier that expects one block too many.
template <bool faulty>
__global__ void counts_one_block_too_many(volatile unsigned* arrived, int* y) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(const_cast<unsigned*>(arrived), 1u);
    while (*arrived < gridDim.x + faulty) __nanosleep(20);  // FAULT counts_one_block_too_many
  }
  __syncthreads();  // FAULT counts_one_block_too_many
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
PAIR_ON_TWO(counts_one_block_too_many, "deadlock", (4, 64), Buffer<unsigned>(1, 0),
            Buffer<int>(256))

// A growing back-off while waiting for a flag that no thread sets.
template <bool faulty>
__global__ void backs_off_for_ever(int* flag, int* y) {
  if (threadIdx.x == 0) {
    unsigned wait = 8;
    while (atomicAdd(flag, 0) == 0) {  // FAULT backs_off_for_ever
      __nanosleep(wait);               // FAULT backs_off_for_ever
      if (wait < 256) wait *= 2;       // FAULT backs_off_for_ever
    }
  }
  __syncthreads();  // FAULT backs_off_for_ever
  y[threadIdx.x] = 1;
}
PAIR_ON_TWO(backs_off_for_ever, "deadlock", (1, 64), Buffer<int>(1, faulty ? 0 : 1),
            Buffer<int>(64))

// An endless loop that makes progress: not a deadlock.
template <bool faulty>
__global__ void list_with_a_loop(const int* next, int* visits) {
  int k = 0;
  do {
    atomicAdd(visits + k, 1);  // FAULT list_with_a_loop
    k = next[k];               // FAULT list_with_a_loop
  } while (k != 0 || faulty);  // FAULT list_with_a_loop
}
PAIR(list_with_a_loop, "time-limit") {
  Buffer<int> next(4), visits(4, 0);
  const int links[4] = {2, 0, 3, 1};
  cudaMemcpy(next, links, sizeof links, cudaMemcpyHostToDevice);
  list_with_a_loop<faulty><<<1, 1>>>(next, visits);
}

template <bool faulty>
__global__ void calls_no_function(int (**table)(int), int* y) {
  y[threadIdx.x] = table[0](threadIdx.x);  // FAULT calls_no_function
}
__device__ int doubled(int v) { return 2 * v; }
__global__ void fill_table(int (**table)(int)) { *table = doubled; }
PAIR(calls_no_function, "invalid-program-counter") {
  Buffer<int (*)(int)> table(1, 0);
  Buffer<int> y(32);
  if (!faulty) fill_table<<<1, 1>>>(table);
  calls_no_function<faulty><<<1, 32>>>(table, y);
}

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {  // FAULT locks_in_opposite_order
  }
}
template <bool faulty>
__global__ void locks_in_opposite_order(int* locks, int* y) {
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) take(locks + (faulty ? warp : 2 * warp));
  __syncthreads();
  // FAULT locks_in_opposite_order
  if (threadIdx.x % 32 == 0) take(locks + (faulty ? 1 - warp : 2 * warp + 1));
  y[threadIdx.x] = 1;
}
PAIR_ON_TWO(locks_in_opposite_order, "deadlock", (1, 64), Buffer<int>(4, 0), Buffer<int>(64))

}  // namespace
