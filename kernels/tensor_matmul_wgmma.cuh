// tensor_matmul by wgmma. A block has one warpgroup that copies tiles of A and B to shared memory,
// and one or two that multiply them. Each multiplying warpgroup holds 64 rows of the block's tile
// of D in its registers. Between them is a ring of stages with two mbarriers each: `full` completes
// when the stage's bytes have arrived, `empty` when every warp that reads it has finished.
//
// In a cluster of two blocks, which have the same columns of D, each block copies half of the tile
// of B to both. A stage is empty when the warps of both blocks have finished with it.
//
// A block processes every gridDim.x-th tile; the ring continues from one tile to the next.
//
// A kernel consists of steps. Wgmma has the correct steps; a known-bad kernel is a struct that
// replaces one of them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/tensor_matmul_boxes.cuh"
#include "kernels/wgmma.cuh"

namespace lockstep::kernels::by_wgmma {

// The shape of a block's work.
template <int kConsumers_, int kColumns_, int kRowBytes_, int kStages_, int kBlocks_>
struct Shape {
  static constexpr int kConsumers = kConsumers_;  // warpgroups that multiply
  static constexpr int kRows = 64 * kConsumers;   // of D
  static constexpr int kColumns = kColumns_;      // of D
  static constexpr int kRowBytes =
      kRowBytes_;  // of a row of A or B, per stage; the span of the swizzle: 64 or 128
  static constexpr int kStages = kStages_;
  static constexpr int kBlocks = kBlocks_;  // blocks of a cluster
  static constexpr int kThreads = kGroup * (kConsumers + 1);
  static constexpr int kColumnsHere = kColumns;
  static constexpr int kBytesOfA = kRows * kRowBytes, kBytesOfB = kColumnsHere * kRowBytes;
  static constexpr int kStageBytes = kBytesOfA + kBytesOfB;
  // The stages, their alignment, and the barriers.
  static constexpr int kSharedBytes = kStages * kStageBytes + 1024 + 2 * 8 * kStages;
  static constexpr int kBlocksAnSm = kConsumers == 1 ? 2 : 1;
  static constexpr CUtensorMapSwizzle kSwizzle =
      kRowBytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
};
using Small = Shape<1, 64, 64, 3, 1>;
using Pair = Shape<1, 64, 64, 3, 2>;
using Wide = Shape<2, 256, 128, 4, 1>;

// ---- The steps.

struct Wgmma : AsyncSteps {
  // The warpgroup that copies needs few registers, and the others need many; all four warps must
  // execute the change.
  template <class S>
  __device__ static void give_registers() {
    if constexpr (S::kConsumers == 1) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    } else {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    }
  }
  template <class S>
  __device__ static void take_registers() {
    if constexpr (S::kConsumers == 1) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 168;");
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    }
  }

  // The descriptor of a tile whose rows of kRowBytes are swizzled over their whole length; for the
  // warpgroups that multiply. Its fields, in units of 16 bytes: the address, a field that such rows
  // ignore, and the distance from eight rows to the next eight.
  template <int kRowBytes>
  __device__ static std::uint64_t descriptor(unsigned tile) {
    constexpr std::uint64_t kSpan = kRowBytes == 128 ? 1 : 2;
    return (tile & 0x3ffff) >> 4 | std::uint64_t{1} << 16 |
           std::uint64_t{8 * kRowBytes / 16} << 32 | kSpan << 62;
  }
  __device__ static void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
  __device__ static void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
  template <int kLeft>
  __device__ static void wait_for_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
  }
  // No product is left in flight between stages: the other warpgroup multiplies meanwhile.
  __device__ static void wait_for_products() { wait_for_group<0>(); }
  __device__ static constexpr bool releases_before_the_wait() { return false; }
  // The number of arrivals that make a stage empty, and whether this warp of a warpgroup arrives at
  // that block's barrier. A warp has waited for itself alone, and in a cluster both blocks write
  // its stage.
  template <class S>
  __device__ static constexpr unsigned releasing_warps() {
    return 4 * S::kConsumers * S::kBlocks;
  }
  __device__ static bool releases(int /*warp*/, unsigned /*block*/, unsigned /*own*/) {
    return true;
  }
};

