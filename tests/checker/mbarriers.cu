// mbarrier objects used against their protocol, phases that are miscounted, and bulk copies, which complete on them.
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

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
