// A program that is linked with a library more than it finds.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  std::printf("%d devices\n", count);
}
