// Pairs for thread block clusters: the cluster barrier, and distributed shared memory.
#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// Equals cooperative_groups::cluster_group::sync. The headers of cooperative groups take as long to
// compile as everything else here.
__device__ void cluster_sync() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
template <class T>
__device__ T* of_rank(T* p, unsigned rank) {
  return static_cast<T*>(__cluster_map_shared_rank(p, rank));
}

template <bool faulty>
__global__ void __cluster_dims__(2) block_has_left(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0) {
    for (int k = 0; k < 2000 && faulty; ++k) __nanosleep(1);
    y[threadIdx.x] = of_rank(s, 1)[threadIdx.x];  // FAULT block_has_left
  }
  if (!faulty) cluster_sync();
}

template <bool faulty>
__global__ void __cluster_dims__(2) reads_before_the_barrier(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = 0;
  cluster_sync();
  s[threadIdx.x] = threadIdx.x;  // FAULT reads_before_the_barrier
  if (!faulty) cluster_sync();
  // FAULT reads_before_the_barrier
  y[blockIdx.x * 32 + threadIdx.x] = of_rank(s, __clusterRelativeBlockRank() ^ 1)[31 - threadIdx.x];
  cluster_sync();
}
PAIR_ON(reads_before_the_barrier, "race", (2, 32), Buffer<int>(64))

// Both blocks write the array of the first block.
template <bool faulty>
__global__ void __cluster_dims__(2) writes_of_two_blocks(int* y) {
  __shared__ int s[64];
  int* const first = of_rank(s, 0);
  cluster_sync();
  // FAULT writes_of_two_blocks
  first[faulty ? threadIdx.x : __clusterRelativeBlockRank() * 32 + threadIdx.x] =
      __clusterRelativeBlockRank();
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0)
    y[threadIdx.x] = s[threadIdx.x] + (faulty ? 0 : s[32 + threadIdx.x]);
}
PAIR_ON(writes_of_two_blocks, "race", (2, 32), Buffer<int>(32))

// The other block may execute its atomicAdd before the counter is initialised.
template <bool faulty>
__global__ void __cluster_dims__(2) atomics_of_two_blocks(int* y) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;  // FAULT atomics_of_two_blocks
  if (!faulty) cluster_sync();
  atomicAdd(of_rank(&count, 0), 1);  // FAULT atomics_of_two_blocks
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0 && threadIdx.x == 0) *y = count;
}
PAIR_ON(atomics_of_two_blocks, "race, uninitialised", (2, 32), Buffer<int>(1))

// Shared memory within one block of a cluster follows the rules of any other block.
template <bool faulty>
__global__ void __cluster_dims__(2) warps_in_a_cluster(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // FAULT warps_in_a_cluster
  if (!faulty) __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  // FAULT warps_in_a_cluster
}
PAIR_ON(warps_in_a_cluster, "race", (2, 64), Buffer<int>(128))

template <bool faulty>
__global__ void __cluster_dims__(2) rank_outside(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  cluster_sync();
  y[blockIdx.x * 32 + threadIdx.x] = of_rank(s, faulty ? 2 : 1)[threadIdx.x];  // FAULT rank_outside
  cluster_sync();
}
PAIR_ON(rank_outside, "out-of-bounds", (2, 32), Buffer<int>(64))

PAIR_ON(block_has_left, "use-after-free", (2, 32), Buffer<int>(32))

template <bool faulty>
__global__ void __cluster_dims__(2) store_to_a_block_that_has_left(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0) {
    for (int k = 0; k < 2000 && faulty; ++k) __nanosleep(1);
    of_rank(s, 1)[threadIdx.x] = 1;  // FAULT store_to_a_block_that_has_left
  }
  if (!faulty) cluster_sync();
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(store_to_a_block_that_has_left, "use-after-free", (2, 32), Buffer<int>(64))

template <bool faulty>
__global__ void __cluster_dims__(2) past_a_variable_of_another_block(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  cluster_sync();
  // FAULT past_a_variable_of_another_block
  y[blockIdx.x * 32 + threadIdx.x] = of_rank(s, 1)[threadIdx.x + faulty];
  cluster_sync();
}
PAIR_ON(past_a_variable_of_another_block, "out-of-bounds", (2, 32), Buffer<int>(64))

