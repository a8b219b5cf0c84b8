// One kernel with an instruction that the simulated GPU does not implement, beside one that it does: the module must be
// refused as it loads, although the program only launches the other.
#include <cuda_runtime_api.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 1; }

__global__ void uses_a_video_instruction(int* out, int a, int b) {
  int sum;
  asm("vadd.s32.s32.s32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));  // planted: unimplemented
  *out = sum;
}

int main(int argc, char**) {
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof *out) != cudaSuccess) return 3;
  if (argc > 1) {
    uses_a_video_instruction<<<1, 1>>>(out, 1, 2);
  } else {
    fine<<<1, 1>>>(out);
  }
  const cudaError_t error = cudaGetLastError();
  std::printf("the launch answered %s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 4;
}
