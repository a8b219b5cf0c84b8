// The common part of tensor_matmul's paths with tensor copies: mbarriers, boxes of A and B in
// shared memory, the order of tiles, tensor maps.
//
// A stage holds kRowBytes of each row of a tile of A and of a tile of B, swizzled over that length.
// One elected thread issues its tensor copies. If a factor's rows are not aligned for tensor
// copies, or the factor is larger than a tensor map, the 128 threads of a warpgroup copy it with
// ordinary loads and stores. They store to the swizzled places of a tensor copy, and make the
// stores visible to the asynchronous proxy.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/tensor_matmul_paths.h"

namespace lockstep::kernels {

constexpr int kGroup = 128;     // threads of a warpgroup
constexpr int kChunk = 16;      // bytes that swizzling keeps together
constexpr int kStepBytes = 32;  // of a row, per instruction

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// The place of 16 bytes of a tile. In a swizzled row they are permuted by the row's position in the
// pattern, which repeats every eight rows.
template <int kRowBytes>
__device__ int swizzled(int row, int chunk) {
  const int pattern = kRowBytes == 128 ? row % 8 : row / 2 % 4;
  return row * kRowBytes + (chunk ^ pattern) * kChunk;
}

// ---- Steps that a known-bad kernel may replace.

struct AsyncSteps {
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
  __device__ static void expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
  }
  // Round `round` of the ring: a full stage has completed one phase more than before.
  __device__ static unsigned full_parity(unsigned round) { return round & 1; }
  // The first round finds every stage empty: the phase before the first counts as completed.
  __device__ static unsigned empty_parity(unsigned round) { return (round & 1) ^ 1; }
  __device__ static unsigned expected(unsigned bytes) { return bytes; }

  // One thread of the warp, chosen by the hardware.
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
  // Copies to the same address in every block of the mask; the bytes count on the barrier of each
  // block.
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
  // After ordinary stores to memory that a matrix unit reads.
  __device__ static void publish_stores() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  // The number of arrivals at `full` for a stage that threads copy, and whether this thread of a
  // warpgroup makes one.
  __device__ static constexpr unsigned copying_threads() { return kGroup; }
  __device__ static bool arrives_for_its_stores(int /*thread*/) { return true; }

  __device__ static void wait_for_full(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round));
  }
  // No block copies to the other block of the cluster before that block's barriers are initialised.
  // No block exits while the other may still arrive at its barriers.
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

// Copies `kRows` rows of a tile by ordinary loads and stores, with a whole warpgroup. Missing
// elements become zeros.
template <MatrixElement kElement, int kRows, int kRowBytes>
__device__ void copy_by_threads(unsigned char* to, const std::byte* data, std::int64_t stride,
                                std::int64_t first, std::int64_t rows, std::int64_t k,
                                std::int64_t at) {
  constexpr int kBytes = kBytesOf<kElement>;
  using Word = std::conditional_t<kBytes == 1, unsigned char,
                                  std::conditional_t<kBytes == 2, unsigned short, unsigned>>;
  constexpr int kElements = kRowBytes / kBytes, kInChunk = kChunk / kBytes;
  const auto* const from = reinterpret_cast<const Word*>(data);
#pragma unroll 1  // this warpgroup has few registers
  for (int i = threadIdx.x % kGroup; i < kRows * kElements; i += kGroup) {
    const int row = i / kElements, element = i % kElements;
    const std::int64_t r = first + row, p = at + element;
    auto* const place = reinterpret_cast<Word*>(to + swizzled<kRowBytes>(row, element / kInChunk));
    place[element % kInChunk] = r < rows && p < k ? from[r * stride + p] : Word{0};
  }
}

// The work of a block: cluster-wide columns of D, and its own rows.
struct Tile {
  std::int64_t row, column;
};

// The index-th tile of a cluster. The order is several rows of tiles at a time, column by column,
// so that concurrent tiles share factors in the L2 cache.
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

// Which factors are copied by tensor copies.
struct ByTensor {
  bool a, b;
};

// The shared memory of a block, by address.
template <class S>
struct Ring {
  unsigned char* stages;
  unsigned barriers;

  __device__ explicit Ring(unsigned char* memory) {
    // Swizzle patterns repeat after at most 1,024 bytes.
    stages = memory + (1024 - shared_address(memory) % 1024) % 1024;
    barriers = shared_address(stages + S::kStages * S::kStageBytes);
  }
  __device__ unsigned char* a(unsigned stage) const { return stages + stage * S::kStageBytes; }
  __device__ unsigned char* b(unsigned stage) const { return a(stage) + S::kBytesOfA; }
  __device__ unsigned full(unsigned stage) const { return barriers + 16 * stage; }
  __device__ unsigned empty(unsigned stage) const { return barriers + 16 * stage + 8; }
  // After the barriers, from a multiple of 16 bytes: the kernel's other data.
  __device__ unsigned char* rest() const { return stages + S::kStages * (S::kStageBytes + 16); }
};

