// The kernels of most cases, for one block of kN threads. Each waits `clocks` clocks first.
#pragma once

#include "case.h"

namespace lockstep::streams {
namespace {

__device__ void wait_for(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

// Accesses no memory: delays the operations after it in its stream.
__global__ void hold(long long clocks) { wait_for(clocks); }

__global__ void produce(int* x, int value, long long clocks) {
  wait_for(clocks);
  x[threadIdx.x] = value + threadIdx.x;
}

__global__ void consume(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

// Reads late: a data race if another operation changes x before.
__global__ void consume_late(const int* x, int* y, long long clocks) {
  wait_for(clocks);
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void increment(int* x, long long clocks) {
  const int before = x[threadIdx.x];
  wait_for(clocks);
  x[threadIdx.x] = before + 1;
}

}  // namespace
}  // namespace lockstep::streams
