// Mutants of the histogram kernels in shared memory of a block and of a cluster. The correct kernel
// consists of steps; a mutant replaces one step by a typical mistake. The negative controls at the
// end are correct in another way and must be accepted.
#include <algorithm>

#include "tests/known_bad/histogram.h"

namespace lockstep::known_bad {
namespace {

using kernels::HistogramPath;
using kernels::HistogramPlan;
using kernels::HistogramShape;
using kernels::LaunchStatus;
using Index = std::int64_t;
using Count = unsigned long long;

constexpr const char* kWho = "known-bad histogram";
constexpr Index kBinsOfABlock = 12288;  // 48 KB, the default limit of every device

// ---- In the shared memory of a block.

// The correct steps.
struct Honest {
  __device__ static Index bin(int value, Index bins) {
    return value < 0 ? 0 : value >= bins ? bins - 1 : value;
  }
  __device__ static void clear(unsigned* part, Index bins) {
    for (Index b = threadIdx.x; b < bins; b += blockDim.x) part[b] = 0;
  }
  __device__ static void wait_for_zeros() { __syncthreads(); }
  __device__ static void count(unsigned* part, Index bin) { atomicAdd(part + bin, 1u); }
  __device__ static int element(const int* values, Index i) { return values[i]; }
  __device__ static Index end(Index n) { return n; }
  __device__ static void wait_for_counts() { __syncthreads(); }
  __device__ static void hand_over(Count* counts, Index b, unsigned count) {
    atomicAdd(counts + b, Count{count});
  }
  // On the host: the number of blocks, and the initialisation of the result.
  static unsigned blocks(Index n, Index block, Index most) {
    return std::min((n - 1) / block + 1, most);
  }
  static cudaError_t clear_result(Count* counts, Index bins, cudaStream_t stream) {
    return cudaMemsetAsync(counts, 0, bins * sizeof *counts, stream);
  }
};

template <class Step>
__global__ void in_a_block(const int* values, Index n, Count* counts, Index bins) {
  extern __shared__ unsigned part[];
  Step::clear(part, bins);
  Step::wait_for_zeros();
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < Step::end(n);
       i += Index{gridDim.x} * blockDim.x) {
    Step::count(part, Step::bin(Step::element(values, i), bins));
  }
  Step::wait_for_counts();
  for (Index b = threadIdx.x; b < bins; b += blockDim.x) Step::hand_over(counts, b, part[b]);
}

// Cases that these kernels do not handle go to the real launcher.
LaunchStatus elsewhere(HistogramPath path, const int* values, Index n, Count* counts, Index bins,
                       const HistogramShape& shape, HistogramPlan* used, cudaStream_t stream) {
  return kernels::histogram(path, values, n, counts, bins, shape, used, stream);
}

template <class Step>
LaunchStatus launch(HistogramPath path, const int* values, Index n, Count* counts, Index bins,
                    const HistogramShape& shape, HistogramPlan* used, cudaStream_t stream) {
  if (path == HistogramPath::kCluster || shape.period != 0 || bins > kBinsOfABlock || bins < 1 ||
      n < 1) {
    return elsewhere(path, values, n, counts, bins, shape, used, stream);
  }
  if (LaunchStatus status = check_histogram(path, values, n, counts, bins, shape); !status.ok())
    return status;
  if (used) *used = {path == HistogramPath::kGlobal ? path : HistogramPath::kShared, 1};
  if (const cudaError_t e = Step::clear_result(counts, bins, stream); e != cudaSuccess)
    return kernels::status_of(e, kWho, "clearing the counts");
  const unsigned blocks = Step::blocks(n, shape.block, shape.max_blocks);
  if (blocks > 0)
    in_a_block<Step>
        <<<blocks, shape.block, bins * sizeof(unsigned), stream>>>(values, n, counts, bins);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

struct NegativesWrap : Honest {
  __device__ static Index bin(int value, Index bins) {
    const Index v = static_cast<unsigned>(value);
    return v >= bins ? bins - 1 : v;
  }
};

struct NoUpperClamp : Honest {
  __device__ static Index bin(int value, Index) { return value < 0 ? 0 : value; }
};

struct ClampsToBins : Honest {
  __device__ static Index bin(int value, Index bins) {
    return value < 0 ? 0 : value > bins ? bins : value;
  }
};

struct DropsWhatIsOutOfRange : Honest {
  __device__ static void count(unsigned* part, Index bin) {
    if (bin != 0) Honest::count(part, bin);
  }
};

struct BinsNotZeroed : Honest {
  __device__ static void clear(unsigned*, Index) {}
};

struct ClearsOneBinAThread : Honest {
  __device__ static void clear(unsigned* part, Index bins) {
    if (threadIdx.x < bins) part[threadIdx.x] = 0;
  }
};

struct NoWaitForZeros : Honest {
  __device__ static void wait_for_zeros() {}
};

struct NoWaitForCounts : Honest {
  __device__ static void wait_for_counts() {}
};

struct PlainIncrement : Honest {
  __device__ static void count(unsigned* part, Index bin) { part[bin] = part[bin] + 1; }
};

struct PlainHandOver : Honest {
  __device__ static void hand_over(Count* counts, Index b, unsigned count) { counts[b] += count; }
};

struct StoresForAdds : Honest {
  __device__ static void hand_over(Count* counts, Index b, unsigned count) {
    atomicExch(counts + b, Count{count});
  }
};

struct CountsInAByte : Honest {
  __device__ static void hand_over(Count* counts, Index b, unsigned count) {
    atomicAdd(counts + b, Count{count & 0xff});
  }
};

struct IndexIn16Bits : Honest {
  __device__ static int element(const int* values, Index i) {
    return values[static_cast<unsigned short>(i)];
  }
};

struct WholeBlocksOnly : Honest {
  __device__ static Index end(Index n) { return n - n % blockDim.x; }
};

struct OneElementMore : Honest {
  __device__ static Index end(Index n) { return n + 1; }
};

struct EmptyGrid : Honest {
  static unsigned blocks(Index n, Index block, Index most) { return std::min(n / block, most); }
};

struct AddsToWhatWasThere : Honest {
  static cudaError_t clear_result(Count*, Index, cudaStream_t) { return cudaSuccess; }
};

struct ClearsFourBytesABin : Honest {
  static cudaError_t clear_result(Count* counts, Index bins, cudaStream_t stream) {
    return cudaMemsetAsync(counts, 0, bins * sizeof(unsigned), stream);
  }
};

// ---- In the shared memory of a cluster.

#pragma nv_diag_suppress 177  // below sm_90 nothing calls a cluster's steps

// The cluster's barrier, ranks and shared memory, without the headers of cooperative groups: they
// would double this file's compile time.
__device__ void wait_for_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
#endif
}

struct HonestCluster {
  __device__ static Index width(Index bins, unsigned blocks) { return (bins - 1) / blocks + 1; }
  __device__ static void wait_for_zeros() { wait_for_cluster(); }
  __device__ static void wait_for_counts() { wait_for_cluster(); }
  __device__ static void wait_before_leaving() { wait_for_cluster(); }
};

template <class Step>
__global__ void in_a_cluster(const int* values, Index n, Count* counts, Index bins) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ unsigned part[];
  const Index width = Step::width(bins, __clusterSizeInBlocks()),
              own = __clusterRelativeBlockRank() * width;
  for (Index b = threadIdx.x; b < width; b += blockDim.x) part[b] = 0;
  Step::wait_for_zeros();
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += Index{gridDim.x} * blockDim.x) {
    const Index bin = Honest::bin(values[i], bins);
    void* there = __cluster_map_shared_rank(part, static_cast<unsigned>(bin / width));
    atomicAdd(static_cast<unsigned*>(there) + bin % width, 1u);
  }
  Step::wait_for_counts();
  for (Index b = threadIdx.x; b < width && own + b < bins; b += blockDim.x)
    atomicAdd(counts + own + b, Count{part[b]});
  Step::wait_before_leaving();
