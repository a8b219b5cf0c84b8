// A program linked with a library that is missing at run time.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  std::printf("%d devices\n", count);
}
