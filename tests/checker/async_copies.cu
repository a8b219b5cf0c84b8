// Pairs that misuse cp.async and bulk copies: data read before the copy is complete, wrong counts
// of groups or bytes, and wrong addresses or sizes.
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void copy_read_before_its_wait(const int4* x, int* y) {
  __shared__ int4 tile[32];
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT copy_read_before_its_wait
  COMMIT();
  if (!faulty) WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;  // FAULT copy_read_before_its_wait
}
PAIR(copy_read_before_its_wait, "race") {
  Buffer<int> x(128, 1), y(32);
  copy_read_before_its_wait<faulty><<<1, 32>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

// Two stages: in the last turn of the loop, the kernel needs the newest group.
template <bool faulty>
__global__ void copy_groups_miscounted(const int4* x, int* y) {
  __shared__ int4 stage[2][32];
  COPY(&stage[0][threadIdx.x], x + threadIdx.x);
  COMMIT();
  int sum = 0;
  for (int t = 0; t < 4; ++t) {
    if (t < 3) {
      // FAULT copy_groups_miscounted
      COPY(&stage[(t + 1) & 1][threadIdx.x], x + (t + 1) * 32 + threadIdx.x);
      COMMIT();
    }
    if (faulty || t < 3) {
      WAIT_GROUPS(1);
    } else {
      WAIT_GROUPS(0);
    }
    sum += stage[t & 1][threadIdx.x].x;  // FAULT copy_groups_miscounted
  }
  y[threadIdx.x] = sum;
}
PAIR(copy_groups_miscounted, "race") {
  Buffer<int> x(512, 1), y(32);
  copy_groups_miscounted<faulty><<<1, 32>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

template <bool faulty>
__global__ void copy_never_committed(const int4* x, int* y) {
  __shared__ int4 tile[32];
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT copy_never_committed
  if (!faulty) COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;  // FAULT copy_never_committed
}
PAIR(copy_never_committed, "race") {
  Buffer<int> x(128, 1), y(32);
  copy_never_committed<faulty><<<1, 32>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

// A thread's cp.async wait covers its own copies, not the copies of other threads.
template <bool faulty>
__global__ void copies_of_other_threads(const int4* x, int* y) {
  __shared__ int4 tile[64];
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT copies_of_other_threads
  COMMIT();
  WAIT_GROUPS(0);
  if (!faulty) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x].x;  // FAULT copies_of_other_threads
}
PAIR(copies_of_other_threads, "race") {
  Buffer<int> x(256, 1), y(64);
  copies_of_other_threads<faulty><<<1, 64>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

// The faulty kernel synchronises before its wait instead of after it.
template <bool faulty>
__global__ void barrier_before_the_wait(const int4* x, int* y) {
  __shared__ int4 tile[64];
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT barrier_before_the_wait
  COMMIT();
  if (faulty) __syncthreads();
  WAIT_GROUPS(0);
  if (!faulty) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x].x;  // FAULT barrier_before_the_wait
}
PAIR(barrier_before_the_wait, "race") {
  Buffer<int> x(256, 1), y(64);
  barrier_before_the_wait<faulty><<<1, 64>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

template <bool faulty>
__global__ void copy_over_what_others_read(const int4* x, int* y) {
  __shared__ int4 tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const int other = tile[63 - threadIdx.x].x;  // FAULT copy_over_what_others_read
  if (!faulty) __syncthreads();
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT copy_over_what_others_read
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = other + tile[threadIdx.x].y;
}
PAIR(copy_over_what_others_read, "race") {
  Buffer<int> x(256, 1), y(64);
  copy_over_what_others_read<faulty><<<1, 64>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

template <bool faulty>
__global__ void copy_from_a_misaligned_source(const int* x, int* y) {
  __shared__ int4 tile[8];
  // FAULT copy_from_a_misaligned_source
  COPY(tile + threadIdx.x, x + 4 * threadIdx.x + (faulty ? 2 : 4));
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;
}
PAIR_ON_TWO(copy_from_a_misaligned_source, "misaligned", (1, 8), Buffer<int>(64, 1), Buffer<int>(8))

template <bool faulty>
__global__ void copy_past_the_source(const int4* x, int* y) {
  __shared__ int4 tile[8];
  COPY(tile + threadIdx.x, x + threadIdx.x + faulty);  // FAULT copy_past_the_source
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;
}
PAIR(copy_past_the_source, "out-of-bounds") {
  Buffer<int> x(32, 1), y(8);
  copy_past_the_source<faulty><<<1, 8>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

template <bool faulty>
__global__ void copy_larger_than_it_is(const int4* x, int* y) {
  __shared__ int4 tile[8];
  // FAULT copy_larger_than_it_is
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(tile + threadIdx.x)),
      "l"(x + threadIdx.x), "r"(faulty ? 20 : 12)
      : "memory");
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;
}
PAIR(copy_larger_than_it_is, "invalid-instruction") {
  Buffer<int> x(32, 1), y(8);
  copy_larger_than_it_is<faulty><<<1, 8>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

template <bool faulty>
__global__ void copy_of_what_nobody_wrote(const int4* x, int* y) {
  __shared__ int4 tile[32];
  COPY(tile + threadIdx.x, x + threadIdx.x);
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x + 1;  // FAULT copy_of_what_nobody_wrote
}
PAIR(copy_of_what_nobody_wrote, "uninitialised") {
  Buffer<int> x(128), y(32);
  cudaMemset(x, 1, faulty ? 496 : 512);
  copy_of_what_nobody_wrote<faulty><<<1, 32>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

template <bool faulty>
__global__ void copies_that_arrive_at_an_mbarrier(const int4* x, int* y) {
  __shared__ int4 tile[64];
  SHARED_BARRIER(bar, 64);
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT copies_that_arrive_at_an_mbarrier
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&bar))
               : "memory");
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x].x;  // FAULT copies_that_arrive_at_an_mbarrier
}
PAIR(copies_that_arrive_at_an_mbarrier, "race") {
  Buffer<int> x(256, 1), y(64);
  copies_that_arrive_at_an_mbarrier<faulty>
      <<<1, 64>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

// ---- bulk copies --------------------------------------------------------------------------------

template <bool faulty>
__global__ void bulk_data_before_its_phase(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x == 0) {
    EXPECT(&bar, 512);
    BULK_LOAD(tile, x, 512, &bar);  // FAULT bulk_data_before_its_phase
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT bulk_data_before_its_phase
}
PAIR_ON_TWO(bulk_data_before_its_phase, "race", (1, 128), Buffer<int>(128, 1), Buffer<int>(128))

template <bool faulty>
__global__ void bulk_expects_too_much(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? 528 : 512);
    BULK_LOAD(tile, x, 512, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT bulk_expects_too_much
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON_TWO(bulk_expects_too_much, "deadlock", (1, 128), Buffer<int>(128, 1), Buffer<int>(128))

// The kernel issues two copies; the faulty one announces the bytes of only one.
template <bool faulty>
__global__ void bulk_expects_too_little(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? 256 : 512);
    BULK_LOAD(tile, x, 256, &bar);
    BULK_LOAD(tile + 64, x + 64, 256, &bar);  // FAULT bulk_expects_too_little
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT bulk_expects_too_little
}
PAIR_ON_TWO(bulk_expects_too_little, "race", (1, 128), Buffer<int>(128, 1), Buffer<int>(128))

template <bool faulty>
__global__ void bulk_of_an_odd_size(const int* x, int* y) {
  __shared__ __align__(16) int tile[8];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, faulty ? 20 : 32);
    BULK_LOAD(tile, x, faulty ? 20 : 32, &bar);  // FAULT bulk_of_an_odd_size
    WAIT_PHASE(&bar, 0);
    *y = tile[0];
  }
}
PAIR_ON_TWO(bulk_of_an_odd_size, "invalid-instruction", (1, 32), Buffer<int>(8, 1), Buffer<int>(1))

