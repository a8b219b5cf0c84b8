// What a test can plant in the fake CUDA runtime beside it.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>

namespace lockstep::testing {

struct Fake {
  int devices = 1;
  std::size_t free_bytes =
      std::numeric_limits<std::size_t>::max();  // cudaMalloc above it: cudaErrorMemoryAllocation
  int sticky = 0;                               // a cudaError_t that every call returns from now on
  int launch_error = 0;  // a cudaError_t that the next cudaGetLastError returns once
  int live = 0;          // allocations not freed
  int under_way = 0;     // copies to the device that nobody has waited for
  int allocations = 0;   // ever made
};
Fake& fake();

}  // namespace lockstep::testing
