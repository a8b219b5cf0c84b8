// A program with a second host thread at its kernel launches.
#include <atomic>
#include <thread>

#include "check.h"

__global__ void twice(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}

int main() {
  std::atomic<bool> over{false};
  std::thread beside([&] {
    while (!over) std::this_thread::yield();
  });
  int values[100], *device;
  for (int i = 0; i < 100; ++i) values[i] = i;
  CUDA(cudaMalloc(&device, sizeof values));
  CUDA(cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice));
  twice<<<2, 64>>>(device, 90);
  CUDA(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
  over = true;
  beside.join();
  for (int i = 0; i < 100; ++i) EXPECT(values[i] == (i < 90 ? 2 * i : i));
  std::printf("PASSED\n");
}
