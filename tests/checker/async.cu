// Asynchronous copies and mbarrier objects: data used before it is there, counts that are wrong, objects used against their protocol.
//
// Macros, not functions: a finding's line is then the kernel's own.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_GROUPS(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

#define INIT(bar, count) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory")
#define INVALIDATE(bar) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(bar)) : "memory")
#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory")
#define EXPECT(bar, bytes) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory")
#define WAIT_PHASE(bar, parity)                                                                                                    \
  asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra WAIT; }" ::"r"(shared_address(bar)), \
               "r"(parity)                                                                                                         \
               : "memory")
#define BULK_LOAD(to, from, bytes, bar)                                                                                              \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), \
               "l"(from), "r"(bytes), "r"(shared_address(bar))                                                                       \
               : "memory")
#define BULK_STORE(to, from, bytes) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")

// ---- cp.async: a thread's own groups --------------------------------------------------------------------------------

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

// Two stages: at the end of the loop the newest group is the one that is needed.
template <bool faulty>
__global__ void copy_groups_miscounted(const int4* x, int* y) {
  __shared__ int4 stage[2][32];
  COPY(&stage[0][threadIdx.x], x + threadIdx.x);
  COMMIT();
  int sum = 0;
  for (int t = 0; t < 4; ++t) {
    if (t < 3) {
      COPY(&stage[(t + 1) & 1][threadIdx.x], x + (t + 1) * 32 + threadIdx.x);  // FAULT copy_groups_miscounted
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

// A thread's wait says nothing about the copies of others.
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

// The barrier stands on the wrong side of the wait.
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
  COPY(tile + threadIdx.x, x + 4 * threadIdx.x + (faulty ? 2 : 4));  // FAULT copy_from_a_misaligned_source
  COMMIT();
  WAIT_GROUPS(0);
  y[threadIdx.x] = tile[threadIdx.x].x;
}
PAIR(copy_from_a_misaligned_source, "misaligned") {
  Buffer<int> x(64, 1), y(8);
  copy_from_a_misaligned_source<faulty><<<1, 8>>>(x, y);
}

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
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(tile + threadIdx.x)), "l"(x + threadIdx.x), "r"(faulty ? 20 : 12) : "memory");  // FAULT copy_larger_than_it_is
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
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  COPY(tile + threadIdx.x, x + threadIdx.x);  // FAULT copies_that_arrive_at_an_mbarrier
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&bar)) : "memory");
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x].x;  // FAULT copies_that_arrive_at_an_mbarrier
}
PAIR(copies_that_arrive_at_an_mbarrier, "race") {
  Buffer<int> x(256, 1), y(64);
  copies_that_arrive_at_an_mbarrier<faulty><<<1, 64>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), y);
}

// ---- mbarrier objects -----------------------------------------------------------------------------------------------

template <bool faulty>
__global__ void mbarrier_never_initialised(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0 && !faulty) INIT(&bar, 32);
  __syncthreads();
  ARRIVE(&bar);  // FAULT mbarrier_never_initialised
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_never_initialised, "mbarrier-misuse") {
  Buffer<int> y(32);
  mbarrier_never_initialised<faulty><<<1, 32>>>(y);
}

// Whether the object is there when the second warp comes to it depends on the schedule.
template <bool faulty>
__global__ void mbarrier_initialised_meanwhile(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 64);  // FAULT mbarrier_initialised_meanwhile
  if (!faulty) __syncthreads();
  ARRIVE(&bar);         // FAULT mbarrier_initialised_meanwhile
  WAIT_PHASE(&bar, 0);  // FAULT mbarrier_initialised_meanwhile
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_initialised_meanwhile, "race, mbarrier-misuse") {
  Buffer<int> y(64);
  mbarrier_initialised_meanwhile<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void mbarrier_initialised_twice(int* y) {
  __shared__ unsigned long long bar;
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) INIT(&bar, 32);  // FAULT mbarrier_initialised_twice
    __syncthreads();
    ARRIVE(&bar);
    WAIT_PHASE(&bar, 0);
    __syncthreads();
    if (threadIdx.x == 0 && !faulty) INVALIDATE(&bar);
  }
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_initialised_twice, "mbarrier-misuse") {
  Buffer<int> y(32);
  mbarrier_initialised_twice<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void mbarrier_for_no_arrivals(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, faulty ? 0 : 1);  // FAULT mbarrier_for_no_arrivals
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_for_no_arrivals, "mbarrier-misuse") {
  Buffer<int> y(32);
  mbarrier_for_no_arrivals<faulty><<<1, 32>>>(y);
}

