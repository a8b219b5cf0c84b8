// Declares programs in which the host accesses memory next to operations that may access it, and
// what several of them use. watch.cu lists the kinds.
#pragma once

#include <unistd.h>

#include <cstring>
#include <vector>

#include "driver.cuh"
#include "kernels.cuh"

namespace lockstep::streams {

struct Watched {
  const char* kind;
  const char* name;
  void (*run)();
};
inline std::vector<Watched>& programs() {
  static std::vector<Watched> all;
  return all;
}

#define WATCH(kind, name)                                                             \
  static void name();                                                                 \
  static const bool added_##name = (programs().push_back({kind, #name, name}), true); \
  static void name()

inline int load_now(const int* x) { return *static_cast<const volatile int*>(x); }
inline void store_now(int* x, int value) { *static_cast<volatile int*>(x) = value; }
inline int sum_now(const int* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += load_now(x + i);
  return sum;
}

// Zeroed managed memory; the destructor waits for the device.
class Managed {
 public:
  explicit Managed(size_t n) {
    cudaMallocManaged(&data_, n * sizeof(int));
    std::memset(data_, 0, n * sizeof(int));
  }
  ~Managed() {
    cudaDeviceSynchronize();
    cudaFree(data_);
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  operator int*() const { return data_; }

 private:
  int* data_ = nullptr;
};

namespace {

__global__ void set_now(int* flag) {
  __threadfence();
  atomicExch(flag, 1);
}
__global__ void fill_with(int* x, int n, int value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}

}  // namespace

// Microseconds after which a kernel that polls has begun (the attendant's first look comes after
// 20 ms without a call).
constexpr unsigned kBegun = 100'000;

}  // namespace lockstep::streams
