// A kernel that launches a kernel.
#include <cstdio>

__global__ void child(int* p) { *p = 1; }

__global__ void parent(int* p) {
  child<<<1, 1>>>(p);  // the line of the refusal
}

int main() {
  int* p;
  cudaMalloc(&p, sizeof(int));
  parent<<<1, 1>>>(p);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
