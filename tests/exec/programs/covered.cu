// coverage_test.cc in tests/exec names these lines and their counts.
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

// Every call executes the line; each call takes the branch in one direction only.
__device__ inline void add_if_positive(int* sum, int value) {
  if (value > 0)
    atomicAdd(sum, value);
}

__global__ void partly(const int* x, int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, 1);
  if (i >= n) return;
  atomicAdd(sum, x[i]);
  if (n > 1000)
    atomicAdd(sum, 1000);
  add_if_positive(sum, i - 10);
  add_if_positive(sum, i + 1);
}

__global__ void never(int* sum) {
  atomicAdd(sum, 7);
}

template <int kStep, int kFactor>
__global__ void whole(int* sum) {
  atomicAdd(sum, kStep * kFactor);
}

// With 64 threads, then 40: 50 of the first are below n, and none reaches 1000.
int run() {
  int *x = nullptr, *sum = nullptr;
  CUDA(cudaMalloc(&x, 64 * sizeof(int)));
  CUDA(cudaMalloc(&sum, sizeof(int)));
  CUDA(cudaMemset(x, 0, 64 * sizeof(int)));
  CUDA(cudaMemset(sum, 0, sizeof(int)));
  partly<<<2, 32>>>(x, sum, 50);
  partly<<<1, 40>>>(x, sum, 50);
  whole<1, 2><<<1, 64>>>(sum);
  whole<3, 4><<<1, 32>>>(sum);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaFree(x));
  CUDA(cudaFree(sum));
  return 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (std::strcmp(how, "nothing") == 0) return 0;
  // Two child processes.
  for (int child = 0; std::strcmp(how, "fork") == 0 && child < 2; ++child) {
    const pid_t process = fork();
    if (process == 0) return run();
    int status = 0;
    waitpid(process, &status, 0);
    if (status != 0) return 1;
    if (child == 1) return 0;
  }
  if (run() != 0) return 1;
  // Lines executed before a reset count too.
  if (std::strcmp(how, "reset") == 0) CUDA(cudaDeviceReset());
  if (std::strcmp(how, "fails") == 0) return 3;
  if (std::strcmp(how, "leaves") == 0) _exit(0);
  return 0;
}
