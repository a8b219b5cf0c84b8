// A library with the static CUDA runtime and a kernel without a needed barrier, unless repaired:
// each thread reads what its neighbour in another warp wrote.
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

// The library contains this main() too; a program that opens it has its own.
int main(int argc, char** argv) { return argc < 2 ? 2 : run_shift(argv[1]); }
