// Histogram of integers: bin i counts the elements equal to i; elements below 0 count in the first
// bin, elements of `bins` and above in the last.
//
// Three paths, the fastest that holds the bins: the shared memory of one block; shared memory
// distributed over the blocks of a thread-block cluster, which access each other's part of the
// bins; atomics on global memory. All compute exactly the same counts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

enum class HistogramPath : std::uint8_t {
  kAutomatic,  // the first of the following that the device and the number of bins allow
  kShared,     // bins fit the shared memory of a block
  kCluster,    // bins fit the shared memory of a cluster; compute capability 9.0 and later
  kGlobal,     // any number of bins
};

// Number of elements after which a block adds the counts in its shared memory to the result, unless
// the shape sets another: they need at most 31 of the 32 bits of its counters.
inline constexpr std::int64_t kHistogramFlushAfter = std::int64_t{1} << 31;

struct HistogramShape {
  int block = 256;  // threads, 1 ... 1024
  // Blocks per cluster, for kCluster: 2, 4, 8, or 16 if the device allows it; 0: the smallest that
  // holds the bins.
  int cluster = 0;
  int max_blocks = 1 << 16;  // the grid is at most this, rounded up to whole clusters; at least 1
  // Above 0: values has this many elements, and element i is values[i mod period]: more elements
  // than memory holds.
  std::int64_t period = 0;
  // kShared, kCluster: the most elements that a block, or a cluster, counts before it adds its
  // counts to the result, or one for each of its threads if that is more; 1 ... 2^32 - 1, the range
  // of its counters.
  std::int64_t flush_after = kHistogramFlushAfter;
};

// The path that a launch used, and the cluster's size (1 except on kCluster).
struct HistogramPlan {
  HistogramPath path = HistogramPath::kGlobal;
  int cluster = 1;
};

// counts: `bins` elements, zeroed by the launcher before the kernel runs (in stream order). values:
// n elements, or shape.period, n >= 0; with n = 0 the counts become 0 and no kernel runs. Both are
// device memory, aligned to their type, and do not overlap. bins >= 1. A path that cannot hold the
// bins, or that the device lacks, is refused with a sentence. `used`, if not null, receives the
// chosen plan for every n. Errors: cudaErrorInvalidValue for arguments outside these, otherwise the
// error that CUDA returned.
LaunchStatus histogram(HistogramPath path, const int* values, std::int64_t n,
                       unsigned long long* counts, std::int64_t bins,
                       const HistogramShape& shape = {}, HistogramPlan* used = nullptr,
                       cudaStream_t stream = nullptr);

// Whether histogram would accept these arguments, apart from the capacity of the path; launches
// nothing. For kernels with the same contract and another implementation.
LaunchStatus check_histogram(HistogramPath path, const int* values, std::int64_t n,
                             const unsigned long long* counts, std::int64_t bins,
                             const HistogramShape& shape);

// The most bins that a path can hold on the current device with clusters of `cluster` blocks; 0 if
// the device lacks the path.
LaunchStatus histogram_capacity(HistogramPath path, int cluster, std::int64_t& bins);

}  // namespace lockstep::kernels