// Copies one stage of a tile: rows of A and columns of B. Executed by the elected thread (`leads`)
// or by all threads of the warpgroup. If the blocks of a cluster share B, each block copies its
// part to all of them. Otherwise a block copies its own columns alone.
template <class Step, class S, MatrixElement kElement>
__device__ void produce(const Ring<S>& ring, unsigned stage, const Tile& tile, std::int64_t k,
                        const TensorMatmulArguments& p, const CUtensorMap& map_a,
                        const CUtensorMap& map_b, ByTensor tensor, unsigned rank, bool leads) {
  constexpr bool kShares = S::kBlocks > 1 && S::kColumnsHere == S::kColumns;
  const unsigned full = ring.full(stage);
  const std::int64_t column = tile.column + (kShares ? 0 : rank * S::kColumnsHere);
  if (leads) {
    const unsigned bytes = (tensor.a ? S::kBytesOfA : 0) + (tensor.b ? S::kBytesOfB : 0);
    const bool all = tensor.a && tensor.b;  // otherwise the thread arrives after the stores
    const auto arm = [&] {
      if (all) {
        Step::arrive_expecting(full, Step::expected(bytes));
      } else if (bytes != 0) {
        Step::expect(full, Step::expected(bytes));
      }
    };
    if (Step::arms_before_the_copies()) arm();
    const auto at = static_cast<int>(k);
    if (tensor.a)
      Step::copy_box(shared_address(ring.a(stage)), &map_a, at, static_cast<int>(tile.row), full);
    if (tensor.b) {
      if constexpr (!kShares) {
        Step::copy_box(shared_address(ring.b(stage)), &map_b, at, static_cast<int>(column), full);
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
    copy_by_threads<kElement, S::kColumnsHere, S::kRowBytes>(ring.b(stage), p.b, p.b_stride, column,
                                                             p.n, p.k, k);
  Step::publish_stores();
  if (Step::arrives_for_its_stores(threadIdx.x % kGroup)) Step::arrive(full);
}

// ---- Host.

// Whether a factor can be a tensor map: its rows are aligned, and maps and their coordinates can
// represent its size.
inline bool is_tensor(const std::byte* data, std::int64_t rows, std::int64_t k, std::int64_t stride,
                      int element_bytes) {
  constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max() - 256,
                         kMostStride = 1ll << 40;
  constexpr std::uintptr_t kMostAddress = 1ull << 57;
  return rows > 0 && k > 0 && rows_are_aligned(data, stride, element_bytes, 16) &&
         rows <= kMostElements && k <= kMostElements && stride < kMostStride / element_bytes &&
         reinterpret_cast<std::uintptr_t>(data) < kMostAddress;
}

// With boxes of box_rows x row_bytes.
inline cudaError_t make_map(CUtensorMap& map, MatrixElement element, const std::byte* data,
                            std::int64_t rows, std::int64_t k, std::int64_t stride, int box_rows,
                            int row_bytes, CUtensorMapSwizzle swizzle) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned kSince = 12000;  // the CUDA version that introduced it
  if (const cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                             kSince, cudaEnableDefault, &found);
      e != cudaSuccess)
    return e;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const auto type = element == MatrixElement::kF16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                    : element == MatrixElement::kBf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                    : element == MatrixElement::kTf32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
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
  return static_cast<cudaError_t>(result);  // the driver's error numbers are those of the runtime
}

// Makes the maps of the factors that can be tensor maps.
template <class S, MatrixElement kElement>
cudaError_t make_maps(const TensorMatmulArguments& p, ByTensor& tensor, CUtensorMap& map_a,
                      CUtensorMap& map_b) {
  constexpr int kBytes = bytes_of(kElement);
  tensor = {is_tensor(p.a, p.m, p.k, p.a_stride, kBytes),
            is_tensor(p.b, p.n, p.k, p.b_stride, kBytes)};
  if (tensor.a) {
    if (const cudaError_t e = make_map(map_a, kElement, p.a, p.m, p.k, p.a_stride, S::kRows,
                                       S::kRowBytes, S::kSwizzle);
        e != cudaSuccess)
      return e;
  }
  if (!tensor.b) return cudaSuccess;
  return make_map(map_b, kElement, p.b, p.n, p.k, p.b_stride, S::kColumns / S::kBlocks,
                  S::kRowBytes, S::kSwizzle);
}

}  // namespace lockstep::kernels