// One block waits at the cluster barrier. The other block's threads wait for one another elsewhere,
// without exiting, and never arrive.
template <bool faulty>
__global__ void __cluster_dims__(2) cluster_barrier_of_one_block(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&bar)))
                 : "memory");
  __syncthreads();
  if (blockIdx.x == 0 || !faulty) {
    cluster_sync();  // FAULT cluster_barrier_of_one_block
  } else {
    // FAULT cluster_barrier_of_one_block
    asm volatile(
        "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra WAIT; }" ::
            "r"(static_cast<unsigned>(__cvta_generic_to_shared(&bar)))
        : "memory");
  }
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(cluster_barrier_of_one_block, "deadlock", (2, 32), Buffer<int>(64))

template <bool faulty>
__global__ void __cluster_dims__(2) arrives_twice(int* y) {
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  if (faulty) asm volatile("barrier.cluster.arrive;" ::: "memory");  // FAULT arrives_twice
  asm volatile("barrier.cluster.wait;" ::: "memory");
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(arrives_twice, "invalid-instruction", (2, 32), Buffer<int>(64))

template <bool faulty>
__global__ void __cluster_dims__(2) waits_without_having_arrived(int* y) {
  if (!faulty) asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");  // FAULT waits_without_having_arrived
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(waits_without_having_arrived, "invalid-instruction", (2, 32), Buffer<int>(64))

// The other block's mbarrier expects an arrival that no thread makes.
template <bool faulty>
__global__ void __cluster_dims__(2) arrival_of_the_other_block(int* y) {
  __shared__ unsigned long long bar;
  const unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine) : "memory");
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0 && threadIdx.x == 0 && !faulty) {
    asm volatile(
        "{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, 1; "
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(mine)
        : "memory");
  }
  if (__clusterRelativeBlockRank() == 1) {
    // FAULT arrival_of_the_other_block
    asm volatile(
        "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra WAIT; }" ::
            "r"(mine)
        : "memory");
  }
  cluster_sync();  // FAULT arrival_of_the_other_block
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(arrival_of_the_other_block, "deadlock", (2, 32), Buffer<int>(64))

// A relaxed arrival does not make the thread's earlier writes visible.
template <bool faulty>
__global__ void __cluster_dims__(2) arrives_relaxed_at_the_cluster(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // FAULT arrives_relaxed_at_the_cluster
  if (faulty) {
    __cluster_barrier_arrive_relaxed();
  } else {
    __cluster_barrier_arrive();
  }
  __cluster_barrier_wait();
  // FAULT arrives_relaxed_at_the_cluster
  y[blockIdx.x * 32 + threadIdx.x] = of_rank(s, __clusterRelativeBlockRank() ^ 1)[31 - threadIdx.x];
  cluster_sync();
}
PAIR_ON(arrives_relaxed_at_the_cluster, "race", (2, 32), Buffer<int>(64))

// Atomics of cluster scope are atomic among the blocks of one cluster only.
template <bool faulty>
__global__ void __cluster_dims__(2) cluster_scope_atomic(int* count) {
  int* const mine = count + (faulty ? 0 : blockIdx.x / 2);
  // FAULT cluster_scope_atomic
  asm volatile("red.relaxed.cluster.global.add.s32 [%0], 1;" ::"l"(mine) : "memory");
}
PAIR_ON(cluster_scope_atomic, "race", (4, 32), Buffer<int>(2, 0))

// A thread arrives at the mbarrier of a block that has exited.
template <bool faulty>
__global__ void __cluster_dims__(2) arrives_at_a_block_that_has_left(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0 && threadIdx.x == 0) {
    for (int k = 0; k < 2000 && faulty; ++k) __nanosleep(1);
    // FAULT arrives_at_a_block_that_has_left
    asm volatile(
        "{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, 1; "
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
            shared_address(&bar))
        : "memory");
  }
  if (!faulty) cluster_sync();
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(arrives_at_a_block_that_has_left, "use-after-free", (2, 32), Buffer<int>(64))

template <bool faulty>
__global__ void __cluster_dims__(2) atomic_on_a_block_that_has_left(int* y) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  cluster_sync();
  if (__clusterRelativeBlockRank() == 0) {
    for (int k = 0; k < 2000 && faulty; ++k) __nanosleep(1);
    atomicAdd(of_rank(&count, 1), 1);  // FAULT atomic_on_a_block_that_has_left
  }
  if (!faulty) cluster_sync();
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
PAIR_ON(atomic_on_a_block_that_has_left, "use-after-free", (2, 32), Buffer<int>(64))

