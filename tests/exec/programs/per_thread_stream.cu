// Host threads that each use their own default stream; built with -default-stream per-thread.
#include <thread>
#include <vector>

#include "check.h"

__global__ void fill(int* x, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value + i;
}

void work(int value) {
  constexpr int n = 2000;
  std::vector<int> host(n);
  int* x;
  CUDA(cudaMallocAsync(&x, n * sizeof(int), cudaStreamPerThread));
  CUDA(cudaMemsetAsync(x, 0, n * sizeof(int)));
  fill<<<(n + 255) / 256, 256>>>(x, n, value);
  CUDA(cudaMemcpyAsync(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA(cudaStreamSynchronize(0));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == value + i);
  CUDA(cudaFreeAsync(x, 0));
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i * 1000);
  for (auto& t : threads) t.join();
  std::printf("PASSED\n");
}
