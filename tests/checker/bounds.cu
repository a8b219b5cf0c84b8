// Accesses outside of what the program owns: global, shared, local, constant and heap memory; alignment; memory that has been freed, or never is.
#include <cstdio>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void past_the_end(int* y, int n) {
  const int i = threadIdx.x;
  if (i < n + faulty) y[i] = i;  // FAULT past_the_end
}
PAIR(past_the_end, "out-of-bounds") {
  Buffer<int> y(40);
  past_the_end<faulty><<<1, 64>>>(y, 40);
}

template <bool faulty>
__global__ void before_the_start(const int* x, int* y) {
  y[threadIdx.x] = x[static_cast<int>(threadIdx.x) - faulty];  // FAULT before_the_start
}
PAIR(before_the_start, "out-of-bounds") {
  Buffer<int> x(32, 1), y(32);
  before_the_start<faulty><<<1, 32>>>(x, y);
}

// One row too far in a pitched array.
template <bool faulty>
__global__ void row_past_the_end(float* y, int pitch, int rows) {
  const int row = blockIdx.x;
  if (row < rows + faulty) y[row * pitch + threadIdx.x] = 1;  // FAULT row_past_the_end
}
PAIR(row_past_the_end, "out-of-bounds") {
  Buffer<float> y(32 * 4);
  row_past_the_end<faulty><<<8, 32>>>(y, 32, 4);
}

template <bool faulty>
__global__ void null_pointer(int* y) {
  if (y != nullptr || faulty) y[threadIdx.x] = 1;  // FAULT null_pointer
}
PAIR(null_pointer, "out-of-bounds") { null_pointer<faulty><<<1, 32>>>(nullptr); }

template <bool faulty>
__global__ void host_pointer(const int* x, int* y) {
  y[0] = x[0];  // FAULT host_pointer
}
PAIR(host_pointer, "out-of-bounds") {
  static int on_the_host = 3;
  Buffer<int> x(1, 1), y(1);
  host_pointer<faulty><<<1, 1>>>(faulty ? &on_the_host : static_cast<int*>(x), y);
}

// Far inside somebody else's allocation, where nothing faults.
template <bool faulty>
__global__ void neighbouring_allocation(int* x, long long distance) {
  x[faulty ? distance : 0] = 1;  // FAULT neighbouring_allocation
}
PAIR(neighbouring_allocation, "out-of-bounds") {
  Buffer<int> x(256), y(256);
  neighbouring_allocation<faulty><<<1, 1>>>(x, static_cast<int*>(y) + 255 - static_cast<int*>(x) + 64);
}

template <bool faulty>
__global__ void atomic_past_the_end(int* y) {
  atomicAdd(y + (threadIdx.x & 7) + faulty, 1);  // FAULT atomic_past_the_end
}
PAIR(atomic_past_the_end, "out-of-bounds") {
  Buffer<int> y(8, 0);
  atomic_past_the_end<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void wide_load_at_the_end(const float4* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x].w;
  const float4 last = x[7 + faulty];  // FAULT wide_load_at_the_end
  y[threadIdx.x] = last.x + last.y + last.z + last.w;
}
PAIR(wide_load_at_the_end, "out-of-bounds") {
  Buffer<float> x(34, 0), y(8);
  wide_load_at_the_end<faulty><<<1, 8>>>(reinterpret_cast<const float4*>(static_cast<float*>(x)), y);
}

