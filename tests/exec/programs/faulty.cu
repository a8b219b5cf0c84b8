// Executes the actions that the arguments name, in order, and checks no error.
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

__global__ void unwritten(int* p) {
  __shared__ int cells[64];
  p[threadIdx.x] = cells[threadIdx.x] + 1;
}

// All threads write one value: information, not an error.
__global__ void same_value(int* p) { p[0] = 1; }
// Writes one value by all threads, then stores out of bounds.
__global__ void same_value_and_store(int* p, int i) {
  p[0] = 1;
  if (threadIdx.x == 63) p[i] = 1;
}

#include <unistd.h>  // after the kernels, whose lines tests name

int main(int argc, char** argv) {
  int* p = nullptr;
  for (int i = 1; i < argc; ++i) {
    const char* what = argv[i];
    if (std::strcmp(what, "malloc") == 0) cudaMalloc(&p, 64 * sizeof(int));
    if (std::strcmp(what, "store") == 0) store<<<1, 1>>>(p, 63);
    if (std::strcmp(what, "out-of-bounds") == 0) store<<<1, 1>>>(p, 64);
    if (std::strcmp(what, "race") == 0) race<<<1, 64>>>(p);
    if (std::strcmp(what, "unwritten") == 0) unwritten<<<1, 64>>>(p);
    if (std::strcmp(what, "same-value") == 0) same_value<<<1, 64>>>(p);
    if (std::strcmp(what, "same-value-and-out-of-bounds") == 0)
      same_value_and_store<<<1, 64>>>(p, 64);
    if (std::strcmp(what, "too-many-threads") == 0) store<<<1, 2048>>>(p, 0);
    if (std::strcmp(what, "too-much-shared") == 0) store<<<1, 32, 1 << 20>>>(p, 0);
    if (std::strcmp(what, "too-much-memory") == 0) {
      void* much = nullptr;
      if (cudaMalloc(&much, size_t{1} << 50) != cudaSuccess) std::puts("no such memory");
    }
    if (std::strcmp(what, "unsupported") == 0) {
      cudaExternalMemoryHandleDesc handle = {};
      cudaExternalMemory_t memory;
      cudaImportExternalMemory(&memory, &handle);
    }
    if (std::strcmp(what, "peer") == 0) cudaDeviceEnablePeerAccess(1, 0);
    if (std::strcmp(what, "last") == 0) std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    if (std::strcmp(what, "peek") == 0)
      std::printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
    if (std::strcmp(what, "sync") == 0)
      std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    if (std::strcmp(what, "count") == 0) {
      int count = 0;
      cudaGetDeviceCount(&count);
      std::printf("%d devices\n", count);
    }
    if (std::strcmp(what, "close-files") == 0) {
      // Closes all files, as daemons do; the program's next file reuses a closed number.
      for (int file = 3; file < 256; ++file) close(file);
      for (int file = 3; file < 32; ++file) std::fopen("/dev/null", "w");
    }
    if (std::strcmp(what, "exit3") == 0) return 3;
    if (std::strcmp(what, "abort") == 0) std::abort();
  }
}
