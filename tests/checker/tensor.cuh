// Macros for Tensor Memory of PTX (tcgen05), for the pairs that misuse it.
//
// Macros rather than functions, so that a finding names the kernel's own line.
#pragma once

#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

#define ALLOCATE(to, columns)                                                                   \
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(       \
                   shared_address(to)),                                                         \
               "r"(columns)                                                                     \
               : "memory")
#define FREE(at, columns)                                                               \
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(at), "r"(columns) \
               : "memory")
#define RELINQUISH() \
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory")
#define TENSOR_LOAD(r, at) \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory")
#define TENSOR_STORE(at, r) \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(at), "r"(r) : "memory")
#define WAIT_LOADS(r) asm volatile("tcgen05.wait::ld.sync.aligned;" : "+r"(r)::"memory")
#define WAIT_STORES() asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory")
#define FENCE_BEFORE() asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define FENCE_AFTER() asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")
#define TENSOR_MULTIPLY(d, a, b, kind, accumulates)                                             \
  asm volatile(                                                                                 \
      "{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, " \
      "%3, p; }" ::"r"(d),                                                                      \
      "l"(a), "l"(b), "r"(kind), "r"(static_cast<unsigned>(accumulates))                        \
      : "memory")
#define TENSOR_COMMIT(bar)                                                              \
  asm volatile(                                                                         \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"( \
          shared_address(bar))                                                          \
      : "memory")

// The descriptor of rows of eight core matrices without a swizzle. `leading`: bytes between
// neighbouring 16-byte parts of a row. Groups of eight rows are 128 bytes apart.
__device__ __forceinline__ unsigned long long tensor_descriptor(const void* p, unsigned leading) {
  return (shared_address(p) >> 4 & 0x3fffu) | static_cast<unsigned long long>(leading / 16) << 16 |
         static_cast<unsigned long long>(128 / 16) << 32 | 1ull << 46;
}
// The instruction descriptor of f16 x f16 to f32, 128 x (columns rounded down to 8).
__device__ __forceinline__ unsigned product_of(unsigned columns) {
  return 1u << 4 | columns / 8 << 17 | 128u / 16 << 24;
}

// ---- A block of four warps. Thread 0 multiplies.

using lockstep::checker::Buffer;
using Half = unsigned short;

// Columns of the allocation; columns of B. Then elements of A and B.
constexpr unsigned kColumns = 64, kWide = 16;
constexpr int kA = 128 * 16, kB = kWide * 16;

// Allocates the columns, initialises an mbarrier; `own`: address of the warp's own lanes.
#define TENSOR_BLOCK()                                        \
  __shared__ unsigned base;                                   \
  __shared__ unsigned long long bar;                          \
  [[maybe_unused]] const bool first_warp = threadIdx.x < 32;                   \
  if (first_warp) ALLOCATE(&base, kColumns);                  \
  if (threadIdx.x == 0) INIT(&bar, 1);                        \
  __syncthreads();                                            \
  [[maybe_unused]] const unsigned tm = base, own = tm + ((threadIdx.x & 96u) << 16)

// Fills both factors with ones and makes their descriptors.
#define TENSOR_FACTORS(fence)                                               \
  __shared__ __align__(128) Half tile[kA + kB];                             \
  for (int i = threadIdx.x; i < kA + kB; i += blockDim.x) tile[i] = 0x3c00; \
  if (fence) PROXY();                                                       \
  __syncthreads();                                                          \
  [[maybe_unused]] const unsigned long long a = tensor_descriptor(tile, 2048),               \
                           b = tensor_descriptor(tile + kA, 16 * kWide);    \
  [[maybe_unused]] const unsigned kind = product_of(kWide)
#define PROXY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// Thread 0 multiplies the factors and commits.
#define TENSOR_PRODUCT(accumulates)                  \
  if (threadIdx.x == 0) {                            \
    TENSOR_MULTIPLY(tm, a, b, kind, accumulates);    \
    TENSOR_COMMIT(&bar);                             \
  }

// After all warps have finished with the columns, the first warp frees them.
#define TENSOR_END()  \
  FENCE_BEFORE();     \
  __syncthreads();    \
  FENCE_AFTER();      \
  if (first_warp) FREE(tm, kColumns)

// The rest of a kernel: waits for the phase, then frees the columns.
#define TENSOR_WAITED() \
  WAIT_PHASE(&bar, 0);  \
  y[threadIdx.x] = 0;   \
  FENCE_AFTER();        \
  TENSOR_END()

#define ON_ONE_BLOCK(name)            \
  Buffer<unsigned> y(128);            \
  name<faulty><<<1, 128>>>(y)
#define PAIR_ON_ONE_BLOCK(name, kind) \
  PAIR(name, kind) { ON_ONE_BLOCK(name); }
#define ON_ONE_BLOCK_OF(name, threads) \
  Buffer<unsigned> y(256);             \
  name<faulty><<<1, threads>>>(y)

// A product of any kind. A is in shared memory, or in Tensor Memory if the macro's name ends in
// _OF_TENSOR.
#define TENSOR_MULTIPLY_AS(words, d, a, b, kind, accumulates)                                   \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma" words                         \
               " [%0], %1, %2, %3, p; }" ::"r"(d),                                              \
               "l"(a), "l"(b), "r"(kind), "r"(static_cast<unsigned>(accumulates))               \
               : "memory")