#endif
}

// Launches clusters of that size.
template <class Step>
LaunchStatus launch_in_clusters(int cluster, HistogramPath path, const int* values, Index n,
                                Count* counts, Index bins, const HistogramShape& shape,
                                HistogramPlan* used, cudaStream_t stream) {
  if (LaunchStatus status = check_histogram(path, values, n, counts, bins, shape); !status.ok())
    return status;
  if (used) *used = {path, cluster};
  if (const cudaError_t e = Honest::clear_result(counts, bins, stream); e != cudaSuccess)
    return kernels::status_of(e, kWho, "clearing the counts");
  const Index wanted = std::min<Index>((n - 1) / shape.block + 1, shape.max_blocks);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(((wanted - 1) / cluster + 1) * cluster));
  config.blockDim = dim3(shape.block);
  config.dynamicSmemBytes = ((bins - 1) / cluster + 1) * sizeof(unsigned);
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  return kernels::status_of(
      cudaLaunchKernelEx(&config, in_a_cluster<Step>, values, n, counts, bins), kWho, "launching");
}

template <class Step>
LaunchStatus launch_cluster(HistogramPath path, const int* values, Index n, Count* counts,
                            Index bins, const HistogramShape& shape, HistogramPlan* used,
                            cudaStream_t stream) {
  const int cluster = shape.cluster;
  // Enough shared memory for a full part in each block, even if the width is cut: the mistake is in
  // the kernel, not in its memory.
  if (path != HistogramPath::kCluster || shape.period != 0 || cluster < 2 || cluster > 8 ||
      bins > kBinsOfABlock || bins < 2 * cluster || n < 1) {
    return elsewhere(path, values, n, counts, bins, shape, used, stream);
  }
  return launch_in_clusters<Step>(cluster, path, values, n, counts, bins, shape, used, stream);
}

