// tensor_matmul by wgmma. A block is one warpgroup that brings tiles of A and B to shared memory,
// and one or two that multiply them: each has 64 rows of the block's tile of D in its registers.
// Between them is a ring of stages with two mbarriers each: `full` completes when a stage's bytes
// are there, `empty` when every warp that reads it is done.
//
// One elected thread issues the tensor copies. Where a factor's rows are not aligned for them, or
// the matrix is larger than a tensor map can be, all 128 threads of the warpgroup copy it with
// ordinary loads and stores, to the places to which the tensor copy would have swizzled it, and
// make that visible to the asynchronous proxy.
//
// In a cluster of two blocks, which have the same columns of D, each brings half of the tile of B
// to both; a stage is empty when the warps of both are done with it.
//
// A block takes every gridDim.x-th tile; the ring goes on from one to the next.
//
// A kernel is made of steps. Wgmma has them done right; a known-bad kernel is another struct with
// one step of its own.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/tensor_matmul_paths.h"
#include "kernels/wgmma.cuh"

namespace lockstep::kernels::by_wgmma {

constexpr int kGroup = 128;     // threads of a warpgroup
constexpr int kChunk = 16;      // bytes that swizzling keeps together
constexpr int kStepBytes = 32;  // of a row, an instruction

// The shape of a block's work.
template <int kConsumers_, int kColumns_, int kRowBytes_, int kStages_, int kBlocks_>
struct Shape {
  static constexpr int kConsumers = kConsumers_;  // warpgroups that multiply
  static constexpr int kRows = 64 * kConsumers;   // of D
  static constexpr int kColumns = kColumns_;      // of D
  static constexpr int kRowBytes =
      kRowBytes_;  // of a row of A or B, a stage; the span of the swizzle: 64 or 128
  static constexpr int kStages = kStages_;
  static constexpr int kBlocks = kBlocks_;  // of a cluster
  static constexpr int kThreads = kGroup * (kConsumers + 1);
  static constexpr int kBytesOfA = kRows * kRowBytes, kBytesOfB = kColumns * kRowBytes;
  static constexpr int kStageBytes = kBytesOfA + kBytesOfB;
  // The stages, what aligns them, and the barriers.
  static constexpr int kSharedBytes = kStages * kStageBytes + 1024 + 2 * 8 * kStages;
  static constexpr int kBlocksAnSm = kConsumers == 1 ? 2 : 1;
  static constexpr CUtensorMapSwizzle kSwizzle =
      kRowBytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
};
using Small = Shape<1, 64, 64, 3, 1>;
using Pair = Shape<1, 64, 64, 3, 2>;
using Wide = Shape<2, 256, 128, 4, 1>;

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Where 16 bytes of a tile are: of a swizzled row they change places by the row's position in the
// pattern, which repeats every eight rows.
template <int kRowBytes>
__device__ int swizzled(int row, int chunk) {
  const int pattern = kRowBytes == 128 ? row % 8 : row / 2 % 4;
  return row * kRowBytes + (chunk ^ pattern) * kChunk;
}

// ---- The steps.

struct Wgmma {
  // Barriers.
  __device__ static void initialise(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  }
  __device__ static void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __device__ static void wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "AGAIN:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra AGAIN;\n"
        "}" ::"r"(barrier),
        "r"(parity)
        : "memory");
  }
  __device__ static void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
  }
  __device__ static void arrive_at(unsigned barrier, unsigned block) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(barrier),
        "r"(block)
        : "memory");
  }
  __device__ static void arrive_expecting(unsigned barrier, unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
        "r"(bytes)
        : "memory");
  }
  // Round `round` of the ring: a stage that is full has completed one phase more than before.
  __device__ static unsigned full_parity(unsigned round) { return round & 1; }
  // The first round finds every stage empty: the phase before the first counts as completed.
  __device__ static unsigned empty_parity(unsigned round) { return (round & 1) ^ 1; }
  __device__ static unsigned expected(unsigned bytes) { return bytes; }

  // The warpgroup that copies. It needs few registers, the others many; all four warps say so.
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
  // One thread of the warp, whichever.
  __device__ static bool is_elected() {
    unsigned elected;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "elect.sync _|p, 0xffffffff;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(elected));
    return elected != 0;
  }
  __device__ static void wait_for_empty(unsigned barrier, unsigned round) {
    wait(barrier, empty_parity(round));
  }
  __device__ static void copy_box(unsigned to, const CUtensorMap* map, int byte, int row,
                                  unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3}], [%4];" ::"r"(to),
        "l"(map), "r"(byte), "r"(row), "r"(barrier)
        : "memory");
  }
  // To the same place in every block of the mask, with the bytes counted on the barrier of each.
  __device__ static void copy_box_to_all(unsigned to, const CUtensorMap* map, int byte, int row,
                                         unsigned barrier, unsigned mask) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
        "cluster [%0], "
        "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(map), "r"(byte), "r"(row), "r"(barrier), "h"(static_cast<unsigned short>(mask))
        : "memory");
  }
  __device__ static constexpr bool arms_before_the_copies() { return true; }
  // After ordinary stores that wgmma reads.
  __device__ static void publish_stores() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  // Arrivals at `full` that a stage takes where threads copy, and whether this thread, of a
  // warpgroup, makes one.
  __device__ static constexpr unsigned copying_threads() { return kGroup; }
  __device__ static bool arrives_for_its_stores(int /*thread*/) { return true; }

  // The warpgroups that multiply.
  __device__ static void wait_for_full(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round));
  }
  // A tile whose rows, of kRowBytes, are swizzled over their whole length; the fields count in 16
  // bytes: where it is, nothing that counts for such rows, from eight rows to the next eight.
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
  // Nothing is left under way from stage to stage: the other warpgroup multiplies meanwhile.
  __device__ static void wait_for_products() { wait_for_group<0>(); }
  __device__ static constexpr bool releases_before_the_wait() { return false; }
  // Arrivals that make a stage empty, and whether this warp of a warpgroup makes one at that
  // block's barrier: a warp has waited for itself alone, and in a cluster its stage is written by
  // both blocks.
  template <class S>
  __device__ static constexpr unsigned releasing_warps() {
    return 4 * S::kConsumers * S::kBlocks;
  }
  __device__ static bool releases(int /*warp*/, unsigned /*block*/, unsigned /*own*/) {
    return true;
  }
  // Nobody copies to the other block of the cluster before its barriers are there, and nobody
  // leaves while the other still arrives at its own.
  __device__ static void synchronise_cluster() {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  }
  __device__ static void join_cluster() { synchronise_cluster(); }
  __device__ static void leave_cluster() { synchronise_cluster(); }
};

