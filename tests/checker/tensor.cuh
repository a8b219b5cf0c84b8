// Tensor memory as PTX has it (tcgen05), for the pairs that misuse it.
//
// Macros, not functions: a finding's line is then the kernel's own.
#pragma once

#include "tests/checker/async.cuh"

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

// Of rows of eight core matrices without a swizzle: `leading` bytes from 16 bytes of a row to the
// next 16, 128 from eight rows to the next eight.
__device__ __forceinline__ unsigned long long tensor_descriptor(const void* p, unsigned leading) {
  return (shared_address(p) >> 4 & 0x3fffu) | static_cast<unsigned long long>(leading / 16) << 16 |
         static_cast<unsigned long long>(128 / 16) << 32 | 1ull << 46;
}
// f16 times f16 to f32, 128 by 8 * (columns / 8).
__device__ __forceinline__ unsigned product_of(unsigned columns) {
  return 1u << 4 | columns / 8 << 17 | 128u / 16 << 24;
}
