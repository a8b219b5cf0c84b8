// A library with the CUDA runtime linked into it, and a kernel with a barrier too few unless it is
// asked for: each thread reads what its neighbour in another warp has written.
#include <cstdio>
#include <cstring>

#include "check.h"

template <bool kBarrier>
__global__ void shift(int* out) {
  __shared__ int cells[64];
  cells[threadIdx.x] = threadIdx.x;
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = cells[(threadIdx.x + 32) % 64];
}

extern "C" int run_shift(const char* how) {
  int* out;
  CUDA(cudaMalloc(&out, 64 * sizeof(int)));
  if (std::strcmp(how, "repaired") == 0) {
    shift<true><<<1, 64>>>(out);
  } else {
    shift<false><<<1, 64>>>(out);
  }
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaFree(out));
  std::printf("done\n");
  return 0;
}

// The library has it, too. A program that opens the library has one of its own.
int main(int argc, char** argv) { return argc < 2 ? 2 : run_shift(argv[1]); }