// Visits a warpgroup's part of D in pairs of adjacent elements of a row: register, row and column
// of the first.
template <int kRegisters, class Visit>
__device__ __forceinline__ void each_pair(std::int64_t row, std::int64_t column, Visit visit) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % kGroup / 32;
#pragma unroll
  for (int r = 0; r < kRegisters; r += 2) {
    visit(r, row + 16 * warp + lane / 4 + r / 2 % 2 * 8, column + r / 4 * 8 + lane % 4 * 2);
  }
}

template <class Step, class S, MatrixElement kElement>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksAnSm)
    kernel(TensorMatmulArguments p, const __grid_constant__ CUtensorMap map_a,
           const __grid_constant__ CUtensorMap map_b, ByTensor tensor) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char memory[];
  const Ring<S> ring(memory);
  constexpr int kDepth = S::kRowBytes / kBytesOf<kElement>;
  constexpr int kRegisters = S::kColumns / 2;
  const unsigned rank = S::kBlocks == 1 ? 0 : block_of_cluster();
  const std::int64_t stages_a_tile = (p.k + kDepth - 1) / kDepth, tiles = tiles_of_clusters<S>(p);
  const std::int64_t first = blockIdx.x / S::kBlocks, clusters = gridDim.x / S::kBlocks;

  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < S::kStages; ++s) {
      Step::initialise(ring.full(s), tensor.a && tensor.b ? 1 : Step::copying_threads());
      Step::initialise(ring.empty(s), Step::template releasing_warps<S>());
    }
    Step::publish_barriers();
  }
  if constexpr (S::kBlocks == 1) {
    __syncthreads();
  } else {
    Step::join_cluster();
  }

  if (threadIdx.x < kGroup) {
    Step::template give_registers<S>();
    const bool leads = threadIdx.x < 32 && Step::is_elected();
    if (leads || !tensor.a || !tensor.b) {
      unsigned turn = 0;  // uses of the ring so far
      for (std::int64_t t = first; t < tiles; t += clusters) {
        const Tile tile = tile_of<S>(t, p, rank);
        for (std::int64_t s = 0; s < stages_a_tile; ++s, ++turn) {
          const unsigned stage = turn % S::kStages;
          Step::wait_for_empty(ring.empty(stage), turn / S::kStages);
          produce<Step, S, kElement>(ring, stage, tile, s * kDepth, p, map_a, map_b, tensor, rank,
                                     leads);
        }
      }
    }
    // Otherwise the lanes that wait for the cluster would alternate with the lane that copies.
    __syncwarp();
  } else {
    Step::template take_registers<S>();
    const int consumer = threadIdx.x / kGroup - 1;
    const auto* const c = static_cast<const float*>(p.c);
    auto* const d = static_cast<float*>(p.d);
    const bool pairs_of_c = reinterpret_cast<std::uintptr_t>(c) % 8 == 0 && p.c_stride % 2 == 0,
               pairs_of_d = reinterpret_cast<std::uintptr_t>(d) % 8 == 0 && p.d_stride % 2 == 0;
    const auto release = [&](unsigned stage) {
      if (threadIdx.x % 32 != 0) return;
      for (unsigned block = 0; block < S::kBlocks; ++block) {
        if (!Step::releases(threadIdx.x % kGroup / 32, block, rank)) continue;
        if constexpr (S::kBlocks == 1) {
          Step::arrive(ring.empty(stage));
        } else {
          Step::arrive_at(ring.empty(stage), block);
        }
      }
    };
    unsigned turn = 0;
    for (std::int64_t t = first; t < tiles; t += clusters) {
      Tile tile = tile_of<S>(t, p, rank);
      tile.row += 64 * consumer;
      float sum[kRegisters];
      each_pair<kRegisters>(tile.row, tile.column, [&](int r, std::int64_t i, std::int64_t j) {
        const float* const from = c + i * p.c_stride + j;
        if (pairs_of_c && i < p.m && j + 1 < p.n) {
          const float2 both = *reinterpret_cast<const float2*>(from);
          sum[r] = both.x, sum[r + 1] = both.y;
        } else {
          sum[r] = i < p.m && j < p.n ? from[0] : 0.0f;
          sum[r + 1] = i < p.m && j + 1 < p.n ? from[1] : 0.0f;
        }
      });
      pin(sum);
      for (std::int64_t s = 0; s < stages_a_tile; ++s, ++turn) {
        const unsigned stage = turn % S::kStages;
        Step::wait_for_full(ring.full(stage), turn / S::kStages);
        const std::uint64_t a = Step::template descriptor<S::kRowBytes>(
            shared_address(ring.a(stage)) + consumer * 64 * S::kRowBytes);
        const std::uint64_t b =
            Step::template descriptor<S::kRowBytes>(shared_address(ring.b(stage)));
        Step::fence();
#pragma unroll
        for (int step = 0; step < S::kRowBytes / kStepBytes; ++step) {
          // Along a swizzled row, the start address advances by the bytes.
          multiply_async<kElement>(sum, a + step * kStepBytes / 16, b + step * kStepBytes / 16);
        }
        Step::commit();
        if (Step::releases_before_the_wait()) release(stage);
        Step::wait_for_products();
        if (!Step::releases_before_the_wait()) release(stage);
      }
      pin(sum);
      each_pair<kRegisters>(tile.row, tile.column, [&](int r, std::int64_t i, std::int64_t j) {
        float* const to = d + i * p.d_stride + j;
        if (pairs_of_d && i < p.m && j + 1 < p.n) {
          *reinterpret_cast<float2*>(to) = make_float2(sum[r], sum[r + 1]);
        } else {
          if (i < p.m && j < p.n) to[0] = sum[r];
          if (i < p.m && j + 1 < p.n) to[1] = sum[r + 1];
        }
      });
    }
  }
  if constexpr (S::kBlocks > 1) Step::leave_cluster();
