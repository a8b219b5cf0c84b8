// Pairs for rules of the PTX memory model that no other file here covers: strength, scopes, all
// forms of release and acquire patterns, and causality order. docs/reference/memory_model.md lists
// each rule with its pair.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

__device__ int load_relaxed(const int* p) {
  int v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store_relaxed(int* p, int v) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// 8.2.4: a vector access is a set of scalar accesses, each of the vector's strength.
template <bool faulty>
__global__ void vector_of_scalars(int* x, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicAdd(x + 1, 1);  // FAULT vector_of_scalars
  } else {
    int a, b;
    if (faulty) {
      // FAULT vector_of_scalars
      asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(x) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];"
                   : "=r"(a), "=r"(b)
                   : "l"(x)
                   : "memory");
    }
    y[0] = a + b;
  }
}
PAIR_ON_TWO(vector_of_scalars, "race", (2, 32), Buffer<int>(2, 0), Buffer<int>(1))

// 8.2.5: a packed access is one access to each of its two values.
template <bool faulty>
__global__ void packed_pair(unsigned* x) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    // FAULT packed_pair
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(x), "r"(0x3c003c00u) : "memory");
  } else if (faulty) {
    reinterpret_cast<unsigned short*>(x)[1] = 0;  // FAULT packed_pair
  } else {
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(x), "r"(0x00003c00u) : "memory");
  }
}
PAIR_ON(packed_pair, "race", (2, 32), Buffer<unsigned>(1, 0))

// 8.4: volatile and mmio accesses are strong.
template <bool faulty>
__global__ void volatile_is_strong(int* x, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *static_cast<volatile int*>(x) = 1;  // FAULT volatile_is_strong
  } else {
    if (faulty) {
      y[0] = *x;  // FAULT volatile_is_strong
    } else {
      y[0] = *static_cast<volatile int*>(x);
    }
  }
}
PAIR_ON_TWO(volatile_is_strong, "race", (2, 32), Buffer<int>(1, 0), Buffer<int>(1))

template <bool faulty>
__global__ void mmio_is_strong(int* x, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    // FAULT mmio_is_strong
    asm volatile("st.mmio.relaxed.sys.global.u32 [%0], 1;" ::"l"(x) : "memory");
  } else {
    int v;
    if (faulty) {
      v = *x;  // FAULT mmio_is_strong
    } else {
      asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(x) : "memory");
    }
    y[0] = v;
  }
}
PAIR_ON_TWO(mmio_is_strong, "race", (2, 32), Buffer<int>(1, 0), Buffer<int>(1))

// 8.4: a failed compare-and-swap is a read, not a write.
template <bool faulty>
__global__ void failed_swap_is_a_read(int* x, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    y[0] = atomicCAS(x, faulty ? 0 : 5, 7);  // FAULT failed_swap_is_a_read
  } else {
    y[1] = *x;  // FAULT failed_swap_is_a_read
  }
}
PAIR_ON_TWO(failed_swap_is_a_read, "race", (2, 32), Buffer<int>(1, 0), Buffer<int>(2))

// 8.5: cluster scope ends at the cluster. 8.7: both scopes must include the other thread.
template <bool faulty>
__global__ void __cluster_dims__(2) cluster_scope(int* x) {
  if (threadIdx.x != 0) return;
  int* const mine = x + (faulty ? 0 : blockIdx.x / 2);
  // FAULT cluster_scope
  asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(mine) : "memory");
}
PAIR_ON(cluster_scope, "race", (4, 32), Buffer<int>(2, 0))

template <bool faulty>
__global__ void one_scope_is_too_narrow(int* x) {
  if (threadIdx.x != 0) return;
  if (faulty && blockIdx.x == 0) {
    atomicAdd_block(x, 1);  // FAULT one_scope_is_too_narrow
  } else if (blockIdx.x == 1) {
    atomicAdd_system(x, 1);  // FAULT one_scope_is_too_narrow
  } else {
    atomicAdd(x, 1);  // FAULT one_scope_is_too_narrow
  }
}
PAIR_ON(one_scope_is_too_narrow, "race", (3, 32), Buffer<int>(1, 0))

