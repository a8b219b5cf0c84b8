// Contains a fault for each tool of compute-sanitizer, with a negative control:
//
//   sanitizer_probe memcheck|racecheck|initcheck|synccheck faulty|correct
//
// Exit status: 0 if the kernel was launched, with any result; 3 if CUDA did not launch it; 2 for
// wrong usage.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int kThreads = 64;

// memcheck: the last thread stores past the end of the allocation.
__global__ void store(int* y, int shift) { y[threadIdx.x + shift] = threadIdx.x; }

// racecheck: each thread reads a value that a thread of the other warp stores, with or without a
// barrier in between.
__global__ void exchange(int* y, bool wait) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = threadIdx.x;
  if (wait) __syncthreads();
  y[threadIdx.x] = words[kThreads - 1 - threadIdx.x];
}

// initcheck: reads memory that was written, or that was not.
__global__ void read(int* y, const int* x) { y[threadIdx.x] = x[threadIdx.x] + 1; }

// synccheck: half of each warp waits at one barrier, the other half at another.
__global__ void wait(int* y, bool apart) {
  if (apart && threadIdx.x % 2 == 0) {
    y[threadIdx.x] = 1;
    __syncthreads();
  } else {
    y[threadIdx.x] = 2;
    __syncthreads();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || (std::strcmp(argv[2], "faulty") != 0 && std::strcmp(argv[2], "correct") != 0))
    return 2;
  const bool faulty = std::strcmp(argv[2], "faulty") == 0;
  const auto tool = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  int *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, kThreads * sizeof *x) != cudaSuccess ||
      cudaMalloc(&y, kThreads * sizeof *y) != cudaSuccess)
    return 3;
  if (!tool("initcheck") || !faulty) cudaMemset(x, 0, kThreads * sizeof *x);
  if (tool("memcheck")) {
    store<<<1, kThreads>>>(y, faulty ? 1 : 0);
  } else if (tool("racecheck")) {
    exchange<<<1, kThreads>>>(y, !faulty);
  } else if (tool("initcheck")) {
    read<<<1, kThreads>>>(y, x);
  } else if (tool("synccheck")) {
    wait<<<1, kThreads>>>(y, faulty);
  } else {
    return 2;
  }
  if (const cudaError_t launched = cudaGetLastError(); launched != cudaSuccess) {
    std::fprintf(stderr, "not launched: %s\n", cudaGetErrorString(launched));
    return 3;
  }
  cudaDeviceSynchronize();  // the tool reports its error
  return 0;
}
