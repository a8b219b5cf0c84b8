// tensor_matmul by tcgen05, with separate warps for each task, in one block or a pair of blocks.
//
// - Warps 0 to 3 copy C to tensor memory and D back. There are two accumulators: while one tile is
//   multiplied, these warps copy for its neighbours.
// - Warps 4 to 7 fill a ring of stages: one elected thread by tensor copies, or all threads by
//   stores.
// - One thread of warp 8 multiplies.
// - One thread of warp 9 requests more work: it cancels a block that has not begun
//   (clusterlaunchcontrol), and this block processes its tiles.
//
// The mbarriers: `full` and `empty` of each stage; `ready` of an accumulator (C is in it) and
// `done` (D is in it); `answered` and `taken` of a response to a request for work.
//
// A pair multiplies 256 rows of A by the columns of B. Each block holds half of the columns in its
// shared memory. Block 0 multiplies and requests work for both. Block 1 signals to block 0 that its
// stages are full. The commits of products arrive in both blocks, at `empty` and `done`. Both
// blocks arrive at `ready` and `taken` of block 0.
#pragma once

#include "kernels/tensor_matmul_tcgen05.cuh"

namespace lockstep::kernels::by_tcgen05 {

using Ringed = Shape<64, 64, 3, 1>;
using Paired = Shape<64, 64, 3, 2>;

constexpr int kRoles = 10 * 32;               // threads
constexpr std::int64_t kMostItems = 1 << 14;  // of work: the blocks, or pairs, of a grid

// A block's data after its ring.
template <class S>
struct Places {
  unsigned rest;

