// A kernel that the simulated GPU supports, and one in another module that it does not support.
// Checks no error.
#include <cstdio>

#include "partly_simulated.h"

__global__ void fine(int* p) { *p = 1; }

int main() {
  int* p;
  cudaMalloc(&p, sizeof(int));
  fine<<<1, 1>>>(p);
  launch_odd(p);
  cudaDeviceSynchronize();
  std::puts("done");
}