struct WidthTruncates : HonestCluster {
  __device__ static Index width(Index bins, unsigned blocks) { return bins / blocks; }
};

struct NoClusterWaitForZeros : HonestCluster {
  __device__ static void wait_for_zeros() { __syncthreads(); }
};

struct NoClusterWaitForCounts : HonestCluster {
  __device__ static void wait_for_counts() { __syncthreads(); }
};

// The block adds its counts after a block barrier only and exits. Other blocks of the cluster may
// still write to its shared memory.
struct LeavesEarly : HonestCluster {
  __device__ static void wait_for_counts() { __syncthreads(); }
  __device__ static void wait_before_leaving() {}
};

// ---- Negative controls.

// Adds directly to global memory, two elements per thread and turn.
__global__ void two_a_thread(const int* values, Index n, Count* counts, Index bins) {
  const Index stride = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += 2 * stride) {
    atomicAdd(counts + Honest::bin(values[i], bins), 1ull);
    if (i + stride < n) atomicAdd(counts + Honest::bin(values[i + stride], bins), 1ull);
  }
}

// Lanes with the same bin elect one lane that adds for all.
__global__ void aggregated(const int* values, Index n, Count* counts, Index bins) {
  const Index stride = Index{gridDim.x} * blockDim.x;
  for (Index first = Index{blockIdx.x} * blockDim.x; first < n; first += stride) {
    const Index i = first + threadIdx.x;
    const unsigned present = __ballot_sync(__activemask(), i < n);
    if (i >= n) continue;
    const auto bin = static_cast<unsigned>(Honest::bin(values[i], bins));
    const unsigned peers = __match_any_sync(present, bin);
    if (threadIdx.x % 32 == __ffs(peers) - 1)
      atomicAdd(counts + bin, static_cast<Count>(__popc(peers)));
  }
}