// 8.7.1: reads do not conflict with reads.
template <bool faulty>
__global__ void one_writer_among_readers(int* x, int* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = *x;               // FAULT one_writer_among_readers
  if (faulty && blockIdx.x == 2 && threadIdx.x == 5) *x = 1;  // FAULT one_writer_among_readers
}
PAIR_ON_TWO(one_writer_among_readers, "race", (4, 64), Buffer<int>(1, 0), Buffer<int>(4 * 64))

// 8.8: a release operation, then a strong write to the same location.
template <bool faulty>
__global__ void release_then_relaxed(int* data, int* flag, int* other, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT release_then_relaxed
    store_release(faulty ? other : flag, 1);
    store_relaxed(flag, 2);
  } else {
    while (load_acquire(flag) != 2) {
    }
    *y = *data;  // FAULT release_then_relaxed
  }
}
PAIR(release_then_relaxed, "race") {
  Buffer<int> data(1, 0), flag(1, 0), other(1, 0), y(1);
  release_then_relaxed<faulty><<<2, 32>>>(data, flag, other, y);
}

// A release pattern covers the operations before its first instruction.
template <bool faulty>
__global__ void written_after_the_fence(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    if (!faulty) *data = 42;
    fence();
    if (faulty) *data = 42;  // FAULT written_after_the_fence
    store_relaxed(flag, 1);
  } else {
    while (load_acquire(flag) == 0) {
    }
    *y = *data;  // FAULT written_after_the_fence
  }
}
PAIR(written_after_the_fence, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  written_after_the_fence<faulty><<<2, 32>>>(data, flag, y);
}

// 8.8: a strong read, then an acquire operation on the same location.
template <bool faulty>
__global__ void relaxed_then_acquire(int* data, int* flag, int* other, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT relaxed_then_acquire
    store_release(flag, 1);
  } else {
    while (load_relaxed(flag) == 0) {
    }
    y[1] = load_acquire(faulty ? other : flag);
    y[0] = *data;  // FAULT relaxed_then_acquire
  }
}
PAIR(relaxed_then_acquire, "race") {
  Buffer<int> data(1, 0), flag(1, 0), other(1, 0), y(2);
  relaxed_then_acquire<faulty><<<2, 32>>>(data, flag, other, y);
}

// An acquire pattern covers the operations after its last instruction.
template <bool faulty>
__global__ void read_before_the_fence(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT read_before_the_fence
    store_release(flag, 1);
  } else {
    while (load_relaxed(flag) == 0) {
    }
    if (faulty) y[0] = *data;  // FAULT read_before_the_fence
    fence();
    if (!faulty) y[0] = *data;
  }
}
PAIR(read_before_the_fence, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  read_before_the_fence<faulty><<<2, 32>>>(data, flag, y);
}

// 8.11.1: a reduction is not an acquiring read. The wait makes every schedule execute the accesses
// in the order that shows the race.
template <bool faulty>
__global__ void reduction_acquires_nothing(int* data, int* flag, int* turn, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT reduction_acquires_nothing
    store_release(flag, 1);
    store_relaxed(turn, 1);
  } else {
    while (load_relaxed(turn) == 0) {
    }
    if (faulty) {
      asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
      y[1] = atomicAdd(flag, 1);
    }
    fence();
    y[0] = *data;  // FAULT reduction_acquires_nothing
  }
}
PAIR(reduction_acquires_nothing, "race") {
  Buffer<int> data(1, 0), flag(1, 0), turn(1, 0), y(2);
  reduction_acquires_nothing<faulty><<<2, 32>>>(data, flag, turn, y);
}

// 8.9.2: atomics in between continue the release sequence without releasing themselves.
template <bool faulty>
__global__ void release_through_a_chain(int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;  // FAULT release_through_a_chain
    if (faulty) {
      store_relaxed(flag, 1);
    } else {
      store_release(flag, 1);
    }
  } else if (blockIdx.x == 1) {
    while (atomicCAS(flag, 1, 2) != 1) {
    }
  } else {
    while (load_acquire(flag) != 2) {
    }
    *y = *data;  // FAULT release_through_a_chain
  }
}
PAIR(release_through_a_chain, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  release_through_a_chain<faulty><<<3, 32>>>(data, flag, y);
}