// A fence (fence.mbarrier_init) makes an initialised mbarrier visible to the other blocks of a
// cluster. The barrier's arrival may then be relaxed.
template <bool faulty>
__global__ void __cluster_dims__(2) mbarrier_made_known_to_the_cluster(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);  // FAULT mbarrier_made_known_to_the_cluster
    if (!faulty) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  if (threadIdx.x == 0) {
    // FAULT mbarrier_made_known_to_the_cluster
    asm volatile(
        "{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; "
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
            shared_address(&bar)),
        "r"(__clusterRelativeBlockRank() ^ 1)
        : "memory");
  }
  WAIT_PHASE(&bar, 0);  // FAULT mbarrier_made_known_to_the_cluster
  y[blockIdx.x * 64 + threadIdx.x] = 1;
  cluster_sync();
}
PAIR_ON(mbarrier_made_known_to_the_cluster, "race", (2, 64), Buffer<int>(128))

// Data, not an mbarrier: a cluster fence before a relaxed arrival.
template <bool faulty>
__global__ void __cluster_dims__(2) fence_before_a_relaxed_arrival(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // FAULT fence_before_a_relaxed_arrival
  if (faulty) {
    __threadfence_block();
  } else {
    __threadfence();
  }
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  const int* const there = of_rank(s, __clusterRelativeBlockRank() ^ 1);
  y[blockIdx.x * 32 + threadIdx.x] = there[threadIdx.x];  // FAULT fence_before_a_relaxed_arrival
  cluster_sync();
}
PAIR_ON(fence_before_a_relaxed_arrival, "race", (2, 32), Buffer<int>(64))

// One thread of a block arrives with release: this releases its own writes only.
template <bool faulty>
__global__ void __cluster_dims__(2) one_thread_arrives_for_its_block(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // FAULT one_thread_arrives_for_its_block
  if (!faulty) __syncthreads();
  if (threadIdx.x == 0) {
    __cluster_barrier_arrive();
  } else {
    __cluster_barrier_arrive_relaxed();
  }
  __cluster_barrier_wait();
  // FAULT one_thread_arrives_for_its_block
  y[blockIdx.x * 64 + threadIdx.x] = of_rank(s, __clusterRelativeBlockRank() ^ 1)[63 - threadIdx.x];
  cluster_sync();
}
PAIR_ON(one_thread_arrives_for_its_block, "race", (2, 64), Buffer<int>(128))

// A relaxed arrival, observed by other threads of the same block.
template <bool faulty>
__global__ void __cluster_dims__(2) relaxed_arrival_in_its_block(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // FAULT relaxed_arrival_in_its_block
  if (faulty && threadIdx.x != 0) {
    __cluster_barrier_arrive_relaxed();
  } else {
    __cluster_barrier_arrive();
  }
  __cluster_barrier_wait();
  y[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  // FAULT relaxed_arrival_in_its_block
  cluster_sync();
}
PAIR_ON(relaxed_arrival_in_its_block, "race", (2, 64), Buffer<int>(128))

// A ring of two slots in each block; both blocks fill one half of each slot. A reader must return a
// slot to both blocks; the faulty one returns it to its own.
template <bool faulty>
__global__ void __cluster_dims__(2) slot_given_back_to_its_own_block(int* y) {
  __shared__ int slot[2][64];
  __shared__ unsigned long long full[2], empty[2];
  const unsigned rank = __clusterRelativeBlockRank();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) {
    INIT(full + threadIdx.x, 64);
    INIT(empty + threadIdx.x, faulty ? 32 : 64);
  }
  cluster_sync();
  const auto arrive_at = [](unsigned long long* bar, unsigned there) {
    asm volatile(
        "{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; "
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
            shared_address(bar)),
        "r"(there)
        : "memory");
  };
  const auto wait = [](unsigned long long* bar, unsigned parity) {
    asm volatile(
        "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], "
        "%1; @!p bra WAIT; }" ::"r"(shared_address(bar)),
        "r"(parity)
        : "memory");
  };
  int sum = 0;
  for (int t = 0; t < 6; ++t) {
    const int k = t & 1;
    const unsigned parity = t >> 1 & 1;
    if (threadIdx.x < 32) {
      wait(empty + k, parity ^ 1);
      for (unsigned there = 0; there < 2; ++there) {
        // FAULT slot_given_back_to_its_own_block
        of_rank(&slot[k][0], there)[rank * 32 + lane] = t;
        arrive_at(full + k, there);
      }
    } else {
      wait(full + k, parity);
      sum += slot[k][lane] + slot[k][32 + lane];  // FAULT slot_given_back_to_its_own_block
      for (unsigned there = 0; there < 2; ++there) {
        if (!faulty || there == rank) arrive_at(empty + k, there);
      }
    }
  }
  if (threadIdx.x >= 32) y[rank * 32 + lane] = sum;
  cluster_sync();
}
PAIR_ON(slot_given_back_to_its_own_block, "race", (2, 64), Buffer<int>(64))

}  // namespace