__device__ inline unsigned block_of_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// One tile's worth of `kRows` rows by ordinary loads and stores, by a whole warpgroup; zeros where
// there is no element.
template <MatrixElement kElement, int kRows, int kRowBytes>
__device__ void copy_by_threads(unsigned char* to, const std::byte* data, std::int64_t stride,
                                std::int64_t first, std::int64_t rows, std::int64_t k,
                                std::int64_t at) {
  using Word =
      typename std::conditional<kBytesOf<kElement> == 1, unsigned char, unsigned short>::type;
  constexpr int kElements = kRowBytes / kBytesOf<kElement>, kInChunk = kChunk / kBytesOf<kElement>;
  const auto* const from = reinterpret_cast<const Word*>(data);
#pragma unroll 1  // for the few registers that this warpgroup has
  for (int i = threadIdx.x % kGroup; i < kRows * kElements; i += kGroup) {
    const int row = i / kElements, element = i % kElements;
    const std::int64_t r = first + row, p = at + element;
    auto* const place = reinterpret_cast<Word*>(to + swizzled<kRowBytes>(row, element / kInChunk));
    place[element % kInChunk] = r < rows && p < k ? from[r * stride + p] : Word{0};
  }
}

// What a block works on: cluster-wide columns of D, own rows.
struct Tile {
  std::int64_t row, column;
};

