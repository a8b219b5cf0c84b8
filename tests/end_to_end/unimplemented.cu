// A kernel with an instruction that the simulated GPU does not implement, and a kernel without it.
// The second runs. With an argument the program launches the first, which is refused with the
// instruction's name.
#include <cuda_runtime_api.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 1; }

__global__ void asks_for_a_reference(int* out) {
  int is;
  asm("{ .reg .pred q; istypep.texref q, %1; selp.s32 %0, 1, 0, q; }"
      : "=r"(is)
      : "l"(out));  // planted: unimplemented
  *out = is;
}

int main(int argc, char**) {
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof *out) != cudaSuccess) return 3;
  if (argc > 1) {
    asks_for_a_reference<<<1, 1>>>(out);
  } else {
    fine<<<1, 1>>>(out);
  }
  const cudaError_t error = cudaGetLastError();
  std::printf("the launch answered %s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 4;
}
