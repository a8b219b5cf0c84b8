// Pairs for synchronisation between the blocks of a grid: fences, flags, tickets, locks, chains and
// grid barriers. The faulty kernels only seem to synchronise.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// A grid barrier such as cooperative_groups::grid_group::sync; its headers would dominate the
// compile time. One thread of each block fences, increments the counter, waits for all blocks, and
// fences. `arrived` must start at 0; `turn` is 0, 1, 2, ...
__device__ void grid_sync(unsigned* arrived, unsigned turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x * (turn + 1)) {
    }
    __threadfence();
  }
  __syncthreads();
}

// The last block sums the partial results. Correct: a fence before the ticket, after the work of
// all the block's threads.
template <bool faulty>
__global__ void last_block_without_fence(const int* x, int* part, unsigned* tickets, int* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = x[blockIdx.x];  // FAULT last_block_without_fence
    if (!faulty) __threadfence();
    last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  // FAULT last_block_without_fence
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = part[threadIdx.x];
}
PAIR(last_block_without_fence, "race") {
  Buffer<int> x(8, 1), part(8), y(8);
  Buffer<unsigned> tickets(1, 0);
  last_block_without_fence<faulty><<<8, 32>>>(x, part, tickets, y);
}

template <bool faulty>
__global__ void last_block_of_many_threads(const int* x, int* part, unsigned* tickets, int* y) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];  // FAULT last_block_of_many_threads
  if (!faulty) __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    // FAULT last_block_of_many_threads
    for (int b = 0; b < gridDim.x; ++b) sum += part[b * blockDim.x + threadIdx.x];
    y[threadIdx.x] = sum;
  }
}
PAIR(last_block_of_many_threads, "race") {
  Buffer<int> x(64, 1), part(64 * 6), y(64);
  Buffer<unsigned> tickets(1, 0);
  last_block_of_many_threads<faulty><<<6, 64>>>(x, part, tickets, y);
}

// More blocks than the race check tracks one by one; every thread fences for itself.
template <bool faulty>
__global__ void last_of_many_blocks(const int* x, int* part, unsigned* tickets, int* y) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];  // FAULT last_of_many_blocks
  if (!faulty) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int sum = 0;
    // FAULT last_of_many_blocks
    for (int b = 0; b < gridDim.x; ++b) sum += part[b * blockDim.x + threadIdx.x];
    y[threadIdx.x] = sum;
  }
}
PAIR(last_of_many_blocks, "race") {
  Buffer<int> x(64, 1), part(64 * 100), y(64);
  Buffer<unsigned> tickets(1, 0);
  last_of_many_blocks<faulty><<<100, 64>>>(x, part, tickets, y);
}

// A fence of block scope only.
template <bool faulty>
__global__ void fence_of_the_block(int* part, unsigned* tickets, int* y) {
  if (threadIdx.x != 0) return;
  part[blockIdx.x] = 1;  // FAULT fence_of_the_block
  if (faulty) {
    __threadfence_block();
  } else {
    __threadfence();
  }
  if (atomicInc(tickets, gridDim.x) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // FAULT fence_of_the_block
    *y = sum;
  }
}
PAIR(fence_of_the_block, "race") {
  Buffer<int> part(8), y(1);
  Buffer<unsigned> tickets(1, 0);
  fence_of_the_block<faulty><<<8, 32>>>(part, tickets, y);
}

// Message passing: a flag with release and acquire.
template <bool faulty>
__global__ void message_by_release(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT message_by_release
    if (faulty) {
      __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    } else {
      __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    *y = *data;  // FAULT message_by_release
  }
}
PAIR(message_by_release, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  message_by_release<faulty><<<2, 32>>>(data, flag, y);
}

template <bool faulty>
__global__ void message_by_acquire(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT message_by_acquire
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while ((faulty
                ? __nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)
                : __nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)) == 0) {
    }
    *y = *data;  // FAULT message_by_acquire
  }
}
PAIR(message_by_acquire, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  message_by_acquire<faulty><<<2, 32>>>(data, flag, y);
}

// Message passing with volatile flags and fences, as in older code.
template <bool faulty>
__global__ void message_by_volatile(int* data, volatile int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT message_by_volatile
    if (!faulty) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *y = *data;  // FAULT message_by_volatile
  }
}
PAIR(message_by_volatile, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  message_by_volatile<faulty><<<2, 32>>>(data, flag, y);
}

// A flag that is neither volatile nor atomic.
template <bool faulty>
__global__ void plain_flag(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    if (faulty) {
      *flag = 1;  // FAULT plain_flag
    } else {
      atomicExch(flag, 1);
    }
  } else {
    const int seen = faulty ? *flag : atomicAdd(flag, 0);  // FAULT plain_flag
    __threadfence();
    *y = seen != 0 ? *data : 0;
  }
}
PAIR(plain_flag, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  plain_flag<faulty><<<2, 32>>>(data, flag, y);
}

// The other threads read before they synchronise with the thread that waited for the flag.
template <bool faulty>
__global__ void one_thread_waits(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 42;  // FAULT one_thread_waits
    __syncthreads();
    if (threadIdx.x == 0)
      __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    if (threadIdx.x == 0) {
      while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
      }
    }
    if (!faulty) __syncthreads();
    y[threadIdx.x] = data[threadIdx.x];  // FAULT one_thread_waits
  }
}
PAIR(one_thread_waits, "race") {
  Buffer<int> data(64, 0), flag(1, 0), y(64);
  one_thread_waits<faulty><<<2, 64>>>(data, flag, y);
}

