// Barriers, masks, shuffles, and kernels that cannot end or must not.
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
PAIR(barrier_in_a_branch, "barrier-divergence") {
  Buffer<int> y(64);
  barrier_in_a_branch<faulty><<<1, 64>>>(y);
}

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
PAIR(barriers_of_two_branches, "barrier-divergence") {
  Buffer<int> y(32);
  barriers_of_two_branches<faulty><<<1, 32>>>(y);
}

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
PAIR(barrier_counts, "barrier-divergence") {
  Buffer<int> y(64);
  barrier_counts<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void barrier_of_part_of_a_warp(int* y) {
  asm volatile("bar.sync 1, %0;" ::"r"(faulty ? 40 : 64) : "memory");  // FAULT barrier_of_part_of_a_warp
  y[threadIdx.x] = 1;
}
PAIR(barrier_of_part_of_a_warp, "invalid-instruction") {
  Buffer<int> y(64);
  barrier_of_part_of_a_warp<faulty><<<1, 64>>>(y);
}

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
PAIR(barriers_crossed, "deadlock") {
  Buffer<int> y(64);
  barriers_crossed<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void mask_without_the_caller(int* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_sync(faulty ? 0xff : 0xffff, threadIdx.x, 0);  // FAULT mask_without_the_caller
}
PAIR(mask_without_the_caller, "invalid-mask") {
  Buffer<int> y(32);
  mask_without_the_caller<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void mask_of_lanes_that_never_come(int* y) {
  if (threadIdx.x < 16) {
    y[threadIdx.x] = __any_sync(faulty ? 0xffffffffu : 0xffffu, threadIdx.x == 3);  // FAULT mask_of_lanes_that_never_come
  } else if (faulty) {
    __syncthreads();
  }
}
PAIR(mask_of_lanes_that_never_come, "invalid-mask") {
  Buffer<int> y(32);
  mask_of_lanes_that_never_come<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void shuffle_from_an_inactive_lane(int* y) {
  if (threadIdx.x < 16) {
    const int v = __shfl_sync(0xffff, static_cast<int>(threadIdx.x), faulty ? 20 : 10);
    y[threadIdx.x] = v + 1;  // FAULT shuffle_from_an_inactive_lane
  }
}
PAIR(shuffle_from_an_inactive_lane, "inactive-lane") {
  Buffer<int> y(32);
  shuffle_from_an_inactive_lane<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void inactive_lane_to_the_host(int* y) {
  if (threadIdx.x < 16) {
    y[threadIdx.x] = __shfl_sync(0xffff, static_cast<int>(threadIdx.x), faulty ? 20 : 10);  // FAULT inactive_lane_to_the_host
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
PAIR(never_ends, "time-limit") {
  Buffer<int> flag(1, faulty ? 0 : 1), y(1);
  never_ends<faulty><<<1, 1>>>(flag, y);
}

template <bool faulty>
__global__ void traps(int* y) {
  y[0] = 1;
  if (faulty) __trap();  // FAULT traps
}
PAIR(traps, "trap") {
  Buffer<int> y(1);
  traps<faulty><<<1, 1>>>(y);
}

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
PAIR(recursion_without_end, "stack-overflow") {
  Buffer<int> y(1);
  recursion_without_end<faulty><<<1, 1>>>(y);
}

}  // namespace