// Each of eight threads arrives for two, or for three.
template <bool faulty>
__global__ void too_many_arrivals(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 16);
  __syncthreads();
  if (threadIdx.x < 8) asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(faulty ? 3 : 2) : "memory");  // FAULT too_many_arrivals
  y[threadIdx.x] = 1;
}
PAIR(too_many_arrivals, "mbarrier-misuse") {
  Buffer<int> y(32);
  too_many_arrivals<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void too_few_arrivals(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  if (!faulty || threadIdx.x < 32) ARRIVE(&bar);
  WAIT_PHASE(&bar, 0);  // FAULT too_few_arrivals
  y[threadIdx.x] = 1;
}
PAIR(too_few_arrivals, "deadlock") {
  Buffer<int> y(64);
  too_few_arrivals<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void mbarrier_read_as_memory(unsigned long long* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    if (!faulty) {
      INVALIDATE(&bar);
      bar = 3;
    }
    *y = bar;  // FAULT mbarrier_read_as_memory
  }
}
PAIR(mbarrier_read_as_memory, "mbarrier-misuse") {
  Buffer<unsigned long long> y(1);
  mbarrier_read_as_memory<faulty><<<1, 32>>>(y);
}

// Shared memory is cleared once more after the object was made in it.
template <bool faulty>
__global__ void mbarrier_overwritten(int* y) {
  __shared__ unsigned long long words[4];
  if (threadIdx.x == 0) INIT(words, 32);
  __syncthreads();
  if (threadIdx.x < 4 && (faulty || threadIdx.x > 0)) words[threadIdx.x] = 0;
  __syncthreads();
  ARRIVE(words);  // FAULT mbarrier_overwritten
  WAIT_PHASE(words, 0);
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_overwritten, "mbarrier-misuse") {
  Buffer<int> y(32);
  mbarrier_overwritten<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void mbarrier_used_after_its_end(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 32);
  __syncthreads();
  if (threadIdx.x == 0 && faulty) INVALIDATE(&bar);
  __syncthreads();
  ARRIVE(&bar);  // FAULT mbarrier_used_after_its_end
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_used_after_its_end, "mbarrier-misuse") {
  Buffer<int> y(32);
  mbarrier_used_after_its_end<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void mbarrier_misaligned(int* y) {
  __shared__ unsigned long long words[2];
  if (threadIdx.x == 0) INIT(reinterpret_cast<char*>(words) + (faulty ? 4 : 8), 32);  // FAULT mbarrier_misaligned
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_misaligned, "misaligned") {
  Buffer<int> y(32);
  mbarrier_misaligned<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void mbarrier_in_global_memory(unsigned long long* words, int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.b64 [%0], 1;" ::"l"(faulty ? words : &bar) : "memory");  // FAULT mbarrier_in_global_memory
  y[threadIdx.x] = 1;
}
PAIR(mbarrier_in_global_memory, "mbarrier-misuse") {
  Buffer<unsigned long long> words(1);
  Buffer<int> y(32);
  mbarrier_in_global_memory<faulty><<<1, 32>>>(words, y);
}

// The wait for the other parity is over before anybody has arrived.
template <bool faulty>
__global__ void wrong_parity(int* y) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // FAULT wrong_parity
  ARRIVE(&bar);
  WAIT_PHASE(&bar, faulty ? 1 : 0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT wrong_parity
}
PAIR(wrong_parity, "race") {
  Buffer<int> y(64);
  wrong_parity<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void arrives_and_does_not_wait(int* y) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // FAULT arrives_and_does_not_wait
  ARRIVE(&bar);
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT arrives_and_does_not_wait
}
PAIR(arrives_and_does_not_wait, "race") {
  Buffer<int> y(64);
  arrives_and_does_not_wait<faulty><<<1, 64>>>(y);
}

// A ring of two slots with an object for "full" and one for "empty" each: a slot is given back before it has been read.
template <bool faulty>
__global__ void ring_given_back_early(const int* x, int* y) {
  __shared__ int slot[2][32];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x < 2) {
    INIT(full + threadIdx.x, 32);
    INIT(empty + threadIdx.x, 32);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  int sum = 0;
  for (int t = 0; t < 8; ++t) {
    const int k = t & 1, parity = t >> 1 & 1;
    if (threadIdx.x < 32) {
      WAIT_PHASE(empty + k, parity ^ 1);
      slot[k][lane] = x[t * 32 + lane];  // FAULT ring_given_back_early
      ARRIVE(full + k);
    } else {
      WAIT_PHASE(full + k, parity);
      if (faulty) ARRIVE(empty + k);
      sum += slot[k][31 - lane];  // FAULT ring_given_back_early
      if (!faulty) ARRIVE(empty + k);
    }
  }
  if (threadIdx.x >= 32) y[lane] = sum;
}
PAIR(ring_given_back_early, "race") {
  Buffer<int> x(256, 1), y(32);
  ring_given_back_early<faulty><<<1, 64>>>(x, y);
}

// ---- bulk copies ----------------------------------------------------------------------------------------------------

template <bool faulty>
__global__ void bulk_data_before_its_phase(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, 512);
    BULK_LOAD(tile, x, 512, &bar);  // FAULT bulk_data_before_its_phase
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT bulk_data_before_its_phase
}
PAIR(bulk_data_before_its_phase, "race") {
  Buffer<int> x(128, 1), y(128);
  bulk_data_before_its_phase<faulty><<<1, 128>>>(x, y);
}

template <bool faulty>
__global__ void bulk_expects_too_much(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? 528 : 512);
    BULK_LOAD(tile, x, 512, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT bulk_expects_too_much
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(bulk_expects_too_much, "deadlock") {
  Buffer<int> x(128, 1), y(128);
  bulk_expects_too_much<faulty><<<1, 128>>>(x, y);
}

// Two copies of which only one was announced.
template <bool faulty>
__global__ void bulk_expects_too_little(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? 256 : 512);
    BULK_LOAD(tile, x, 256, &bar);
    BULK_LOAD(tile + 64, x + 64, 256, &bar);  // FAULT bulk_expects_too_little
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT bulk_expects_too_little
}
PAIR(bulk_expects_too_little, "race") {
  Buffer<int> x(128, 1), y(128);
  bulk_expects_too_little<faulty><<<1, 128>>>(x, y);
}

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
PAIR(bulk_of_an_odd_size, "invalid-instruction") {
  Buffer<int> x(8, 1), y(1);
  bulk_of_an_odd_size<faulty><<<1, 32>>>(x, y);
}

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
PAIR(bulk_misaligned, "misaligned") {
  Buffer<int> x(12, 1), y(1);
  bulk_misaligned<faulty><<<1, 32>>>(x, y);
}

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
PAIR(bulk_past_the_source, "out-of-bounds") {
  Buffer<int> x(8, 1), y(1);
  bulk_past_the_source<faulty><<<1, 32>>>(x, y);
}

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
    tile[5] = 99;
    if (faulty) BULK_WAIT();
  }
}
PAIR(bulk_source_overwritten, "race") {
  Buffer<int> y(32);
  bulk_source_overwritten<faulty><<<1, 32>>>(y);
}

}  // namespace
