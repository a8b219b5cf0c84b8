// What the benchmark's CUDA programs share: checked calls, copies, and the time of launches.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/workload.h"
#include "simulator/extension.h"

namespace lockstep::benchmarks {

// Ends the program with the call's error, if there is one.
inline void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

template <class T>
T* upload(const std::vector<T>& v) {
  T* p = nullptr;
  check(cudaMalloc(&p, v.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy to the device");
  return p;
}

template <class T>
std::vector<T> download(const T* p, std::size_t n) {
  std::vector<T> v(n);
  check(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  return v;
}

// Of each of `launches` calls of `launch`, with the wait for its end.
template <class Launch>
Seconds time_launches(int launches, Launch&& launch) {
  return time_each(launches, [&] {
    launch();
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
  });
}

// Warp instructions of this process so far; 0 on a GPU.
inline std::uint64_t warp_instructions() {
  const auto read =
      reinterpret_cast<lockstepReadCounters_t>(dlsym(RTLD_DEFAULT, "lockstepReadCounters"));
  lockstepCounters counters{};
  counters.size = sizeof counters;
  if (read == nullptr || read(&counters) != 0) return 0;
  return counters.warp_instructions;
}

// What `launches` calls of `launch` cost.
struct Cost {
  Seconds seconds;
  std::uint64_t instructions = 0;  // warp instructions of one launch
};
template <class Launch>
Cost cost_of(int launches, Launch&& launch) {
  Cost cost;
  std::uint64_t before = 0;
  cost.seconds = time_launches(launches, [&] {
    before = warp_instructions();
    launch();
  });
  cost.instructions = warp_instructions() - before;
  return cost;
}

// One of the kernels that are timed by themselves. `run` makes the inputs, launches so many times,
// and compares the result with the host's; false, after a sentence on standard error: it is wrong.
struct SingleKernel {
  const char* name;
  const char* what;  // for the table
  bool (*run)(int launches, Cost& cost);
};

// Whether `got` is `want`, element by element; if not, a sentence on standard error.
template <class T>
bool equal(const std::vector<T>& got, const std::vector<T>& want, const char* kernel) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    std::fprintf(stderr, "%s: element %zu is %.9g, expected %.9g\n", kernel, i,
                 static_cast<double>(got[i]), static_cast<double>(want[i]));
    return false;
  }
  return true;
}

extern const std::vector<SingleKernel> kOrdinaryKernels;  // ordinary_kernels.cu
extern const std::vector<SingleKernel> kSlowKernels;      // slow_kernels.cu

}  // namespace lockstep::benchmarks
