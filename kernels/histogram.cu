#include <cooperative_groups.h>

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/histogram.h"

namespace lockstep::kernels {
namespace {

namespace cg = cooperative_groups;

constexpr const char* kWho = "histogram";
constexpr int kMaxBlock = 1024;
constexpr int kPortableCluster =
    8;  // larger clusters need cudaFuncAttributeNonPortableClusterSizeAllowed
constexpr int kMaxCluster = 16;

// The largest count of a block's counters: a block must not count more elements before a flush.
constexpr std::int64_t kMostCounted = std::numeric_limits<unsigned>::max();
static_assert(kHistogramFlushAfter <= kMostCounted);

// The rounds in which `threads` threads count one element each.
__device__ std::int64_t rounds_of(std::int64_t elements, std::int64_t threads) {
  return elements < threads ? 1 : elements / threads;
}

__device__ std::int64_t bin_of(int value, std::int64_t bins) {
  return value < 0 ? 0 : value >= bins ? bins - 1 : value;
}

// The source of element i.
struct Array {
  const int* __restrict__ values;
  __device__ int operator[](std::int64_t i) const { return values[i]; }
};
struct Periodic {
  const int* __restrict__ values;
  std::int64_t period;
  __device__ int operator[](std::int64_t i) const { return values[i % period]; }
};

template <class Source>
__global__ void __launch_bounds__(kMaxBlock)
    histogram_global(Source values, std::int64_t n, unsigned long long* counts, std::int64_t bins) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(counts + bin_of(values[i], bins), 1ull);
  }
}

// Adds the block's part of the bins to the result and clears it.
__device__ void flush(unsigned* part, std::int64_t first, std::int64_t end,
                      unsigned long long* counts) {
  for (std::int64_t b = first + threadIdx.x; b < end; b += blockDim.x) {
    if (part[b - first] != 0)
      atomicAdd(counts + b, static_cast<unsigned long long>(part[b - first]));
    part[b - first] = 0;
  }
}

// Dynamic shared memory: one unsigned per bin.
template <class Source>
__global__ void __launch_bounds__(kMaxBlock)
    histogram_shared(Source values, std::int64_t n, unsigned long long* counts, std::int64_t bins,
                     std::int64_t flush_after) {
  extern __shared__ unsigned part[];
  for (std::int64_t b = threadIdx.x; b < bins; b += blockDim.x) part[b] = 0;
  __syncthreads();
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t rounds_a_flush = rounds_of(flush_after, blockDim.x);
  std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x;
  while (first < n) {
    for (std::int64_t round = 0; round < rounds_a_flush && first < n; ++round, first += stride) {
      if (first + threadIdx.x < n) atomicAdd(part + bin_of(values[first + threadIdx.x], bins), 1u);
    }
    __syncthreads();
    flush(part, 0, bins, counts);
    __syncthreads();
  }
}

// Rank r of a cluster of c blocks owns the bins [r * width, (r + 1) * width), width = ceil(bins /
// c); the last part may be shorter or empty. Dynamic shared memory: `width` unsigned.
template <class Source>
__global__ void __launch_bounds__(kMaxBlock)
    histogram_cluster(Source values, std::int64_t n, unsigned long long* counts, std::int64_t bins,
                      std::int64_t flush_after) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ unsigned part[];
  const cg::cluster_group cluster = cg::this_cluster();
  const std::int64_t width = (bins - 1) / cluster.num_blocks() + 1;
  const std::int64_t own = cluster.block_rank() * width;
  const std::int64_t own_end =
      own + width < bins ? own + width : bins;  // may be before `own`: an empty part
  for (std::int64_t b = threadIdx.x; b < width; b += blockDim.x) part[b] = 0;
  cluster
      .sync();  // all parts must be zero, and all blocks must have started, before any block counts

  // All blocks of a cluster execute the same number of rounds, so that they reach its barriers
  // together.
  const std::int64_t cluster_threads = std::int64_t{cluster.num_blocks()} * blockDim.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t rounds_a_flush = rounds_of(flush_after, cluster_threads);
  std::int64_t first = std::int64_t{blockIdx.x / cluster.num_blocks()} * cluster_threads;
  while (first < n) {
    for (std::int64_t round = 0; round < rounds_a_flush && first < n; ++round, first += stride) {
      const std::int64_t i = first + std::int64_t{cluster.block_rank()} * blockDim.x + threadIdx.x;
      if (i >= n) continue;
      const std::int64_t bin = bin_of(values[i], bins);
      atomicAdd(cluster.map_shared_rank(part, static_cast<int>(bin / width)) + bin % width, 1u);
    }
    cluster
        .sync();  // a block neither flushes its part nor exits while other blocks still write to it
    flush(part, own, own_end, counts);
    cluster.sync();
  }