template <auto kKernel>
LaunchStatus launch_whole(HistogramPath path, const int* values, Index n, Count* counts, Index bins,
                          const HistogramShape& shape, HistogramPlan* used, cudaStream_t stream) {
  if (path != HistogramPath::kGlobal || shape.period != 0 || n < 1)
    return elsewhere(path, values, n, counts, bins, shape, used, stream);
  if (LaunchStatus status = check_histogram(path, values, n, counts, bins, shape); !status.ok())
    return status;
  if (used) *used = {path, 1};
  if (const cudaError_t e = Honest::clear_result(counts, bins, stream); e != cudaSuccess)
    return kernels::status_of(e, kWho, "clearing the counts");
  kKernel<<<Honest::blocks(n, shape.block, shape.max_blocks), shape.block, 0, stream>>>(
      values, n, counts, bins);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// ---- Limits with off-by-one errors.

LaunchStatus full_block_refused(HistogramPath path, const int* values, Index n, Count* counts,
                                Index bins, const HistogramShape& shape, HistogramPlan* used,
                                cudaStream_t stream) {
  Index most = 0;
  if (LaunchStatus s = kernels::histogram_capacity(HistogramPath::kShared, 1, most); !s.ok())
    return s;
  if (path == HistogramPath::kShared && bins == most)
    return kernels::refused(kWho, "the bins do not fit a block");
  return elsewhere(path, values, n, counts, bins, shape, used, stream);
}

LaunchStatus full_block_in_global_memory(HistogramPath path, const int* values, Index n,
                                         Count* counts, Index bins, const HistogramShape& shape,
                                         HistogramPlan* used, cudaStream_t stream) {
  Index most = 0;
  if (LaunchStatus s = kernels::histogram_capacity(HistogramPath::kShared, 1, most); !s.ok())
    return s;
  const bool full = path == HistogramPath::kAutomatic && bins == most;
  return elsewhere(full ? HistogramPath::kGlobal : path, values, n, counts, bins, shape, used,
                   stream);
}

// ---- A cluster kernel that is prepared once, for the first device only.

LaunchStatus prepared_once(HistogramPath path, const int* values, Index n, Count* counts,
                           Index bins, const HistogramShape& shape, HistogramPlan* used,
                           cudaStream_t stream) {
  constexpr int kCluster = 2;
  static int most = 0;  // bytes
  static const cudaError_t prepared = [] {
    const cudaError_t e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    const auto kernel = in_a_cluster<HonestCluster>;
    return e != cudaSuccess
               ? e
               : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  }();
  if (prepared != cudaSuccess)
    return kernels::status_of(prepared, kWho, "raising the shared memory of a block");
  if (path != HistogramPath::kCluster || shape.period != 0 ||
      (shape.cluster != 0 && shape.cluster != kCluster) || bins <= kCluster * kBinsOfABlock ||
      bins > Index{kCluster} * most / 4 || n < 1)
    return elsewhere(path, values, n, counts, bins, shape, used, stream);
  return launch_in_clusters<HonestCluster>(kCluster, path, values, n, counts, bins, shape, used,
                                           stream);
}

// ---- Plans that differ from the header's promise.

// Uses the largest cluster; the header promises the smallest.
LaunchStatus largest_cluster(HistogramPath path, const int* values, Index n, Count* counts,
                             Index bins, const HistogramShape& shape, HistogramPlan* used,
                             cudaStream_t stream) {
  HistogramShape s = shape;
  if (path == HistogramPath::kCluster && s.cluster == 0) s.cluster = 8;
  return elsewhere(path, values, n, counts, bins, s, used, stream);
}

}  // namespace

