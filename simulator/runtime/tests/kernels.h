// Kernels for tests of the runtime, and their launchers. Only wait_for() waits.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep::runtime::kernels {

// p[i] = value by thread 0.
void store(int* p, long long i, int value, cudaStream_t stream = nullptr);
// to[i] = from[i] for count elements, blocks of 64 threads.
void copy(int* to, const int* from, int count);
// to[0] = 1 if from[0] is positive, else 2: a decision on the value read.
void decide(int* to, const int* from);
// A store `bytes` bytes after p, whatever its alignment.
void store_at_byte(char* p, long long bytes);
void trap();
// to[0] = the sum of the variables below.
void sum_variables(int* to);
void add_to_variables(int value);
// A kernel launched with any configuration. It does nothing.
void nothing(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
// __launch_bounds__(128).
void bounded(int threads);
// Fills `bytes` of dynamic shared memory and stores its last int to p.
void dynamic_shared(int* p, int bytes);
// Prints "thread i of n" for each of n threads.
void print(int threads);
// A parameter list of mixed sizes: to[0 ... 4] = the arguments.
struct Triple {
  char a;
  double b;
  short c;
};
void arguments(double* to, char a, double b, Triple t, float f);
// Adds one to p[0] atomically in every thread.
void count_threads(int* p, dim3 grid, dim3 block);

// Waits until flag[0] is not 0, and stores flag[1] to to[0].
void wait_for(const int* flag, int* to, cudaStream_t stream = nullptr);
// Stores `value` to flag[1], and then 1 to flag[0].
void send(int* flag, int value);

// Addresses for cudaLaunchKernel and its kin.
const void* nothing_function();
const void* bounded_function();
const void* dynamic_shared_function();
const void* static_shared_function();  // 45056 bytes of static shared memory
const void* clustered_function();      // __cluster_dims__(2, 1, 1)
const void* store_function();          // (int*, long long, int)

// Symbols.
const void* device_variable();    // int[16]
const void* constant_variable();  // int[16], initialised to 100, 101, ...
int* managed_variable();          // int[4], initialised to 7, 8, 9, 10

}  // namespace lockstep::runtime::kernels
