// No device code: queries the number of devices only.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 1;
  std::puts("PASSED");
  return 0;
}
