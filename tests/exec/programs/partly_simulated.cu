// One kernel that the simulated GPU has, and one in another file, and so in another module, that it
// has not. Looks at no error.
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
