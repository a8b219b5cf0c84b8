// Declares programs that show when an operation is executed, and kernels that several of them
// launch. late.cu lists the kinds.
#pragma once

#include <vector>

#include "driver.cuh"
#include "kernels.cuh"

namespace lockstep::streams {

struct Late {
  const char* kind;
  const char* name;
  void (*run)();
};
inline std::vector<Late>& programs() {
  static std::vector<Late> all;
  return all;
}

#define LATE(kind, name)                                                       \
  void name();                                                                 \
  const bool added_##name = (programs().push_back({kind, #name, name}), true); \
  void name()

namespace {

__global__ void set(int* flag, int value) {
  __threadfence_system();
  *static_cast<volatile int*>(flag) = value;
}
__global__ void await(int* flag, int value) {
  while (*static_cast<volatile int*>(flag) != value) {
  }
  __threadfence_system();
}
__global__ void produce_and_set(int* x, int value, int* flag, int set_to) {
  x[threadIdx.x] = value + threadIdx.x;
  __syncthreads();
  __threadfence();
  if (threadIdx.x == 0) *static_cast<volatile int*>(flag) = set_to;
}
__global__ void await_and_consume(int* flag, int value, const int* x, int* y) {
  while (*static_cast<volatile int*>(flag) != value) {
  }
  __threadfence();
  y[threadIdx.x] = x[threadIdx.x];
}
int load_now(const int* x) { return __atomic_load_n(x, __ATOMIC_ACQUIRE); }

constexpr unsigned kFree = cudaStreamNonBlocking;

}  // namespace
}  // namespace lockstep::streams
