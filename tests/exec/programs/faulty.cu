// Does what its arguments say, in turn, and looks at no error: what becomes of that is the simulated GPU's affair.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void store(int* p, int i) {
  p[i] = i;  // the line of the out-of-bounds finding
}

__global__ void race(int* p) {
  __shared__ int cells[64];
  cells[threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = cells[63 - threadIdx.x];
}

int main(int argc, char** argv) {
  int* p = nullptr;
  for (int i = 1; i < argc; ++i) {
    const char* what = argv[i];
    if (std::strcmp(what, "malloc") == 0) cudaMalloc(&p, 64 * sizeof(int));
    if (std::strcmp(what, "store") == 0) store<<<1, 1>>>(p, 63);
    if (std::strcmp(what, "out-of-bounds") == 0) store<<<1, 1>>>(p, 64);
    if (std::strcmp(what, "race") == 0) race<<<1, 64>>>(p);
    if (std::strcmp(what, "sync") == 0) std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    if (std::strcmp(what, "count") == 0) {
      int count = 0;
      cudaGetDeviceCount(&count);
      std::printf("%d devices\n", count);
    }
    if (std::strcmp(what, "exit3") == 0) return 3;
    if (std::strcmp(what, "abort") == 0) std::abort();
  }
}
