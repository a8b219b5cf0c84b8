// Pairs that access memory the program does not own (global, shared, local, constant), and pairs
// with misaligned accesses. Freed memory is in lifetimes.cu.
#include <cstdio>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void past_the_end(int* y, int n) {
  const int i = threadIdx.x;
  if (i < n + faulty) y[i] = i;  // FAULT past_the_end
}
PAIR_ON(past_the_end, "out-of-bounds", (1, 64), Buffer<int>(40), 40)

template <bool faulty>
__global__ void before_the_start(const int* x, int* y) {
  y[threadIdx.x] = x[static_cast<int>(threadIdx.x) - faulty];  // FAULT before_the_start
}
PAIR_ON_TWO(before_the_start, "out-of-bounds", (1, 32), Buffer<int>(32, 1), Buffer<int>(32))

// The faulty kernel writes one row too many of a pitched array.
template <bool faulty>
__global__ void row_past_the_end(float* y, int pitch, int rows) {
  const int row = blockIdx.x;
  if (row < rows + faulty) y[row * pitch + threadIdx.x] = 1;  // FAULT row_past_the_end
}
PAIR_ON(row_past_the_end, "out-of-bounds", (8, 32), Buffer<float>(32 * 4), 32, 4)

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

// The faulty kernel writes far inside another allocation, at which no GPU faults.
template <bool faulty>
__global__ void neighbouring_allocation(int* x, long long distance) {
  x[faulty ? distance : 0] = 1;  // FAULT neighbouring_allocation
}
PAIR(neighbouring_allocation, "out-of-bounds") {
  Buffer<int> x(256), y(256);
  neighbouring_allocation<faulty>
      <<<1, 1>>>(x, static_cast<int*>(y) + 255 - static_cast<int*>(x) + 64);
}

template <bool faulty>
__global__ void atomic_past_the_end(int* y) {
  atomicAdd(y + (threadIdx.x & 7) + faulty, 1);  // FAULT atomic_past_the_end
}
PAIR_ON(atomic_past_the_end, "out-of-bounds", (1, 32), Buffer<int>(8, 0))

