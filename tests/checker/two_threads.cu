// Pairs of races in which one thread accesses the word twice: a weak access and a strong one, a
// write and a read. Each race must still be reported. Also acquires that synchronise at other
// locations or in other lanes.
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// Lane 0 reads a word that its neighbours change, and then changes the word itself.
template <bool faulty>
__global__ void weak_read_before_an_atomic_of_its_own(int* y) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncwarp();
  int v = 0;
  if (threadIdx.x == 0) v = s;  // FAULT weak_read_before_an_atomic_of_its_own
  if (!faulty) __syncwarp();
  atomicAdd(&s, 1);  // FAULT weak_read_before_an_atomic_of_its_own
  y[threadIdx.x] = v;
}
PAIR_ON(weak_read_before_an_atomic_of_its_own, "race", (1, 32), Buffer<int>(32))

// The adding thread also reads the sum, by a volatile read. The other block's plain read races with
// the addition.
template <bool faulty>
__global__ void __cluster_dims__(2) atomic_before_a_read_of_its_own(int* y) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(shared_address(&s)));
  int v = 0;
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    // FAULT atomic_before_a_read_of_its_own
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(there) : "memory");
    asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
  } else if (threadIdx.x == 0 && faulty) {
    // FAULT atomic_before_a_read_of_its_own
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
  } else if (threadIdx.x == 0) {
    asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];"
                 : "=r"(v)
                 : "r"(there)
                 : "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  y[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
PAIR_ON(atomic_before_a_read_of_its_own, "race", (2, 32), Buffer<int>(64))

// A block reads a counter; another block adds to it and then clears it by a plain store.
template <bool faulty>
__global__ void counter_cleared_under_a_reader(int* count, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *y = *static_cast<volatile int*>(count);  // FAULT counter_cleared_under_a_reader
    return;
  }
  atomicAdd(count, 1);
  if (faulty) {
    *count = 0;  // FAULT counter_cleared_under_a_reader
  } else {
    atomicExch(count, 0);
  }
}
PAIR_ON_TWO(counter_cleared_under_a_reader, "race", (2, 32), Buffer<int>(1, 0), Buffer<int>(1))

// Two flags: the reader acquires one; the data was released through the other.
template <bool faulty>
__global__ void acquire_at_another_flag(int* data, int* flags, int* y) {
  if (threadIdx.x == 32) {
    data[0] = 1;  // FAULT acquire_at_another_flag
    asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flags) : "memory");
  } else if (threadIdx.x == 64) {
    asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flags + 1) : "memory");
  } else if (threadIdx.x == 0) {
    int v;
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(flags + faulty) : "memory");
    } while (v == 0);
    y[0] = data[0];  // FAULT acquire_at_another_flag
  }
}
PAIR(acquire_at_another_flag, "race") {
  Buffer<int> data(1, 0), flags(2, 0), y(1);
  acquire_at_another_flag<faulty><<<1, 96>>>(data, flags, y);
}

// One lane acquires, and its neighbour reads.
template <bool faulty>
__global__ void acquired_by_a_neighbour(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    data[0] = 1;  // FAULT acquired_by_a_neighbour
    asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    return;
  }
  if (threadIdx.x == 0) {
    int v;
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    } while (v == 0);
  }
  if (!faulty) __syncwarp();
  if (threadIdx.x == 1) y[0] = data[0];  // FAULT acquired_by_a_neighbour
}
PAIR(acquired_by_a_neighbour, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  acquired_by_a_neighbour<faulty><<<2, 32>>>(data, flag, y);
}

// Every lane releases by an atomic at its own location: this does not order the lanes.
template <bool faulty>
__global__ void atomics_of_neighbours_at_places_of_their_own(int* data, int* places, int* y) {
  data[threadIdx.x] = threadIdx.x;  // FAULT atomics_of_neighbours_at_places_of_their_own
  asm volatile("red.release.gpu.add.u32 [%0], 1;" ::"l"(places + threadIdx.x) : "memory");
  if (!faulty) __syncwarp();
  y[threadIdx.x] = data[31 - threadIdx.x];  // FAULT atomics_of_neighbours_at_places_of_their_own
}
PAIR(atomics_of_neighbours_at_places_of_their_own, "race") {
  Buffer<int> data(32), places(32, 0), y(32);
  atomics_of_neighbours_at_places_of_their_own<faulty><<<1, 32>>>(data, places, y);
}

// The first store to the message is a plain store of the releasing thread. An acquire of the
// message orders that store too (PTX ISA 8.9.5). A second, relaxed flag makes the reader read after
// both stores.
template <bool faulty>
__global__ void message_that_begins_by_a_plain_store(int* message, int* there, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *message = 1;  // FAULT message_that_begins_by_a_plain_store
    asm volatile("st.release.gpu.u32 [%0], 2;" ::"l"(message) : "memory");
    asm volatile("st.relaxed.gpu.u32 [%0], 1;" ::"l"(there) : "memory");
    return;
  }
  int v;
  do {
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(there) : "memory");
  } while (v == 0);
  if (faulty) {
    // FAULT message_that_begins_by_a_plain_store
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(message) : "memory");
  } else {
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(message) : "memory");
  }
  *y = v;
}
PAIR(message_that_begins_by_a_plain_store, "race") {
  Buffer<int> message(1, 0), there(1, 0), y(1);
  message_that_begins_by_a_plain_store<faulty><<<2, 32>>>(message, there, y);
}

}  // namespace
