// Tests of the driver API that are also valid on silicon. Each runs in its own process (CUDA_TEST).
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"

#define EXPECT_CU(result, call) EXPECT_EQ((call), (result)) << #call
#define ASSERT_CU(result, call) ASSERT_EQ((call), (result)) << #call
#define GOOD(call) ASSERT_CU(CUDA_SUCCESS, call)

namespace lockstep::driver {

// Starts the driver and makes device 0's primary context current.
inline CUcontext start() {
  CUcontext context = nullptr;
  EXPECT_CU(CUDA_SUCCESS, cuInit(0));
  EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_CU(CUDA_SUCCESS, cuCtxSetCurrent(context));
  return context;
}

// scale: out[0] = x * factor. reversed: out[i] = in[n - 1 - i] for one block of n threads, by way
// of dynamic shared memory.
inline constexpr const char* kPtx = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.extern .shared .align 4 .b8 room[];
.visible .entry scale(.param .u64 out, .param .u32 x) {
  .reg .u64 %rd<2>; .reg .u32 %r<4>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  ld.param.u32 %r0, [x];
  ld.global.u32 %r1, [factor];
  mul.lo.u32 %r2, %r0, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry reversed(.param .u64 out, .param .u64 in) {
  .reg .u64 %rd<8>; .reg .u32 %r<8>;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [in];
  cvta.to.global.u64 %rd0, %rd0;
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ntid.x;
  sub.u32 %r2, %r1, %r0;
  sub.u32 %r2, %r2, 1;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mov.u32 %r4, room;
  shl.b32 %r5, %r2, 2;
  add.u32 %r5, %r4, %r5;
  st.shared.u32 [%r5], %r3;
  bar.sync 0;
  shl.b32 %r5, %r0, 2;
  add.u32 %r5, %r4, %r5;
  ld.shared.u32 %r3, [%r5];
  add.u64 %rd3, %rd0, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

inline CUmodule load(const char* ptx = kPtx) {
  CUmodule module = nullptr;
  EXPECT_CU(CUDA_SUCCESS, cuModuleLoadData(&module, ptx));
  return module;
}
inline CUfunction function(CUmodule module, const char* name) {
  CUfunction result = nullptr;
  EXPECT_CU(CUDA_SUCCESS, cuModuleGetFunction(&result, module, name));
  return result;
}

// The result of running scale(x).
inline unsigned scaled(CUfunction f, unsigned x, CUstream stream = nullptr) {
  CUdeviceptr out = 0;
  unsigned result = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemAlloc(&out, 4));
  void* arguments[] = {&out, &x};
  EXPECT_CU(CUDA_SUCCESS, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_CU(CUDA_SUCCESS, cuStreamSynchronize(stream));
  EXPECT_CU(CUDA_SUCCESS, cuMemcpyDtoH(&result, out, 4));
  EXPECT_CU(CUDA_SUCCESS, cuMemFree(out));
  return result;
}

// Allocates device memory that contains `values`.
inline CUdeviceptr words(const std::vector<unsigned>& values) {
  CUdeviceptr at = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemAlloc(&at, values.size() * 4));
  EXPECT_CU(CUDA_SUCCESS, cuMemcpyHtoD(at, values.data(), values.size() * 4));
  return at;
}
inline std::vector<unsigned> words_at(CUdeviceptr at, std::size_t count) {
  std::vector<unsigned> values(count);
  EXPECT_CU(CUDA_SUCCESS, cuMemcpyDtoH(values.data(), at, count * 4));
  return values;
}

}  // namespace lockstep::driver
