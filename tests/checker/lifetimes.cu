// Pairs about the lifetime of memory: used after it was freed, freed wrongly, or never freed; also
// the device heap (malloc in kernels).
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void after_cuda_free(int* y) {
  y[threadIdx.x] = 1;  // FAULT after_cuda_free
}
PAIR(after_cuda_free, "use-after-free") {
  int* y = nullptr;
  cudaMalloc(&y, 128);
  if (faulty) cudaFree(y);
  after_cuda_free<faulty><<<1, 32>>>(y);
  cudaDeviceSynchronize();
  if (!faulty) cudaFree(y);
}

template <bool faulty>
__global__ void heap_past_the_end(int* y) {
  int* const p = static_cast<int*>(malloc(8 * sizeof(int)));
  for (int k = 0; k < 8; ++k) p[k] = k;
  p[7 + faulty] = 1;  // FAULT heap_past_the_end
  y[threadIdx.x] = p[3];
  free(p);
}
PAIR_ON(heap_past_the_end, "out-of-bounds", (1, 4), Buffer<int>(4))

template <bool faulty>
__global__ void heap_after_free(int* y) {
  volatile int* const p = static_cast<int*>(malloc(8 * sizeof(int)));
  p[0] = 1;
  if (faulty) free(const_cast<int*>(p));
  y[threadIdx.x] = p[0];  // FAULT heap_after_free
  if (!faulty) free(const_cast<int*>(p));
}
PAIR_ON(heap_after_free, "use-after-free", (1, 4), Buffer<int>(4))

template <bool faulty>
__global__ void heap_freed_twice(int* y) {
  int* const p = static_cast<int*>(malloc(32));
  p[0] = 1;
  y[threadIdx.x] = p[0];
  free(p);
  if (faulty) free(p);  // FAULT heap_freed_twice
}
PAIR_ON(heap_freed_twice, "use-after-free", (1, 4), Buffer<int>(4))

template <bool faulty>
__global__ void heap_uninitialised(int* y) {
  int* const p = static_cast<int*>(malloc(2 * sizeof(int)));
  p[0] = 1;
  if (!faulty) p[1] = 1;
  y[threadIdx.x] = p[threadIdx.x & 1] + 1;  // FAULT heap_uninitialised
  free(p);
}
PAIR_ON(heap_uninitialised, "uninitialised", (1, 4), Buffer<int>(4))

// A kernel calls free() with memory that the host allocated.
template <bool faulty>
__global__ void frees_what_the_host_owns(int* y) {
  void* const p = faulty ? static_cast<void*>(y) : malloc(16);
  free(p);  // FAULT frees_what_the_host_owns
}
PAIR_ON(frees_what_the_host_owns, "use-after-free", (1, 1), Buffer<int>(4))

template <bool faulty>
__global__ void after_free_async(int* y) {
  y[threadIdx.x] = 1;  // FAULT after_free_async
}
PAIR(after_free_async, "use-after-free") {
  int* y = nullptr;
  cudaMallocAsync(&y, 128, nullptr);
  if (faulty) cudaFreeAsync(y, nullptr);
  after_free_async<faulty><<<1, 32>>>(y);
  if (!faulty) cudaFreeAsync(y, nullptr);
}

// A stale pointer to an array that was reallocated.
template <bool faulty>
__global__ void old_pointer(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // FAULT old_pointer
}
PAIR(old_pointer, "use-after-free") {
  Buffer<int> y(32);
  int *small = nullptr, *large = nullptr;
  cudaMalloc(&small, 128);
  cudaMemset(small, 0, 128);
  cudaMalloc(&large, 256);
  cudaMemcpy(large, small, 128, cudaMemcpyDeviceToDevice);
  cudaFree(small);
  old_pointer<faulty><<<1, 32>>>(faulty ? small : large, y);
  cudaDeviceSynchronize();
  cudaFree(large);
}

// A pointer to a shared variable of an earlier kernel.
__device__ int* left_behind;
template <bool faulty>
__global__ void leaves_a_pointer(int* y) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) left_behind = faulty ? s + 128 : y;
  y[threadIdx.x] = s[threadIdx.x];
}
template <bool faulty>
__global__ void pointer_into_another_kernel(int* y) {
  y[1] = *left_behind;  // FAULT pointer_into_another_kernel
}
PAIR(pointer_into_another_kernel, "out-of-bounds") {
  Buffer<int> y(32);
  leaves_a_pointer<faulty><<<1, 32>>>(y);
  pointer_into_another_kernel<faulty><<<1, 1>>>(y);
}

// Reported when the device is reset.
template <bool faulty>
__global__ void heap_never_freed(int* y) {
  int* const p = static_cast<int*>(malloc(16));  // FAULT heap_never_freed
  *p = threadIdx.x;
  y[threadIdx.x] = *p;
  if (!faulty || threadIdx.x % 4 != 0) free(p);
}
PAIR(heap_never_freed, "leak") {
  const lockstep::checker::LookForLeaks look;
  {
    Buffer<int> y(8);
    heap_never_freed<faulty><<<1, 8>>>(y);
  }
  cudaDeviceReset();
}

// A later kernel frees what an earlier kernel allocated; the faulty one misses the first.
__device__ void* kept[8];
template <bool faulty>
__global__ void heap_kept() {
  kept[threadIdx.x] = malloc(32);  // FAULT heap_freed_by_a_later_kernel
}
template <bool faulty>
__global__ void free_kept() {
  if (!faulty || threadIdx.x > 0) free(kept[threadIdx.x]);
}
PAIR(heap_freed_by_a_later_kernel, "leak") {
  const lockstep::checker::LookForLeaks look;
  heap_kept<faulty><<<1, 8>>>();
  free_kept<faulty><<<1, 8>>>();
  cudaDeviceReset();
}

template <bool faulty>
__global__ void frees_the_middle(int* y) {
  int* const p = static_cast<int*>(malloc(64));
  p[threadIdx.x & 7] = 1;
  free(p + faulty);  // FAULT frees_the_middle
  free(nullptr);
  y[threadIdx.x] = 1;
}
PAIR_ON(frees_the_middle, "use-after-free", (1, 32), Buffer<int>(32))

}  // namespace
