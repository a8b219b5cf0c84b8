// Mutants of the stencil. The correct kernel consists of steps; a mutant replaces one step by a
// typical mistake. The negative controls at the end are correct in another way and must be
// accepted.
#include <algorithm>

#include "tests/known_bad/stencil.h"

namespace lockstep::known_bad {
namespace {

using kernels::kStencilRadius;
using kernels::LaunchStatus;
using kernels::StencilBoundary;
using kernels::StencilCoefficients;
using kernels::StencilShape;
using kernels::StencilVariant;
using Index = std::int64_t;

constexpr const char* kWho = "known-bad stencil";

__constant__ float constant_coefficients[kStencilRadius + 1];

// The correct steps. One block computes one tile.
struct Honest {
  // x[i] for any i.
  __device__ static float load(const float* x, Index n, Index i, StencilBoundary boundary) {
    if (i >= 0 && i < n) return x[i];
    if (boundary == StencilBoundary::kPadded) return i < n + kStencilRadius ? x[i] : 0;
    if (boundary == StencilBoundary::kClamp) return x[i < 0 ? 0 : n - 1];
    if (boundary == StencilBoundary::kPeriodic) return x[(i % n + n) % n];
    return 0;
  }
  // Fills the tile and its halo; tile[0] is x[first - radius].
  template <class Step>
  __device__ static void stage(float* tile, const float* x, Index n, Index first,
                               StencilBoundary boundary) {
    for (Index j = threadIdx.x; j < blockDim.x + 2 * kStencilRadius; j += blockDim.x) {
      tile[j] = Step::load(x, n, first + j - kStencilRadius, boundary);
    }
  }
  // Called between filling and using the tile; `active` threads have an element.
  __device__ static void wait(bool active) { __syncthreads(); }
  __device__ static float coefficient(int k) { return constant_coefficients[k]; }
  __device__ static float difference(float right, float left) { return __fsub_rn(right, left); }
  template <class Step>
  __device__ static float combine(const float* here) {
    float sum = 0;
    for (int k = 1; k <= kStencilRadius; ++k) {
      sum = __fmaf_rn(Step::coefficient(k), Step::difference(here[k], here[-k]), sum);
    }
    return sum;
  }
  __device__ static Index element(Index first) { return first + threadIdx.x; }
  __device__ static void store(float* y, Index n, Index i, float value) {
    if (i < n) y[i] = value;
  }
  // On the host: the number of blocks, and the copy of the coefficients.
  static unsigned blocks(Index n, Index block) { return (n - 1) / block + 1; }
  static cudaError_t copy_coefficients(const StencilCoefficients& c, cudaStream_t stream) {
    return cudaMemcpyToSymbolAsync(constant_coefficients, c.data(), sizeof c, 0,
                                   cudaMemcpyHostToDevice, stream);
  }
};

template <class Step>
__global__ void stencil(const float* x, Index n, float* y, StencilBoundary boundary) {
  extern __shared__ float tile[];
  const Index first = Index{blockIdx.x} * blockDim.x;
  Step::template stage<Step>(tile, x, n, first, boundary);
  const Index i = Step::element(first);
  Step::wait(i < n);
  if (i < n)
    Step::store(y, n, i, Step::template combine<Step>(tile + threadIdx.x + kStencilRadius));
}

template <class Step>
LaunchStatus launch(StencilVariant variant, const float* x, Index n, float* y,
                    const StencilCoefficients& c, StencilBoundary boundary,
                    const StencilShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_stencil_1d(variant, x, n, y, boundary, shape);
      !status.ok() || n == 0)
    return status;
  if (const cudaError_t error = Step::copy_coefficients(c, stream); error != cudaSuccess) {
    return kernels::status_of(error, kWho, "copying the coefficients");
  }
  const std::size_t shared = (shape.block + 2 * kStencilRadius) * sizeof(float);
  stencil<Step><<<Step::blocks(n, shape.block), shape.block, shared, stream>>>(x, n, y, boundary);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// ---- Mistakes in reading the signal.

struct HaloBeforeTheFirst : Honest {
  __device__ static float load(const float* x, Index n, Index i, StencilBoundary boundary) {
    return i < n ? x[i] : Honest::load(x, n, i, boundary);
  }
};

struct HaloPastTheLast : Honest {
  __device__ static float load(const float* x, Index n, Index i, StencilBoundary boundary) {
    return i >= 0 ? x[i] : Honest::load(x, n, i, boundary);
  }
};

struct ClampToN : Honest {
  __device__ static float load(const float* x, Index n, Index i, StencilBoundary boundary) {
    return boundary == StencilBoundary::kClamp ? x[i < 0   ? 0
                                                   : i > n ? n
                                                           : i]
                                               : Honest::load(x, n, i, boundary);
  }
};

struct OnePeriodOnly : Honest {
  __device__ static float load(const float* x, Index n, Index i, StencilBoundary boundary) {
    if (boundary != StencilBoundary::kPeriodic || i >= n + kStencilRadius)
      return Honest::load(x, n, i, boundary);
    return x[i < 0 ? i + n : i >= n ? i - n : i];
  }
};

struct BlockEdgeIsSignalEdge : Honest {
  template <class Step>
  __device__ static void stage(float* tile, const float* x, Index n, Index first,
                               StencilBoundary boundary) {
    Honest::stage<Step>(tile, x, n, first, boundary);
    if (boundary != StencilBoundary::kZero || threadIdx.x >= kStencilRadius) return;
    // Each thread clears the element that it staged: a wrong value without a race.
    tile[threadIdx.x] = 0;
  }
};

struct VectorLoad : Honest {
  // Loads four elements at once wherever the tile is inside the signal, for any base address.
  template <class Step>
  __device__ static void stage(float* tile, const float* x, Index n, Index first,
                               StencilBoundary boundary) {
    const Index width = blockDim.x + 2 * kStencilRadius, begin = first - kStencilRadius;
    if (begin < 0 || begin + width > n || width % 4 != 0)
      return Honest::stage<Step>(tile, x, n, first, boundary);
    for (Index j = threadIdx.x; j < width / 4; j += blockDim.x) {
      const float4 four = reinterpret_cast<const float4*>(x + begin)[j];
      tile[4 * j] = four.x, tile[4 * j + 1] = four.y, tile[4 * j + 2] = four.z,
               tile[4 * j + 3] = four.w;
    }
  }
};

// ---- Mistakes in staging.

struct RightHaloOfPartialBlock : Honest {
  // Stores the right halo behind a whole tile; in a partial last block it belongs behind the last
  // element.
  template <class Step>
  __device__ static void stage(float* tile, const float* x, Index n, Index first,
                               StencilBoundary boundary) {
    const Index i = first + threadIdx.x;
    if (i < n) tile[threadIdx.x + kStencilRadius] = x[i];
    for (Index j = threadIdx.x; j < kStencilRadius; j += blockDim.x) {
      tile[j] = load(x, n, first + j - kStencilRadius, boundary);
      tile[j + kStencilRadius + blockDim.x] = load(x, n, first + j + blockDim.x, boundary);
    }
  }
};

struct HaloOfThree : Honest {
  template <class Step>
  __device__ static void stage(float* tile, const float* x, Index n, Index first,
                               StencilBoundary boundary) {
    for (Index j = threadIdx.x + 1; j < blockDim.x + 2 * kStencilRadius - 1; j += blockDim.x) {
      tile[j] = load(x, n, first + j - kStencilRadius, boundary);
    }
  }
};

struct NoBarrier : Honest {
  __device__ static void wait(bool) {}
};

struct DivergentBarrier : Honest {
  // Threads without an element skip the first barrier and wait at the second.
  __device__ static void wait(bool active) {
    if (active) __syncthreads();
    __syncthreads();
  }
};

// ---- Mistakes in the arithmetic.

struct CoefficientIndexLow : Honest {
  __device__ static float coefficient(int k) { return constant_coefficients[k - 1]; }
};

struct CoefficientIndexHigh : Honest {
  __device__ static float coefficient(int k) { return constant_coefficients[k + 1]; }
};

struct UsesTheCentre : Honest {
  template <class Step>
  __device__ static float combine(const float* here) {
    return __fmaf_rn(constant_coefficients[0], here[0], Honest::combine<Step>(here));
  }
};

struct WrongSign : Honest {
  __device__ static float difference(float right, float left) { return __fsub_rn(left, right); }
};

struct DifferencesToZero : Honest {
  __device__ static float difference(float right, float left) { return __fsub_rz(right, left); }
};

struct SumForDifference : Honest {
  __device__ static float difference(float right, float left) { return __fadd_rn(right, left); }
};

struct RadiusThree : Honest {
  template <class Step>
  __device__ static float combine(const float* here) {
    float sum = 0;
    for (int k = 1; k < kStencilRadius; ++k)
      sum = __fmaf_rn(coefficient(k), difference(here[k], here[-k]), sum);
    return sum;
  }
};

struct ProductsRounded : Honest {
  template <class Step>
  __device__ static float combine(const float* here) {
    float sum = 0;
    for (int k = 1; k <= kStencilRadius; ++k)
      sum = __fadd_rn(__fmul_rn(coefficient(k), difference(here[k], here[-k])), sum);
    return sum;
  }
};

struct OutermostFirst : Honest {
  template <class Step>
  __device__ static float combine(const float* here) {
    float sum = 0;
    for (int k = kStencilRadius; k >= 1; --k)
      sum = __fmaf_rn(coefficient(k), difference(here[k], here[-k]), sum);
    return sum;
  }
};

struct BeginsAtMinusZero : Honest {
  template <class Step>
  __device__ static float combine(const float* here) {
    float sum = -0.0f;
    for (int k = 1; k <= kStencilRadius; ++k)
      sum = __fmaf_rn(coefficient(k), difference(here[k], here[-k]), sum);
    return sum;
  }
};

struct FlushedSubnormals : Honest {
  template <class Step>
  __device__ static float combine(const float* here) {
    const float sum = Honest::combine<Step>(here);
    return fabsf(sum) < 1.17549435e-38f ? copysignf(0, sum) : sum;
  }
};

struct StaleCoefficients : Honest {
  static cudaError_t copy_coefficients(const StencilCoefficients& c, cudaStream_t stream) {
    static const cudaError_t once = Honest::copy_coefficients(c, stream);
    return once;
  }
};

struct ComparesCoefficients : Honest {
  static cudaError_t copy_coefficients(const StencilCoefficients& c, cudaStream_t stream) {
    static StencilCoefficients last = {};
    if (c == last) return cudaSuccess;
    last = c;
    return Honest::copy_coefficients(c, stream);
  }
};

struct CopiesFromItsOwnMemory : Honest {
  static cudaError_t copy_coefficients(const StencilCoefficients& c, cudaStream_t stream) {
    static StencilCoefficients staged;
    staged = c;
    return Honest::copy_coefficients(staged, stream);
  }
};

// ---- Mistakes in writing.

struct LastElementForgotten : Honest {
  __device__ static void store(float* y, Index n, Index i, float value) {
    if (i < n - 1 || n == 1) y[i] = value;
  }
};

struct WholeBlocksOnly : Honest {
  static unsigned blocks(Index n, Index block) { return std::max<Index>(n / block, 1); }
};

struct WritesPastTheEnd : Honest {
  // The last thread of the signal "rounds up" to an even count.
  __device__ static void store(float* y, Index n, Index i, float value) {
    y[i] = value;
    if (i == n - 1 && n % 2 == 1) y[n] = 0;
  }
};

struct IndexIn16Bits : Honest {
  __device__ static Index element(Index first) {
    return static_cast<unsigned short>(first + threadIdx.x);
  }
};

struct Accumulates : Honest {
  __device__ static void store(float* y, Index n, Index i, float value) { y[i] += value; }
};

struct ClearsItsInput : Honest {
  template <class Step>
  __device__ static void stage(float* tile, const float* x, Index n, Index first,
                               StencilBoundary boundary) {
    Honest::stage<Step>(tile, x, n, first, boundary);
    __syncthreads();
    if (gridDim.x == 1 && threadIdx.x == 0)
      const_cast<float*>(x)[0] = 0;  // no other block reads x: no race
  }
};

// ---- Mistakes in the launch, or in the shape of the whole kernel.

LaunchStatus empty_grid(StencilVariant variant, const float* x, Index n, float* y,
                        const StencilCoefficients& c, StencilBoundary boundary,
                        const StencilShape& shape, cudaStream_t stream) {
  if (n != 0) return launch<Honest>(variant, x, n, y, c, boundary, shape, stream);
  stencil<Honest><<<0, shape.block, 0, stream>>>(x, n, y, boundary);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// One block that has no work.
template <bool kOnItsStream>
LaunchStatus idle_block(StencilVariant variant, const float* x, Index n, float* y,
                        const StencilCoefficients& c, StencilBoundary boundary,
                        const StencilShape& shape, cudaStream_t stream) {
  if (n != 0) return launch<Honest>(variant, x, n, y, c, boundary, shape, stream);
  const std::size_t shared = (shape.block + 2 * kStencilRadius) * sizeof(float);
  stencil<Honest><<<1, shape.block, shared, kOnItsStream ? stream : nullptr>>>(
      x, 0, y, StencilBoundary::kZero);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

LaunchStatus unchecked(StencilVariant, const float* x, Index n, float* y,
                       const StencilCoefficients& c, StencilBoundary boundary,
                       const StencilShape& shape, cudaStream_t stream) {
  if (n <= 0) return {};
  Honest::copy_coefficients(c, stream);
  const std::size_t shared = (shape.block + 2 * kStencilRadius) * sizeof(float);
  stencil<Honest>
      <<<Honest::blocks(n, shape.block), shape.block, shared, stream>>>(x, n, y, boundary);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

template <bool kWaitsAtTheEnd>
__global__ void strided_tiles(const float* x, Index n, float* y, StencilBoundary boundary) {
  extern __shared__ float tile[];
  for (Index first = Index{blockIdx.x} * blockDim.x; first < n;
       first += Index{gridDim.x} * blockDim.x) {
    Honest::stage<Honest>(tile, x, n, first, boundary);
    __syncthreads();
    const Index i = first + threadIdx.x;
    if (i < n) y[i] = Honest::combine<Honest>(tile + threadIdx.x + kStencilRadius);
    if (kWaitsAtTheEnd) __syncthreads();
  }
}

// ---- Negative controls.

// Reads each of the eight neighbours from global memory: no shared memory, no barrier.
__device__ float directly(const float* x, Index n, Index i, StencilBoundary boundary) {
  float sum = 0;
  for (int k = 1; k <= kStencilRadius; ++k) {
    const float right = Honest::load(x, n, i + k, boundary),
                left = Honest::load(x, n, i - k, boundary);
    sum = __fmaf_rn(constant_coefficients[k], __fsub_rn(right, left), sum);
  }
  return sum;
}

__global__ void without_shared_memory(const float* x, Index n, float* y, StencilBoundary boundary) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = directly(x, n, i, boundary);
}

__global__ void grid_stride(const float* x, Index n, float* y, StencilBoundary boundary) {
  const Index step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = directly(x, n, i, boundary);
}

__global__ void two_a_thread(const float* x, Index n, float* y, StencilBoundary boundary) {
  const Index i = 2 * (Index{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i < n) y[i] = directly(x, n, i, boundary);
  if (i + 1 < n) y[i + 1] = directly(x, n, i + 1, boundary);
}

// Reads neighbours from other lanes by shuffles, and from memory across warps.
__global__ void shuffled_halo(const float* x, Index n, float* y, StencilBoundary boundary) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, lanes = min(32, blockDim.x - (threadIdx.x - lane));
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  const float own = Honest::load(x, n, min(i, n + kStencilRadius), boundary);
  float sum = 0;
  for (unsigned k = 1; k <= kStencilRadius; ++k) {
    float right = __shfl_down_sync(mask, own, k), left = __shfl_up_sync(mask, own, k);
    if (i >= n) continue;
    if (lane + k >= lanes) right = Honest::load(x, n, i + k, boundary);
    if (lane < k) left = Honest::load(x, n, i - k, boundary);
    sum = __fmaf_rn(constant_coefficients[k], __fsub_rn(right, left), sum);
  }
  if (i < n) y[i] = sum;
}

// Launches a kernel without steps, with kPerThread elements per thread. A kernel that strides
// observes the shape's max_blocks.
template <auto kKernel, int kPerThread, bool kStrides>
LaunchStatus launch_whole(StencilVariant variant, const float* x, Index n, float* y,
                          const StencilCoefficients& c, StencilBoundary boundary,
                          const StencilShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_stencil_1d(variant, x, n, y, boundary, shape);
      !status.ok() || n == 0)
    return status;
  if (const cudaError_t error = Honest::copy_coefficients(c, stream); error != cudaSuccess) {
    return kernels::status_of(error, kWho, "copying the coefficients");
  }
  const Index tiles = (n - 1) / (Index{shape.block} * kPerThread) + 1;
  const unsigned blocks = kStrides ? std::min<Index>(tiles, shape.max_blocks) : tiles;
  kKernel<<<blocks, shape.block, (shape.block + 2 * kStencilRadius) * sizeof(float), stream>>>(
      x, n, y, boundary);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

}  // namespace

Mutants<StencilLauncher> stencil_mutants() {
  const Labels kMismatch = {"mismatch"}, kUnwritten = {"unwritten"}, kGuard = {"guard"},
               kInput = {"input-changed"};
  const Labels kOutOfBounds = {"finding:out-of-bounds"}, kUninitialised = {"finding:uninitialised"};
  const char* const kEndsTheContext =
      "a misaligned or null access ends the context, and nothing could run after it";
  return {
      // Known-bad kernels.
      {"halo_before_the_first", "reads x[-1] ... x[-4] whatever the boundary",
       launch<HaloBeforeTheFirst>, kOutOfBounds, kMismatch},
      {"halo_past_the_last", "reads x[n] ... whatever the boundary", launch<HaloPastTheLast>,
       kOutOfBounds, kMismatch},
      {"clamp_to_n", "clamps to x[n], not x[n - 1]", launch<ClampToN>, kOutOfBounds, kMismatch},
      {"one_period_only", "wraps once, too little when n is below the radius",
       launch<OnePeriodOnly>, kOutOfBounds, kMismatch},
      {"block_edge_is_signal_edge", "applies the boundary at every block's edge",
       launch<BlockEdgeIsSignalEdge>, kMismatch, kMismatch},
      {"vector_load",
       "loads float4 from a base aligned to 4 bytes",
       launch<VectorLoad>,
       {"finding:misaligned"},
       {},
       kEndsTheContext},
      {"right_halo_of_partial_block", "a partial last block has no right halo",
       launch<RightHaloOfPartialBlock>, kUninitialised, kMismatch},
      {"halo_of_three", "stages three of four halo elements", launch<HaloOfThree>, kUninitialised,
       kMismatch},
      {"no_barrier",
       "uses the tile before other warps have filled it",
       launch<NoBarrier>,
       {"finding:race", "finding:uninitialised"},
       kMismatch},
      {"no_second_barrier",
       "strides on while slower warps still read the tile",
       launch_whole<strided_tiles<false>, 1, true>,
       {"finding:race", "mismatch"},
       {},
       "whether a warp overtakes another is up to the hardware's schedule"},
      {"divergent_barrier",
       "a barrier inside if (i < n), another after it",
       launch<DivergentBarrier>,
       {"finding:barrier-divergence"},
       {},
       "the hardware counts arrivals at whichever barrier: here it happens to work"},
      {"coefficient_index_low", "c[k - 1] for c[k]", launch<CoefficientIndexLow>, kMismatch,
       kMismatch},
      {"coefficient_index_high", "c[k + 1] for c[k]", launch<CoefficientIndexHigh>, kOutOfBounds,
       kMismatch},
      {"uses_the_centre", "adds c[0] x[i]", launch<UsesTheCentre>, kMismatch, kMismatch},
      {"wrong_sign", "left minus right", launch<WrongSign>, kMismatch, kMismatch},
      {"sum_for_difference", "x[i + k] + x[i - k]", launch<SumForDifference>, kMismatch, kMismatch},
      {"radius_three", "leaves out the outermost pair", launch<RadiusThree>, kMismatch, kMismatch},
      {"differences_to_zero", "__fsub_rz for __fsub_rn", launch<DifferencesToZero>, kMismatch,
       kMismatch},
      {"products_rounded", "rounds each product before it is added", launch<ProductsRounded>,
       kMismatch, kMismatch},
      {"outermost_first", "adds the terms from k = 4 to 1", launch<OutermostFirst>, kMismatch,
       kMismatch},
      {"begins_at_minus_zero", "a sum that begins at -0", launch<BeginsAtMinusZero>, kMismatch,
       kMismatch},
      {"flushed_subnormals", "results below the least normal become 0", launch<FlushedSubnormals>,
       kMismatch, kMismatch},
      {"stale_coefficients", "copies the coefficients on the first call only",
       launch<StaleCoefficients>, kMismatch, kMismatch},
      {"compares_coefficients", "copies no coefficients that are equal to the last",
       launch<ComparesCoefficients>, kMismatch, kMismatch},
      {"copies_from_its_own_memory",
       "copies the coefficients from memory of its own: a graph finds the last call's there",
       launch<CopiesFromItsOwnMemory>, kMismatch, kMismatch},
      {"last_element_forgotten", "i < n - 1", launch<LastElementForgotten>, kUnwritten, kUnwritten},
      {"whole_blocks_only", "n / block blocks: the tail is nobody's", launch<WholeBlocksOnly>,
       kUnwritten, kUnwritten},
      {"writes_past_the_end", "one element more than there is", launch<WritesPastTheEnd>,
       kOutOfBounds, kGuard},
      {"index_in_16_bits",
       "unsigned short i: element 65536 is element 0",
       launch<IndexIn16Bits>,
       {"unwritten", "mismatch", "finding:race"},
       {"unwritten", "mismatch"}},
      {"accumulates", "y[i] += ... into an output that nobody cleared", launch<Accumulates>,
       kUninitialised, kMismatch},
      {"clears_its_input", "writes through a const pointer", launch<ClearsItsInput>, kInput,
       kInput},
      {"empty_grid", "n = 0 is a grid of 0 blocks", empty_grid, {"cuda-error"}, {"cuda-error"}},
      {"idle_block", "n = 0 launches a block all the same", idle_block<true>, {"law"}, {"law"}},
      {"idle_block_elsewhere",
       "n = 0 launches a block, and on the default stream",
       idle_block<false>,
       {"law"},
       {},
       "only the simulated GPU counts what is launched on other streams"},
      {"unchecked", "a launcher that takes any argument", unchecked, {"law"}, {}, kEndsTheContext},

      // Negative controls.
      {"in_steps", "the unchanged steps that the known-bad kernels are made of", launch<Honest>},
      {"strided_tiles", "strides over tiles, with both barriers",
       launch_whole<strided_tiles<true>, 1, true>},
      {"without_shared_memory", "every neighbour from global memory",
       launch_whole<without_shared_memory, 1, false>},
      {"grid_stride", "a grid-stride loop over elements", launch_whole<grid_stride, 1, true>},
      {"two_a_thread", "two elements a thread", launch_whole<two_a_thread, 2, false>},
      {"shuffled_halo", "neighbours by warp shuffle", launch_whole<shuffled_halo, 1, false>},
  };
}

}  // namespace lockstep::known_bad