#else
  __trap();  // the launcher refuses this path below 9.0
#endif
}

struct Device {
  int id = 0;
  int major = 0;
  int shared_bytes = 0;  // of a block, by opt-in
};

cudaError_t current_device(Device& d) {
  cudaError_t e = cudaGetDevice(&d.id);
  if (e == cudaSuccess)
    e = cudaDeviceGetAttribute(&d.major, cudaDevAttrComputeCapabilityMajor, d.id);
  if (e == cudaSuccess)
    e = cudaDeviceGetAttribute(&d.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, d.id);
  return e;
}

// Allows histogram_cluster all the shared memory of a block, and clusters of up to 16 blocks.
template <class Source>
cudaError_t prepare_cluster_kernel(const Device& d) {
  const auto kernel = histogram_cluster<Source>;
  cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, d.shared_bytes);
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return e;
}

cudaLaunchConfig_t configuration(unsigned blocks, int block, std::size_t shared,
                                 cudaLaunchAttribute& attribute, int cluster, cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  return config;
}

bool is_cluster_size(int c) {
  return c == 2 || c == 4 || c == kPortableCluster || c == kMaxCluster;
}

// Whether a cluster of that size with that much shared memory can be resident. A device may support
// no cluster of that size at all.
template <class Source>
cudaError_t cluster_fits(int cluster, int block, std::size_t shared, bool& fits) {
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config =
      configuration(static_cast<unsigned>(cluster), block, shared, attribute, cluster, nullptr);
  int clusters = 0;
  const cudaError_t e =
      cudaOccupancyMaxActiveClusters(&clusters, histogram_cluster<Source>, &config);
  fits = e == cudaSuccess && clusters > 0;
  if (e != cudaErrorInvalidClusterSize) return e;
  cudaGetLastError();
  return cudaSuccess;
}

std::int64_t width_of(std::int64_t bins, int cluster) { return (bins - 1) / cluster + 1; }
std::int64_t bins_a_block(const Device& d) {
  return d.shared_bytes / static_cast<int>(sizeof(unsigned));
}

// Sets `plan`. Refuses a requested path that is not available.
template <class Source>
LaunchStatus choose(HistogramPath path, std::int64_t bins, const HistogramShape& shape,
                    const Device& d, HistogramPlan& plan) {
  if (path == HistogramPath::kGlobal) return plan = {HistogramPath::kGlobal, 1}, LaunchStatus{};
  if (path != HistogramPath::kCluster && bins <= bins_a_block(d))
    return plan = {HistogramPath::kShared, 1}, LaunchStatus{};
  if (path == HistogramPath::kShared) {
    return refused(kWho, std::to_string(bins) +
                             " bins do not fit the shared memory of a block, which holds " +
                             std::to_string(bins_a_block(d)));
  }
  if (d.major >= 9) {
    cudaError_t e = prepare_cluster_kernel<Source>(d);
    if (e != cudaSuccess) return status_of(e, kWho, "preparing the cluster kernel");
    for (int cluster = 2; cluster <= kMaxCluster; cluster *= 2) {
      if ((shape.cluster != 0 && cluster != shape.cluster) ||
          width_of(bins, cluster) > bins_a_block(d))
        continue;
      bool fits = false;
      e = cluster_fits<Source>(cluster, shape.block, width_of(bins, cluster) * sizeof(unsigned),
                               fits);
      if (e != cudaSuccess)
        return status_of(e, kWho,
                         "asking whether a cluster of " + std::to_string(cluster) + " fits");
      if (fits) return plan = {HistogramPath::kCluster, cluster}, LaunchStatus{};
    }
  }
  if (path == HistogramPath::kCluster) {
    return refused(
        kWho, d.major < 9
                  ? "the device has no thread-block clusters (compute capability 9.0 and later)"
                  : std::to_string(bins) + " bins do not fit a cluster of " +
                        (shape.cluster ? std::to_string(shape.cluster) : "16") +
                        " blocks on this device");
  }
  return plan = {HistogramPath::kGlobal, 1}, LaunchStatus{};
}

