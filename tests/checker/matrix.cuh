// Macros for the matrix instructions of PTX (ldmatrix, stmatrix, mma, wmma, wgmma).
//
// Macros rather than functions, so that a finding names the kernel's own line.
#pragma once

#include "tests/checker/async.cuh"

// Matrices of 8 x 8 halves; lane 8 * m + i holds the address of row i of matrix m.
#define LDMATRIX(r, row)                                              \
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" \
               : "=r"(r)                                              \
               : "r"(shared_address(row))                             \
               : "memory")
#define LDMATRIX_X4(r, row)                                                       \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                   \
               : "r"(shared_address(row))                                         \
               : "memory")
#define LDMATRIX_GENERIC(r, row) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];" : "=r"(r) : "l"(row) : "memory")
#define STMATRIX(row, r)                                                                          \
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(shared_address(row)), \
               "r"(r)                                                                             \
               : "memory")
#define MOVMATRIX(d, a) \
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(a))
// m16n8k16, f16 inputs, f32 accumulator.
#define MMA(d, a, b)                                                                           \
  asm volatile(                                                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
      "{%8, %9}, {%0, %1, %2, %3};"                                                            \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                         \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

// m16n16k16: A in eight registers, the f32 accumulator in eight.
#define WMMA_LOAD_A(r, from, stride)                                                               \
  asm volatile(                                                                                    \
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], " \
      "%9;"                                                                                        \
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),        \
        "=r"(r[7])                                                                                 \
      : "r"(shared_address(from)), "r"(stride)                                                     \
      : "memory")
#define WMMA(d, a, b)                                                                           \
  asm volatile(                                                                                 \
      "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, " \
      "%9, %10, %11, %12, %13, %14, %15}, "                                                     \
      "{%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"             \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),     \
        "+f"(d[7])                                                                              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), \
        "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]))
#define WMMA_STORE(to, d, stride)                                                                  \
  asm volatile(                                                                                    \
      "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" :: \
          "l"(to),                                                                                 \
      "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]),      \
      "r"(stride)                                                                                  \
      : "memory")

// wgmma m64n8k16, f16 inputs, f32 accumulator, A and B in shared memory without a swizzle. `adds`:
// accumulates to d; otherwise overwrites d.
#define WGMMA(d, a, b, adds)                                                                     \
  asm volatile(                                                                                  \
      "{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " \
      "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"                                               \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                           \
      : "l"(a), "l"(b), "r"(static_cast<int>(adds))                                              \
      : "memory")
// m64n8k32 with a sparse A of 64 x 16 stored elements; each lane holds metadata. Overwrites d.
#define WGMMA_SPARSE(d, a, b, metadata)                                                        \
  asm volatile(                                                                                \
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, %6, 0, " \
      "0, 1, 1, 0, 0;"                                                                         \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                         \
      : "l"(a), "l"(b), "r"(metadata)                                                          \
      : "memory")
// Dense m64n8k16 with A in registers. Overwrites d.
#define WGMMA_OF_REGISTERS(d, a, b)                                                                \
  asm volatile(                                                                                    \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, " \
      "0, 1, 1, 0;"                                                                                \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                             \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                         \
      : "memory")
// m64n16k16; accumulates to d.
#define WGMMA_OF_16(d, a, b)                                                                      \
  asm volatile(                                                                                   \
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, " \
      "%9, 1, 1, 1, 0, 0;"                                                                        \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),       \
        "+f"(d[7])                                                                                \
      : "l"(a), "l"(b)                                                                            \
      : "memory")
// Keeps the compiler from moving writes of the accumulator past the fence that follows.
#define WRITTEN(d) asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory")
#define WGMMA_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT(left) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// The descriptor of core matrices of 8 rows x 16 bytes. `leading`: bytes between neighbours along
// k; `stride`: bytes between one group of eight rows and the next.
__device__ __forceinline__ unsigned long long descriptor_of(const void* p, unsigned leading,
                                                            unsigned stride) {
  return (shared_address(p) & 0x3ffff) >> 4 | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}
