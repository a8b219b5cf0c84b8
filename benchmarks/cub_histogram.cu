#include <cub/device/device_histogram.cuh>

#include "benchmarks/cub_histogram.h"

namespace lockstep::benchmarks {

cudaError_t cub_histogram(void* scratch, std::size_t& scratch_bytes, const int* values,
                          std::int64_t n, unsigned long long* counts, int bins,
                          cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(scratch, scratch_bytes, values, counts, bins + 1, 0,
                                             bins, n, stream);
}

}  // namespace lockstep::benchmarks
