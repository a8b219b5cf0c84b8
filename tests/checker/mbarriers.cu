// Pairs that misuse mbarrier objects: invalid operations, wrong phases, and arrivals and waits that
// do not synchronise.
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void mbarrier_never_initialised(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0 && !faulty) INIT(&bar, 32);
  __syncthreads();
  ARRIVE(&bar);  // FAULT mbarrier_never_initialised
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_never_initialised, "mbarrier-misuse", (1, 32), Buffer<int>(32))

// The schedule decides whether the object is initialised when the second warp uses it.
template <bool faulty>
__global__ void mbarrier_initialised_meanwhile(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 64);  // FAULT mbarrier_initialised_meanwhile
  if (!faulty) __syncthreads();
  ARRIVE(&bar);         // FAULT mbarrier_initialised_meanwhile
  WAIT_PHASE(&bar, 0);  // FAULT mbarrier_initialised_meanwhile
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_initialised_meanwhile, "race, mbarrier-misuse", (1, 64), Buffer<int>(64))

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
PAIR_ON(mbarrier_initialised_twice, "mbarrier-misuse", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void mbarrier_invalidated_twice(int* y) {
  SHARED_BARRIER(bar, 32);
  ARRIVE(&bar);
  WAIT_PHASE(&bar, 0);
  __syncthreads();
  for (int k = 0; k < 1 + faulty; ++k) {
    if (threadIdx.x == 0) INVALIDATE(&bar);  // FAULT mbarrier_invalidated_twice
  }
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_invalidated_twice, "mbarrier-misuse", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void mbarrier_for_no_arrivals(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, faulty ? 0 : 1);  // FAULT mbarrier_for_no_arrivals
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_for_no_arrivals, "mbarrier-misuse", (1, 32), Buffer<int>(32))

// Each of eight threads arrives with count 2; in the faulty kernel, 3.
template <bool faulty>
__global__ void too_many_arrivals(int* y) {
  SHARED_BARRIER(bar, 16);
  if (threadIdx.x < 8)
    // FAULT too_many_arrivals
    asm volatile(
        "mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&bar)),
        "r"(faulty ? 3 : 2)
        : "memory");
  y[threadIdx.x] = 1;
}
PAIR_ON(too_many_arrivals, "mbarrier-misuse", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void too_few_arrivals(int* y) {
  SHARED_BARRIER(bar, 64);
  if (!faulty || threadIdx.x < 32) ARRIVE(&bar);
  WAIT_PHASE(&bar, 0);  // FAULT too_few_arrivals
  y[threadIdx.x] = 1;
}
PAIR_ON(too_few_arrivals, "deadlock", (1, 64), Buffer<int>(64))

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
PAIR_ON(mbarrier_read_as_memory, "mbarrier-misuse", (1, 32), Buffer<unsigned long long>(1))

// Shared memory is cleared after the object in it was initialised.
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
PAIR_ON(mbarrier_overwritten, "mbarrier-misuse", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void mbarrier_used_after_its_end(int* y) {
  SHARED_BARRIER(bar, 32);
  if (threadIdx.x == 0 && faulty) INVALIDATE(&bar);
  __syncthreads();
  ARRIVE(&bar);  // FAULT mbarrier_used_after_its_end
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_used_after_its_end, "mbarrier-misuse", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void mbarrier_misaligned(int* y) {
  __shared__ unsigned long long words[2];
  // FAULT mbarrier_misaligned
  if (threadIdx.x == 0) INIT(reinterpret_cast<char*>(words) + (faulty ? 4 : 8), 32);
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_misaligned, "misaligned", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void mbarrier_in_global_memory(unsigned long long* words, int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0)
    // FAULT mbarrier_in_global_memory
    asm volatile("mbarrier.init.b64 [%0], 1;" ::"l"(faulty ? words : &bar) : "memory");
  y[threadIdx.x] = 1;
}
PAIR_ON_TWO(mbarrier_in_global_memory, "mbarrier-misuse", (1, 32),
            Buffer<unsigned long long>(1), Buffer<int>(32))

// A wait for the other parity returns at once, before any arrival.
template <bool faulty>
__global__ void wrong_parity(int* y) {
  __shared__ int s[64];
  SHARED_BARRIER(bar, 64);
  s[threadIdx.x] = threadIdx.x;  // FAULT wrong_parity
  ARRIVE(&bar);
  WAIT_PHASE(&bar, faulty ? 1 : 0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT wrong_parity
}
PAIR_ON(wrong_parity, "race", (1, 64), Buffer<int>(64))

template <bool faulty>
__global__ void arrives_and_does_not_wait(int* y) {
  __shared__ int s[64];
  SHARED_BARRIER(bar, 64);
  s[threadIdx.x] = threadIdx.x;  // FAULT arrives_and_does_not_wait
  ARRIVE(&bar);
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT arrives_and_does_not_wait
}
PAIR_ON(arrives_and_does_not_wait, "race", (1, 64), Buffer<int>(64))

// A ring of two slots with a "full" and an "empty" object each. The faulty consumer releases a slot
// before it reads the slot.
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
PAIR_ON_TWO(ring_given_back_early, "race", (1, 64), Buffer<int>(256, 1), Buffer<int>(32))

// One warp invalidates the object while the other still waits.
template <bool faulty>
__global__ void mbarrier_ended_while_awaited(int* y) {
  SHARED_BARRIER(bar, 1);
  if (threadIdx.x >= 32) {
    WAIT_PHASE(&bar, 0);  // FAULT mbarrier_ended_while_awaited
  } else if (threadIdx.x == 0) {
    if (faulty) __nanosleep(100000);
    if (!faulty) ARRIVE(&bar);
  }
  if (!faulty) __syncthreads();
  if (threadIdx.x == 0) INVALIDATE(&bar);  // FAULT mbarrier_ended_while_awaited
  y[threadIdx.x] = 1;
}
PAIR_ON(mbarrier_ended_while_awaited, "mbarrier-misuse", (1, 64), Buffer<int>(64))

// A loop around test_wait, without sleeping, for a phase that never completes.
template <bool faulty>
__global__ void asks_again_and_again(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 32 + faulty);
  __syncthreads();
  ARRIVE(&bar);
  // FAULT asks_again_and_again
  asm volatile(
      "{ .reg .pred p; AGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], 0; @!p bra AGAIN; }" ::
          "r"(shared_address(&bar))
      : "memory");
  y[threadIdx.x] = 1;
}
PAIR_ON(asks_again_and_again, "deadlock", (1, 32), Buffer<int>(32))

// Half of the threads drop out; one thread then arrives for the original count.
template <bool faulty>
__global__ void arrives_for_those_who_dropped_out(int* y) {
  SHARED_BARRIER(bar, 32);
  if (threadIdx.x >= 16) {
    asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(shared_address(&bar)) : "memory");
  } else {
    ARRIVE(&bar);
  }
  WAIT_PHASE(&bar, 0);
  __syncwarp();
  if (threadIdx.x == 0) {
    // FAULT arrives_for_those_who_dropped_out
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)),
                 "r"(faulty ? 32 : 16)
                 : "memory");
  }
  WAIT_PHASE(&bar, 1);
  y[threadIdx.x] = 1;
}
PAIR_ON(arrives_for_those_who_dropped_out, "mbarrier-misuse", (1, 32), Buffer<int>(32))

// A relaxed arrival counts but does not synchronise.
template <bool faulty>
__global__ void arrives_relaxed(int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // FAULT arrives_relaxed
  if (faulty) {
    asm volatile("mbarrier.arrive.relaxed.cta.shared.b64 _, [%0];" ::"r"(shared_address(&bar))
                 : "memory");
  } else {
    ARRIVE(&bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT arrives_relaxed
}
PAIR_ON(arrives_relaxed, "race", (1, 64), Buffer<int>(64))

template <bool faulty>
__global__ void waits_relaxed(int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // FAULT waits_relaxed
  ARRIVE(&bar);
  if (faulty) {
    asm volatile(
        "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.relaxed.cta.shared.b64 p, [%0], 0; @!p bra "
        "WAIT; }" ::"r"(shared_address(&bar))
        : "memory");
  } else {
    WAIT_PHASE(&bar, 0);
  }
  y[threadIdx.x] = s[63 - threadIdx.x];  // FAULT waits_relaxed
}
PAIR_ON(waits_relaxed, "race", (1, 64), Buffer<int>(64))

}  // namespace
