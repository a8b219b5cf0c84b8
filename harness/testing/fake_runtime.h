// Controls of the fake CUDA runtime.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>

namespace lockstep::testing {

struct Fake {
  int devices = 1;
  std::size_t free_bytes =
      std::numeric_limits<std::size_t>::max();  // cudaMalloc of more bytes returns
                                                // cudaErrorMemoryAllocation
  int sticky = 0;                               // a cudaError_t that every call returns
  int launch_error = 0;  // a cudaError_t that the next cudaGetLastError returns
  int live = 0;          // allocations not freed
  int under_way = 0;     // copies to the device that have not been synchronised
  int allocations = 0;   // in total
};
Fake& fake();

}  // namespace lockstep::testing