// The index-th tile of a cluster. Some rows of tiles at a time, column by column, so that what is
// under way at once shares factors in the second-level cache.
template <class S>
__device__ Tile tile_of(std::int64_t index, const TensorMatmulArguments& p, unsigned rank) {
  constexpr std::int64_t kBand = 8;
  const std::int64_t down = ((p.m - 1) / S::kRows + S::kBlocks) / S::kBlocks,
                     across = (p.n - 1) / S::kColumns + 1;
  const std::int64_t band = index / (kBand * across), in_band = index % (kBand * across);
  const std::int64_t height = min(down - band * kBand, kBand);
  return {((band * kBand + in_band % height) * S::kBlocks + rank) * S::kRows,
          in_band / height * S::kColumns};
}

template <class S>
__host__ __device__ inline std::int64_t tiles_of_clusters(const TensorMatmulArguments& p) {
  return (((p.m - 1) / S::kRows + S::kBlocks) / S::kBlocks) * ((p.n - 1) / S::kColumns + 1);
}

// Shared memory of a block, by address.
template <class S>
struct Ring {
  unsigned char* stages;
  unsigned barriers;

  __device__ explicit Ring(unsigned char* memory) {
    // Swizzles repeat every 1,024 bytes at most.
    stages = memory + (1024 - shared_address(memory) % 1024) % 1024;
    barriers = shared_address(stages + S::kStages * S::kStageBytes);
  }
  __device__ unsigned char* a(unsigned stage) const { return stages + stage * S::kStageBytes; }
  __device__ unsigned char* b(unsigned stage) const { return a(stage) + S::kBytesOfA; }
  __device__ unsigned full(unsigned stage) const { return barriers + 16 * stage; }
  __device__ unsigned empty(unsigned stage) const { return barriers + 16 * stage + 8; }
};

// Whether factors come by tensor copies.
struct ByTensor {
  bool a, b;
};

// One stage of a tile, by the elected thread (`leads`) or all threads of the warpgroup.
template <class Step, class S, MatrixElement kElement>
__device__ void produce(const Ring<S>& ring, unsigned stage, const Tile& tile, std::int64_t k,
                        const TensorMatmulArguments& p, const CUtensorMap& map_a,
                        const CUtensorMap& map_b, ByTensor tensor, unsigned rank, bool leads) {
  const unsigned full = ring.full(stage);
  if (leads) {
    const unsigned bytes = (tensor.a ? S::kBytesOfA : 0) + (tensor.b ? S::kBytesOfB : 0);
    const bool all = tensor.a && tensor.b;  // otherwise the arrival comes after the stores
    const auto arm = [&] {
      if (all) {
        Step::arrive_expecting(full, Step::expected(bytes));
      } else if (bytes != 0) {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(full),
                     "r"(Step::expected(bytes))
                     : "memory");
      }
    };
    if (Step::arms_before_the_copies()) arm();
    const auto at = static_cast<int>(k);
    if (tensor.a)
      Step::copy_box(shared_address(ring.a(stage)), &map_a, at, static_cast<int>(tile.row), full);
    if (tensor.b) {
      if constexpr (S::kBlocks == 1) {
        Step::copy_box(shared_address(ring.b(stage)), &map_b, at, static_cast<int>(tile.column),
                       full);
      } else {
        constexpr int kPart = S::kColumns / S::kBlocks;
        Step::copy_box_to_all(shared_address(ring.b(stage)) + rank * kPart * S::kRowBytes, &map_b,
                              at, static_cast<int>(tile.column + rank * kPart), full,
                              (1u << S::kBlocks) - 1);
      }
    }
    if (!Step::arms_before_the_copies()) arm();
  }
  if (tensor.a && tensor.b) return;
  if (!tensor.a)
    copy_by_threads<kElement, S::kRows, S::kRowBytes>(ring.a(stage), p.a, p.a_stride, tile.row, p.m,
                                                      p.k, k);
  if (!tensor.b)
    copy_by_threads<kElement, S::kColumns, S::kRowBytes>(ring.b(stage), p.b, p.b_stride,
                                                         tile.column, p.n, p.k, k);
  Step::publish_stores();
  if (Step::arrives_for_its_stores(threadIdx.x % kGroup)) Step::arrive(full);
}