Mutants<HistogramLauncher> histogram_mutants() {
  constexpr const char* kWatched = "whether threads meet is up to the hardware's schedule";
  return {
      {"prepared_once",
       "a cluster's kernel is prepared for the first device alone",
       prepared_once,
       {"cuda-error", "law"},
       {},
       "it takes two devices"},
      {"largest_cluster",
       "clusters of 8 where the smallest is promised",
       largest_cluster,
       {"law"},
       {"law"}},
      {"negatives_wrap",
       "compares as unsigned: values below 0 count in the last bin",
       launch<NegativesWrap>,
       {"mismatch"},
       {"mismatch"}},
      {"no_upper_clamp",
       "values past the last bin count past the bins",
       launch<NoUpperClamp>,
       {"finding:out-of-bounds"},
       {},
       "an access far outside ends the context: the rest of the process could not run"},
      {"clamps_to_bins",
       "clamps to bins, not bins - 1",
       launch<ClampsToBins>,
       {"finding:out-of-bounds"},
       {"mismatch"},
       "shared memory is allocated in larger units: the stray bin exists there"},
      {"drops_the_first_bin",
       "drops what is counted in bin 0",
       launch<DropsWhatIsOutOfRange>,
       {"mismatch"},
       {"mismatch"}},
      {"bins_not_zeroed",
       "counts on what shared memory held before",
       launch<BinsNotZeroed>,
       {"finding:uninitialised"},
       {"mismatch"},
       "shared memory may happen to be zero"},
      {"clears_one_bin_a_thread",
       "with more bins than threads the rest is not cleared",
       launch<ClearsOneBinAThread>,
       {"finding:uninitialised"},
       {"mismatch"},
       "shared memory may happen to be zero"},
      {"no_wait_for_zeros",
       "no barrier between zeroing and counting",
       launch<NoWaitForZeros>,
       {"finding:race", "finding:uninitialised"},
       {},
       kWatched},
      {"no_wait_for_counts",
       "no barrier between counting and handing over",
       launch<NoWaitForCounts>,
       {"finding:race"},
       {},
       kWatched},
      {"plain_increment",
       "part[bin]++ without an atomic",
       launch<PlainIncrement>,
       {"finding:race"},
       {"mismatch"}},
      {"plain_hand_over",
       "counts[b] += part[b] without an atomic",
       launch<PlainHandOver>,
       {"finding:race"},
       {},
       kWatched},
      {"stores_for_adds",
       "the last block's counts replace the others'",
       launch<StoresForAdds>,
       {"mismatch"},
       {"mismatch"}},
      {"counts_in_a_byte",
       "a block's counts keep 8 bits",
       launch<CountsInAByte>,
       {"mismatch", "law"},
       {"mismatch", "law"}},
      {"index_in_16_bits",
       "element 65536 is element 0 again",
       launch<IndexIn16Bits>,
       {"mismatch"},
       {"mismatch"}},
      {"whole_blocks_only",
       "the elements of a partial last block are not counted",
       launch<WholeBlocksOnly>,
       {"mismatch"},
       {"mismatch"}},
      {"one_element_more",
       "i <= n",
       launch<OneElementMore>,
       {"finding:out-of-bounds"},
       {"mismatch"}},
      {"empty_grid",
       "n / block blocks: none for n below a block",
       launch<EmptyGrid>,
       {"mismatch"},
       {"mismatch"}},
      {"adds_to_what_was_there",
       "the result is not cleared",
       launch<AddsToWhatWasThere>,
       {"finding:uninitialised", "mismatch"},
       {"mismatch"}},
      {"clears_four_bytes_a_bin",
       "clears half of the result",
       launch<ClearsFourBytesABin>,
       {"finding:uninitialised", "mismatch"},
       {"mismatch"}},
      {"cluster_width_truncates",
       "bins / cluster bins a block: the last ones are lost",
       launch_cluster<WidthTruncates>,
       {"finding:out-of-bounds", "mismatch"},
       {},
       "an address of a block outside the cluster ends the context"},
      {"cluster_no_wait_for_zeros",
       "counts in other blocks before they have zeroed",
       launch_cluster<NoClusterWaitForZeros>,
       {"finding:race", "finding:uninitialised"},
       {},
       kWatched},
      {"cluster_no_wait_for_counts",
       "hands over while other blocks still count in it",
       launch_cluster<NoClusterWaitForCounts>,
       {"finding:race", "mismatch"},
       {},
       kWatched},
      {"cluster_leaves_early",
       "exits while other blocks still write to its shared memory",
       launch_cluster<LeavesEarly>,
       {"finding:race", "finding:use-after-free", "mismatch"},
       {},
       kWatched},
      {"full_block_refused",
       "as many bins as a block's shared memory holds do not fit",
       full_block_refused,
       {"law", "cuda-error"},
       {"law", "cuda-error"}},
      {"full_block_in_global_memory",
       "as many bins as a block's shared memory holds go to global memory",
       full_block_in_global_memory,
       {"law"},
       {"law"}},
      // Negative controls.
      {"in_steps", "the unchanged steps of the block kernels", launch<Honest>},
      {"cluster_in_steps", "the unchanged steps of the cluster kernels",
       launch_cluster<HonestCluster>},
      {"two_a_thread", "two elements a thread and turn, global atomics",
       launch_whole<two_a_thread>},
      {"aggregated", "one atomic for all lanes that meet a bin", launch_whole<aggregated>},
  };
}

}  // namespace lockstep::known_bad
