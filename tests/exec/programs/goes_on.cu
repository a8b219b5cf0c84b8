// A program with mistakes that do not change its results: a race, an uninitialised
// value, a shuffle from an inactive lane and a mask without its caller. Each occurs
// many times. It also copies a structure with padding, each time from another
// allocation.
#include <numeric>

#include "check.h"

__global__ void race(int* last) { *last = threadIdx.x; }

__global__ void unwritten(int* out, const int* scale, int n) {
  __shared__ int cells[64];
  int sum = 0;
  // The cells are uninitialised: the product with zero hides it.
  for (int i = 0; i < n; ++i) sum += cells[(threadIdx.x + i) % 64] * scale[1] + threadIdx.x;
  out[threadIdx.x] = sum;
  if (sum < 0) out[0] = cells[1] * scale[1];
}

__global__ void inactive(int* out, const int* scale) {
  int from = 0;
  if (threadIdx.x < 16) from = __shfl_sync(0xffff, threadIdx.x, threadIdx.x + 16);
  out[threadIdx.x] = from * scale[1] + threadIdx.x;
}

__global__ void left_out(int* out) {
  out[threadIdx.x] = __any_sync(0x7fffffff, threadIdx.x < 64) + threadIdx.x;
}

struct Padded {
  char small;
  int large;
};

__global__ void fill(Padded* out) {
  out->small = 1;
  out->large = 2;
}

__global__ void sum(int* out, const int* in) { atomicAdd(out, in[threadIdx.x]); }

int main() {
  int *out, *in, *last;
  CUDA(cudaMalloc(&out, 64 * sizeof(int)));
  CUDA(cudaMalloc(&in, 64 * sizeof(int)));
  CUDA(cudaMalloc(&last, sizeof(int)));
  int values[64];
  std::iota(values, values + 64, 0);
  for (int turn = 0; turn < 10; ++turn) {
    CUDA(cudaMemset(in, 0, 64 * sizeof(int)));
    race<<<2, 64>>>(last);
    unwritten<<<2, 64>>>(out, in, 3);
    CUDA(cudaGetLastError());
    int got[64];
    CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i) EXPECT(got[i] == 3 * i);
    inactive<<<1, 32>>>(out, in);
    left_out<<<1, 32>>>(out);
    CUDA(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(out, 0, sizeof(int)));
    sum<<<1, 64>>>(out, in);
    CUDA(cudaMemcpy(got, out, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(got[0] == 64 * 63 / 2);
    Padded *made, seen;
    CUDA(cudaMalloc(&made, sizeof seen));
    fill<<<1, 1>>>(made);
    CUDA(cudaMemcpy(&seen, made, sizeof seen, cudaMemcpyDeviceToHost));
    EXPECT(seen.small == 1 && seen.large == 2);
    CUDA(cudaFree(made));
  }
  CUDA(cudaDeviceSynchronize());
  std::puts("PASSED");
  return 0;
}