#endif
}

// ---- Host.

template <class Step, class S, MatrixElement kElement>
cudaError_t launch(const TensorMatmulArguments& p, cudaStream_t stream) {
  // First, because it makes the device's context current in this host thread. Without a context, no
  // map can be made.
  auto* const function = kernel<Step, S, kElement>;
  if (const cudaError_t e = cudaFuncSetAttribute(
          function, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kSharedBytes);
      e != cudaSuccess)
    return e;
  CUtensorMap map_a{}, map_b{};
  ByTensor tensor{};
  if (const cudaError_t e = make_maps<S, kElement>(p, tensor, map_a, map_b); e != cudaSuccess)
    return e;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {S::kBlocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(S::kThreads);
  config.dynamicSmemBytes = S::kSharedBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = S::kBlocks > 1 ? 1 : 0;
  // As many blocks as can be resident. Tiles are assigned in turn, so blocks that start later would
  // still have all their tiles left when the others finish.
  std::int64_t at_once = 0;
  if constexpr (S::kBlocks > 1) {
    int clusters = 0;  // fewer than half of the multiprocessors, depending on their grouping
    config.gridDim = dim3(S::kBlocks);
    if (const cudaError_t e = cudaOccupancyMaxActiveClusters(&clusters, function, &config);
        e != cudaSuccess)
      return e;
    at_once = std::max(clusters, 1);
  } else {
    int device = 0, sms = 0;
    if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
    if (const cudaError_t e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        e != cudaSuccess)
      return e;
    at_once = sms * S::kBlocksAnSm;
  }
  config.gridDim =
      dim3(static_cast<unsigned>(std::min(tiles_of_clusters<S>(p), at_once) * S::kBlocks));
  return cudaLaunchKernelEx(&config, function, p, map_a, map_b, tensor);
}

}  // namespace lockstep::kernels::by_wgmma
