// A kernel that polls until the host writes after the launch.
#include "check.h"

__global__ void wait_and_count(volatile int* latch, int* count) {
  while (latch[0] < 1) {  // the line of the finding
  }
  atomicAdd(count, 1);
}

int main() {
  int* memory;
  CUDA(cudaMallocManaged(&memory, 2 * sizeof(int)));
  memory[0] = memory[1] = 0;
  wait_and_count<<<4, 64>>>(memory, memory + 1);
  memory[0] = 1;
  CUDA(cudaDeviceSynchronize());
  EXPECT(memory[1] == 256);
  std::printf("PASSED\n");
  return 0;
}