template <bool faulty>
__global__ void bulk_misaligned(const int* x, int* y) {
  __shared__ __align__(16) int tile[8];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, 32);
    BULK_LOAD(tile, x + (faulty ? 2 : 4), 32, &bar);  // FAULT bulk_misaligned
    WAIT_PHASE(&bar, 0);
    *y = tile[0];
  }
}
PAIR_ON_TWO(bulk_misaligned, "misaligned", (1, 32), Buffer<int>(12, 1), Buffer<int>(1))

template <bool faulty>
__global__ void bulk_past_the_source(const int* x, int* y) {
  __shared__ __align__(16) int tile[16];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, faulty ? 48 : 32);
    BULK_LOAD(tile, x, faulty ? 48 : 32, &bar);  // FAULT bulk_past_the_source
    WAIT_PHASE(&bar, 0);
    *y = tile[0];
  }
}
PAIR_ON_TWO(bulk_past_the_source, "out-of-bounds", (1, 32), Buffer<int>(8, 1), Buffer<int>(1))

template <bool faulty>
__global__ void bulk_source_overwritten(int* y) {
  __shared__ __align__(16) int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, tile, 128);  // FAULT bulk_source_overwritten
    BULK_COMMIT();
    if (!faulty) BULK_WAIT();
    tile[5] = 99;  // FAULT bulk_source_overwritten
    if (faulty) BULK_WAIT();
  }
}
PAIR_ON(bulk_source_overwritten, "race", (1, 32), Buffer<int>(32))

