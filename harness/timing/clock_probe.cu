#include "harness/timing/clock_probe.h"

namespace lockstep {
namespace {

__device__ unsigned long long global_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));  // PTX ISA, special registers
  return now;
}

// %globaltimer advances in steps of up to a microsecond. Both readings wait for a step, so that the
// error is at most one loop iteration.
__global__ void clock_kernel(ClockReading* reading, unsigned nanoseconds) {
  unsigned long long before = global_nanoseconds(), begin = before;
  while (begin == before) begin = global_nanoseconds();
  const long long first = clock64();
  unsigned long long end = begin;
  while (end - begin < nanoseconds) end = global_nanoseconds();
  before = end;
  while (end == before) end = global_nanoseconds();
  const long long last = clock64();
  *reading = {static_cast<unsigned long long>(last - first), end - begin};
}

}  // namespace

cudaError_t read_clock(ClockReading* reading, unsigned nanoseconds, cudaStream_t stream) {
  clock_kernel<<<1, 1, 0, stream>>>(reading, nanoseconds);
  return cudaGetLastError();
}

}  // namespace lockstep
