// Accesses outside of what the program owns: global, shared, local, constant and heap memory; alignment; memory that has been freed.
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

}  // namespace