  __device__ explicit Places(const Ring<S>& ring) : rest(shared_address(ring.rest())) {}
  __device__ unsigned columns() const { return rest; }
  __device__ unsigned answer(unsigned i) const { return rest + 16 + 16 * (i % 2); }
  __device__ unsigned answered(unsigned i) const { return rest + 48 + 8 * (i % 2); }
  __device__ unsigned taken(unsigned i) const { return rest + 64 + 8 * (i % 2); }
  __device__ unsigned ready(unsigned i) const { return rest + 80 + 8 * (i % 2); }
  __device__ unsigned done(unsigned i) const { return rest + 96 + 8 * (i % 2); }
  static_assert(S::kRoom >= 112);
};

// Arrives at a barrier of the cluster's first block.
template <class Step, class S>
__device__ void arrive_at_first(unsigned barrier) {
  if constexpr (S::kBlocks == 1) {
    Step::arrive(barrier);
  } else {
    Step::arrive_at(barrier, 0);
  }
}

// Returns the next item of work that this thread reads in a response, or -1.
template <class Step, class S>
__device__ std::int64_t next_item(const Places<S>& at, unsigned round) {
  Step::wait_for_answer(at.answered(round), round / 2);
  const int first = Step::first_block_of(at.answer(round));
  return first < 0 ? -1 : first / S::kBlocks;
}

// Visits the tiles of the block's own item, and of items from responses. Called by whole warps, or
// by one thread with `alone`. One lane of a warp arrives at `taken`.
template <class Step, class S, class Visit>
__device__ void each_tile(const Places<S>& at, const TensorMatmulArguments& p, unsigned rank,
                          bool alone, Visit visit) {
  const std::int64_t tiles = tiles_of_clusters<S>(p), items = gridDim.x / S::kBlocks;
  std::int64_t item = blockIdx.x / S::kBlocks;
  for (unsigned round = 0; item >= 0; ++round) {
    for (std::int64_t t = item; t < tiles; t += items) visit(tile_of<S>(t, p, rank));
    item = next_item<Step, S>(at, round);
    if (item < 0) break;
    // The asynchronous proxy writes the next response after this.
    Step::publish_stores();
    if (!alone) __syncwarp();
    if (alone || threadIdx.x % 32 == 0) arrive_at_first<Step, S>(at.taken(round));
  }
}

template <class Step, class S>
__device__ void ask_for_work(const Places<S>& at) {
  for (unsigned round = 0;; ++round) {
    Step::wait_for_empty(at.taken(round), round / 2);
    for (unsigned block = 0; block < S::kBlocks; ++block)
      Step::template expect_answer<S::kBlocks>(at.answered(round), block);
    Step::template try_cancel<S::kBlocks>(at.answer(round), at.answered(round));
    if (next_item<Step, S>(at, round) < 0) return;
    Step::publish_stores();
  }
}

// Warps 0 to 3.
template <class Step, class S>
__device__ void bring_c_and_d(const Places<S>& at, const TensorMatmulArguments& p, unsigned rank,
                              unsigned columns) {
  const unsigned quarter = Step::quarter(threadIdx.x / 32);
  const auto accumulator = [&](unsigned i) {
    return columns + Step::column_of(i % 2, S::kColumns) + (quarter * 32 << 16);
  };
  const std::int64_t row = quarter * 32 + threadIdx.x % 32;
  const auto finish = [&](unsigned i, const Tile& tile) {
    Step::wait_for_products(at.done(i), i / 2);
    Step::fence_after();
    load_d<Step, S>(accumulator(i), p, tile.row + row, tile.column);
  };
  unsigned i = 0;
  Tile last{};
  each_tile<Step, S>(at, p, rank, false, [&](const Tile& tile) {
    store_c<Step, S>(accumulator(i), p, tile.row + row, tile.column);
    Step::fence_before();
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive_at_first<Step, S>(at.ready(i));
    if (i > 0) finish(i - 1, last);
    last = tile, ++i;
  });
  finish(i - 1, last);
}

// One thread of warp 8.
template <class Step, class S, MatrixElement kElement>
__device__ void multiply_tiles(const Ring<S>& ring, const Places<S>& at,
                               const TensorMatmulArguments& p, unsigned rank, unsigned columns) {
  constexpr int kDepth = S::kRowBytes / kBytesOf<kElement>;
  const std::int64_t stages_a_tile = (p.k + kDepth - 1) / kDepth;
  unsigned i = 0, turn = 0;
  each_tile<Step, S>(at, p, rank, true, [&](const Tile&) {
    if (rank == 0) {
      Step::wait_for_c(at.ready(i), i / 2);
      Step::fence_after();
    }
    for (std::int64_t s = 0; s < stages_a_tile; ++s, ++turn) {
      const unsigned stage = turn % S::kStages;
      Step::wait_for_full(ring.full(stage), turn / S::kStages);
      if (rank != 0) {
        Step::arrive_at(ring.full(stage), 0);
        continue;
      }
      Step::fence_after();
      multiply_stage<Step, S, kElement>(columns + Step::column_of(i % 2, S::kColumns),
                                        shared_address(ring.a(stage)),
                                        shared_address(ring.b(stage)), s == 0);
      Step::template commit_stage<S::kBlocks>(ring.empty(stage));
    }
    if (rank == 0) Step::template commit<S::kBlocks>(at.done(i));
    ++i;
  });
}

template <class Step, class S, MatrixElement kElement>
__global__ void __launch_bounds__(kRoles)
    with_roles(TensorMatmulArguments p, const __grid_constant__ CUtensorMap map_a,
               const __grid_constant__ CUtensorMap map_b, ByTensor tensor) {
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
  extern __shared__ unsigned char memory[];
  const Ring<S> ring(memory);
  const Places<S> at(ring);
  const unsigned warp = threadIdx.x / 32, rank = S::kBlocks == 1 ? 0 : block_of_cluster();
  const bool by_tensor = tensor.a && tensor.b;

  if (warp == 8) {
    Step::template allocate<S::kBlocks>(at.columns(), 2 * S::kColumns);
    Step::template relinquish<S::kBlocks>();
  }
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < S::kStages; ++s) {
      Step::initialise(ring.full(s), (by_tensor ? 1 : Step::copying_threads()) +
                                         (S::kBlocks > 1 && rank == 0 ? 1 : 0));
      Step::initialise(ring.empty(s), 1);
    }
    for (unsigned i = 0; i < 2; ++i) {
      Step::initialise(at.answered(i), 1);
      Step::initialise(at.taken(i), (by_tensor ? 6 : 9) * S::kBlocks);
      Step::initialise(at.ready(i), 4 * S::kBlocks);
      Step::initialise(at.done(i), 1);
    }
    Step::publish_barriers();
  }
  Step::fence_before();
  if constexpr (S::kBlocks == 1) {
    __syncthreads();
  } else {
    Step::join_cluster();
  }
  Step::fence_after();
  const unsigned columns = *reinterpret_cast<const unsigned*>(ring.rest());

  if (warp < 4) {
    bring_c_and_d<Step, S>(at, p, rank, columns);
  } else if (warp < 8) {
    const bool leads = warp == 4 && Step::is_elected();
    constexpr int kDepth = S::kRowBytes / kBytesOf<kElement>;
    const std::int64_t stages_a_tile = (p.k + kDepth - 1) / kDepth;
    unsigned turn = 0;
    if (leads || !by_tensor) {
      each_tile<Step, S>(at, p, rank, by_tensor, [&](const Tile& tile) {
        for (std::int64_t s = 0; s < stages_a_tile; ++s, ++turn) {
          const unsigned stage = turn % S::kStages;
          Step::wait_for_empty(ring.empty(stage), turn / S::kStages);
          produce<Step, S, kElement>(ring, stage, tile, s * kDepth, p, map_a, map_b, tensor, rank,
                                     leads);
        }
      });
    }
  } else if (Step::is_elected()) {
    if (warp == 8) multiply_tiles<Step, S, kElement>(ring, at, p, rank, columns);
    if (warp == 9 && rank == 0) ask_for_work<Step, S>(at);
  }
  // Otherwise the lanes that wait for the block would alternate with the lane that works.
  __syncwarp();
  Step::fence_before();
  if constexpr (S::kBlocks == 1) {
    __syncthreads();
  } else {
    Step::leave_cluster();
  }
  Step::fence_after();
  if (warp == 8) Step::template free<S::kBlocks>(columns, 2 * S::kColumns);
#endif
}

// ---- Host.

template <class Step, class S, MatrixElement kElement>
cudaError_t launch_with_roles(const TensorMatmulArguments& p, cudaStream_t stream) {
  auto* const function = with_roles<Step, S, kElement>;
  if (const cudaError_t e = cudaFuncSetAttribute(
          function, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kSharedBytes);
      e != cudaSuccess)
    return e;
  CUtensorMap map_a{}, map_b{};
  ByTensor tensor{};
  if (const cudaError_t e = make_maps<S, kElement>(p, tensor, map_a, map_b); e != cudaSuccess)
    return e;
  const std::int64_t items = std::min(tiles_of_clusters<S>(p), kMostItems);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {S::kBlocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(items * S::kBlocks));
  config.blockDim = dim3(kRoles);
  config.dynamicSmemBytes = S::kSharedBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = S::kBlocks > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, function, p, map_a, map_b, tensor);
}

}  // namespace lockstep::kernels::by_tcgen05
