// No device code: it asks for the devices alone.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 1;
  std::puts("PASSED");
  return 0;
}
