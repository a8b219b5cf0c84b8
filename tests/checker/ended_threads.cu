// Threads that exit before a barrier at which the other threads of their block or cluster wait.
//
// By default the check reports information: PTX and hardware do not wait for exited threads. With
// strict-barriers the check reports an error.
#include <optional>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;
using lockstep::checker::StrictBarriers;

// Half of a warp and whole warps exit.
template <bool faulty>
__global__ void returns_before_a_barrier(int* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  y[i] = i;
  __syncthreads();  // FAULT returns_before_a_barrier
  y[i] += 1;
}
PAIR(returns_before_a_barrier, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(96);
  returns_before_a_barrier<faulty><<<1, 96>>>(y, faulty ? 48 : 96);
}

// All threads of a block may exit.
template <bool faulty>
__global__ void block_without_work(int* y) {
  if (faulty ? blockIdx.x * 64 + threadIdx.x >= 70 : blockIdx.x >= 1) return;
  __syncthreads();  // FAULT block_without_work
  y[blockIdx.x * 64 + threadIdx.x] = 1;
}
PAIR(block_without_work, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(128);
  block_without_work<faulty><<<2, 64>>>(y);
}

// The barrier is in a branch; the other threads skip it and exit.
template <bool faulty>
__global__ void barrier_in_a_branch_to_the_end(int* sum, int n) {
  __shared__ int s[64];
  const int i = threadIdx.x;
  s[i] = i;
  if (i < n) {
    __syncthreads();  // FAULT barrier_in_a_branch_to_the_end
    if (i == 0) {
      int total = 0;
      for (int k = 0; k < n; ++k) total += s[k];
      *sum = total;
    }
  }
}
PAIR(barrier_in_a_branch_to_the_end, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> sum(1);
  barrier_in_a_branch_to_the_end<faulty><<<1, 64>>>(sum, faulty ? 32 : 64);
}

// Each thread has its own number of loop turns.
template <bool faulty>
__global__ void turns_with_a_barrier(int* y) {
  const int turns = faulty ? threadIdx.x / 32 + 1 : 2;
  for (int t = 0; t < turns; ++t) {
    y[threadIdx.x] = t;
    __syncthreads();  // FAULT turns_with_a_barrier
  }
}
PAIR(turns_with_a_barrier, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(64);
  turns_with_a_barrier<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void counts_those_who_came(int* y, int n) {
  if (threadIdx.x >= n) return;
  y[threadIdx.x] = __syncthreads_count(threadIdx.x & 1);  // FAULT counts_those_who_came
}
PAIR(counts_those_who_came, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(64);
  counts_those_who_came<faulty><<<1, 64>>>(y, faulty ? 33 : 64);
}

__device__ __noinline__ void meet(int* y) {
  *y = 1;
  __syncthreads();  // FAULT barrier_of_a_function
  *y = 2;
}
template <bool faulty>
__global__ void barrier_of_a_function(int* y, int n) {
  if (threadIdx.x < n) meet(y + threadIdx.x);
}
PAIR(barrier_of_a_function, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(64);
  barrier_of_a_function<faulty><<<1, 64>>>(y, faulty ? 20 : 64);
}

// A barrier with a thread count expects that many threads: further warps may have exited.
template <bool faulty>
__global__ void warps_that_are_not_counted(int* y) {
  if (threadIdx.x >= 64) return;
  if (faulty) {
    asm volatile("bar.sync 1;" ::: "memory");  // FAULT warps_that_are_not_counted
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  y[threadIdx.x] = 1;
}
PAIR(warps_that_are_not_counted, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(64);
  warps_that_are_not_counted<faulty><<<1, 128>>>(y);
}

// The aligned `bar` needs every lane of a participating warp. `barrier` waits only for the lanes
// that have not exited.
template <bool faulty>
__global__ void lanes_of_a_counted_warp(int* y) {
  if (threadIdx.x >= 60 && threadIdx.x < 64) return;
  if (threadIdx.x < 64) {
    if (faulty) {
      asm volatile("bar.sync 1, 64;" ::: "memory");  // FAULT lanes_of_a_counted_warp
    } else {
      asm volatile("barrier.sync 1, 64;" ::: "memory");
    }
  }
  y[threadIdx.x] = 1;
}
PAIR(lanes_of_a_counted_warp, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(96);
  lanes_of_a_counted_warp<faulty><<<1, 96>>>(y);
}

// Producers arrive without waiting and may exit then.
template <bool faulty>
__global__ void producers_arrive_and_end(int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;
    if (faulty && threadIdx.x >= 16) return;
    asm volatile("bar.arrive 1, 64;" ::: "memory");  // FAULT producers_arrive_and_end
    return;
  }
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[threadIdx.x - 32] = faulty ? 1 : s[threadIdx.x - 32];
}
PAIR(producers_arrive_and_end, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(32);
  producers_arrive_and_end<faulty><<<1, 64>>>(y);
}

// A thread that has arrived at the cluster's barrier may exit without its wait.
template <bool faulty>
__global__ void __cluster_dims__(2) ends_before_the_clusters_barrier(int* y) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const bool ends = i >= 40;
  if (ends && faulty) return;
  __cluster_barrier_arrive();  // FAULT ends_before_the_clusters_barrier
  if (ends) return;
  __cluster_barrier_wait();  // FAULT ends_before_the_clusters_barrier
  y[i] = 1;
}
PAIR(ends_before_the_clusters_barrier, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(64);
  ends_before_the_clusters_barrier<faulty><<<2, 32>>>(y);
}

// The thread arrives for one phase and exits before the next.
template <bool faulty>
__global__ void __cluster_dims__(2) ends_between_two_phases(int* y) {
  __cluster_barrier_arrive();
  if (faulty && blockIdx.x == 1) return;
  __cluster_barrier_wait();
  y[blockIdx.x * 32 + threadIdx.x] = 1;
  __cluster_barrier_arrive();  // FAULT ends_between_two_phases
  __cluster_barrier_wait();    // FAULT ends_between_two_phases
}
PAIR(ends_between_two_phases, "barrier-divergence") {
  const StrictBarriers strict;
  Buffer<int> y(64);
  ends_between_two_phases<faulty><<<2, 32>>>(y);
}

// One kernel under both settings: an error with strict-barriers, else information.
template <bool faulty>
__global__ void ended_threads_by_default(int* y) {
  if (threadIdx.x >= 20) return;
  __syncthreads();  // FAULT ended_threads_by_default
  y[threadIdx.x] = 1;
}
PAIR_WITH_INFORMATION(ended_threads_by_default, "barrier-divergence") {
  std::optional<StrictBarriers> strict;
  if (faulty) strict.emplace();
  Buffer<int> y(32);
  ended_threads_by_default<faulty><<<1, 32>>>(y);
}

}  // namespace