// Visits a warpgroup's part of D in pairs of neighbours of a row: register, row and column of the
// first.
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
      unsigned turn = 0;  // of the ring
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
    // Lanes that wait for the cluster meanwhile would take turns with the one that copies.
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
          // Along a swizzled row the start moves on by its bytes.
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

// Whether a factor can be a tensor map: its rows are aligned, and it is no larger than maps and
// their coordinates go.
inline bool is_tensor(const std::byte* data, std::int64_t rows, std::int64_t k, std::int64_t stride,
                      int element_bytes) {
  constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max() - 256,
                         kMostStride = 1ll << 40;
  constexpr std::uintptr_t kMostAddress = 1ull << 57;
  return rows > 0 && k > 0 && rows_are_aligned(data, stride, element_bytes, 16) &&
         rows <= kMostElements && k <= kMostElements && stride < kMostStride / element_bytes &&
         reinterpret_cast<std::uintptr_t>(data) < kMostAddress;
}

// In boxes of box_rows x row_bytes.
inline cudaError_t make_map(CUtensorMap& map, MatrixElement element, const std::byte* data,
                            std::int64_t rows, std::int64_t k, std::int64_t stride, int box_rows,
                            int row_bytes, CUtensorMapSwizzle swizzle) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned kSince = 12000;  // the version of CUDA that brought it
  if (const cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                             kSince, cudaEnableDefault, &found);
      e != cudaSuccess)
    return e;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const auto type = element == MatrixElement::kF16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                    : element == MatrixElement::kBf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                      : CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride * bytes_of(element))};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(row_bytes / bytes_of(element)),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  const CUresult result =
      encode(&map, type, 2, const_cast<std::byte*>(data), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return static_cast<cudaError_t>(result);  // the driver's numbers are the runtime's
}

template <class Step, class S, MatrixElement kElement>
cudaError_t launch(const TensorMatmulArguments& p, cudaStream_t stream) {
  constexpr int kBytes = bytes_of(kElement);
  // First: it makes the device's context current in a host thread that has none, without which no
  // map is made.
  auto* const function = kernel<Step, S, kElement>;
  if (const cudaError_t e = cudaFuncSetAttribute(
          function, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kSharedBytes);
      e != cudaSuccess)
    return e;
  CUtensorMap map_a{}, map_b{};
  const ByTensor tensor = {is_tensor(p.a, p.m, p.k, p.a_stride, kBytes),
                           is_tensor(p.b, p.n, p.k, p.b_stride, kBytes)};
  if (tensor.a) {
    if (const cudaError_t e = make_map(map_a, kElement, p.a, p.m, p.k, p.a_stride, S::kRows,
                                       S::kRowBytes, S::kSwizzle);
        e != cudaSuccess)
      return e;
  }
  if (tensor.b) {
    if (const cudaError_t e = make_map(map_b, kElement, p.b, p.n, p.k, p.b_stride,
                                       S::kColumns / S::kBlocks, S::kRowBytes, S::kSwizzle);
        e != cudaSuccess)
      return e;
  }
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {S::kBlocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(S::kThreads);
  config.dynamicSmemBytes = S::kSharedBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = S::kBlocks > 1 ? 1 : 0;
  // As many as are there at once: of tiles in turn, who came later would have as many left when the
  // others are done.
  std::int64_t at_once = 0;
  if constexpr (S::kBlocks > 1) {
    int clusters = 0;  // fewer than pairs of multiprocessors, by how these are grouped
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
