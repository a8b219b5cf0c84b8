// Both APIs in one program: the driver API loads PTX text, whose kernel reads what a runtime kernel
// wrote. Without "repaired" the PTX lacks a barrier.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "check.h"

#define CU(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void number(int* p) { p[threadIdx.x] = threadIdx.x; }

static const char* const before_barrier = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry shift(.param .u64 pointer) {
  .shared .align 4 .b8 cells[256];
  .reg .u64 %rd<4>; .reg .u32 %r<8>;
  ld.param.u64 %rd0, [pointer];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r1, [%rd1];
  shl.b32 %r2, %r0, 2;
  mov.u32 %r3, cells;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
)";
static const char* const after_barrier = R"(
  add.u32 %r5, %r0, 32;
  and.b32 %r5, %r5, 63;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r3, %r5;
  ld.shared.u32 %r6, [%r5];
  st.global.u32 [%rd1], %r6;
  ret;
}
)";

int main(int argc, char** argv) {
  const bool repaired = argc > 1 && std::strcmp(argv[1], "repaired") == 0;
  int* p;
  CUDA(cudaMalloc(&p, 64 * sizeof(int)));
  number<<<1, 64>>>(p);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());  // a non-blocking stream does not wait for the default stream
  const std::string text =
      std::string(before_barrier) + (repaired ? "bar.sync 0;" : "") + after_barrier;
  CUmodule module;
  CUfunction shift;
  CU(cuModuleLoadData(&module, text.c_str()));
  CU(cuModuleGetFunction(&shift, module, "shift"));
  CUstream stream;
  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr pointer = reinterpret_cast<CUdeviceptr>(p);
  void* arguments[] = {&pointer};
  CU(cuLaunchKernel(shift, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  CU(cuStreamSynchronize(stream));
  int first = -1;
  CU(cuMemcpyDtoH(&first, pointer, sizeof first));
  if (repaired) EXPECT(first == 32);
  if (argc > 1 && std::strcmp(argv[1], "refused") == 0)
    cuLaunchKernel(shift, 1, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr);
  if (argc > 1 && std::strcmp(argv[1], "unasked") == 0) cuMemFree(12345);
  CU(cuMemFree(pointer));
  std::printf("PASSED\n");
}
