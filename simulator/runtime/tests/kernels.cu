#include <cstdio>

#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime::kernels {

__device__ int device_array[16] = {1, 2, 3};
__constant__ int constant_array[16] = {100, 101, 102, 103};
__managed__ int managed_array[4] = {7, 8, 9, 10};

namespace {

__global__ void store_kernel(int* p, long long i, int value) {
  if (threadIdx.x == 0) p[i] = value;
}
__global__ void copy_kernel(int* to, const int* from, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}
__global__ void decide_kernel(int* to, const int* from) {
  // Stores on both sides: only the branch decides the value.
  if (from[0] > 0) {
    to[0] = 1;
    __threadfence();
  } else {
    to[0] = 2;
  }
}
__global__ void store_at_byte_kernel(char* p, long long bytes) {
  *reinterpret_cast<int*>(p + bytes) = 1;
}
__global__ void trap_kernel() { __trap(); }
__global__ void sum_kernel(int* to) {
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += device_array[i] + constant_array[i];
  for (int i = 0; i < 4; ++i) sum += managed_array[i];
  to[0] = sum;
}
__global__ void add_kernel(int value) {
  device_array[threadIdx.x] += value;
  if (threadIdx.x < 4) managed_array[threadIdx.x] += value;
}
__global__ void wait_kernel(const volatile int* flag, int* to) {
  while (flag[0] == 0) {
  }
  __threadfence_system();
  to[0] = flag[1];
}
__global__ void send_kernel(volatile int* flag, int value) {
  flag[1] = value;
  __threadfence_system();
  flag[0] = 1;
}
__global__ void nothing_kernel(int* p) {
  if (p != nullptr) p[0] = 1;
}
__global__ void __launch_bounds__(128) bounded_kernel(int* p) {
  if (p != nullptr) p[0] = 1;
}
__global__ void dynamic_shared_kernel(int* p, int ints) {
  extern __shared__ int memory[];
  for (int i = threadIdx.x; i < ints; i += blockDim.x) memory[i] = i;
  __syncthreads();
  if (p != nullptr && threadIdx.x == 0) p[0] = memory[ints - 1];
}
__global__ void static_shared_kernel(int* p) {
  __shared__ int memory[11 * 1024];
  memory[threadIdx.x] = p != nullptr ? p[0] : 1;
  __syncthreads();
  if (p != nullptr) p[1] = memory[0];
}
__global__ void __cluster_dims__(2, 1, 1) clustered_kernel(int* p) {
  if (p != nullptr) p[0] = 1;
}
__global__ void print_kernel() { printf("thread %d of %d\n", threadIdx.x, blockDim.x); }
__global__ void arguments_kernel(double* to, char a, double b, Triple t, float f) {
  to[0] = a;
  to[1] = b;
  to[2] = t.a + t.b;
  to[3] = t.c;
  to[4] = f;
}
__global__ void count_kernel(int* p) { atomicAdd(p, 1); }

}  // namespace

void store(int* p, long long i, int value, cudaStream_t stream) {
  store_kernel<<<1, 32, 0, stream>>>(p, i, value);
}
void copy(int* to, const int* from, int count) {
  copy_kernel<<<(count + 63) / 64, 64>>>(to, from, count);
}
void decide(int* to, const int* from) { decide_kernel<<<1, 1>>>(to, from); }
void store_at_byte(char* p, long long bytes) { store_at_byte_kernel<<<1, 1>>>(p, bytes); }
void trap() { trap_kernel<<<1, 1>>>(); }
void sum_variables(int* to) { sum_kernel<<<1, 1>>>(to); }
void add_to_variables(int value) { add_kernel<<<1, 16>>>(value); }
void wait_for(const int* flag, int* to, cudaStream_t stream) {
  wait_kernel<<<1, 1, 0, stream>>>(flag, to);
}
void send(int* flag, int value) { send_kernel<<<1, 1>>>(flag, value); }
void nothing(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  nothing_kernel<<<grid, block, shared, stream>>>(nullptr);
}
void bounded(int threads) { bounded_kernel<<<1, threads>>>(nullptr); }
void dynamic_shared(int* p, int bytes) { dynamic_shared_kernel<<<1, 64, bytes>>>(p, bytes / 4); }
void print(int threads) { print_kernel<<<1, threads>>>(); }
void arguments(double* to, char a, double b, Triple t, float f) {
  arguments_kernel<<<1, 1>>>(to, a, b, t, f);
}
void count_threads(int* p, dim3 grid, dim3 block) { count_kernel<<<grid, block>>>(p); }

const void* nothing_function() { return reinterpret_cast<const void*>(nothing_kernel); }
const void* bounded_function() { return reinterpret_cast<const void*>(bounded_kernel); }
const void* dynamic_shared_function() {
  return reinterpret_cast<const void*>(dynamic_shared_kernel);
}
const void* static_shared_function() { return reinterpret_cast<const void*>(static_shared_kernel); }
const void* clustered_function() { return reinterpret_cast<const void*>(clustered_kernel); }
const void* store_function() { return reinterpret_cast<const void*>(store_kernel); }

const void* device_variable() { return &device_array; }
const void* constant_variable() { return &constant_array; }
int* managed_variable() { return managed_array; }

}  // namespace lockstep::runtime::kernels