// The barrier orders the issue of the copy before the store. It does not order the copy's reads:
// they end at the wait, and no barrier follows the wait.
template <bool faulty>
__global__ void bulk_source_overwritten_by_another(int* y) {
  __shared__ __align__(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, tile, 256);  // FAULT bulk_source_overwritten_by_another
    BULK_COMMIT();
    if (!faulty) BULK_WAIT();
  }
  __syncthreads();
  if (threadIdx.x == 0 && faulty) BULK_WAIT();
  if (threadIdx.x == 32) tile[5] = 99;  // FAULT bulk_source_overwritten_by_another
}
PAIR_ON(bulk_source_overwritten_by_another, "race", (1, 64), Buffer<int>(64))

// The store does not change the value: only the order of accesses shows the mistake.
template <bool faulty>
__global__ void bulk_source_overwritten_with_the_same(int* y) {
  __shared__ __align__(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, tile, 256);  // FAULT bulk_source_overwritten_with_the_same
    BULK_COMMIT();
  }
  __syncthreads();
  if (threadIdx.x == 32 && faulty) tile[5] = 5;  // FAULT bulk_source_overwritten_with_the_same
  if (threadIdx.x == 0) BULK_WAIT();
  __syncthreads();
  if (threadIdx.x == 32 && !faulty) tile[5] = 5;
}
PAIR_ON(bulk_source_overwritten_with_the_same, "race", (1, 64), Buffer<int>(64))

// One thread issues two unordered copies to overlapping places. A wait between them, or places that
// only touch, would make it correct.
template <bool faulty>
__global__ void bulk_copies_that_overlap(int* y) {
  __shared__ __align__(16) int first[32], second[32];
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = -1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, first, 128);                         // FAULT bulk_copies_that_overlap
    BULK_STORE(y + (faulty ? 28 : 32), second, 128);  // FAULT bulk_copies_that_overlap
    BULK_COMMIT();
    BULK_WAIT_WRITTEN();
    BULK_STORE(y, second, 128);
    BULK_COMMIT();
    // Copies of the bytes that memory already holds may complete in any order.
    BULK_STORE(y, second, 64);
    BULK_COMMIT();
    BULK_WAIT_WRITTEN();
  }
}
PAIR_ON(bulk_copies_that_overlap, "race", (1, 32), Buffer<int>(64))

// The barrier orders the threads but not the first thread's copy.
template <bool faulty>
__global__ void bulk_copies_around_a_barrier(int* y) {
  __shared__ __align__(16) int first[64], second[64];
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = -1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, first, 256);  // FAULT bulk_copies_around_a_barrier
    BULK_COMMIT();
    if (!faulty) BULK_WAIT_WRITTEN();
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    BULK_STORE(y + 60, second, 16);  // FAULT bulk_copies_around_a_barrier
    BULK_COMMIT();
    BULK_WAIT_WRITTEN();
  }
  __syncthreads();
  if (threadIdx.x == 0) BULK_WAIT_WRITTEN();
}
PAIR_ON(bulk_copies_around_a_barrier, "race", (1, 64), Buffer<int>(64))

// Copies to the other block of the cluster. The phase of that block's mbarrier shows when the
// source may be reused; the cluster's barrier passes that on.
template <bool faulty>
__global__ void __cluster_dims__(2) bulk_source_of_the_cluster_overwritten(int* y) {
  __shared__ __align__(16) int from[32], to[32];
  __shared__ unsigned long long bar;
  from[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) INIT(&bar, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  const bool second = __clusterRelativeBlockRank() == 1;
  if (!second && threadIdx.x == 0) {
    // FAULT bulk_source_of_the_cluster_overwritten
    asm volatile(
        "{ .reg .u32 there, bar; mapa.shared::cluster.u32 there, %0, 1; mapa.shared::cluster.u32 "
        "bar, %2, 1; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
        "[there], [%1], 128, [bar]; }" ::"r"(shared_address(to)),
        "r"(shared_address(from)), "r"(shared_address(&bar))
        : "memory");
    if (faulty) from[5] = 99;  // FAULT bulk_source_of_the_cluster_overwritten
  }
  if (second && threadIdx.x == 0) EXPECT(&bar, 128);
  if (second) {
    WAIT_PHASE(&bar, 0);
    y[threadIdx.x] = to[threadIdx.x];
  }
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (!second && threadIdx.x == 0 && !faulty) from[5] = 99;
}
PAIR_ON(bulk_source_of_the_cluster_overwritten, "race", (2, 32), Buffer<int>(32))

// A cp.async that zero-fills may name any source address for bytes that it does not read.
template <bool faulty>
__global__ void copy_that_ignores_its_source(const int4* x, int* y, int n) {
  __shared__ int4 tile[32];
  const int size = faulty || threadIdx.x < n ? 16 : 0;
  // FAULT copy_that_ignores_its_source
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(tile + threadIdx.x)),
      "l"(x + threadIdx.x), "r"(size)
      : "memory");
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;
}
PAIR(copy_that_ignores_its_source, "out-of-bounds") {
  Buffer<int> x(4 * 20, 1), y(32);
  copy_that_ignores_its_source<faulty>
      <<<1, 32>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y, 20);
}

}  // namespace