template <bool faulty>
__global__ void shared_past_a_variable(int* y) {
  __shared__ int s[32], t[32];
  s[threadIdx.x] = 0;
  t[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) s[31 + faulty] = 2;  // FAULT shared_past_a_variable
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x] + t[threadIdx.x];
}
PAIR(shared_past_a_variable, "out-of-bounds") {
  Buffer<int> y(32);
  shared_past_a_variable<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void dynamic_shared_too_small(int* y) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = threadIdx.x;  // FAULT dynamic_shared_too_small
  __syncthreads();
  y[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
PAIR(dynamic_shared_too_small, "out-of-bounds") {
  Buffer<int> y(64);
  dynamic_shared_too_small<faulty><<<1, 64, 64 * sizeof(int) - (faulty ? 4 : 0)>>>(y);
}

template <bool faulty>
__global__ void local_past_the_end(int* y, int n) {
  int a[8];
  for (int k = 0; k < n + 0; ++k) a[k] = k;  // FAULT local_past_the_end
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[(k * n) & 7];
  y[threadIdx.x] = sum;
}
PAIR(local_past_the_end, "out-of-bounds") {
  Buffer<int> y(32);
  local_past_the_end<faulty><<<1, 32>>>(y, faulty ? 9 : 8);
}

__constant__ int table[16] = {1, 2, 3};
template <bool faulty>
__global__ void constant_past_the_end(int* y, int n) {
  y[threadIdx.x] = table[threadIdx.x + n];  // FAULT constant_past_the_end
}
PAIR(constant_past_the_end, "out-of-bounds") {
  Buffer<int> y(8);
  constant_past_the_end<faulty><<<1, 8>>>(y, faulty ? 9 : 8);
}

template <bool faulty>
__global__ void writes_a_constant(const int* to) {
  *const_cast<volatile int*>(to) = 5;  // FAULT writes_a_constant
}
PAIR(writes_a_constant, "read-only-write") {
  Buffer<int> y(1);
  void* address = nullptr;
  cudaGetSymbolAddress(&address, table);
  writes_a_constant<faulty><<<1, 1>>>(faulty ? static_cast<int*>(address) : static_cast<int*>(y));
}

template <bool faulty>
__global__ void misaligned_int(char* y) {
  *reinterpret_cast<volatile int*>(y + (faulty ? 2 : 4)) = 1;  // FAULT misaligned_int
}
PAIR(misaligned_int, "misaligned") {
  Buffer<char> y(64);
  misaligned_int<faulty><<<1, 1>>>(y);
}

template <bool faulty>
__global__ void misaligned_vector(const float* x, float* y) {
  const float4 v = *reinterpret_cast<const float4*>(x + (faulty ? 1 : 4));  // FAULT misaligned_vector
  y[0] = v.x + v.w;
}
PAIR(misaligned_vector, "misaligned") {
  Buffer<float> x(16, 0), y(1);
  misaligned_vector<faulty><<<1, 1>>>(x, y);
}

template <bool faulty>
__global__ void misaligned_shared(int* y) {
  __shared__ __align__(16) char s[64];
  volatile short* const p = reinterpret_cast<volatile short*>(s + (faulty ? 1 : 2));
  *p = 3;  // FAULT misaligned_shared
  y[0] = *p;
}
PAIR(misaligned_shared, "misaligned") {
  Buffer<int> y(1);
  misaligned_shared<faulty><<<1, 1>>>(y);
}

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
PAIR(heap_past_the_end, "out-of-bounds") {
  Buffer<int> y(4);
  heap_past_the_end<faulty><<<1, 4>>>(y);
}

template <bool faulty>
__global__ void heap_after_free(int* y) {
  volatile int* const p = static_cast<int*>(malloc(8 * sizeof(int)));
  p[0] = 1;
  if (faulty) free(const_cast<int*>(p));
  y[threadIdx.x] = p[0];  // FAULT heap_after_free
  if (!faulty) free(const_cast<int*>(p));
}
PAIR(heap_after_free, "use-after-free") {
  Buffer<int> y(4);
  heap_after_free<faulty><<<1, 4>>>(y);
}

template <bool faulty>
__global__ void heap_freed_twice(int* y) {
  int* const p = static_cast<int*>(malloc(32));
  p[0] = 1;
  y[threadIdx.x] = p[0];
  free(p);
  if (faulty) free(p);  // FAULT heap_freed_twice
}
PAIR(heap_freed_twice, "use-after-free") {
  Buffer<int> y(4);
  heap_freed_twice<faulty><<<1, 4>>>(y);
}

template <bool faulty>
__global__ void heap_uninitialised(int* y) {
  int* const p = static_cast<int*>(malloc(2 * sizeof(int)));
  p[0] = 1;
  if (!faulty) p[1] = 1;
  y[threadIdx.x] = p[threadIdx.x & 1] + 1;  // FAULT heap_uninitialised
  free(p);
}
PAIR(heap_uninitialised, "uninitialised") {
  Buffer<int> y(4);
  heap_uninitialised<faulty><<<1, 4>>>(y);
}

// free() of memory that the host allocated.
template <bool faulty>
__global__ void frees_what_the_host_owns(int* y) {
  void* const p = faulty ? static_cast<void*>(y) : malloc(16);
  free(p);  // FAULT frees_what_the_host_owns
}
PAIR(frees_what_the_host_owns, "use-after-free") {
  Buffer<int> y(4);
  frees_what_the_host_owns<faulty><<<1, 1>>>(y);
}

template <bool faulty>
__global__ void managed_past_the_end(int* y) {
  y[threadIdx.x + faulty] = 1;  // FAULT managed_past_the_end
}
PAIR(managed_past_the_end, "out-of-bounds") {
  int* y = nullptr;
  cudaMallocManaged(&y, 128);
  managed_past_the_end<faulty><<<1, 32>>>(y);
  cudaDeviceReset();  // after an error nothing else frees it, and a launch that stands still would wait for the host
}

template <bool faulty>
__global__ void pinned_past_the_end(int* y) {
  y[threadIdx.x + faulty] = 1;  // FAULT pinned_past_the_end
}
PAIR(pinned_past_the_end, "out-of-bounds") {
  int* y = nullptr;
  cudaMallocHost(&y, 128);
  pinned_past_the_end<faulty><<<1, 32>>>(y);
  cudaDeviceReset();
}

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

// The old pointer of something that has grown.
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

__device__ int counters[8];
template <bool faulty>
__global__ void device_variable_past_the_end(int n) {
  counters[threadIdx.x + n] = 1;  // FAULT device_variable_past_the_end
}
PAIR(device_variable_past_the_end, "out-of-bounds") { device_variable_past_the_end<faulty><<<1, 4>>>(faulty ? 5 : 4); }

template <bool faulty>
__global__ void negative_local_index(int* y, int n) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[k] = k;
  for (int k = 7; k >= n; --k) a[k] += a[7 - (k & 7)];  // FAULT negative_local_index
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[(k - n) & 7];
  y[threadIdx.x] = sum;
}
PAIR(negative_local_index, "out-of-bounds") {
  Buffer<int> y(32);
  negative_local_index<faulty><<<1, 32>>>(y, faulty ? -1 : 0);
}

template <bool faulty>
__global__ void misaligned_atomic(char* y) {
  atomicAdd(reinterpret_cast<unsigned long long*>(y + (faulty ? 4 : 8)), 1ull);  // FAULT misaligned_atomic
}
PAIR(misaligned_atomic, "misaligned") {
  Buffer<char> y(64, 0);
  misaligned_atomic<faulty><<<1, 1>>>(y);
}

template <bool faulty>
__global__ void shared_null_pointer(int* y) {
  __shared__ int s[32];
  int* p = faulty ? nullptr : s;
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(p == nullptr ? 0u : static_cast<unsigned>(__cvta_generic_to_shared(p))), "r"(3) : "memory");  // FAULT shared_null_pointer
  y[0] = 1;
}
PAIR(shared_null_pointer, "out-of-bounds") {
  Buffer<int> y(1);
  shared_null_pointer<faulty><<<1, 1>>>(y);
}

// A pointer to what was a shared variable of the kernel before.
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

template <bool faulty>
__global__ void prints_from_nowhere(const char* text) {
  printf("%.0s", text);  // FAULT prints_from_nowhere
}
PAIR(prints_from_nowhere, "out-of-bounds") {
  Buffer<char> text(8, faulty ? 'x' : 0);
  prints_from_nowhere<faulty><<<1, 1>>>(text);
}

// Found when the device is reset.
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

// A later kernel frees what an earlier one has allocated, all of it or all but the first.
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

}  // namespace