#define TENSOR_MULTIPLY_OF_TENSOR(words, d, a, b, kind, accumulates)                            \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma" words                         \
               " [%0], [%1], %2, %3, p; }" ::"r"(d),                                            \
               "r"(a), "l"(b), "r"(kind), "r"(static_cast<unsigned>(accumulates))               \
               : "memory")
#define TENSOR_MULTIPLY_SPARSE(words, d, a, b, metadata, kind)                                  \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.sp" words                       \
               " [%0], %1, %2, [%4], %3, p; }" ::"r"(d),                                        \
               "l"(a), "l"(b), "r"(kind), "r"(metadata)                                         \
               : "memory")
#define TENSOR_MULTIPLY_SCALED(words, d, a, b, kind, rows, columns)                             \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma" words                          \
               " [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(d),                                  \
               "l"(a), "l"(b), "r"(kind), "r"(rows), "r"(columns)                               \
               : "memory")
#define TENSOR_MULTIPLY_MASKED(d, a, b, kind, mask)                                             \
  asm volatile(                                                                                 \
      "{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, "   \
      "%2, %3, p, %4; }" ::"r"(d),                                                              \
      "l"(a), "l"(b), "r"(kind), "l"(mask)                                                      \
      : "memory")
#define TENSOR_COPY(to, from) \
  asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(to), "l"(from) : "memory")
#define TENSOR_SHIFT(at) asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(at) : "memory")

// ---- A pair of blocks of four warps. Thread 0 of block 0 multiplies 256 rows of ones by 32
// columns. Call cluster_sync() before the columns are used.

#define PAIR_ALLOCATE(to, columns)                                                              \
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(       \
                   shared_address(to)),                                                         \
               "r"(columns)                                                                     \
               : "memory")
#define PAIR_FREE(at, columns)                                                                  \
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(at), "r"(columns)  \
               : "memory")
#define PAIR_MULTIPLY(d, a, b, kind, accumulates) \
  TENSOR_MULTIPLY_AS(".cta_group::2.kind::f16", d, a, b, kind, accumulates)
#define PAIR_COMMIT(bar, blocks)                                                                \
  asm volatile(                                                                                 \
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "  \
      "[%0], %1;" ::"r"(shared_address(bar)),                                                   \
      "h"(static_cast<unsigned short>(blocks))                                                  \
      : "memory")
#define CLUSTER_SYNC()       \
  __cluster_barrier_arrive(); \
  __cluster_barrier_wait()

#define PAIR_BLOCK()                                                                        \
  __shared__ unsigned base;                                                                 \
  __shared__ unsigned long long bar;                                                        \
  __shared__ __align__(128) Half tile[kA + kB];                                             \
  [[maybe_unused]] const bool first_warp = threadIdx.x < 32,                                \
                              second = __clusterRelativeBlockRank() == 1,                   \
             issues = threadIdx.x == 0 && !second;                                          \
  if (first_warp) PAIR_ALLOCATE(&base, kColumns);                                           \
  if (threadIdx.x == 0) INIT(&bar, 1);                                                      \
  for (int i = threadIdx.x; i < kA + kB; i += blockDim.x) tile[i] = 0x3c00;                 \
  PROXY();                                                                                  \
  CLUSTER_SYNC();                                                                           \
  [[maybe_unused]] const unsigned tm = base, own = tm + ((threadIdx.x & 96u) << 16);        \
  [[maybe_unused]] const unsigned long long a = tensor_descriptor(tile, 2048),              \
                           b = tensor_descriptor(tile + kA, 16 * kWide);                    \
  [[maybe_unused]] const unsigned kind = 1u << 4 | 2 * kWide / 8 << 17 | 256u / 16 << 24
#define PAIR_END()    \
  FENCE_BEFORE();     \
  CLUSTER_SYNC();     \
  FENCE_AFTER();      \
  if (first_warp) PAIR_FREE(tm, kColumns)

#define ON_A_PAIR(name)       \
  Buffer<unsigned> y(257, 0); \
  name<faulty><<<2, 128>>>(y)
#define PAIR_ON_A_PAIR(name, kind) \
  PAIR(name, kind) { ON_A_PAIR(name); }
