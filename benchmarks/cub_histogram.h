// CUB's histogram, as the yardstick of the histogram kernels (benchmarks/kernel_speeds.cc).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace lockstep::benchmarks {

// cub::DeviceHistogram::HistogramEven: counts[i] = values equal to i, 0 <= i < bins; other values
// count nowhere. With `scratch` null it returns scratch_bytes alone, as all of CUB's functions do.
// values, counts, scratch: device memory.
cudaError_t cub_histogram(void* scratch, std::size_t& scratch_bytes, const int* values,
                          std::int64_t n, unsigned long long* counts, int bins,
                          cudaStream_t stream);

}  // namespace lockstep::benchmarks
