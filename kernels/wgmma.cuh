// The wgmma.mma_async instructions of tensor_matmul: 64 x N elements of float from factors in
// shared memory, N = 64 or 256, 32 bytes of each row along k. Compute capability 9.0 alone
// (compute_90a).
#pragma once

#include <cstdint>

#include "kernels/tensor_matmul.h"

namespace lockstep::kernels::by_wgmma {

// The registers of an accumulator, as text of an instruction.
#define LOCKSTEP_WGMMA_N64_REGISTERS                                                            \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, "                                                                                       \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "

#define LOCKSTEP_WGMMA_N256_REGISTERS                                                             \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
  "%20, "                                                                                         \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "    \
  "%39, "                                                                                         \
  "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "    \
  "%58, "                                                                                         \
  "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "    \
  "%77, "                                                                                         \
  "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "    \
  "%96, "                                                                                         \
  "%97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, " \
  "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "

// The registers as operands.
#define LOCKSTEP_WGMMA_8(d, i)                                                                \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define LOCKSTEP_WGMMA_32(d, i)                                                    \
  LOCKSTEP_WGMMA_8(d, i), LOCKSTEP_WGMMA_8(d, i + 8), LOCKSTEP_WGMMA_8(d, i + 16), \
      LOCKSTEP_WGMMA_8(d, i + 24)

// shape and types: as in the instruction's name. transposes: the operands of f16 and bf16 after the
// signs, which fp8 does not have.
#define LOCKSTEP_WGMMA_N64(d, a, b, shape, types, transposes)                      \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." types                 \
               " " LOCKSTEP_WGMMA_N64_REGISTERS "%32, %33, 1, 1, 1" transposes ";" \
               : LOCKSTEP_WGMMA_32(d, 0)                                           \
               : "l"(a), "l"(b)                                                    \
               : "memory")
#define LOCKSTEP_WGMMA_N256(d, a, b, shape, types, transposes)                                \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." types                            \
               " " LOCKSTEP_WGMMA_N256_REGISTERS "%128, %129, 1, 1, 1" transposes ";"         \
               : LOCKSTEP_WGMMA_32(d, 0), LOCKSTEP_WGMMA_32(d, 32), LOCKSTEP_WGMMA_32(d, 64), \
                 LOCKSTEP_WGMMA_32(d, 96)                                                     \
               : "l"(a), "l"(b)                                                               \
               : "memory")

// d += A * B. Asynchronous until a wait. a and b are matrix descriptors.
template <MatrixElement kElement>
__device__ __forceinline__ void multiply_async(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  if constexpr (kElement == MatrixElement::kF16) {
    LOCKSTEP_WGMMA_N64(d, a, b, "m64n64k16", "f16.f16", ", 0, 0");
  } else if constexpr (kElement == MatrixElement::kBf16) {
    LOCKSTEP_WGMMA_N64(d, a, b, "m64n64k16", "bf16.bf16", ", 0, 0");
  } else {
    LOCKSTEP_WGMMA_N64(d, a, b, "m64n64k32", "e4m3.e4m3", "");
  }
}
template <MatrixElement kElement>
__device__ __forceinline__ void multiply_async(float (&d)[128], std::uint64_t a, std::uint64_t b) {
  if constexpr (kElement == MatrixElement::kF16) {
    LOCKSTEP_WGMMA_N256(d, a, b, "m64n256k16", "f16.f16", ", 0, 0");
  } else if constexpr (kElement == MatrixElement::kBf16) {
    LOCKSTEP_WGMMA_N256(d, a, b, "m64n256k16", "bf16.bf16", ", 0, 0");
  } else {
    LOCKSTEP_WGMMA_N256(d, a, b, "m64n256k32", "e4m3.e4m3", "");
  }
}

// Keeps the compiler from moving accesses to these registers across this point.
template <int kCount>
__device__ __forceinline__ void pin(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

}  // namespace lockstep::kernels::by_wgmma
