// A race of neighbours: each thread reads what the next thread writes.
#include <cstdio>

__global__ void shift(int* values) {
  __shared__ int line[64];
  line[threadIdx.x] = values[threadIdx.x];
  values[threadIdx.x] = line[(threadIdx.x + 1) % 64];  // no barrier before it
}

int main() {
  int values[64] = {}, *on_device = nullptr;
  if (cudaMalloc(&on_device, sizeof values) != cudaSuccess) return 1;
  cudaMemcpy(on_device, values, sizeof values, cudaMemcpyHostToDevice);
  shift<<<1, 64>>>(on_device);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::puts("done");
  return 0;
}
