// Compiles a kernel at run time by NVRTC and launches it by the driver API. With "planted" the
// kernel writes one element too far. With "cubin" it compiles to machine code.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

#define CU(call) EXPECT((call) == CUDA_SUCCESS)
#define RTC(call) EXPECT((call) == NVRTC_SUCCESS)

static const char* const source = R"(
template <int kFactor>
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n - WITHIN) x[i] *= kFactor;
}
)";

int main(int argc, char** argv) {
  const bool planted = argc > 1 && std::strcmp(argv[1], "planted") == 0;
  nvrtcProgram program;
  RTC(nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr));
  RTC(nvrtcAddNameExpression(program, "scale<3>"));
  const bool cubin = argc > 1 && std::strcmp(argv[1], "cubin") == 0;
  const char* options[] = {cubin ? "--gpu-architecture=sm_90" : "--gpu-architecture=compute_90",
                           "-lineinfo",
                           planted ? "-DWITHIN=0" : "-DWITHIN=1"};
  RTC(nvrtcCompileProgram(program, 3, options));
  const char* name;
  RTC(nvrtcGetLoweredName(program, "scale<3>", &name));
  size_t bytes;
  RTC(cubin ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes));
  std::string ptx(bytes, '\0');
  RTC(cubin ? nvrtcGetCUBIN(program, ptx.data()) : nvrtcGetPTX(program, ptx.data()));

  CUcontext context;
  CUmodule module;
  CUfunction scale;
  CU(cuInit(0));
  CU(cuCtxCreate(&context, nullptr, 0, 0));
  CU(cuModuleLoadData(&module, ptx.c_str()));
  CU(cuModuleGetFunction(&scale, module, name));
  int n = 96;
  std::vector<float> x(n, 2.0f);
  CUdeviceptr p;
  CU(cuMemAlloc(&p, n * sizeof(float)));
  CU(cuMemcpyHtoD(p, x.data(), n * sizeof(float)));
  void* arguments[] = {&p, &n};
  CU(cuLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  CU(cuCtxSynchronize());
  CU(cuMemcpyDtoH(x.data(), p, n * sizeof(float)));
  for (const float f : x) EXPECT(f == 6.0f);
  CU(cuMemFree(p));
  CU(cuCtxDestroy(context));
  RTC(nvrtcDestroyProgram(&program));
  std::printf("PASSED\n");
}