template <bool faulty>
__global__ void wide_load_at_the_end(const float4* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x].w;
  const float4 last = x[7 + faulty];  // FAULT wide_load_at_the_end
  y[threadIdx.x] = last.x + last.y + last.z + last.w;
}
PAIR(wide_load_at_the_end, "out-of-bounds") {
  Buffer<float> x(34, 0), y(8);
  wide_load_at_the_end<faulty>
      <<<1, 8>>>(reinterpret_cast<const float4*>(static_cast<float*>(x)), y);
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
PAIR_ON(shared_past_a_variable, "out-of-bounds", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void dynamic_shared_too_small(int* y) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = threadIdx.x;  // FAULT dynamic_shared_too_small
  __syncthreads();
  y[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
PAIR_ON(dynamic_shared_too_small, "out-of-bounds",
        (1, 64, 64 * sizeof(int) - (faulty ? 4 : 0)), Buffer<int>(64))

template <bool faulty>
__global__ void local_past_the_end(int* y, int n) {
  int a[8];
  for (int k = 0; k < n + 0; ++k) a[k] = k;  // FAULT local_past_the_end
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[(k * n) & 7];
  y[threadIdx.x] = sum;
}
PAIR_ON(local_past_the_end, "out-of-bounds", (1, 32), Buffer<int>(32), faulty ? 9 : 8)

__constant__ int table[16] = {1, 2, 3};
template <bool faulty>
__global__ void constant_past_the_end(int* y, int n) {
  y[threadIdx.x] = table[threadIdx.x + n];  // FAULT constant_past_the_end
}
PAIR_ON(constant_past_the_end, "out-of-bounds", (1, 8), Buffer<int>(8), faulty ? 9 : 8)

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
PAIR_ON(misaligned_int, "misaligned", (1, 1), Buffer<char>(64))

template <bool faulty>
__global__ void misaligned_vector(const float* x, float* y) {
  // FAULT misaligned_vector
  const float4 v = *reinterpret_cast<const float4*>(x + (faulty ? 1 : 4));
  y[0] = v.x + v.w;
}
PAIR_ON_TWO(misaligned_vector, "misaligned", (1, 1), Buffer<float>(16, 0), Buffer<float>(1))

template <bool faulty>
__global__ void misaligned_shared(int* y) {
  __shared__ __align__(16) char s[64];
  volatile short* const p = reinterpret_cast<volatile short*>(s + (faulty ? 1 : 2));
  *p = 3;  // FAULT misaligned_shared
  y[0] = *p;
}
PAIR_ON(misaligned_shared, "misaligned", (1, 1), Buffer<int>(1))

template <bool faulty>
__global__ void managed_past_the_end(int* y) {
  y[threadIdx.x + faulty] = 1;  // FAULT managed_past_the_end
}
PAIR(managed_past_the_end, "out-of-bounds") {
  int* y = nullptr;
  cudaMallocManaged(&y, 128);
  managed_past_the_end<faulty><<<1, 32>>>(y);
  // After an error only a reset frees it, and a launch that hangs would wait for the host.
  cudaDeviceReset();
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

__device__ int counters[8];
template <bool faulty>
__global__ void device_variable_past_the_end(int n) {
  counters[threadIdx.x + n] = 1;  // FAULT device_variable_past_the_end
}
PAIR(device_variable_past_the_end, "out-of-bounds") {
  device_variable_past_the_end<faulty><<<1, 4>>>(faulty ? 5 : 4);
}

template <bool faulty>
__global__ void negative_local_index(int* y, int n) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[k] = k;
  for (int k = 7; k >= n; --k) a[k] += a[7 - (k & 7)];  // FAULT negative_local_index
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[(k - n) & 7];
  y[threadIdx.x] = sum;
}
PAIR_ON(negative_local_index, "out-of-bounds", (1, 32), Buffer<int>(32), faulty ? -1 : 0)

template <bool faulty>
__global__ void misaligned_atomic(char* y) {
  // FAULT misaligned_atomic
  atomicAdd(reinterpret_cast<unsigned long long*>(y + (faulty ? 4 : 8)), 1ull);
}
PAIR_ON(misaligned_atomic, "misaligned", (1, 1), Buffer<char>(64, 0))

template <bool faulty>
__global__ void shared_null_pointer(int* y) {
  __shared__ int s[32];
  int* p = faulty ? nullptr : s;
  // FAULT shared_null_pointer
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(
                   p == nullptr ? 0u : static_cast<unsigned>(__cvta_generic_to_shared(p))),
               "r"(3)
               : "memory");
  y[0] = 1;
}
PAIR_ON(shared_null_pointer, "out-of-bounds", (1, 1), Buffer<int>(1))

template <bool faulty>
__global__ void prints_from_nowhere(const char* text) {
  printf("%.0s", text);  // FAULT prints_from_nowhere
}
PAIR_ON(prints_from_nowhere, "out-of-bounds", (1, 1), Buffer<char>(8, faulty ? 'x' : 0))

// Returns a pointer to a local variable of a function that has returned.
__device__ __noinline__ int* leaves_a_pointer(int n, int* keep) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[k] = n + k;
  int* p = a;
  asm volatile("" : "+l"(p)::"memory");
  *keep = p[n & 7];
  return p;
}
template <bool faulty>
__global__ void variable_of_a_function_that_returned(int* y) {
  int kept;
  int* const p = leaves_a_pointer(threadIdx.x, &kept);
  y[threadIdx.x] = faulty ? p[1] : kept;  // FAULT variable_of_a_function_that_returned
}
PAIR_ON(variable_of_a_function_that_returned, "out-of-bounds", (1, 32), Buffer<int>(32))

// The faulty kernel writes past the end of memory from alloca.
template <bool faulty>
__global__ void stack_past_the_end(int* y, int n) {
  int* const a = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  for (int k = 0; k < n + 4 * faulty; ++k) a[k] = k;  // FAULT stack_past_the_end
  y[threadIdx.x] = a[threadIdx.x % n];
}
PAIR_ON(stack_past_the_end, "out-of-bounds", (1, 32), Buffer<int>(32), 12)

__constant__ int small_table[4] = {1, 2, 3, 4};
template <bool faulty>
__global__ void constant_before_the_start(int* y, int n) {
  // FAULT constant_before_the_start
  y[threadIdx.x] = small_table[static_cast<int>(threadIdx.x % 4) - n];
}
PAIR_ON(constant_before_the_start, "out-of-bounds", (1, 8), Buffer<int>(8), faulty ? 1 : 0)

}  // namespace