// The arguments have been checked.
template <class Source>
LaunchStatus launch(HistogramPath path, const Source& values, std::int64_t n,
                    unsigned long long* counts, std::int64_t bins, const HistogramShape& shape,
                    HistogramPlan* used, cudaStream_t stream) {
  Device d;
  cudaError_t e = current_device(d);
  if (e != cudaSuccess) return status_of(e, kWho, "asking for the device's limits");
  HistogramPlan plan;
  if (LaunchStatus s = choose<Source>(path, bins, shape, d, plan); !s.ok()) return s;
  if (used) *used = plan;
  e = cudaMemsetAsync(counts, 0, bins * sizeof(*counts), stream);
  if (e != cudaSuccess) return status_of(e, kWho, "clearing the counts");
  if (n == 0) return {};

  // Whole clusters: the grid must be a multiple of the cluster's size.
  const std::int64_t wanted = std::min<std::int64_t>((n - 1) / shape.block + 1, shape.max_blocks);
  const std::int64_t whole = (wanted - 1) / plan.cluster + 1;
  const auto blocks = static_cast<unsigned>(whole * plan.cluster);
  const std::string tried = "launching " + std::to_string(blocks) + " blocks of " +
                            std::to_string(shape.block) + " threads";
  cudaLaunchAttribute attribute;
  switch (plan.path) {
    case HistogramPath::kShared: {
      const std::size_t shared = bins * sizeof(unsigned);
      // The limit of a block, whatever this call needs: another host thread may be launching with
      // more bins.
      e = cudaFuncSetAttribute(histogram_shared<Source>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, d.shared_bytes);
      if (e != cudaSuccess) return status_of(e, kWho, "raising the shared memory of a block");
      histogram_shared<<<blocks, shape.block, shared, stream>>>(values, n, counts, bins,
                                                                shape.flush_after);
      return status_of(cudaGetLastError(), kWho, tried);
    }
    case HistogramPath::kCluster: {
      const cudaLaunchConfig_t config =
          configuration(blocks, shape.block, width_of(bins, plan.cluster) * sizeof(unsigned),
                        attribute, plan.cluster, stream);
      return status_of(cudaLaunchKernelEx(&config, histogram_cluster<Source>, values, n, counts,
                                          bins, shape.flush_after),
                       kWho, tried + " in clusters of " + std::to_string(plan.cluster));
    }
    default:
      histogram_global<<<blocks, shape.block, 0, stream>>>(values, n, counts, bins);
      return status_of(cudaGetLastError(), kWho, tried);
  }
}

}  // namespace

LaunchStatus check_histogram(HistogramPath path, const int* values, std::int64_t n,
                             const unsigned long long* counts, std::int64_t bins,
                             const HistogramShape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / sizeof *counts;
  ArgumentCheck check(kWho);
  check.enumerator("path", path, HistogramPath::kGlobal);
  check.number("n", n, 0, kMost);
  check.number("bins", bins, 1, kMost);
  check.block(shape.block);
  check.number("max_blocks", shape.max_blocks, 1, std::numeric_limits<int>::max());
  check.number("flush_after", shape.flush_after, 1, kMostCounted);
  check.require(shape.cluster == 0 || is_cluster_size(shape.cluster), [&] {
    return "the cluster is " + std::to_string(shape.cluster) +
           " blocks; it must be 2, 4, 8 or 16, or 0 for the smallest that fits";
  });
  check.number("period", shape.period, 0, std::numeric_limits<std::int64_t>::max());
  check.array("counts", counts, alignof(unsigned long long));
  if (n == 0) return check.status();
  const std::int64_t elements = shape.period > 0 ? std::min(n, shape.period) : n;
  check.array("values", values, alignof(int));
  check.apart("values", values, elements * sizeof *values, "counts", counts, bins * sizeof *counts);
  return check.status();
}

LaunchStatus histogram_capacity(HistogramPath path, int cluster, std::int64_t& bins) {
  Device d;
  const cudaError_t e = current_device(d);
  if (e != cudaSuccess) return status_of(e, kWho, "asking for the device's limits");
  bins = 0;
  if (path == HistogramPath::kShared) bins = bins_a_block(d);
  if (path == HistogramPath::kCluster && d.major >= 9) bins = bins_a_block(d) * cluster;
  if (path == HistogramPath::kGlobal || path == HistogramPath::kAutomatic)
    bins = std::numeric_limits<std::int64_t>::max() / 8;
  return {};
}

LaunchStatus histogram(HistogramPath path, const int* values, std::int64_t n,
                       unsigned long long* counts, std::int64_t bins, const HistogramShape& shape,
                       HistogramPlan* used, cudaStream_t stream) {
  if (LaunchStatus status = check_histogram(path, values, n, counts, bins, shape); !status.ok())
    return status;
  return shape.period > 0
             ? launch(path, Periodic{values, shape.period}, n, counts, bins, shape, used, stream)
             : launch(path, Array{values}, n, counts, bins, shape, used, stream);
}

}  // namespace lockstep::kernels
