// Macros for the asynchronous copies and mbarrier objects of PTX, for the pairs that misuse them.
//
// Macros rather than functions, so that a finding names the kernel's own line.
#pragma once

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

#define COPY(to, from)                                                                          \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) \
               : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_GROUPS(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

#define INIT(bar, count)                                                                   \
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) \
               : "memory")
// Declares an mbarrier object of the block, and initialises it.
#define SHARED_BARRIER(bar, count)          \
  __shared__ unsigned long long bar;        \
  if (threadIdx.x == 0) INIT(&bar, count);  \
  __syncthreads()
#define INVALIDATE(bar) \
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(bar)) : "memory")
#define ARRIVE(bar) \
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory")
#define EXPECT(bar, bytes)                                                                     \
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), \
               "r"(bytes)                                                                      \
               : "memory")
#define WAIT_PHASE(bar, parity)                                                                   \
  asm volatile(                                                                                   \
      "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra WAIT; }" :: \
          "r"(shared_address(bar)),                                                               \
      "r"(parity)                                                                                 \
      : "memory")
#define BULK_LOAD(to, from, bytes, bar)                                                            \
  asm volatile(                                                                                    \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: \
          "r"(shared_address(to)),                                                                 \
      "l"(from), "r"(bytes), "r"(shared_address(bar))                                              \
      : "memory")
#define BULK_STORE(to, from, bytes)                                                     \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), \
               "r"(shared_address(from)), "r"(bytes)                                    \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define BULK_WAIT_WRITTEN() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