// A chain as in a decoupled look-back: each block waits for the previous block.
template <bool faulty>
__global__ void chained_sum(const int* x, int* sums, int* flags) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    volatile int* const flag = flags + blockIdx.x - 1;
    while (*flag == 0) {
    }
    __threadfence();
    before = sums[blockIdx.x - 1];  // FAULT chained_sum
  }
  sums[blockIdx.x] = before + x[blockIdx.x];  // FAULT chained_sum
  if (!faulty) __threadfence();
  *static_cast<volatile int*>(flags + blockIdx.x) = 1;
}
PAIR(chained_sum, "race") {
  Buffer<int> x(40, 1), sums(40), flags(40, 0);
  chained_sum<faulty><<<40, 32>>>(x, sums, flags);
}

// A lock protects a plain counter.
template <bool faulty>
__global__ void locked_counter(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count = *count + 1;  // FAULT locked_counter
  if (!faulty) __threadfence();
  atomicExch(lock, 0);
}
PAIR_ON_TWO(locked_counter, "race", (6, 32), Buffer<int>(1, 0), Buffer<int>(1, 0))

// Two phases, separated by a grid barrier.
template <bool faulty>
__global__ void grid_barrier(int* x, int* y, unsigned* arrived) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i;  // FAULT grid_barrier
  if (!faulty) {
    grid_sync(arrived, 0);
  } else {
    __syncthreads();
  }
  y[i] = x[n - 1 - i];  // FAULT grid_barrier
  if (!faulty) {
    grid_sync(arrived, 1);
    x[i] = y[n - 1 - i];
  }
}
PAIR(grid_barrier, "race") {
  Buffer<int> x(256, 0), y(256);
  Buffer<unsigned> arrived(1, 0);
  int *px = x, *py = y;
  unsigned* pa = arrived;
  void* arguments[] = {&px, &py, &pa};
  cudaLaunchCooperativeKernel(grid_barrier<faulty>, 4, 64, arguments, 0, nullptr);
}

template <bool faulty>
__global__ void many_at_a_grid_barrier(int* x, int* y, unsigned* arrived) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  unsigned turn = 0;
  for (int round = 0; round < 3; ++round) {
    x[i] = round;  // FAULT many_at_a_grid_barrier
    grid_sync(arrived, turn++);
    y[i] = x[n - 1 - i];  // FAULT many_at_a_grid_barrier
    if (!faulty) grid_sync(arrived, turn++);
  }
}
PAIR(many_at_a_grid_barrier, "race") {
  Buffer<int> x(64 * 40, 0), y(64 * 40);
  Buffer<unsigned> arrived(1, 0);
  int *px = x, *py = y;
  unsigned* pa = arrived;
  void* arguments[] = {&px, &py, &pa};
  cudaLaunchCooperativeKernel(many_at_a_grid_barrier<faulty>, 40, 64, arguments, 0, nullptr);
}

// A fence without a flag does not synchronise.
template <bool faulty>
__global__ void fence_without_a_flag(int* data, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 42;  // FAULT fence_without_a_flag
    __threadfence();
  } else {
    __threadfence();
    y[threadIdx.x] = faulty ? data[threadIdx.x] : 0;  // FAULT fence_without_a_flag
  }
}
PAIR_ON_TWO(fence_without_a_flag, "race", (2, 32), Buffer<int>(32, 0), Buffer<int>(32))

// A release of block scope only.
template <bool faulty>
__global__ void release_of_the_block(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT release_of_the_block
    if (faulty) {
      // FAULT release_of_the_block
      __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    } else {
      __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
  } else {
    // FAULT release_of_the_block
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    *y = *data;  // FAULT release_of_the_block
  }
}
PAIR(release_of_the_block, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  release_of_the_block<faulty><<<2, 32>>>(data, flag, y);
}

// Causality over three blocks: each block must acquire before it releases.
template <bool faulty>
__global__ void passed_on(int* data, int* flags, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT passed_on
    __nv_atomic_store_n(flags, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else if (blockIdx.x == 1) {
    while ((faulty
                ? __nv_atomic_load_n(flags, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)
                : __nv_atomic_load_n(flags, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)) == 0) {
    }
    __nv_atomic_store_n(flags + 1, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flags + 1, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    *y = *data;  // FAULT passed_on
  }
}
PAIR(passed_on, "race") {
  Buffer<int> data(1, 0), flags(2, 0), y(1);
  passed_on<faulty><<<3, 32>>>(data, flags, y);
}

// All threads of many blocks take tickets by relaxed atomics between fences: correct. Without the
// reader's fence: a race.
template <bool faulty>
__global__ void reader_without_fence(int* part, unsigned* tickets, int* y) {
  if (threadIdx.x != 0) return;
  part[blockIdx.x] = 1;  // FAULT reader_without_fence
  __threadfence();
  if (atomicInc(tickets, gridDim.x) == gridDim.x - 1) {
    if (!faulty) __threadfence();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // FAULT reader_without_fence
    *y = sum;
  }
}
PAIR(reader_without_fence, "race") {
  Buffer<int> part(8), y(1);
  Buffer<unsigned> tickets(1, 0);
  reader_without_fence<faulty><<<8, 32>>>(part, tickets, y);
}

}  // namespace
