// A kernel with an instruction that the simulated GPU does not implement, beside one without. The
// second runs; the first is refused by the name of its instruction when it is launched, as it is
// with an argument.
#include <cuda_runtime_api.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 1; }

__global__ void uses_a_multicast_object(int* out) {
  int sum;
  asm("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];"
      : "=r"(sum)
      : "l"(out));  // planted: unimplemented
  *out = sum;
}

int main(int argc, char**) {
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof *out) != cudaSuccess) return 3;
  if (argc > 1) {
    uses_a_multicast_object<<<1, 1>>>(out);
  } else {
    fine<<<1, 1>>>(out);
  }
  const cudaError_t error = cudaGetLastError();
  std::printf("the launch answered %s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 4;
}