// 8.9.4: kernels of one stream execute in order.
template <bool faulty>
__global__ void first_half(int* x, int* y, int part) {
  if (part != 1) x[blockIdx.x] = blockIdx.x;             // FAULT kernels_in_turn
  if (part != 0) y[blockIdx.x] = x[3 - blockIdx.x];  // FAULT kernels_in_turn
}
PAIR(kernels_in_turn, "race") {
  Buffer<int> x(4, 0), y(4);
  if (faulty) {
    first_half<faulty><<<4, 1>>>(x, y, 2);
  } else {
    first_half<faulty><<<4, 1>>>(x, y, 0);
    first_half<faulty><<<4, 1>>>(x, y, 1);
  }
}

// 8.9.5: causality order is transitive. A thread acquires, then releases at block scope to another
// warp.
template <bool faulty>
__global__ void handed_on_in_the_block(int* data, int* flag, int* y) {
  __shared__ int passed;
  if (threadIdx.x == 0) passed = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;  // FAULT handed_on_in_the_block
      store_release(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    while (load_acquire(flag) == 0) {
    }
    if (faulty) {
      asm volatile("st.relaxed.cta.shared.u32 [%0], 1;" ::"l"(__cvta_generic_to_shared(&passed))
                   : "memory");
    } else {
      asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"l"(__cvta_generic_to_shared(&passed))
                   : "memory");
    }
  } else if (threadIdx.x == 32) {
    int v = 0;
    while (v == 0) {
      if (faulty) {
        asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];"
                     : "=r"(v)
                     : "l"(__cvta_generic_to_shared(&passed))
                     : "memory");
      } else {
        asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
                     : "=r"(v)
                     : "l"(__cvta_generic_to_shared(&passed))
                     : "memory");
      }
    }
    *y = *data;  // FAULT handed_on_in_the_block
  }
}
PAIR(handed_on_in_the_block, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  handed_on_in_the_block<faulty><<<2, 64>>>(data, flag, y);
}

// 8.9.5: the same chain through the cluster's barrier.
template <bool faulty>
__global__ void __cluster_dims__(2) handed_on_in_the_cluster(int* data, int* flag, int* y) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 42;  // FAULT handed_on_in_the_cluster
    store_release(flag, 1);
  }
  if (blockIdx.x == 2 && threadIdx.x == 0) {
    while ((faulty ? load_relaxed(flag) : load_acquire(flag)) == 0) {
    }
  }
  if (blockIdx.x >= 2) {
    if (faulty) {
      asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::
                       : "memory");
    } else {
      asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    }
    if (blockIdx.x == 3 && threadIdx.x == 40) *y = *data;  // FAULT handed_on_in_the_cluster
  }
}
PAIR(handed_on_in_the_cluster, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  handed_on_in_the_cluster<faulty><<<4, 64>>>(data, flag, y);
}

// Synchronisation through an mbarrier object in the block.
template <bool faulty>
__global__ void handed_on_by_an_mbarrier(int* data, int* flag, int* y) {
  __shared__ __align__(8) unsigned long long object;
  const auto there = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(there) : "memory");
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;  // FAULT handed_on_by_an_mbarrier
      store_release(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    while ((faulty ? load_relaxed(flag) : load_acquire(flag)) == 0) {
    }
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(there) : "memory");
  } else if (threadIdx.x == 32) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(there)
          : "memory");
    }
    *y = *data;  // FAULT handed_on_by_an_mbarrier
  }
}
PAIR(handed_on_by_an_mbarrier, "race") {
  Buffer<int> data(1, 0), flag(1, 0), y(1);
  handed_on_by_an_mbarrier<faulty><<<2, 64>>>(data, flag, y);
}

}  // namespace
