// What the benchmark's CUDA programs share: checked calls, copies, and the time of launches.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

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

// The seconds of `launches` calls of `launch`, each with the wait for its end.
template <class Launch>
std::vector<double> time_launches(int launches, Launch&& launch) {
  std::vector<double> seconds;
  for (int i = 0; i < launches; ++i) {
    const auto start = std::chrono::steady_clock::now();
    launch();
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

// Seconds of processor time of this process, all threads together.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
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
  std::vector<double> seconds;     // of processor time, one a launch
  std::vector<double> wall;        // of the clock on the wall
  std::uint64_t instructions = 0;  // warp instructions of one launch
};
template <class Launch>
Cost cost_of(int launches, Launch&& launch) {
  Cost cost;
  for (int i = 0; i < launches; ++i) {
    const std::uint64_t before = warp_instructions();
    const auto begin = std::chrono::steady_clock::now();
    const double start = processor_seconds();
    launch();
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    cost.wall.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    cost.seconds.push_back(processor_seconds() - start);
    cost.instructions = warp_instructions() - before;
  }
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
